"""MT19937 sampling by compiled loops: the same numbers as `_core.engines` and `_core.samplers` draw."""

import functools
from collections.abc import Callable

import numpy as np

from ..._core import engines, samplers
from ..._core.streams import Stream
from .. import tuning
from ..registry import Kernel
from ..runtime.loader import CompiledModule

_code = CompiledModule("random.mt19937_kernels")
_none = np.empty(0, np.float32)
_no_shapes = np.empty((5, 0), np.float32)


# () -> the compiled module; `engines.COMPILED` decides how many numbers are worth it
mt19937 = Kernel("random.mt19937", lambda: 1, lambda: _code.get(wait=True), code=_code)


def _sampler(arguments: Callable[..., tuple[np.ndarray, ...]]) -> samplers.Runner:
    """A sampler whose kernel arguments are made of the parameters by `arguments`."""

    def run(bank: engines.Bank, parameters: tuple[np.ndarray, ...], step: int, out: np.ndarray) -> bool:
        if out.dtype != np.float32 or any(p.dtype != np.float32 or not np.isfinite(p).all() for p in parameters[:2]):
            return False
        found = engines.COMPILED.for_numbers(len(out), tuning.RANDOM_CALL + tuning.RANDOM_REJECTION * len(out))
        if found is None:
            return False
        bank.prepare(-(-len(out) // step))
        found.draw(bank.states, bank.words, bank.cursors, step, out, *arguments(*parameters))
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


def _gamma_arguments(alpha: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, ...]:
    return _shapes(alpha, beta), _none, _none


def _poisson_arguments(lam: np.ndarray) -> tuple[np.ndarray, ...]:
    return _no_shapes, np.ascontiguousarray(lam.reshape(-1)), samplers.LOG_FACTORIALS


def _negative_binomial_arguments(alpha: np.ndarray, beta: np.ndarray, fixed: np.ndarray) -> tuple[np.ndarray, ...]:
    return _shapes(alpha, beta), _none, samplers.LOG_FACTORIALS


def serial_gamma(rng: Stream, terms: np.ndarray, size: int) -> np.ndarray | None:
    """Gamma samples of `mx.np`, by terms of all or of each; None: not without the kernels."""
    found = engines.COMPILED.for_numbers(size, tuning.RANDOM_CALL + tuning.RANDOM_REJECTION * size)
    if found is None:
        return None
    out, unit = np.empty(size), np.empty((size, 2))
    with rng.lock:
        bank = rng.serial
        bank.prepare(1)
        found.rejections(bank.states, bank.words, bank.cursors, terms, unit, out)
    return out


def choices(rng: Stream, probabilities: np.ndarray, each: int) -> np.ndarray | None:
    """Categorical samples, `each` for every row of probabilities; None: not without the kernels, or not of these."""
    found = engines.COMPILED.for_numbers(len(probabilities) * each, tuning.RANDOM_CHOICE + probabilities.size)
    if found is None:
        return None
    classes, edges = np.empty((len(probabilities), each), np.int64), np.empty(probabilities.shape[1], np.float32)
    with rng.lock:
        bank = rng.serial
        bank.prepare(1)
        fine = found.choose(bank.states, bank.words, bank.cursors, probabilities, edges, classes)
    return classes if fine else None


SAMPLERS: dict[object, samplers.Runner] = {
    samplers.Gamma: _sampler(_gamma_arguments),
    samplers.Poisson: _sampler(_poisson_arguments),
    samplers.GammaPoisson: _sampler(_negative_binomial_arguments),
}


def register() -> None:
    """Let `_core` use the kernels; modules of operators that draw call it."""
    samplers.QUICK.update(SAMPLERS)
    engines.COMPILED.find = mt19937
