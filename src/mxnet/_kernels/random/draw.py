"""Random numbers by compiled loops (see random_kernels): the same as `_core.engines` and `_core.samplers` make."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core import engines, samplers
from ..._core.streams import Stream
from ..runtime.loader import CompiledModule

CALL, EACH = 1 << 18, 64  # words that are made in the time of a call, and of a number that is found by rejection
CHOICE = 1 << 14  # and of a call for some choices

_code = CompiledModule("random.mt19937_kernels")
_none = np.empty(0, np.float32)
_no_shapes = np.empty((5, 0), np.float32)


def compiled() -> Any:
    """The kernels, if they are ready; until then the numbers are made as without them."""
    return _code.get(wait=False)


def _quick(arranged: Callable[..., tuple[np.ndarray, ...]]) -> samplers.Runner:
    """A way that makes its arguments of the parameters by `arranged`."""

    def run(bank: engines.Bank, parameters: tuple[np.ndarray, ...], step: int, out: np.ndarray) -> bool:
        if out.dtype != np.float32 or any(p.dtype != np.float32 or not np.isfinite(p).all() for p in parameters[:2]):
            return False
        found = engines.COMPILED.for_numbers(len(out), CALL + EACH * len(out))
        if found is None:
            return False
        bank.prepare(-(-len(out) // step))
        found.draw(bank.states, bank.words, bank.cursors, step, out, *arranged(*parameters))
        return True

    return run


def _shapes(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    return _all_shapes(alpha, beta) if alpha.ndim or beta.ndim else _one_shape(float(alpha), float(beta))


@functools.lru_cache
def _one_shape(alpha: float, beta: float) -> np.ndarray:
    return _all_shapes(np.asarray(np.float32(alpha)), np.asarray(np.float32(beta)))


def _all_shapes(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    small, d, k, c, exponent = samplers.gamma_terms(alpha, np.float32)
    terms = np.broadcast_arrays(d, k, c, np.where(small, exponent, np.float32(0)), beta)
    return np.ascontiguousarray(np.stack(terms).reshape(5, -1), np.float32)


def _of_gamma(alpha: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, ...]:
    return _shapes(alpha, beta), _none, _none


def _of_poisson(lam: np.ndarray) -> tuple[np.ndarray, ...]:
    return _no_shapes, np.ascontiguousarray(lam.reshape(-1)), samplers.LOG_FACTORIALS


def _of_both(alpha: np.ndarray, beta: np.ndarray, fixed: np.ndarray) -> tuple[np.ndarray, ...]:
    return _shapes(alpha, beta), _none, samplers.LOG_FACTORIALS


def serial_gamma(rng: Stream, terms: np.ndarray, size: int) -> np.ndarray | None:
    """Gamma numbers of `mx.np`, of the terms of all or of each; None: not without the kernels."""
    found = engines.COMPILED.for_numbers(size, CALL + EACH * size)
    if found is None:
        return None
    out, unit = np.empty(size), np.empty((size, 2))
    with rng.lock:
        bank = rng.serial
        bank.prepare(1)
        found.rejections(bank.states, bank.words, bank.cursors, terms, unit, out)
    return out


def choices(rng: Stream, chances: np.ndarray, each: int) -> np.ndarray | None:
    """So many class numbers by each row of chances; None: not without the kernels, or not of these chances."""
    found = engines.COMPILED.for_numbers(len(chances) * each, CHOICE + chances.size)
    if found is None:
        return None
    classes, edges = np.empty((len(chances), each), np.int64), np.empty(chances.shape[1], np.float32)
    with rng.lock:
        bank = rng.serial
        bank.prepare(1)
        fine = found.choose(bank.states, bank.words, bank.cursors, chances, edges, classes)
    return classes if fine else None


WAYS: dict[object, samplers.Runner] = {
    samplers.Gamma: _quick(_of_gamma),
    samplers.Poisson: _quick(_of_poisson),
    samplers.GammaPoisson: _quick(_of_both),
}


def make_known() -> None:
    """To those who make the numbers: the modules of operators that draw ask for it."""
    samplers.QUICK.update(WAYS)
    engines.COMPILED.find = compiled
