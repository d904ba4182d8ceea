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
    """Numbers drawn evenly from [low, high), anew at every forward pass.

    Parameters
    ----------
    low : number or Symbol, default 0
        The lower end of the range, which is part of it.
    high : number or Symbol, default 1
        The upper end of the range, which is not part of it.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are symbols.
    dtype : str or type, optional
        The data type of the result.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.sym.random.uniform(0, 1, shape=(3,)).eval()[0].asnumpy()
    array([0.5488135 , 0.5928446 , 0.71518934], dtype=float32)
    """
    return _draw("uniform", [low, high], shape, dtype, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Normally distributed numbers, drawn anew at every forward pass.

    Parameters
    ----------
    loc : number or Symbol, default 0
        The mean.
    scale : number or Symbol, default 1
        The standard deviation.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are symbols.
    dtype : str or type, optional
        The data type of the result.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.sym.random.normal(0, 1, shape=(3,)).eval()[0].asnumpy()
    array([2.2122064, 0.7740038, 1.0434403], dtype=float32)
    """
    return _draw("normal", [loc, scale], shape, dtype, kwargs)


def randn(*shape, **kwargs):
    """Numbers drawn from a normal distribution; the positional arguments are the shape of the result.

    Parameters
    ----------
    *shape : int
        The shape of the result.
    **kwargs
        `loc` and `scale` (the mean and the standard deviation), `dtype`, `name` and `attr`.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.sym.random.randn(2, 3).eval()[0].shape
    (2, 3)
    """
    loc, scale, dtype = kwargs.pop("loc", 0), kwargs.pop("scale", 1), kwargs.pop("dtype", _Null)
    assert isinstance(loc, (int, float, Symbol))
    assert isinstance(scale, (int, float, Symbol))
    return _draw("normal", [loc, scale], shape, dtype, kwargs)


def poisson(lam=1, shape=_Null, dtype=_Null, **kwargs):
    """Counts of the Poisson distribution.

    Parameters
    ----------
    lam : number or Symbol, default 1
        The rate, which is also the mean.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are symbols.
    dtype : str or type, optional
        The data type of the result.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.sym.random.poisson(4, shape=(3,)).eval()[0].asnumpy()
    array([9., 5., 6.], dtype=float32)
    """
    return _draw("poisson", [lam], shape, dtype, kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Exponentially distributed numbers, of mean `scale`.

    Parameters
    ----------
    scale : number or Symbol, default 1
        The mean.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are symbols.
    dtype : str or type, optional
        The data type of the result.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.sym.random.exponential(2, shape=(3,)).eval()[0].asnumpy()
    array([1.5917491, 1.7971207, 2.5118613], dtype=float32)
    """
    return _draw("exponential", [1.0 / scale], shape, dtype, kwargs)


def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, **kwargs):
    """Numbers of the gamma distribution, whose mean is alpha · beta.

    Parameters
    ----------
    alpha : number or Symbol, default 1
        The shape of the distribution.
    beta : number or Symbol, default 1
        The scale of the distribution.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are symbols.
    dtype : str or type, optional
        The data type of the result.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.sym.random.gamma(2, 1, shape=(3,)).eval()[0].asnumpy()
    array([6.4644885, 2.1283226, 3.7099428], dtype=float32)
    """
    return _draw("gamma", [alpha, beta], shape, dtype, kwargs)


def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, **kwargs):
    """Counts of failures before the `k`-th success.

    Parameters
    ----------
    k : number or Symbol, default 1
        The number of successes to wait for.
    p : number or Symbol, default 1
        The probability of success.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are symbols.
    dtype : str or type, optional
        The data type of the result.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.sym.random.negative_binomial(3, 0.5, shape=(3,)).eval()[0].asnumpy()
    array([12.,  3.,  2.], dtype=float32)
    """
    return _draw("negative_binomial", [k, p], shape, dtype, kwargs)


def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, **kwargs):
    """Counts of mean `mu` and variance mu + alpha · mu².

    Parameters
    ----------
    mu : number or Symbol, default 1
        The mean.
    alpha : number or Symbol, default 1
        The dispersion; 0 is the Poisson distribution.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are symbols.
    dtype : str or type, optional
        The data type of the result.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.sym.random.generalized_negative_binomial(2, 0.3, shape=(3,)).eval()[0].asnumpy()
    array([10.,  2.,  1.], dtype=float32)
    """
    return _draw("generalized_negative_binomial", [mu, alpha], shape, dtype, kwargs)


def multinomial(data, shape=_Null, get_prob=True, dtype="int32", **kwargs):
    """Class numbers drawn by their probabilities.

    Parameters
    ----------
    data : Symbol
        The probabilities, in the last axis.
    shape : int or tuple of int, optional
        The shape of the samples for each row; one number without it.
    get_prob : bool, default True
        Whether the log likelihoods of the samples are an output as well.
    dtype : str or type, optional
        The data type of the result.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> draws = mx.sym.random.multinomial(mx.sym.var("p"), shape=4, get_prob=False)
    >>> draws.eval(p=mx.nd.array([0, 1, 0]))[0].asnumpy()
    array([1, 1, 1, 1], dtype=int32)
    """
    return _internal._sample_multinomial(data, shape, get_prob, dtype=dtype, **kwargs)


def shuffle(data, **kwargs):
    """The array with the elements of its first axis in random order.

    Parameters
    ----------
    data : Symbol
        The array.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.sym.random.shuffle(mx.sym.var("x")).eval(x=mx.nd.array([1, 2, 3]))[0].asnumpy()
    array([1., 3., 2.], dtype=float32)
    """
    return _internal._shuffle(data, **kwargs)


def randint(low, high, shape=_Null, dtype=_Null, **kwargs):
    """Integers drawn evenly from [low, high).

    Parameters
    ----------
    low : int
        The lower end of the range, which is part of it.
    high : int
        The upper end of the range, which is not part of it.
    shape : int or tuple of int, optional
        The shape of the result, or of the samples for each parameter if they are symbols.
    dtype : str or type, optional
        The data type of the result.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.random.seed(0)
    >>> mx.sym.random.randint(0, 10, shape=(3,)).eval()[0].asnumpy()
    array([1, 4, 3], dtype=int32)
    """
    return _draw("randint", [low, high], shape, dtype, kwargs)
