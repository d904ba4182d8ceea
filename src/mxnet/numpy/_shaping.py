"""`mx.np` functions that change the shape of an array or the order of its elements."""

import numbers

import numpy as onp

from .._core.tracing import Traced
from ._builtin import reshape
from ._call import ARRAYS, array_beside, axes, call

__all__ = [
    "broadcast_arrays",
    "broadcast_to",
    "ediff1d",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "may_share_memory",
    "pad",
    "ravel",
    "resize",
    "rot90",
    "shape",
    "shares_memory",
    "swapaxes",
    "tile",
    "tril",
]


def ravel(x, order="C"):
    """All elements as a vector.

    Parameters
    ----------
    x : ndarray or number
        The input.
    order : str, default 'C'
        Memory order; only 'C' is supported.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.ravel(np.ones((2, 2))).shape
    (4,)
    """
    if order != "C":
        raise NotImplementedError(f"order {order} is not supported")
    return x if isinstance(x, numbers.Number) else reshape(x, -1)


def shape(a):
    """The length of each axis.

    Parameters
    ----------
    a : array_like
        The input.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> from mxnet import np
    >>> np.shape(np.zeros((2, 3)))
    (2, 3)
    """
    return a.shape


def expand_dims(a, axis):
    """A new axis of length 1.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.expand_dims(np.ones((2,)), 0).shape
    (1, 2)
    """
    return call("_npi_expand_dims", a, axis=axis)


def swapaxes(a, axis1, axis2):
    """Exchange two axes.

    Parameters
    ----------
    a : array_like
        The input.
    axis1 : int
        The first axis.
    axis2 : int
        The second axis.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.swapaxes(np.ones((2, 3)), 0, 1).shape
    (3, 2)
    """
    return call("_npi_swapaxes", a, dim1=axis1, dim2=axis2)


def broadcast_to(array, shape):
    """An array broadcast to a shape.

    Parameters
    ----------
    array : ndarray
        The input.
    shape : int or tuple of int
        The shape of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.broadcast_to(np.array([1, 2]), (2, 2))
    array([[1., 2.],
           [1., 2.]])
    """
    shape = (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)
    if isinstance(array, numbers.Number):
        from . import full

        return full(shape, array)
    return call("_npi_broadcast_to", array, shape=shape)


def broadcast_arrays(*args):
    """Arrays broadcast to their common shape.

    Parameters
    ----------
    *args : array_like
        The arrays.

    Returns
    -------
    list of ndarrays

    Examples
    --------
    >>> from mxnet import np
    >>> [x.shape for x in np.broadcast_arrays(np.ones((2, 1)), np.ones(3))]
    [(2, 3), (2, 3)]
    """
    common = onp.broadcast_shapes(*(a.shape for a in args))
    return [broadcast_to(a, common) for a in args]


def tile(A, reps):
    """An array repeated along its axes.

    Parameters
    ----------
    A : ndarray
        The input.
    reps : int or tuple of int
        How often each axis is repeated.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.tile(np.array([1, 2]), 2)
    array([1., 2., 1., 2.])
    """
    return call("_npi_tile", A, reps=axes(reps))


def resize(a, new_shape):
    """The elements in a new shape; they are repeated if there are too few.

    Parameters
    ----------
    a : array_like
        The input.
    new_shape : int or tuple of int
        The new shape.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.resize(np.array([1, 2, 3]), (2, 2))
    array([[1., 2.],
           [3., 1.]])
    """
    new_shape = axes(new_shape)
    size = int(onp.prod(new_shape))
    if not a.size:
        from . import zeros

        return zeros(new_shape, a.dtype)
    return reshape(tile(ravel(a), -(-size // a.size))[:size], new_shape)


def flip(m, axis=None, out=None):
    """Elements in reverse order along axes.

    Parameters
    ----------
    m : ndarray
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.flip(np.array([1, 2, 3]))
    array([3., 2., 1.])
    """
    if isinstance(m, numbers.Number):
        return onp.flip(m, axis)
    if not isinstance(m, ARRAYS):
        raise TypeError(f"type {type(m)} not supported")
    return call("_npi_flip", m, axis="None" if axis is None else axes(axis), out=out)


def flipud(m):
    """The array with its first axis reversed.

    Parameters
    ----------
    m : array_like
        The input.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.flipud(np.array([[1, 2], [3, 4]]))
    array([[3., 4.],
           [1., 2.]])
    """
    return flip(m, 0)


def fliplr(m):
    """The array with its second axis reversed.

    Parameters
    ----------
    m : array_like
        The input.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.fliplr(np.array([[1, 2], [3, 4]]))
    array([[2., 1.],
           [4., 3.]])
    """
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    """The array rotated by multiples of 90 degrees in the plane of two axes.

    Parameters
    ----------
    m : array_like
        The input.
    k : int, default 1
        How many times to rotate.
    axes : tuple of two ints, default (0, 1)
        The plane; the rotation goes from the first to the second.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.rot90(np.array([[1, 2], [3, 4]]))
    array([[2., 4.],
           [1., 3.]])
    """
    return call("_npi_rot90", m, k=k, axes=tuple(axes))


def tril(m, k=0):
    """The lower triangle of a matrix; zeros above.

    Parameters
    ----------
    m : ndarray
        The input.
    k : int, default 0
        The diagonal: 0 is the main one, positive ones lie above it.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.tril(np.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return call("_npi_tril", m, k=k)


def shares_memory(a, b, max_work=None):
    """Whether two arrays share memory.

    Parameters
    ----------
    a : ndarray
        The first array.
    b : ndarray
        The second array.
    max_work : int, optional
        Not used.

    Returns
    -------
    bool

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.zeros((2, 3))
    >>> np.shares_memory(x, x[0]), np.shares_memory(x, x.copy())
    (True, False)
    """
    first, second = _extent(a), _extent(b)
    return first.start < second.stop and second.start < first.stop


def _extent(a):
    """The addresses that an array's elements take up; views here are without gaps."""
    t = a._t.detach()
    return range(t.data_ptr(), t.data_ptr() + t.numel() * t.element_size())


may_share_memory = shares_memory


def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of neighbours in the flattened array.

    Parameters
    ----------
    ary : array_like
        The input.
    to_end : number or array_like, optional
        What comes after the differences.
    to_begin : number or array_like, optional
        What comes before the differences.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.ediff1d(np.array([1, 4, 9]), to_begin=0)
    array([0., 3., 5.])
    """
    inputs, options = [ary], {}
    for name, value in (("to_begin", to_begin), ("to_end", to_end)):
        if value is not None and not isinstance(value, (numbers.Number, *ARRAYS)):
            value = array_beside(value, ary)
        given = isinstance(value, ARRAYS)
        inputs += [value] if given else []
        options.update({f"{name}_arr_given": given, f"{name}_scalar": None if given or value is None else float(value)})
    return call("_npi_ediff1d", *inputs, **options)


def pad(x, pad_width=None, mode="constant", **kwargs):
    """The array with a border.

    Parameters
    ----------
    x : array_like
        The input.
    pad_width : int or sequence, optional
        The widths before and after each axis: ((before, after), …), (before, after) or one number.
    mode : str, default 'constant'
        constant, edge, reflect, symmetric, maximum or minimum.
    **kwargs
        `constant_values` or `reflect_type` of the mode.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.pad(np.array([1, 2]), (1, 2), constant_values=7)
    array([7., 1., 2., 7., 7.])
    """
    if mode not in ("constant", "edge", "reflect", "symmetric", "maximum", "minimum"):
        raise ValueError(f"mode '{mode}' is not supported")
    value = kwargs.pop("constant_values", 0)
    if kwargs.pop("reflect_type", "even") not in ("even", None) or kwargs:
        raise ValueError(f"pad: unsupported keyword arguments for mode '{mode}': {kwargs or 'reflect_type'}")
    if not isinstance(x, Traced):
        pad_width = onp.broadcast_to(pad_width, (x.ndim, 2)).tolist()
    return call("_npi_pad", x, pad_width=tuple(map(tuple, pad_width)), mode=mode, constant_value=value)
