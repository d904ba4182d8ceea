"""`mx.np` functions that make arrays."""

import numbers

import numpy as onp
import torch

from ..ndarray import _creation as nd
from ..ndarray.ndarray import NDArrayBase
from ._call import ARRAYS, MODE, call
from .multiarray import _wrap, ndarray

__all__ = [
    "arange", "array", "blackman", "empty", "empty_like", "eye", "full", "full_like", "hamming", "hanning",
    "identity", "indices", "linspace", "logspace", "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip


def _shape(shape):
    return (int(shape),) if onp.ndim(shape) == 0 else tuple(int(s) for s in shape)


def _order(order):
    if order not in ("C", None):
        raise NotImplementedError(f"only row-major order 'C' is supported, got {order!r}")


def array(object, dtype=None, ctx=None):
    """An array from nested lists, numbers or another array; lists and numbers become float32 unless `dtype` is given.

    Parameters
    ----------
    object : array_like
        Nested lists, a number or another array.
    dtype : str or type, optional
        The type of the result.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.array([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    if isinstance(object, (list, tuple)):
        object = _plain(object)
    elif dtype is None:
        dtype = getattr(object, "dtype", onp.float32)
    return ndarray(nd.array(object, ctx, dtype))


def _plain(nested):
    if isinstance(nested, NDArrayBase):
        return nested.asnumpy()
    return [_plain(x) for x in nested] if isinstance(nested, (list, tuple)) else nested


def _made(make, shape, ctx, dtype):
    """A constant array by torch's own function; None for what only the operator can tell, or a graph."""
    made = None if MODE.symbolic else nd._made(make, shape, ctx, dtype)
    return None if made is None else _wrap(made._t, made._ctx)


def zeros(shape, dtype=None, order="C", ctx=None):
    """An array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the result.
    dtype : str or type, optional
        The type of the result.
    order : str, default 'C'
        Memory order; only 'C' is supported.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.zeros((2, 2))
    array([[0., 0.],
           [0., 0.]])
    """
    _order(order)
    made = _made(lambda like, sizes: like.new_zeros(sizes), shape, ctx, dtype)
    return made if made is not None else call("_npi_zeros", shape=_shape(shape), dtype=dtype, ctx=ctx)


def ones(shape, dtype=onp.float32, order="C", ctx=None):
    """An array of ones.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the result.
    dtype : str or type, optional
        The type of the result.
    order : str, default 'C'
        Memory order; only 'C' is supported.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.ones((2, 2))
    array([[1., 1.],
           [1., 1.]])
    """
    _order(order)
    made = _made(lambda like, sizes: like.new_ones(sizes), shape, ctx, dtype)
    return made if made is not None else call("_npi_ones", shape=_shape(shape), dtype=dtype, ctx=ctx)


def empty(shape, dtype=onp.float32, order="C", ctx=None):
    """An array whose values are not set.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the result.
    dtype : str or type, default onp.float32
        The data type of the result.
    order : str, default 'C'
        Memory order; only 'C' is supported.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.empty((2, 3)).shape
    (2, 3)
    """
    _order(order)
    return ndarray(nd.empty(_shape(shape), ctx, dtype))


def full(shape, fill_value, dtype=None, order="C", ctx=None, out=None):
    """An array whose elements are all `fill_value`.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the result.
    fill_value : number or ndarray
        The value of the elements.
    dtype : str or type, optional
        The type of the result.
    order : str, default 'C'
        Memory order; only 'C' is supported.
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
    >>> np.full((2, 2), 7.0)
    array([[7., 7.],
           [7., 7.]])
    """
    _order(order)
    if isinstance(fill_value, ARRAYS):
        from . import broadcast_to

        return broadcast_to(fill_value if dtype is None else fill_value.astype(dtype), _shape(shape))
    dtype = onp.bool_ if dtype is None and isinstance(fill_value, bool) else dtype
    return call("_npi_full", shape=_shape(shape), value=fill_value, dtype=dtype, ctx=ctx, out=out)


def full_like(a, fill_value, dtype=None, order="C", ctx=None, out=None):
    """An array like `a` whose elements are all `fill_value`.

    Parameters
    ----------
    a : array_like
        The input.
    fill_value : number or ndarray
        The value of the elements.
    dtype : str or type, optional
        The type of the result.
    order : str, default 'C'
        Memory order; only 'C' is supported.
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
    >>> np.full_like(np.zeros((2,)), 7)
    array([7., 7.])
    """
    _order(order)
    return call("_npi_full_like", a, fill_value=fill_value, dtype=dtype, out=out)


def zeros_like(a, dtype=None, order="C", ctx=None, out=None):
    """Zeros in the shape and type of `a`.

    Parameters
    ----------
    a : array_like
        The input.
    dtype : str or type, optional
        The type of the result.
    order : str, default 'C'
        Memory order; only 'C' is supported.
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
    >>> np.zeros_like(np.ones((2,)))
    array([0., 0.])
    """
    return full_like(a, 0, dtype, order, ctx, out)


def ones_like(a, dtype=None, order="C", ctx=None, out=None):
    """Ones in the shape and type of `a`.

    Parameters
    ----------
    a : array_like
        The input.
    dtype : str or type, optional
        The type of the result.
    order : str, default 'C'
        Memory order; only 'C' is supported.
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
    >>> np.ones_like(np.zeros((2,)))
    array([1., 1.])
    """
    return full_like(a, 1, dtype, order, ctx, out)


def empty_like(prototype, dtype=None, order="C", subok=False, shape=None):
    """An array of the shape of another, whose values are not set.

    Parameters
    ----------
    prototype : ndarray
        The array whose shape and data type are taken.
    dtype : str or type, optional
        The data type of the result.
    order : str, default 'C'
        Memory order; only 'C' is supported.
    subok : bool, default False
        Not supported; leave it False.
    shape : int or tuple of int, optional
        Not supported; leave it None.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.empty_like(np.ones((2, 3))).shape
    (2, 3)
    """
    _order(order)
    if subok or shape is not None:
        raise NotImplementedError("empty_like: subok and shape are not supported; use mx.np.empty")
    return empty(prototype.shape, prototype.dtype if dtype is None else dtype, ctx=prototype.ctx)


def arange(start, stop=None, step=1, dtype=None, ctx=None):
    """Numbers from `start` (default 0) up to, but without, `stop`.

    Parameters
    ----------
    start : number
        The first value.
    stop : number
        The end.
    step : number, default 1
        The distance between two values.
    dtype : str or type, optional
        The type of the result.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.arange(0, 1, 0.25)
    array([0.  , 0.25, 0.5 , 0.75])
    """
    if step == 0:
        raise ZeroDivisionError("step cannot be 0")
    start, stop = (0, start) if stop is None else (start, stop)
    if dtype is None and start.__class__ is stop.__class__ is step.__class__ is int and _exact(start, stop, step):
        made = _made(lambda like, sizes: torch.arange(start, stop, step, out=like.new()), 1, ctx, None)
        if made is not None:
            return made
    return call(
        "_npi_arange", start=start, stop=stop, step=step, dtype=onp.float32 if dtype is None else dtype, ctx=ctx
    )


def _exact(start, stop, step):
    """Do single precision's whole numbers count from one end to the other?"""
    return step > 0 and -(2**24) < start < stop < 2**24


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, ctx=None):
    """`num` numbers at equal distances.

    Parameters
    ----------
    start : number
        The first value.
    stop : number
        The end.
    num : int, default 50
        Number of values.
    endpoint : bool, default True
        Whether `stop` is the last value.
    retstep : bool, default False
        Whether the step is returned, too.
    dtype : str or type, optional
        The type of the result.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    if axis != 0:
        raise NotImplementedError("linspace: only axis 0 is supported")
    plain = isinstance(start, numbers.Number) and isinstance(stop, numbers.Number)
    if not retstep and (plain or MODE.symbolic):
        return call("_linspace", start=start, stop=stop, num=num, endpoint=endpoint, dtype=dtype, ctx=ctx)
    values = onp.linspace(_plain(start), _plain(stop), num, endpoint, retstep)
    values, step = values if retstep else (values, None)
    result = array(values, onp.float32 if dtype is None else dtype, ctx)
    return (result, step) if retstep else result


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, ctx=None):
    """`num` numbers from base^start to base^stop at equal ratios.

    Parameters
    ----------
    start : number
        The first value.
    stop : number
        The end.
    num : int, default 50
        Number of values.
    endpoint : bool, default True
        Whether `stop` is the last value.
    base : float, default 10.0
        The base of the powers.
    dtype : str or type, optional
        The type of the result.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    if axis != 0:
        raise NotImplementedError("logspace: only axis 0 is supported")
    return call("_npi_logspace", start=start, stop=stop, num=num, endpoint=endpoint, base=base, dtype=dtype, ctx=ctx)


def eye(N, M=None, k=0, dtype=onp.float32, **kwargs):
    """A matrix with ones on a diagonal.

    Parameters
    ----------
    N : int
        Number of rows.
    M : int, optional
        Number of columns; for a window, its length.
    k : int, default 0
        The diagonal: 0 is the main one, positive ones lie above it.
    dtype : str or type, optional
        The type of the result.
    **kwargs
        NumPy's `where`, `casting`, `order`, `dtype` and `subok` at their defaults.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.eye(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return call("_npi_eye", N=N, M=M, k=k, dtype=dtype, ctx=kwargs.get("ctx"))


def identity(n, dtype=None, ctx=None):
    """The identity matrix.

    Parameters
    ----------
    n : int
        The size, or how often to repeat.
    dtype : str or type, optional
        The type of the result.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    if isinstance(n, (tuple, list)):
        raise TypeError("identity: n must be an integer")
    return call("_npi_identity", shape=(n, n), dtype=dtype, ctx=ctx)


def indices(dimensions, dtype=onp.int32, ctx=None):
    """The indices of every element of a grid: the first axis of the result tells the axis of the index.

    Parameters
    ----------
    dimensions : tuple of int
        The shape of the grid.
    dtype : str or type, default onp.int32
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    if not isinstance(dimensions, (tuple, list)):
        raise ValueError(f"The dimensions must be sequence of ints, got {dimensions!r}")
    return call("_npi_indices", dimensions=tuple(dimensions), dtype=dtype, ctx=ctx)


def blackman(M, dtype=onp.float32, ctx=None):
    """The Blackman window: 0.42 - 0.5 cos(2πn / (M - 1)) + 0.08 cos(4πn / (M - 1)).

    Parameters
    ----------
    M : int
        The number of points.
    dtype : str or type, default onp.float32
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.blackman(5).round(2)
    array([0.  , 0.34, 1.  , 0.34, 0.  ])
    """
    return call("_npi_blackman", M=max(M, 0), dtype=dtype, ctx=ctx)


def hamming(M, dtype=onp.float32, ctx=None):
    """The Hamming window: 0.54 - 0.46 cos(2πn / (M - 1)).

    Parameters
    ----------
    M : int
        The number of points.
    dtype : str or type, default onp.float32
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.hamming(5)
    array([0.08, 0.54, 1.  , 0.54, 0.08])
    """
    return call("_npi_hamming", M=max(M, 0), dtype=dtype, ctx=ctx)


def hanning(M, dtype=onp.float32, ctx=None):
    """The Hann window: 0.5 - 0.5 cos(2πn / (M - 1)).

    Parameters
    ----------
    M : int
        The number of points.
    dtype : str or type, default onp.float32
        The data type of the result.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.hanning(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return call("_npi_hanning", M=max(M, 0), dtype=dtype, ctx=ctx)
