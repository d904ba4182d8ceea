"""Many gamma numbers and Poisson counts by compiled loops (see random_kernels): the same as `_core.samplers` makes."""

from collections.abc import Callable

import numpy as np

from .._core import samplers
from .._core.engines import Bank
from .loader import kernels

LEAST = 1 << 13  # numbers; fewer are not worth loading a compiler
WIDEST = 1 << 16  # words of an engine at a time

_loader = kernels("random_kernels")
_none = np.empty(0, np.float32)
_no_shapes = np.empty((5, 0), np.float32)


def _quick(arranged: Callable[..., tuple[np.ndarray, ...]], words: int) -> samplers.Runner:
    """A way that makes its arguments of the parameters by `arranged`; a sample needs some `words`."""

    def run(bank: Bank, parameters: tuple[np.ndarray, ...], step: int, out: np.ndarray) -> bool:
        if len(out) < LEAST or out.dtype != np.float32:
            return False
        if any(p.dtype != np.float32 or not np.isfinite(p).all() for p in parameters[:2]):
            return False
        found = _loader.get(wait=False)
        if found is None:
            return False
        _fill(found.draw, bank, step, 64 + words * step, out, arranged(*parameters))
        return True

    return run


def _fill(draw: Callable[..., None], bank: Bank, step: int, width: int, out: np.ndarray, given: tuple) -> None:
    """Window after window of words; one that is too short for a sample makes the next wider."""
    engines = -(-len(out) // step)
    places = np.arange(engines) * step
    ends = np.minimum(places + step, len(out))
    while (places < ends).any():
        words, used = bank.take(0, engines, width), np.zeros(engines, np.int64)
        draw(words, used, places, ends, out, *given)
        for engine, number in enumerate(used.tolist()):
            bank.give_back(engine, words[engine, number:])
        if (used[places < ends] == 0).any():
            width = min(2 * width, WIDEST)


def _shapes(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    small, d, k, c, exponent = samplers.gamma_terms(alpha, np.float32)
    terms = np.broadcast_arrays(d, k, c, np.where(small, exponent, np.float32(0)), beta)
    return np.ascontiguousarray(np.stack(terms).reshape(5, -1), np.float32)


def _of_gamma(alpha: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, ...]:
    return _shapes(alpha, beta), _none, _none


def _of_poisson(lam: np.ndarray) -> tuple[np.ndarray, ...]:
    return _no_shapes, np.ascontiguousarray(lam.reshape(-1)), samplers.LOG_FACTORIALS


def _of_both(alpha: np.ndarray, beta: np.ndarray, fixed: np.ndarray) -> tuple[np.ndarray, ...]:
    return _shapes(alpha, beta), _none, samplers.LOG_FACTORIALS


WAYS: dict[object, samplers.Runner] = {
    samplers.Gamma: _quick(_of_gamma, 5),
    samplers.Poisson: _quick(_of_poisson, 6),
    samplers.GammaPoisson: _quick(_of_both, 10),
}
