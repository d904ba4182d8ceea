"""`mx.npx.random`: seeds, batches of samples, coin throws."""

import numbers

from ..numpy._call import ARRAYS, call
from ..numpy.random import _draw, _size
from ..random import seed as _seed

__all__ = ["bernoulli", "normal_n", "seed", "uniform_n"]


def seed(seed, ctx="all"):
    """Begin the random streams anew, everywhere or in one context."""
    _seed(seed, ctx)


def uniform_n(low=0.0, high=1.0, batch_shape=None, dtype=None, ctx=None):
    """`batch_shape` samples for each parameter."""
    return _draw("uniform_n", {"low": low, "high": high}, batch_shape, ctx, dtype=dtype)


def normal_n(loc=0.0, scale=1.0, batch_shape=None, dtype=None, ctx=None):
    """`batch_shape` samples for each parameter."""
    return _draw("normal_n", {"loc": loc, "scale": scale}, batch_shape, ctx, dtype=dtype)


def bernoulli(prob=None, logit=None, size=None, dtype=None, ctx=None, out=None):
    """Ones with the chance `prob`, or with the odds whose logarithm is `logit`."""
    if (prob is None) == (logit is None):
        raise ValueError(
            f"Either `prob` or `logit` must be specified, but not both. Received prob={prob}, logit={logit}"
        )
    name, value = ("prob", prob) if logit is None else ("logit", logit)
    attrs = {"size": _size(size), "dtype": dtype, "is_logit": logit is not None}
    if isinstance(value, ARRAYS):
        return call("_npi_bernoulli", value, ctx=ctx, out=out, prob="None", logit="None", **attrs)
    if not isinstance(value, numbers.Number):
        raise ValueError(f"`{name}` must be a number or an array, got {value!r}")
    given = {"prob": "None", "logit": "None", name: float(value)}
    return call("_npi_bernoulli", ctx=ctx, out=out, **attrs, **given)
