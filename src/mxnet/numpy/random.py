"""`mx.np.random`: standard samples from the context's stream, moved and stretched by the parameters.

Parameters are numbers or arrays; arrays are broadcast, and gradients reach them through the arithmetic.
"""

import math
import numbers

import numpy as onp

from .._core.errors import MXNetError
from ..ndarray.ndarray import NDArrayBase
from ._call import call
from ._creation import zeros

__all__ = [
    "beta", "chisquare", "choice", "exponential", "gamma", "gumbel", "logistic", "lognormal", "multinomial",
    "multivariate_normal", "normal", "pareto", "power", "rand", "randint", "randn", "rayleigh", "shuffle", "uniform",
    "weibull",
]  # fmt: skip


def _shape(size, *parameters):
    """The shape of the result: what is asked for, or the parameters' common one."""
    if size is not None:
        return (int(size),) if isinstance(size, numbers.Integral) else tuple(int(s) for s in size)
    return onp.broadcast_shapes(*(p.shape for p in parameters if isinstance(p, NDArrayBase)))


def _place(ctx, *parameters):
    found = [p.ctx for p in parameters if isinstance(p, NDArrayBase)]
    return found[0] if found and ctx is None else ctx


def _standard(kind, shape, dtype, ctx, **attrs):
    """Samples in a shape; an array without axes is drawn as one with a single place, nothing is drawn for nothing."""
    if 0 in shape:
        return zeros(shape, dtype, ctx=ctx)
    drawn = call(f"_random_{kind}", shape=shape or (1,), dtype=dtype, ctx=ctx, **attrs)
    return drawn if shape else drawn.reshape(())


def _deliver(result, out):
    if out is None:
        return result
    out[...] = result
    return out


def _check(positive, name):
    """Scale parameters may not be negative."""
    lowest = positive.asnumpy().min() if isinstance(positive, NDArrayBase) and positive.size else positive
    if isinstance(lowest, numbers.Number) and lowest < 0:
        raise MXNetError(f"{name} must not be negative, got {lowest}")


def _open_uniform(shape, ctx):
    """Numbers of (0, 1]: safe under a logarithm."""
    return 1.0 - _standard("uniform", shape, None, ctx)


def uniform(low=0.0, high=1.0, size=None, dtype=None, ctx=None, out=None):
    """Numbers spread evenly over [low, high)."""
    noise = _standard("uniform", _shape(size, low, high), dtype, _place(ctx, low, high))
    return _deliver(low + noise * (high - low), out)


def normal(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, out=None):
    """Normal numbers of mean `loc` and standard deviation `scale`."""
    _check(scale, "scale")
    noise = _standard("normal", _shape(size, loc, scale), dtype, _place(ctx, loc, scale))
    return _deliver(loc + noise * scale, out)


def lognormal(mean=0.0, sigma=1.0, size=None, dtype=None, ctx=None, out=None):
    """Numbers whose logarithms are normal."""
    from . import exp

    return _deliver(exp(normal(mean, sigma, size, dtype, ctx)), out)


def logistic(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
    """Logistic numbers."""
    from . import log

    _check(scale, "scale")
    place = _place(ctx, loc, scale)
    noise = _open_uniform(_shape(size, loc, scale), place) * (1 - 2e-7) + 1e-7
    return _deliver(loc + scale * (log(noise) - log(1.0 - noise)), out)


def gumbel(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
    """Gumbel numbers."""
    from . import log

    _check(scale, "scale")
    noise = _open_uniform(_shape(size, loc, scale), _place(ctx, loc, scale)) * (1 - 2e-7) + 1e-7
    return _deliver(loc - scale * log(-log(noise)), out)


def exponential(scale=1.0, size=None, ctx=None, out=None):
    """Waiting times of mean `scale`."""
    from . import log

    _check(scale, "scale")
    return _deliver(-log(_open_uniform(_shape(size, scale), _place(ctx, scale))) * scale, out)


def pareto(a, size=None, ctx=None, out=None):
    """Pareto numbers of the second kind."""
    from . import expm1

    _check(a, "a")
    return _deliver(expm1(exponential(1.0, _shape(size, a), _place(ctx, a)) / a), out)


def weibull(a, size=None, ctx=None, out=None):
    """Weibull numbers of scale one."""
    _check(a, "a")
    return _deliver(exponential(1.0, _shape(size, a), _place(ctx, a)) ** (1.0 / a), out)


def power(a, size=None):
    """Numbers of [0, 1] with density a x^(a-1)."""
    _check(a, "a")
    return _open_uniform(_shape(size, a), _place(None, a)) ** (1.0 / a)


def rayleigh(scale=1.0, size=None, ctx=None, out=None):
    """Rayleigh numbers."""
    from . import sqrt

    _check(scale, "scale")
    return _deliver(sqrt(2.0 * exponential(1.0, _shape(size, scale), _place(ctx, scale))) * scale, out)


def gamma(shape, scale=1.0, size=None, dtype=None, ctx=None, out=None):
    """Gamma numbers of a shape and a scale."""
    _check(shape, "shape")
    _check(scale, "scale")
    wanted, place = _shape(size, shape, scale), _place(ctx, shape, scale)
    if isinstance(shape, NDArrayBase):
        from . import broadcast_to, ones_like

        alpha = broadcast_to(shape, wanted or (1,)).astype(dtype or "float32")
        noise = call("_sample_gamma", alpha, ones_like(alpha)).reshape(wanted)
    else:
        noise = _standard("gamma", wanted, dtype, place, alpha=shape)
    return _deliver(noise * scale, out)


def chisquare(df, size=None, dtype=None, ctx=None):
    """Sums of squares of `df` normal numbers."""
    return gamma(df / 2, 2.0, size, dtype, ctx)


def beta(a, b, size=None, dtype=None, ctx=None):
    """Beta numbers."""
    wanted = _shape(size, a, b)
    first, second = gamma(a, 1.0, wanted, dtype, ctx), gamma(b, 1.0, wanted, dtype, ctx)
    return first / (first + second)


def randint(low, high=None, size=None, dtype=None, ctx=None, out=None):
    """Integers in [low, high), or below `low`."""
    low, high = (0, low) if high is None else (low, high)
    drawn = _standard("randint", _shape(size), "int64", ctx, low=low, high=high)
    return _deliver(drawn.astype(dtype or "int64"), out)


def rand(*size, **kwargs):
    """Numbers spread evenly over [0, 1), in the shape that the arguments give."""
    return uniform(size=size, **kwargs)


def randn(*size, **kwargs):
    """Standard normal numbers in the shape that the arguments give."""
    return normal(size=size, **kwargs)


def shuffle(x):
    """Bring the items of the first axis in random order, in place."""
    x[:] = call("_shuffle", x)


def choice(a, size=None, replace=True, p=None, ctx=None, out=None):
    """Items of `a` (or of range(a)) at random, each as likely, or as `p` says."""
    from . import argsort, log
    from . import sum as total

    count = a if isinstance(a, numbers.Integral) else a.shape[0]
    wanted = _shape(size)
    number = math.prod(wanted)
    if not replace and number > count:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    if not replace:
        noise = -log(_open_uniform((count,), ctx))
        picked = argsort(noise if p is None else noise / p)[:number]
    elif p is None:
        picked = randint(0, count, (number,), ctx=ctx)
    else:
        ends = p.cumsum().reshape(1, -1)
        picked = total((uniform(size=(number, 1), ctx=ctx) * ends[0, -1] >= ends).astype("int64"), 1)
    picked = picked.reshape(wanted)
    return _deliver(picked if isinstance(a, numbers.Integral) else a.take(picked, axis=0), out)


def multinomial(n, pvals, size=None, **kwargs):
    """How often each outcome came in `n` throws."""
    from . import array

    chances = pvals.asnumpy() if isinstance(pvals, NDArrayBase) else onp.asarray(pvals)
    if chances[:-1].sum() > 1.0 + 1e-6:
        raise ValueError("sum(pvals[:-1]) > 1.0")
    wanted = _shape(size)
    rounds = math.prod(wanted)
    if not chances.size:
        return zeros((*wanted, 0), "int64")
    p = array(chances, dtype="float32")
    throws = choice(len(chances), (rounds * n,), p=p / p.sum()).asnumpy().reshape(rounds, n)
    counts = [onp.bincount(t, minlength=len(chances)) for t in throws]
    return array(onp.array(counts, dtype="int64").reshape(*wanted, len(chances)))


def multivariate_normal(mean, cov, size=None, check_valid=None, tol=None):
    """Normal vectors of a mean and a covariance matrix."""
    if check_valid is not None or tol is not None:
        raise NotImplementedError("multivariate_normal: check_valid and tol are not supported")
    from . import matmul
    from .linalg import cholesky

    batch = onp.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    wanted = (*(() if size is None else _shape(size)), *batch, mean.shape[-1])
    noise = _standard("normal", wanted, None, mean.ctx)
    return mean + matmul(cholesky(cov), noise.reshape(*wanted, 1)).reshape(wanted)
