"""`mx.sym.random`: the random functions as graph nodes."""

from .._core.attrs import NULL as _Null
from .._core.dispatch import draw as _drawn
from . import _internal
from ._space import lookup as _lookup
from .symbol import Symbol

__all__ = [
    "uniform", "normal", "randn", "poisson", "exponential", "gamma", "multinomial", "negative_binomial",
    "generalized_negative_binomial", "shuffle", "randint",
]  # fmt: skip

__getattr__, __dir__ = _lookup(globals(), "random")


def _draw(kind, parameters, shape, dtype, kwargs):
    sampler = None if kind == "randint" else getattr(_internal, f"_sample_{kind}")
    # MXNet lets symbols pass that an operator without inputs cannot take (`randn(data=…)`).
    extra = {k: v for k, v in kwargs.items() if isinstance(parameters[0], Symbol) or not isinstance(v, Symbol)}
    options = {"shape": shape, "dtype": dtype, **extra}
    return _drawn(getattr(_internal, f"_random_{kind}"), sampler, parameters, Symbol, options)


def uniform(low=0, high=1, shape=_Null, dtype=_Null, **kwargs):
    """Numbers spread evenly over [low, high)."""
    return _draw("uniform", [low, high], shape, dtype, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Normal numbers of mean `loc` and standard deviation `scale`."""
    return _draw("normal", [loc, scale], shape, dtype, kwargs)


def randn(*shape, **kwargs):
    """Normal numbers in the shape that the positional arguments give; `loc`, `scale`, `dtype` by name."""
    loc, scale, dtype = kwargs.pop("loc", 0), kwargs.pop("scale", 1), kwargs.pop("dtype", _Null)
    assert isinstance(loc, (int, float, Symbol))
    assert isinstance(scale, (int, float, Symbol))
    return _draw("normal", [loc, scale], shape, dtype, kwargs)


def poisson(lam=1, shape=_Null, dtype=_Null, **kwargs):
    """Counts at rate `lam`, as floating point numbers."""
    return _draw("poisson", [lam], shape, dtype, kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Waiting times of mean `scale`."""
    return _draw("exponential", [1.0 / scale], shape, dtype, kwargs)


def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, **kwargs):
    """Gamma numbers of shape `alpha` and scale `beta`."""
    return _draw("gamma", [alpha, beta], shape, dtype, kwargs)


def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, **kwargs):
    """Counts of failures before the `k`-th success, each with chance `p`."""
    return _draw("negative_binomial", [k, p], shape, dtype, kwargs)


def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, **kwargs):
    """Counts of mean `mu` and dispersion `alpha`."""
    return _draw("generalized_negative_binomial", [mu, alpha], shape, dtype, kwargs)


def multinomial(data, shape=_Null, get_prob=True, dtype="int32", **kwargs):
    """For each row of probabilities `shape` class numbers and, with `get_prob`, their log likelihoods."""
    return _internal._sample_multinomial(data, shape, get_prob, dtype=dtype, **kwargs)


def shuffle(data, **kwargs):
    """The items of the first axis in random order."""
    return _internal._shuffle(data, **kwargs)


def randint(low, high, shape=_Null, dtype=_Null, **kwargs):
    """Integers in [low, high)."""
    return _draw("randint", [low, high], shape, dtype, kwargs)
