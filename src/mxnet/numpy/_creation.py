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
    """New array from nested lists, a number or another array. The data are always copied.

    Parameters
    ----------
    object : array_like
        Nested lists or tuples, a number, a NumPy array, or an array of `mx.np` or `mx.nd`.
    dtype : str or type, optional
        The type of the elements. By default that of an array, and float32 for lists and numbers, also for lists of
        integers or booleans (NumPy: int64, bool).
    ctx : Context, optional
        The device; None means the current context, `mx.cpu()` unless changed.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.array([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    >>> np.array([1, 2], dtype="int32")
    array([1, 2], dtype=int32)
    >>> np.array(7).shape
    ()
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
    """Array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        The shape; `()` makes a zero-dimensional array.
    dtype : str or type, optional
        The type of the elements; None means float32 (NumPy: float64).
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
    >>> np.zeros((2, 3))
    array([[0., 0., 0.],
           [0., 0., 0.]])
    >>> np.zeros(2, dtype="int8")
    array([0, 0], dtype=int8)
    """
    _order(order)
    made = _made(lambda like, sizes: like.new_zeros(sizes), shape, ctx, dtype)
    return made if made is not None else call("_npi_zeros", shape=_shape(shape), dtype=dtype, ctx=ctx)


def ones(shape, dtype=onp.float32, order="C", ctx=None):
    """Array of ones.

    Parameters
    ----------
    shape : int or tuple of int
        The shape; `()` makes a zero-dimensional array.
    dtype : str or type, default float32
        The type of the elements (NumPy: float64).
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
    >>> np.ones((2, 3))
    array([[1., 1., 1.],
           [1., 1., 1.]])
    >>> np.ones(2, dtype="bool")
    array([ True,  True])
    """
    _order(order)
    made = _made(lambda like, sizes: like.new_ones(sizes), shape, ctx, dtype)
    return made if made is not None else call("_npi_ones", shape=_shape(shape), dtype=dtype, ctx=ctx)


def empty(shape, dtype=onp.float32, order="C", ctx=None):
    """Array whose elements are not initialized; write all of them before you read any.

    Parameters
    ----------
    shape : int or tuple of int
        The shape.
    dtype : str or type, default float32
        The type of the elements.
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
    >>> x = np.empty((2, 3))
    >>> x[:] = 7
    >>> x.shape, x.dtype
    ((2, 3), dtype('float32'))
    """
    _order(order)
    return ndarray(nd.empty(_shape(shape), ctx, dtype))


def full(shape, fill_value, dtype=None, order="C", ctx=None, out=None):
    """Array whose elements all have one value.

    Parameters
    ----------
    shape : int or tuple of int
        The shape.
    fill_value : number or ndarray
        The value. An array is broadcast to the shape.
    dtype : str or type, optional
        The type of the elements. By default bool for True and False, else float32, also for an integer (NumPy: int64).
    order : str, default 'C'
        Memory order; only 'C' is supported.
    ctx : Context, optional
        The device; None means the current context.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.full((2, 2), 7)
    array([[7., 7.],
           [7., 7.]])
    >>> np.full((2, 2), np.array([1, 2]))
    array([[1., 2.],
           [1., 2.]])
    """
    _order(order)
    if isinstance(fill_value, ARRAYS):
        from . import broadcast_to

        return broadcast_to(fill_value if dtype is None else fill_value.astype(dtype), _shape(shape))
    dtype = onp.bool_ if dtype is None and isinstance(fill_value, bool) else dtype
    return call("_npi_full", shape=_shape(shape), value=fill_value, dtype=dtype, ctx=ctx, out=out)


def full_like(a, fill_value, dtype=None, order="C", ctx=None, out=None):
    """Array of the shape and type of another one whose elements all have one value.

    Parameters
    ----------
    a : ndarray
        The array that gives shape and type.
    fill_value : number
        The value.
    dtype : str or type, optional
        The type of the elements; None means that of `a`.
    order : str, default 'C'
        Memory order; only 'C' is supported.
    ctx : Context, optional
        Accepted and ignored: the result is on the device of `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.full_like(np.zeros((2, 2)), 7)
    array([[7., 7.],
           [7., 7.]])
    """
    _order(order)
    return call("_npi_full_like", a, fill_value=fill_value, dtype=dtype, out=out)


def zeros_like(a, dtype=None, order="C", ctx=None, out=None):
    """Zeros in the shape and type of another array.

    Parameters
    ----------
    a : ndarray
        The array that gives shape and type.
    dtype : str or type, optional
        The type of the elements; None means that of `a`.
    order : str, default 'C'
        Memory order; only 'C' is supported.
    ctx : Context, optional
        Accepted and ignored: the result is on the device of `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.zeros_like(np.array([[1, 2]], dtype="int32"))
    array([[0, 0]], dtype=int32)
    """
    return full_like(a, 0, dtype, order, ctx, out)


def ones_like(a, dtype=None, order="C", ctx=None, out=None):
    """Ones in the shape and type of another array.

    Parameters
    ----------
    a : ndarray
        The array that gives shape and type.
    dtype : str or type, optional
        The type of the elements; None means that of `a`.
    order : str, default 'C'
        Memory order; only 'C' is supported.
    ctx : Context, optional
        Accepted and ignored: the result is on the device of `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.ones_like(np.array([[1, 2]]), dtype="int32")
    array([[1, 1]], dtype=int32)
    """
    return full_like(a, 1, dtype, order, ctx, out)


def empty_like(prototype, dtype=None, order="C", subok=False, shape=None):
    """Array of the shape of another one whose elements are not initialized; write all of them before you read any.

    Parameters
    ----------
    prototype : ndarray
        The array that gives shape, type and device.
    dtype : str or type, optional
        The type of the elements; None means that of `prototype`.
    order : str, default 'C'
        Memory order; only 'C' is supported.
    subok : bool, default False
        Not supported; leave it False.
    shape : None
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
    """Evenly spaced numbers from `start` up to, but not including, `stop`.

    Parameters
    ----------
    start : number
        The first value; if `stop` is not given, this is `stop` and the first value is 0.
    stop : number, optional
        The end, which is not part of the result.
    step : number, default 1
        The distance between two values; it may be negative, but not 0.
    dtype : str or type, optional
        The type of the elements; None means float32, also for integers (NumPy: int64).
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray
        A vector of ceil((stop - start) / step) elements.

    Notes
    -----
    float32 counts exactly up to 2²⁴ = 16,777,216; give `dtype="int64"` for larger indices. With a fractional step use
    `linspace`, whose length does not depend on rounding.

    Examples
    --------
    >>> from mxnet import np
    >>> np.arange(3)
    array([0., 1., 2.])
    >>> np.arange(2, 10, 3, dtype="int32")
    array([2, 5, 8], dtype=int32)
    >>> np.arange(1, 0, -0.25)
    array([1.  , 0.75, 0.5 , 0.25])
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
    """`num` evenly spaced numbers from `start` to `stop`.

    Parameters
    ----------
    start : number or ndarray
        The first value.
    stop : number or ndarray
        The last value, or the end if `endpoint` is False.
    num : int, default 50
        The number of values.
    endpoint : bool, default True
        Whether `stop` is the last value.
    retstep : bool, default False
        Whether to return the distance between two values as a second result.
    dtype : str or type, optional
        The type of the elements; None means float32.
    axis : int, default 0
        Only 0 is supported: the values lie along the first axis.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray, or (ndarray, float) with `retstep=True`

    Examples
    --------
    >>> from mxnet import np
    >>> np.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> np.linspace(0, 1, 5, endpoint=False)
    array([0. , 0.2, 0.4, 0.6, 0.8])
    >>> np.linspace(0, 1, 3, retstep=True)
    (array([0. , 0.5, 1. ]), np.float64(0.5))
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
    """`num` numbers from base^start to base^stop, evenly spaced on a logarithmic scale.

    Parameters
    ----------
    start : number
        The exponent of the first value.
    stop : number
        The exponent of the last value, or of the end if `endpoint` is False.
    num : int, default 50
        The number of values.
    endpoint : bool, default True
        Whether base^stop is the last value.
    base : float, default 10.0
        The base of the powers.
    dtype : str or type, optional
        The type of the elements; None means float32.
    axis : int, default 0
        Only 0 is supported.
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
    >>> np.logspace(0, 3, 4, base=2)
    array([1., 2., 4., 8.])
    """
    if axis != 0:
        raise NotImplementedError("logspace: only axis 0 is supported")
    return call("_npi_logspace", start=start, stop=stop, num=num, endpoint=endpoint, base=base, dtype=dtype, ctx=ctx)


def eye(N, M=None, k=0, dtype=onp.float32, **kwargs):
    """Matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    N : int
        The number of rows.
    M : int, optional
        The number of columns; None means N.
    k : int, default 0
        The diagonal: 0 is the main one, positive ones lie above it, negative ones below it.
    dtype : str or type, default float32
        The type of the elements.
    **kwargs
        `ctx`, the device.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.eye(2)
    array([[1., 0.],
           [0., 1.]])
    >>> np.eye(2, 3, k=1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    return call("_npi_eye", N=N, M=M, k=k, dtype=dtype, ctx=kwargs.get("ctx"))


def identity(n, dtype=None, ctx=None):
    """Identity matrix: a square matrix with ones on the main diagonal.

    The same as `np.eye(n)`, which can also make matrices that are not square and other diagonals.

    Parameters
    ----------
    n : int
        The number of rows and columns.
    dtype : str or type, optional
        The type of the elements; None means float32.
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
    >>> np.identity(2, dtype="int32")
    array([[1, 0],
           [0, 1]], dtype=int32)
    """
    if isinstance(n, (tuple, list)):
        raise TypeError("identity: n must be an integer")
    return call("_npi_identity", shape=(n, n), dtype=dtype, ctx=ctx)


def indices(dimensions, dtype=onp.int32, ctx=None):
    """Index of every element of a grid: `np.indices(shape)[i]` holds the index along axis i.

    Parameters
    ----------
    dimensions : tuple of int
        The shape of the grid.
    dtype : str or type, default int32
        The type of the indices.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray
        Of shape (len(dimensions), *dimensions).

    Examples
    --------
    >>> from mxnet import np
    >>> rows, columns = np.indices((2, 3))
    >>> rows
    array([[0, 0, 0],
           [1, 1, 1]], dtype=int32)
    >>> columns
    array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    if not isinstance(dimensions, (tuple, list)):
        raise ValueError(f"The dimensions must be sequence of ints, got {dimensions!r}")
    return call("_npi_indices", dimensions=tuple(dimensions), dtype=dtype, ctx=ctx)


def blackman(M, dtype=onp.float32, ctx=None):
    """Blackman window: 0.42 - 0.5 cos(2πn / (M - 1)) + 0.08 cos(4πn / (M - 1)) for n = 0 … M - 1.

    Multiplied with a piece of a signal, a window fades its ends, so that its spectrum has small side lobes.

    Parameters
    ----------
    M : int
        The number of points; 0 or less gives an empty array.
    dtype : str or type, default float32
        The type of the elements.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray
        Of shape (M,); the maximum, in the middle, is 1 if M is odd.

    Examples
    --------
    >>> from mxnet import np
    >>> np.abs(np.blackman(5)).round(2)
    array([0.  , 0.34, 1.  , 0.34, 0.  ])
    """
    return call("_npi_blackman", M=max(M, 0), dtype=dtype, ctx=ctx)


def hamming(M, dtype=onp.float32, ctx=None):
    """Hamming window: 0.54 - 0.46 cos(2πn / (M - 1)) for n = 0 … M - 1.

    Its ends are 0.08, not 0; this makes the first side lobe of the spectrum small.

    Parameters
    ----------
    M : int
        The number of points; 0 or less gives an empty array.
    dtype : str or type, default float32
        The type of the elements.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray
        Of shape (M,); the maximum, in the middle, is 1 if M is odd.

    Examples
    --------
    >>> from mxnet import np
    >>> np.hamming(5)
    array([0.08, 0.54, 1.  , 0.54, 0.08])
    """
    return call("_npi_hamming", M=max(M, 0), dtype=dtype, ctx=ctx)


def hanning(M, dtype=onp.float32, ctx=None):
    """Hann window: 0.5 - 0.5 cos(2πn / (M - 1)) for n = 0 … M - 1.

    Its ends are 0.

    Parameters
    ----------
    M : int
        The number of points; 0 or less gives an empty array.
    dtype : str or type, default float32
        The type of the elements.
    ctx : Context, optional
        The device; None means the current context.

    Returns
    -------
    ndarray
        Of shape (M,); the maximum, in the middle, is 1 if M is odd.

    Examples
    --------
    >>> from mxnet import np
    >>> np.hanning(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return call("_npi_hanning", M=max(M, 0), dtype=dtype, ctx=ctx)
