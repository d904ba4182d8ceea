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
    """Numbers drawn evenly from [low, high); arrays as parameters give `shape` numbers for each element.

    Parameters
    ----------
    low : number or NDArray, default 0
        The lower end of the range, which is part of it.
    high : number or NDArray, default 1
        The upper end of the range, which is not part of it.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are arrays.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; the current context without it.
    out : NDArray, optional
        The array to write the result to.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.uniform(0, 1, shape=(3,)).asnumpy()
    array([0.5488135 , 0.5928446 , 0.71518934], dtype=float32)
    """
    return _draw("uniform", [low, high], shape, dtype, ctx, out, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Normally distributed numbers; arrays as parameters give `shape` numbers for each element.

    Parameters
    ----------
    loc : number or NDArray, default 0
        The mean.
    scale : number or NDArray, default 1
        The standard deviation.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are arrays.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; the current context without it.
    out : NDArray, optional
        The array to write the result to.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.normal(0, 1, shape=(3,)).asnumpy()
    array([2.2122064, 0.7740038, 1.0434403], dtype=float32)
    >>> mx.nd.random.normal(mx.nd.array([0, 100]), mx.nd.array([1, 1]), shape=2).shape
    (2, 2)
    """
    return _draw("normal", [loc, scale], shape, dtype, ctx, out, kwargs)


def randn(*shape, **kwargs):
    """Numbers drawn from a normal distribution; the positional arguments are the shape of the result.

    Parameters
    ----------
    *shape : int
        The shape of the result.
    **kwargs
        `loc` and `scale` (the mean and the standard deviation), `dtype`, `ctx` and `out`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.randn(2, 3).shape
    (2, 3)
    """
    loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
    dtype, ctx, out = kwargs.pop("dtype", _Null), kwargs.pop("ctx", None), kwargs.pop("out", None)
    assert isinstance(loc, (int, float, NDArray))
    assert isinstance(scale, (int, float, NDArray))
    return _draw("normal", [loc, scale], shape, dtype, ctx, out, kwargs)


def poisson(lam=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Counts of the Poisson distribution.

    Parameters
    ----------
    lam : number or NDArray, default 1
        The rate, which is also the mean.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are arrays.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; the current context without it.
    out : NDArray, optional
        The array to write the result to.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.poisson(4, shape=(3,)).asnumpy()
    array([9., 5., 6.], dtype=float32)
    """
    return _draw("poisson", [lam], shape, dtype, ctx, out, kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Exponentially distributed numbers, of mean `scale`.

    Parameters
    ----------
    scale : number or NDArray, default 1
        The mean.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are arrays.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; the current context without it.
    out : NDArray, optional
        The array to write the result to.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.exponential(2, shape=(3,)).asnumpy()
    array([1.5917491, 1.7971207, 2.5118613], dtype=float32)
    """
    return _draw("exponential", [1.0 / scale], shape, dtype, ctx, out, kwargs)


def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Numbers of the gamma distribution, whose mean is alpha · beta.

    Parameters
    ----------
    alpha : number or NDArray, default 1
        The shape of the distribution.
    beta : number or NDArray, default 1
        The scale of the distribution.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are arrays.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; the current context without it.
    out : NDArray, optional
        The array to write the result to.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.gamma(2, 1, shape=(3,)).asnumpy()
    array([6.4644885, 2.1283226, 3.7099428], dtype=float32)
    """
    return _draw("gamma", [alpha, beta], shape, dtype, ctx, out, kwargs)


def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Counts of failures before the `k`-th success.

    Parameters
    ----------
    k : number or NDArray, default 1
        The number of successes to wait for.
    p : number or NDArray, default 1
        The probability of success.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are arrays.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; the current context without it.
    out : NDArray, optional
        The array to write the result to.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.negative_binomial(3, 0.5, shape=(3,)).asnumpy()
    array([12.,  3.,  2.], dtype=float32)
    """
    return _draw("negative_binomial", [k, p], shape, dtype, ctx, out, kwargs)


def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Counts of mean `mu` and variance mu + alpha · mu².

    Parameters
    ----------
    mu : number or NDArray, default 1
        The mean.
    alpha : number or NDArray, default 1
        The dispersion; 0 is the Poisson distribution.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are arrays.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; the current context without it.
    out : NDArray, optional
        The array to write the result to.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.generalized_negative_binomial(2, 0.3, shape=(3,)).asnumpy()
    array([10.,  2.,  1.], dtype=float32)
    """
    return _draw("generalized_negative_binomial", [mu, alpha], shape, dtype, ctx, out, kwargs)


def multinomial(data, shape=_Null, get_prob=False, out=None, dtype="int32", **kwargs):
    """Class numbers drawn by their probabilities.

    Parameters
    ----------
    data : NDArray
        The probabilities, in the last axis.
    shape : int or tuple of int, optional
        The shape of the samples for each row; one number without it.
    get_prob : bool, default False
        Whether the log likelihoods of the samples are returned as well.
    out : NDArray, optional
        The array to write the result to.
    dtype : str or type, optional
        The data type of the result.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray or list of two NDArrays

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.multinomial(mx.nd.array([0, 1, 0]), shape=4).asnumpy()
    array([1, 1, 1, 1], dtype=int32)
    """
    return _internal._sample_multinomial(data, shape, get_prob, out=out, dtype=dtype, **kwargs)


def shuffle(data, **kwargs):
    """The array with the elements of its first axis in random order.

    Parameters
    ----------
    data : NDArray
        The array.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.shuffle(mx.nd.array([[1, 2], [3, 4], [5, 6]])).asnumpy()
    array([[1., 2.],
           [5., 6.],
           [3., 4.]], dtype=float32)
    """
    return _internal._shuffle(data, **kwargs)


def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Integers drawn evenly from [low, high).

    Parameters
    ----------
    low : int
        The lower end of the range, which is part of it.
    high : int
        The upper end of the range, which is not part of it.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are arrays.
    dtype : str or type, optional
        The data type of the result.
    ctx : Context, optional
        The device; the current context without it.
    out : NDArray, optional
        The array to write the result to.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray
        int32 unless `dtype` says int64.

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.nd.random.randint(0, 10, shape=(3,)).asnumpy()
    array([1, 4, 3], dtype=int32)
    """
    return _draw("randint", [low, high], shape, dtype, ctx, out, kwargs)
