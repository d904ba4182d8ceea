"""`mx.nd.random`: random arrays; parameters are numbers, or arrays of which each element has its own samples."""

from functools import cache as _cache

from .._core.attrs import NULL as _Null
from .._core.dispatch import draw as _drawn
from ..context import current_context
from . import _internal
from ._dispatch.namespaces import module_attributes as _module_attributes
from .ndarray import NDArray

__all__ = [
    "uniform", "normal", "randn", "poisson", "exponential", "gamma", "multinomial", "negative_binomial",
    "generalized_negative_binomial", "shuffle", "randint",
]  # fmt: skip

_operators, _listing = _module_attributes(__name__, "random")


def __getattr__(name):
    if not name.endswith("_like"):
        raise AttributeError(f"module 'mxnet.ndarray.random' has no attribute '{name}'")
    return _operators(name)


def __dir__():
    return sorted({*globals(), *(name for name in _listing() if name.endswith("_like"))})


def _draw(kind, parameters, shape, dtype, ctx, out, kwargs):
    """One distribution: a single number without `shape` or `out`, else what they say."""
    if shape is _Null and out is None and not isinstance(parameters[0], NDArray):
        shape = 1
    options = {"shape": shape, "dtype": dtype, "ctx": current_context() if ctx is None else ctx, "out": out, **kwargs}
    return _drawn(*_both(kind), parameters, NDArray, options)


@_cache
def _both(kind):
    """The operators of a distribution: whose parameters are numbers, and whose parameters are arrays."""
    sampler = None if kind == "randint" else getattr(_internal, f"_sample_{kind}")
    return getattr(_internal, f"_random_{kind}"), sampler


def uniform(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Numbers spread evenly over [low, high)."""
    return _draw("uniform", [low, high], shape, dtype, ctx, out, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Normal numbers of mean `loc` and standard deviation `scale`."""
    return _draw("normal", [loc, scale], shape, dtype, ctx, out, kwargs)


def randn(*shape, **kwargs):
    """Normal numbers in the shape that the positional arguments give; `loc`, `scale`, `dtype`, `ctx`, `out` by name."""
    loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
    dtype, ctx, out = kwargs.pop("dtype", _Null), kwargs.pop("ctx", None), kwargs.pop("out", None)
    assert isinstance(loc, (int, float, NDArray))
    assert isinstance(scale, (int, float, NDArray))
    return _draw("normal", [loc, scale], shape, dtype, ctx, out, kwargs)


def poisson(lam=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Counts at rate `lam`, as floating point numbers."""
    return _draw("poisson", [lam], shape, dtype, ctx, out, kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Waiting times of mean `scale`."""
    return _draw("exponential", [1.0 / scale], shape, dtype, ctx, out, kwargs)


def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Gamma numbers of shape `alpha` and scale `beta`."""
    return _draw("gamma", [alpha, beta], shape, dtype, ctx, out, kwargs)


def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Counts of failures before the `k`-th success, each with chance `p`."""
    return _draw("negative_binomial", [k, p], shape, dtype, ctx, out, kwargs)


def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Counts of mean `mu` and dispersion `alpha`."""
    return _draw("generalized_negative_binomial", [mu, alpha], shape, dtype, ctx, out, kwargs)


def multinomial(data, shape=_Null, get_prob=False, out=None, dtype="int32", **kwargs):
    """For each row of probabilities `shape` class numbers; with `get_prob` also their log likelihoods."""
    return _internal._sample_multinomial(data, shape, get_prob, out=out, dtype=dtype, **kwargs)


def shuffle(data, **kwargs):
    """A copy of `data` with the items of the first axis in random order."""
    return _internal._shuffle(data, **kwargs)


def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Integers in [low, high)."""
    return _draw("randint", [low, high], shape, dtype, ctx, out, kwargs)
