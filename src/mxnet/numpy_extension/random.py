"""`mx.npx.random`: seeds, batches of samples, coin throws."""

import numbers

from ..numpy._call import ARRAYS, call
from ..numpy.random import _draw, _size
from ..random import seed as _seed

__all__ = ["bernoulli", "normal_n", "seed", "uniform_n"]


def seed(seed, ctx="all"):
    """Seed the random numbers of `mx.np.random`, `mx.npx.random` and `mx.nd.random`, which share one state.

    NumPy's own generator is not touched.

    Parameters
    ----------
    seed : int
        The seed. The same seed and the same calls give the same numbers.
    ctx : str or Context, default 'all'
        The device whose numbers are seeded; 'all' means every device.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.seed(0)
    >>> np.random.uniform(size=(2,))
    array([0.5488135, 0.5928446])
    """
    _seed(seed, ctx)


def uniform_n(low=0.0, high=1.0, batch_shape=None, dtype=None, ctx=None):
    """Numbers drawn evenly from [low, high): `batch_shape` of them for each element of the parameters.

    Parameters
    ----------
    low : number or ndarray, default 0.0
        The lower end of the range, which is part of it.
    high : number or ndarray, default 1.0
        The upper end of the range, which is not part of it.
    batch_shape : int or tuple of int, optional
        The shape of the samples, which comes before that of the parameters; None: one sample for each element.
    dtype : str or type, optional
        The data type of the result; None means float32.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray
        The samples, (batch_shape…, broadcast shape of `low` and `high`…).

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.uniform_n(np.zeros(2), np.ones(2), batch_shape=(3,)).shape
    (3, 2)
    """
    return _draw("uniform_n", {"low": low, "high": high}, batch_shape, ctx, dtype=dtype)


def normal_n(loc=0.0, scale=1.0, batch_shape=None, dtype=None, ctx=None):
    """Normally distributed numbers: `batch_shape` of them for each element of the parameters.

    Parameters
    ----------
    loc : number or ndarray, default 0.0
        The mean.
    scale : number or ndarray, default 1.0
        The standard deviation.
    batch_shape : int or tuple of int, optional
        The shape of the samples, which comes before that of the parameters; None: one sample for each element.
    dtype : str or type, optional
        The data type of the result; None means float32.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray
        The samples, (batch_shape…, broadcast shape of `loc` and `scale`…).

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.random.normal_n(np.zeros(2), np.ones(2), batch_shape=(3,)).shape
    (3, 2)
    """
    return _draw("normal_n", {"loc": loc, "scale": scale}, batch_shape, ctx, dtype=dtype)


def bernoulli(prob=None, logit=None, size=None, dtype=None, ctx=None, out=None):
    """Ones with a probability, zeros otherwise. Give either `prob` or `logit`.

    Parameters
    ----------
    prob : number or ndarray, optional
        The probability of a one, between 0 and 1.
    logit : number or ndarray, optional
        The logarithm of the odds, log(prob / (1 - prob)), instead of `prob`.
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
    >>> npx.random.bernoulli(1.0, size=(3,))
    array([1., 1., 1.])
    """
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
