"""`mx.sym.np.random`: random numbers as nodes of a graph, by the operators of `mx.sym.random`."""

from ..._core.errors import MXNetError
from .._later import later

__all__ = ["normal", "randint", "uniform"]


def _draw(operator, size, dtype, ctx, **numbers):
    for name, value in numbers.items():
        if hasattr(value, "_entries"):
            raise MXNetError(f"mx.sym.np.random: {name} must be a number in a graph; scale the samples instead")
    shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
    return later("numpy._symbolic").compose(operator, [], {**numbers, "shape": shape, "dtype": dtype}, ctx)


def uniform(low=0.0, high=1.0, size=None, dtype=None, ctx=None, out=None):
    """Numbers between two bounds, all as likely."""
    return _draw("_random_uniform", size, dtype, ctx, low=low, high=high)


def normal(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, out=None):
    """Numbers of a normal distribution."""
    return _draw("_random_normal", size, dtype, ctx, loc=loc, scale=scale)


def randint(low, high=None, size=None, dtype=None, ctx=None, out=None):
    """Whole numbers from `low` up to, but without, `high`."""
    low, high = (0, low) if high is None else (low, high)
    return _draw("_random_randint", size, dtype or "int32", ctx, low=low, high=high)
