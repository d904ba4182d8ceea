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
    """Uniformly distributed numbers from [low, high).

    The density is 1 / (high - low); mean (low + high) / 2, variance (high - low)² / 12.

    Parameters
    ----------
    low : float or ndarray, default 0.0
        The lower bound, which may be drawn.
    high : float or ndarray, default 1.0
        The upper bound, which is not drawn.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    dtype : str or type, optional
        float16, float32 or float64; None means float32.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Notes
    -----
    `npx.random.seed` sets the seed; `numpy.random.seed` has no effect.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.uniform(0, 1, size=(3,))
    array([0.5488135 , 0.5928446 , 0.71518934])
    >>> np.random.uniform(np.array([0, 10]), np.array([1, 20])).shape
    (2,)
    """
    return _draw("uniform", {"low": low, "high": high}, size, ctx, out, dtype=dtype)


def normal(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, out=None):
    """Normally distributed (Gaussian) numbers.

    The density is exp(-(x - loc)² / (2 scale²)) / (scale √(2π)).

    Parameters
    ----------
    loc : float or ndarray, default 0.0
        The mean.
    scale : float or ndarray, default 1.0
        The standard deviation, not the variance; not negative.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    dtype : str or type, optional
        float16, float32 or float64; None means float32.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Notes
    -----
    The gradients with respect to `loc` and `scale` are computed, so that it can be used for the reparametrization
    trick.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.normal(0, 1, size=(3,))
    array([2.2122064, 1.1630787, 0.7740038])
    >>> np.random.normal(np.array([0, 100]), 1).shape
    (2,)
    """
    return _draw("normal", {"loc": loc, "scale": scale}, size, ctx, out, dtype=dtype)


def lognormal(mean=0.0, sigma=1.0, size=None, dtype=None, ctx=None, out=None):
    """Numbers whose logarithms are normally distributed: exp(mean + sigma · z) with z standard normal.

    The mean of the numbers is exp(mean + sigma² / 2).

    Parameters
    ----------
    mean : float or ndarray, default 0.0
        The mean of the logarithms.
    sigma : float or ndarray, default 1.0
        The standard deviation of the logarithms.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    dtype : str or type, optional
        float16, float32 or float64; None means float32.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.lognormal(0, 0.5, size=(3,))
    array([3.022557 , 1.7887899, 1.4725593])
    """
    from . import exp

    return exp(normal(mean, sigma, size, dtype, ctx), out=out)


def logistic(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
    """Numbers of the logistic distribution.

    The distribution function is 1 / (1 + exp(-(x - loc) / scale)); the variance is scale² π² / 3.

    Parameters
    ----------
    loc : float or ndarray, default 0.0
        The mean.
    scale : float or ndarray, default 1.0
        The scale; positive.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.logistic(0, 1, size=(3,))
    array([0.19587798, 0.3757374 , 0.9207227 ])
    """
    return _draw("logistic", {"loc": loc, "scale": scale}, size, ctx, out)


def gumbel(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
    """Numbers of the Gumbel distribution, that of the largest of many samples.

    The distribution function is exp(-exp(-(x - loc) / scale)); the mean is loc + 0.5772 scale. The index of the largest
    of logits plus Gumbel noise is a sample of the categorical distribution.

    Parameters
    ----------
    loc : float or ndarray, default 0.0
        The mode.
    scale : float or ndarray, default 1.0
        The scale; positive.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.gumbel(0, 1, size=(3,))
    array([0.51083136, 0.64851236, 1.0930041 ])
    """
    return _draw("gumbel", {"loc": loc, "scale": scale}, size, ctx, out)


def exponential(scale=1.0, size=None, ctx=None, out=None):
    """Exponentially distributed numbers.

    The density is exp(-x / scale) / scale for x ≥ 0.

    Parameters
    ----------
    scale : float or ndarray, default 1.0
        The mean, which is one over the rate; positive.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.exponential(2, size=(3,))
    array([1.1999931 , 1.045646  , 0.67041594])
    """
    return _draw("exponential", {"scale": scale}, size, ctx, out)


def rayleigh(scale=1.0, size=None, ctx=None, out=None):
    """Numbers of the Rayleigh distribution: the length of a vector of two normal numbers of mean 0.

    The density is x / scale² · exp(-x² / (2 scale²)) for x ≥ 0.

    Parameters
    ----------
    scale : float or ndarray, default 1.0
        The standard deviation of the two normal numbers; not negative.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.rayleigh(1, size=(3,))
    array([1.0954419, 1.0225683, 0.8187893])
    """
    return _draw("rayleigh", {"scale": scale}, size, ctx, out)


def pareto(a, size=None, ctx=None, out=None):
    """Numbers of the Pareto distribution of the second kind (Lomax).

    The density is a (1 + x)^(-a - 1) for x ≥ 0. Add 1 for the classical Pareto distribution, which begins at 1.

    Parameters
    ----------
    a : float or ndarray
        The shape; positive. The mean is finite only for a > 1.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.pareto(3, size=(3,))
    array([0.22140136, 0.19038206, 0.11821759])
    """
    return _draw("pareto", {"a": a}, size, ctx, out)


def weibull(a, size=None, ctx=None, out=None):
    """Numbers of the Weibull distribution of scale 1.

    The density is a x^(a - 1) exp(-x^a) for x ≥ 0. Multiply the result by another scale.

    Parameters
    ----------
    a : float or ndarray
        The shape; not negative. 1 gives the exponential distribution.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.weibull(3, size=(3,))
    array([0.84343106, 0.8055977 , 0.69465864])
    """
    return _draw("weibull", {"a": a}, size, ctx, out)


def power(a, size=None):
    """Numbers from [0, 1] with the density a · x^(a - 1).

    Parameters
    ----------
    a : float or ndarray
        The exponent; positive. 1 gives the uniform distribution.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.power(3, size=(3,))
    array([0.7669823 , 0.7411738 , 0.65793866])
    """
    return _draw("powerd", {"a": a}, size)


def gamma(shape, scale=1.0, size=None, dtype=None, ctx=None, out=None):
    """Numbers of the gamma distribution.

    The density is proportional to x^(shape - 1) exp(-x / scale); mean shape · scale, variance shape · scale².

    Parameters
    ----------
    shape : float or ndarray
        The shape of the distribution, often called k or α; positive. The shape of the result is `size`.
    scale : float or ndarray, default 1.0
        The scale, often called θ; positive.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    dtype : str or type, optional
        float16, float32 or float64; None means float32.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.gamma(2, 1, size=(3,)).shape
    (3,)
    """
    return _draw("gamma", {"shape": shape, "scale": scale}, size, ctx, out, dtype=dtype)


def chisquare(df, size=None, dtype=None, ctx=None):
    """Numbers of the chi-squared distribution.

    The sum of the squares of `df` independent standard normal numbers. MXNet draws gamma(df / 2) with the scale 1/2, so
    that the mean is df / 4, not df; ReMX draws the same numbers.

    Parameters
    ----------
    df : float or ndarray
        The degrees of freedom; positive.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    dtype : str or type, optional
        float16, float32 or float64; None means float32.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.chisquare(2, size=(3,)).shape
    (3,)
    """
    return gamma(df / 2, 1 / 2, size, dtype, ctx)


def beta(a, b, size=None, dtype=None, ctx=None):
    """Numbers of the beta distribution, between 0 and 1.

    The density is proportional to x^(a - 1) (1 - x)^(b - 1); the mean is a / (a + b).

    Parameters
    ----------
    a : float or ndarray
        The first shape; positive.
    b : float or ndarray
        The second shape; positive.
    size : int or tuple of int, optional
        The shape of the result. None: that of the parameters broadcast against each other, `()` for numbers.
    dtype : str or type, optional
        float16, float32 or float64; None means float32.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.beta(2, 3, size=(3,)).shape
    (3,)
    """
    first, second = (gamma(p, 1, size, "float64", ctx) for p in (a, b))
    return (first / (first + second)).astype(dtype or "float32")


def randint(low, high=None, size=None, dtype=None, ctx=None, out=None):
    """Uniformly distributed integers from [low, high), or from [0, low) if `high` is not given.

    Parameters
    ----------
    low : int
        The smallest integer; if `high` is not given, the upper bound.
    high : int, optional
        The upper bound, which is not drawn.
    size : int or tuple of int, optional
        The shape of the result; None gives a zero-dimensional array.
    dtype : str or type, optional
        int32 or int64; None means int64.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.randint(0, 10, size=(3,))
    array([1, 4, 3], dtype=int64)
    >>> np.random.randint(5, size=(2, 2)).shape
    (2, 2)
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
    """Uniformly distributed numbers from [0, 1), with the shape as separate arguments.

    Parameters
    ----------
    *size : int
        The lengths of the axes; none gives a zero-dimensional array.
    **kwargs
        `dtype`, `ctx` and `out` of `np.random.uniform`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.rand(3)
    array([0.5488135 , 0.5928446 , 0.71518934])
    >>> np.random.rand(2, 3).shape
    (2, 3)
    """
    return uniform(size=size, **kwargs)


def randn(*size, **kwargs):
    """Standard normal numbers (mean 0, standard deviation 1), with the shape as separate arguments.

    Parameters
    ----------
    *size : int
        The lengths of the axes; none gives a zero-dimensional array.
    **kwargs
        `loc`, `scale`, `dtype`, `ctx` and `out` of `np.random.normal`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.randn(3)
    array([2.2122064, 1.1630787, 0.7740038])
    >>> np.random.randn(2, 3).shape
    (2, 3)
    """
    return normal(size=size, **kwargs)


def shuffle(x):
    """Shuffle an array in place along its first axis; rows stay whole.

    Parameters
    ----------
    x : ndarray
        The array, which is changed. Lists are refused.

    Notes
    -----
    Use `x[np.random.choice(len(x), len(x), replace=False)]` for a shuffled copy.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> x = np.arange(6).reshape(3, 2)
    >>> np.random.shuffle(x)
    >>> sorted(x.sum(axis=1).tolist())
    [1.0, 5.0, 9.0]
    """
    call("_shuffle", x, out=x)


def choice(a, size=None, replace=True, p=None, ctx=None, out=None):
    """Random sample from the elements of a vector, or from 0 … a - 1.

    Parameters
    ----------
    a : int or ndarray
        A vector to draw from, or its length, in which case indices are drawn.
    size : int or tuple of int, optional
        The shape of the result; None draws one element.
    replace : bool, default True
        Whether an element can be drawn more than once. If False, at most as many elements as there are can be drawn.
    p : ndarray, optional
        The probability of each element; they add up to 1. None means that all are equal.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the indices, if `a` is an int.

    Returns
    -------
    ndarray
        int64 indices if `a` is an int, else elements of `a`.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.choice(5, size=3)
    array([4, 4, 3], dtype=int64)
    >>> sorted(np.random.choice(3, size=3, replace=False).tolist())
    [0, 1, 2]
    >>> np.random.choice(np.array([10, 20]), size=4, p=np.array([0.0, 1.0]))
    array([20., 20., 20., 20.])
    """
    items = isinstance(a, ARRAYS)
    inputs = ((a,) if items else ()) + ((p,) if p is not None else ())
    attrs = {"a": "None" if items else a, "size": _size(size) or "None", "replace": bool(replace)}
    picked = call("_npi_choice", *inputs, weighted=p is not None, ctx=ctx, out=None if items else out, **attrs)
    return a.take(picked, axis=0) if items else picked


def multinomial(n, pvals, size=None, **kwargs):
    """How often each outcome occurs in `n` independent experiments.

    Parameters
    ----------
    n : int
        The number of experiments.
    pvals : ndarray or sequence of float
        The probability of each of the k outcomes; they add up to 1. NumPy arrays are refused.
    size : int or tuple of int, optional
        How many such series of experiments to make; None makes one.
    **kwargs
        `ctx`, which is ignored.

    Returns
    -------
    ndarray of int64
        Of shape size + (k,). The counts along the last axis add up to `n`.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> counts = np.random.multinomial(6, [0.5, 0.25, 0.25], size=2)
    >>> counts.shape, counts.sum(axis=1).tolist()
    ((2, 3), [6, 6])
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
    """Samples of a multivariate normal distribution.

    Parameters
    ----------
    mean : ndarray
        The mean, of shape (..., k).
    cov : ndarray
        The covariance, a symmetric positive definite matrix of shape (..., k, k). Its batch axes broadcast with those
        of `mean`.
    size : int or tuple of int, optional
        The shape of the samples, which comes before that of the batch; None draws one.
    check_valid : None
        Not supported; leave it None.
    tol : None
        Not supported; leave it None.

    Returns
    -------
    ndarray
        Of shape size + batch + (k,).

    Notes
    -----
    MXNet multiplies the noise by the transpose of the Cholesky factor L of `cov`, so that the covariance of the samples
    is Lᵀ L instead of L Lᵀ = `cov`; ReMX draws the same numbers. Both are equal for a diagonal `cov`.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.multivariate_normal(np.zeros(2), np.eye(2), size=3).shape
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
