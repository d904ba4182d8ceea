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
    """Numbers drawn evenly from [low, high).

    Parameters
    ----------
    low : number or ndarray, default 0.0
        The lower end of the range, which is part of it.
    high : number or ndarray, default 1.0
        The upper end of the range, which is not part of it.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.uniform(0, 1, size=(3,))
    array([0.5488135 , 0.5928446 , 0.71518934])
    """
    return _draw("uniform", {"low": low, "high": high}, size, ctx, out, dtype=dtype)


def normal(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, out=None):
    """Normally distributed numbers.

    Parameters
    ----------
    loc : number or ndarray, default 0.0
        The mean.
    scale : number or ndarray, default 1.0
        The standard deviation.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.normal(0, 1, size=(3,))
    array([2.2122064, 1.1630787, 0.7740038])
    """
    return _draw("normal", {"loc": loc, "scale": scale}, size, ctx, out, dtype=dtype)


def lognormal(mean=0.0, sigma=1.0, size=None, dtype=None, ctx=None, out=None):
    """Numbers whose logarithms are normally distributed.

    Parameters
    ----------
    mean : number or ndarray, default 0.0
        The mean of the logarithms.
    sigma : number or ndarray, default 1.0
        The standard deviation of the logarithms.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> np.random.lognormal(size=(3,)).shape
    (3,)
    """
    from . import exp

    return exp(normal(mean, sigma, size, dtype, ctx), out=out)


def logistic(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
    """Numbers of the logistic distribution.

    Parameters
    ----------
    loc : number or ndarray, default 0.0
        The centre.
    scale : number or ndarray, default 1.0
        The scale.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.logistic(size=(3,)).shape
    (3,)
    """
    return _draw("logistic", {"loc": loc, "scale": scale}, size, ctx, out)


def gumbel(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
    """Numbers of the Gumbel distribution.

    Parameters
    ----------
    loc : number or ndarray, default 0.0
        The mode.
    scale : number or ndarray, default 1.0
        The scale.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.gumbel(size=(3,)).shape
    (3,)
    """
    return _draw("gumbel", {"loc": loc, "scale": scale}, size, ctx, out)


def exponential(scale=1.0, size=None, ctx=None, out=None):
    """Exponentially distributed numbers.

    Parameters
    ----------
    scale : number or ndarray, default 1.0
        The mean.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.exponential(2, size=(3,)).shape
    (3,)
    """
    return _draw("exponential", {"scale": scale}, size, ctx, out)


def rayleigh(scale=1.0, size=None, ctx=None, out=None):
    """Numbers of the Rayleigh distribution.

    Parameters
    ----------
    scale : number or ndarray, default 1.0
        The scale.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.rayleigh(size=(3,)).shape
    (3,)
    """
    return _draw("rayleigh", {"scale": scale}, size, ctx, out)


def pareto(a, size=None, ctx=None, out=None):
    """Numbers of the Pareto distribution of the second kind, with density a·(1 + x)^(-a - 1).

    Parameters
    ----------
    a : number or ndarray
        The shape of the distribution.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.pareto(3, size=(3,)).shape
    (3,)
    """
    return _draw("pareto", {"a": a}, size, ctx, out)


def weibull(a, size=None, ctx=None, out=None):
    """Numbers of the Weibull distribution of scale 1.

    Parameters
    ----------
    a : number or ndarray
        The shape of the distribution.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.weibull(3, size=(3,)).shape
    (3,)
    """
    return _draw("weibull", {"a": a}, size, ctx, out)


def power(a, size=None):
    """Numbers of [0, 1] with density a·x^(a - 1).

    Parameters
    ----------
    a : number or ndarray
        The shape of the distribution.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.power(3, size=(3,)).shape
    (3,)
    """
    return _draw("powerd", {"a": a}, size)


def gamma(shape, scale=1.0, size=None, dtype=None, ctx=None, out=None):
    """Numbers of the gamma distribution, whose mean is shape · scale.

    Parameters
    ----------
    shape : number or ndarray
        The shape of the distribution.
    scale : number or ndarray, default 1.0
        The scale.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.gamma(2, 1, size=(3,)).shape
    (3,)
    """
    return _draw("gamma", {"shape": shape, "scale": scale}, size, ctx, out, dtype=dtype)


def chisquare(df, size=None, dtype=None, ctx=None):
    """Numbers of the chi-squared distribution.

    Parameters
    ----------
    df : number or ndarray
        The degrees of freedom.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.chisquare(2, size=(3,)).shape
    (3,)
    """
    return gamma(df / 2, 1 / 2, size, dtype, ctx)


def beta(a, b, size=None, dtype=None, ctx=None):
    """Numbers of the beta distribution, between 0 and 1.

    Parameters
    ----------
    a : number or ndarray
        The shape of the distribution.
    b : number or ndarray
        The second shape of the distribution.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.beta(2, 3, size=(3,)).shape
    (3,)
    """
    first, second = (gamma(p, 1, size, "float64", ctx) for p in (a, b))
    return (first / (first + second)).astype(dtype or "float32")


def randint(low, high=None, size=None, dtype=None, ctx=None, out=None):
    """Integers drawn evenly from [low, high), or from [0, low) if `high` is not given.

    Parameters
    ----------
    low : int
        The lower end of the range, which is part of it.
    high : int, optional
        The upper end of the range, which is not part of it.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.randint(0, 10, size=(3,))
    array([1, 4, 3], dtype=int64)
    """
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
    """Numbers drawn evenly from [0, 1), the shape being the positional arguments.

    Parameters
    ----------
    *size : int
        The shape of the result.
    **kwargs
        `dtype`, `ctx` and `out`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.rand(2, 3).shape
    (2, 3)
    """
    return uniform(size=size, **kwargs)


def randn(*size, **kwargs):
    """Numbers drawn from a normal distribution; the positional arguments are the shape of the result.

    Parameters
    ----------
    *size : int
        The shape of the result.
    **kwargs
        `dtype`, `ctx` and `out`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.randn(2, 3).shape
    (2, 3)
    """
    return normal(size=size, **kwargs)


def shuffle(x):
    """Put the elements of the first axis in random order, in place.

    Parameters
    ----------
    x : ndarray
        The array.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.arange(3)
    >>> np.random.shuffle(x)
    >>> sorted(x.tolist())
    [0.0, 1.0, 2.0]
    """
    call("_shuffle", x, out=x)


def choice(a, size=None, replace=True, p=None, ctx=None, out=None):
    """Elements drawn from a list.

    Parameters
    ----------
    a : int or ndarray
        The list, or its length, which means 0 to a - 1.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    replace : bool, default True
        Whether an element can be drawn twice.
    p : ndarray, optional
        The probabilities; None: all are equal.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> sorted(np.random.choice(3, size=3, replace=False).tolist())
    [0, 1, 2]
    """
    items = isinstance(a, ARRAYS)
    inputs = ((a,) if items else ()) + ((p,) if p is not None else ())
    attrs = {"a": "None" if items else a, "size": _size(size) or "None", "replace": bool(replace)}
    picked = call("_npi_choice", *inputs, weighted=p is not None, ctx=ctx, out=None if items else out, **attrs)
    return a.take(picked, axis=0) if items else picked


def multinomial(n, pvals, size=None, **kwargs):
    """How often each outcome occurs in `n` experiments.

    Parameters
    ----------
    n : int
        The number of experiments.
    pvals : array_like
        The probabilities of the outcomes.
    size : int or tuple of int, optional
        The shape of the result; None: that of the parameters.
    **kwargs
        `ctx`, which is ignored.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.random.multinomial(4, [0.0, 1.0])
    array([0, 4], dtype=int64)
    """
    if isinstance(pvals, ARRAYS):
        return call("_npi_multinomial", pvals, n=n, size=_size(size))
    if isinstance(pvals, onp.ndarray):
        raise ValueError("numpy ndarray is not supported!")
    if any(isinstance(p, list) for p in pvals):
        raise ValueError("object too deep for desired array")
    return call("_npi_multinomial", n=n, pvals=tuple(float(p) for p in pvals), size=_size(size))


def multivariate_normal(mean, cov, size=None, check_valid=None, tol=None):
    """Normally distributed vectors: `mean + L.T @ noise`, of the Cholesky factor `L` of `cov`.

    As in MXNet, their covariance is `L.T @ L`, and the noise has a stream of its own, which `mx.random.seed` does not
    reach: MXNet draws it in another thread.

    Parameters
    ----------
    mean : ndarray
        The mean, in the last axis.
    cov : ndarray
        The covariance matrix, in the last two axes.
    size : int or tuple of int, optional
        The shape of the samples, before that of the parameters.
    check_valid : str, optional
        Not supported; leave it None.
    tol : float, optional
        Not supported; leave it None.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> np.random.multivariate_normal(np.zeros(2), np.eye(2), size=(3,)).shape
    (3, 2)
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
