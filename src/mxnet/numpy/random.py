"""`mx.np.random`: on the CPU MXNet's draws, number for number; parameters are numbers, or arrays that are broadcast."""

import numbers
from math import prod

import numpy as onp

from .._core.streams import custom_stream
from .._core.tracing import Traced
from ._call import ARRAYS, call

__all__ = [
    "beta", "chisquare", "choice", "exponential", "gamma", "gumbel", "logistic", "lognormal", "multinomial",
    "multivariate_normal", "normal", "pareto", "power", "rand", "randint", "randn", "rayleigh", "shuffle", "uniform",
    "weibull",
]  # fmt: skip


def _size(size):
    """A shape, or None where a single number or the parameters' shape is meant."""
    if size is None or (isinstance(size, tuple) and not size):
        return None
    return (int(size),) if isinstance(size, numbers.Integral) else tuple(int(s) for s in size)


def _draw(operator, parameters, size, ctx=None, out=None, **attrs):
    """An operator whose parameters are attributes where they are numbers and inputs where they are arrays."""
    for name, value in parameters.items():
        if not isinstance(value, (*ARRAYS, numbers.Number)):
            raise ValueError(
                f"Distribution parameters must be either mxnet.numpy.ndarray or numbers, got {name}={value!r}"
            )
    arrays = [p for p in parameters.values() if isinstance(p, ARRAYS)]
    # 0.0 is no key of what was read before, as -0.0 would be taken for it; 0 is
    values = {n: "None" if isinstance(p, ARRAYS) else float(p) or 0 for n, p in parameters.items()}
    if out is not None and size is None and not isinstance(out, Traced):
        size = out.shape
    return call(f"_npi_{operator}", *arrays, size=_size(size), ctx=ctx, out=out, **values, **attrs)


def uniform(low=0.0, high=1.0, size=None, dtype=None, ctx=None, out=None):
    """Numbers spread evenly over [low, high)."""
    return _draw("uniform", {"low": low, "high": high}, size, ctx, out, dtype=dtype)


def normal(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, out=None):
    """Normal numbers of mean `loc` and standard deviation `scale`."""
    return _draw("normal", {"loc": loc, "scale": scale}, size, ctx, out, dtype=dtype)


def lognormal(mean=0.0, sigma=1.0, size=None, dtype=None, ctx=None, out=None):
    """Numbers whose logarithms are normal."""
    from . import exp

    return exp(normal(mean, sigma, size, dtype, ctx), out=out)


def logistic(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
    """Logistic numbers."""
    return _draw("logistic", {"loc": loc, "scale": scale}, size, ctx, out)


def gumbel(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
    """Gumbel numbers."""
    return _draw("gumbel", {"loc": loc, "scale": scale}, size, ctx, out)


def exponential(scale=1.0, size=None, ctx=None, out=None):
    """Waiting times of mean `scale`."""
    return _draw("exponential", {"scale": scale}, size, ctx, out)


def rayleigh(scale=1.0, size=None, ctx=None, out=None):
    """Rayleigh numbers."""
    return _draw("rayleigh", {"scale": scale}, size, ctx, out)


def pareto(a, size=None, ctx=None, out=None):
    """Pareto numbers of the second kind."""
    return _draw("pareto", {"a": a}, size, ctx, out)


def weibull(a, size=None, ctx=None, out=None):
    """Weibull numbers of scale one."""
    return _draw("weibull", {"a": a}, size, ctx, out)


def power(a, size=None):
    """Numbers of [0, 1] with density a x^(a-1)."""
    return _draw("powerd", {"a": a}, size)


def gamma(shape, scale=1.0, size=None, dtype=None, ctx=None, out=None):
    """Gamma numbers of a shape and a scale."""
    return _draw("gamma", {"shape": shape, "scale": scale}, size, ctx, out, dtype=dtype)


def chisquare(df, size=None, dtype=None, ctx=None):
    """Gamma numbers of the shape `df` / 2. Their scale is 1 / 2, as MXNet has it: four times these are chi-squared."""
    return gamma(df / 2, 1 / 2, size, dtype, ctx)


def beta(a, b, size=None, dtype=None, ctx=None):
    """Beta numbers."""
    first, second = (gamma(p, 1, size, "float64", ctx) for p in (a, b))
    return (first / (first + second)).astype(dtype or "float32")


def randint(low, high=None, size=None, dtype=None, ctx=None, out=None):
    """Integers in [low, high), or below `low`."""
    low, high = (0, low) if high is None else (low, high)
    shape = () if size is None else _size(size) or ()
    if shape and 0 not in shape:
        return call("_random_randint", low=low, high=high, shape=shape, dtype=dtype or "int64", ctx=ctx, out=out)
    from . import zeros

    one = call("_random_randint", low=low, high=high, shape=(1,), dtype=dtype or "int64", ctx=ctx).reshape(())
    result = zeros(shape, dtype or "int64", ctx=ctx) if 0 in shape else one
    if out is None:
        return result
    out[...] = result
    return out


def rand(*size, **kwargs):
    """Numbers spread evenly over [0, 1), in the shape that the arguments give."""
    return uniform(size=size, **kwargs)


def randn(*size, **kwargs):
    """Standard normal numbers in the shape that the arguments give."""
    return normal(size=size, **kwargs)


def shuffle(x):
    """Bring the items of the first axis in random order, in place."""
    call("_shuffle", x, out=x)


def choice(a, size=None, replace=True, p=None, ctx=None, out=None):
    """Items of `a` (or of range(a)) at random, each as likely, or as `p` says."""
    items = isinstance(a, ARRAYS)
    inputs = ((a,) if items else ()) + ((p,) if p is not None else ())
    attrs = {"a": "None" if items else a, "size": _size(size) or "None", "replace": bool(replace)}
    picked = call("_npi_choice", *inputs, weighted=p is not None, ctx=ctx, out=None if items else out, **attrs)
    return a.take(picked, axis=0) if items else picked


def multinomial(n, pvals, size=None, **kwargs):
    """How often each outcome came in `n` throws."""
    if isinstance(pvals, ARRAYS):
        return call("_npi_multinomial", pvals, n=n, size=_size(size))
    if isinstance(pvals, onp.ndarray):
        raise ValueError("numpy ndarray is not supported!")
    if any(isinstance(p, list) for p in pvals):
        raise ValueError("object too deep for desired array")
    return call("_npi_multinomial", n=n, pvals=tuple(float(p) for p in pvals), size=_size(size))


def multivariate_normal(mean, cov, size=None, check_valid=None, tol=None):
    """`mean + L.T @ noise`, of the Cholesky factor `L` of `cov`; their covariance is `L.T @ L`, as in MXNet.

    The noise has a stream of its own, which `mx.random.seed` does not reach: MXNet draws it in another thread.
    """
    if check_valid is not None or tol is not None:
        raise NotImplementedError("multivariate_normal: check_valid and tol are not supported")
    from . import array, einsum
    from .linalg import cholesky

    batch = onp.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    wanted = (*(_size(size) or ()), *batch, mean.shape[-1])
    root = cholesky(cov.astype("float32") if cov.dtype == onp.float16 else cov).astype(mean.dtype)
    if mean.ctx.device_type == "gpu":
        noise = normal(size=wanted, dtype=mean.dtype, ctx=mean.ctx)
    else:
        drawn = custom_stream().serial_normal(prod(wanted))
        noise = array(drawn.reshape(wanted), dtype=mean.dtype, ctx=mean.ctx)
    return mean + einsum("...jk,...j->...k", root, noise)  # the transposed factor: MXNet's numbers
