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
    """All elements as a vector, row by row.

    The elements come in row-major order, the last axis changing fastest. `np.reshape(x, -1)` does the same.

    Parameters
    ----------
    x : ndarray or number
        The input; a number is returned as it is.
    order : str, default 'C'
        The order in which elements are read; only 'C', the last axis fastest, is supported.

    Returns
    -------
    ndarray
        Of shape (x.size,), a copy.

    Examples
    --------
    >>> from mxnet import np
    >>> np.ravel(np.array([[1, 2], [3, 4]]))
    array([1., 2., 3., 4.])
    """
    if order != "C":
        raise NotImplementedError(f"order {order} is not supported")
    return x if isinstance(x, numbers.Number) else reshape(x, -1)


def shape(a):
    """Shape of an array: the length of each axis.

    The same as `a.shape`. A zero-dimensional array has the shape `()`.

    Parameters
    ----------
    a : ndarray
        The input.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> from mxnet import np
    >>> np.shape(np.zeros((2, 3)))
    (2, 3)
    >>> np.shape(np.array(7))
    ()
    """
    return a.shape


def expand_dims(a, axis):
    """Array with a new axis of length 1.

    The elements stay the same. Often used to make shapes fit for broadcasting: a vector of n numbers minus itself as a
    column, `v - np.expand_dims(v, 1)`, gives all n·n differences.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int
        The place of the new axis in the result; negative ones count from the end.

    Returns
    -------
    ndarray

    Notes
    -----
    `np.squeeze` undoes it. `x[:, None]` does the same by indexing.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.ones((2, 3))
    >>> np.expand_dims(x, 0).shape, np.expand_dims(x, -1).shape
    ((1, 2, 3), (2, 3, 1))
    """
    return call("_npi_expand_dims", a, axis=axis)


def swapaxes(a, axis1, axis2):
    """Array with two axes exchanged.

    Axis `axis1` of the result is axis `axis2` of the input and the reverse; all others stay in place. `np.transpose`
    permutes all axes at once.

    Parameters
    ----------
    a : ndarray
        The input.
    axis1 : int
        The first axis; negative numbers count from the last one.
    axis2 : int
        The second axis; negative numbers count from the last one.

    Returns
    -------
    ndarray
        A copy; NumPy returns a view.

    Examples
    --------
    >>> from mxnet import np
    >>> np.swapaxes(np.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    >>> np.swapaxes(np.array([[1, 2, 3]]), 0, 1)
    array([[1.],
           [2.],
           [3.]])
    """
    return call("_npi_swapaxes", a, dim1=axis1, dim2=axis2)


def broadcast_to(array, shape):
    """Array repeated to a shape by NumPy's rules of broadcasting.

    Parameters
    ----------
    array : ndarray or number
        The input. Its axes are aligned with the last axes of `shape`; each has the same length as there, or 1.
    shape : int or tuple of int
        The shape of the result.

    Returns
    -------
    ndarray
        A copy, which can be written to; NumPy returns a read-only view. The gradient is summed over the repetitions.

    Examples
    --------
    >>> from mxnet import np
    >>> np.broadcast_to(np.array([1, 2]), (2, 2))
    array([[1., 2.],
           [1., 2.]])
    >>> np.broadcast_to(np.array([[1], [2]]), (2, 3))
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    shape = (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)
    if isinstance(array, numbers.Number):
        from . import full

        return full(shape, array)
    return call("_npi_broadcast_to", array, shape=shape)


def broadcast_arrays(*args):
    """Arrays broadcast against each other to their common shape.

    Parameters
    ----------
    *args : ndarray
        The arrays.

    Returns
    -------
    list of ndarray
        One array for each input, all of the common shape.

    Examples
    --------
    >>> from mxnet import np
    >>> column, row = np.broadcast_arrays(np.array([[1], [2]]), np.array([10, 20, 30]))
    >>> column
    array([[1., 1., 1.],
           [2., 2., 2.]])
    >>> row
    array([[10., 20., 30.],
           [10., 20., 30.]])
    """
    common = onp.broadcast_shapes(*(a.shape for a in args))
    return [broadcast_to(a, common) for a in args]


def tile(A, reps):
    """Array repeated as a whole along each axis.

    Parameters
    ----------
    A : ndarray
        The input.
    reps : int or tuple of int
        How often the array is repeated along each axis. If there are fewer numbers than axes, they belong to the last
        axes; if there are more, the array gets further axes in front.

    Returns
    -------
    ndarray

    Notes
    -----
    `np.repeat` repeats single elements instead.

    Examples
    --------
    >>> from mxnet import np
    >>> np.tile(np.array([1, 2]), 2)
    array([1., 2., 1., 2.])
    >>> np.tile(np.array([1, 2]), (2, 2))
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]])
    """
    return call("_npi_tile", A, reps=axes(reps))


def resize(a, new_shape):
    """Array of another shape, filled with the elements of the input again and again.

    Parameters
    ----------
    a : ndarray
        The input.
    new_shape : int or tuple of int
        The shape of the result.

    Returns
    -------
    ndarray
        Elements that do not fit are left out; an empty input gives zeros.

    Examples
    --------
    >>> from mxnet import np
    >>> np.resize(np.array([1, 2, 3]), (2, 4))
    array([[1., 2., 3., 1.],
           [2., 3., 1., 2.]])
    """
    new_shape = axes(new_shape)
    size = int(onp.prod(new_shape))
    if not a.size:
        from . import zeros

        return zeros(new_shape, a.dtype)
    return reshape(tile(ravel(a), -(-size // a.size))[:size], new_shape)


def flip(m, axis=None, out=None):
    """Array with the order of elements reversed along axes.

    Element i of a reversed axis of length n is element n - 1 - i of the input. The result is a copy (NumPy: a view).

    Parameters
    ----------
    m : ndarray
        The input.
    axis : int, tuple of int or None, optional
        The axes to reverse; None reverses all.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([[1, 2], [3, 4]])
    >>> np.flip(x)
    array([[4., 3.],
           [2., 1.]])
    >>> np.flip(x, axis=1)
    array([[2., 1.],
           [4., 3.]])
    """
    if isinstance(m, numbers.Number):
        return onp.flip(m, axis)
    if not isinstance(m, ARRAYS):
        raise TypeError(f"type {type(m)} not supported")
    return call("_npi_flip", m, axis="None" if axis is None else axes(axis), out=out)


def flipud(m):
    """Array with its rows in reverse order ("up and down"): `np.flip(m, axis=0)`.

    Rows change their order: element [i, ...] of the result is m[n - 1 - i, ...], where n is the length of the first
    axis.

    Parameters
    ----------
    m : ndarray
        The input, of at least one axis.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.flipud(np.array([[1, 2], [3, 4]]))
    array([[3., 4.],
           [1., 2.]])
    >>> np.flipud(np.array([1, 2, 3]))
    array([3., 2., 1.])
    """
    return flip(m, 0)


def fliplr(m):
    """Array with its columns in reverse order ("left and right"): `np.flip(m, axis=1)`.

    Columns change their order, rows keep theirs: element [i, j] of the result is m[i, n - 1 - j], where n is the length
    of the second axis. Vectors raise an error; use `np.flip`.

    Parameters
    ----------
    m : ndarray
        The input, of at least two axes.

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
    """Array rotated by multiples of 90 degrees in the plane of two axes.

    Parameters
    ----------
    m : ndarray
        The input, of at least two axes.
    k : int, default 1
        How many quarter turns, from the first axis towards the second; negative ones turn back.
    axes : tuple of two ints, default (0, 1)
        The plane.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.rot90(np.array([[1, 2], [3, 4]]))
    array([[2., 4.],
           [1., 3.]])
    >>> np.rot90(np.ones((8, 3, 4)), k=-1, axes=(1, 2)).shape
    (8, 4, 3)
    """
    return call("_npi_rot90", m, k=k, axes=tuple(axes))


def tril(m, k=0):
    """Lower triangle of a matrix; the elements above it are zero.

    Parameters
    ----------
    m : ndarray
        A matrix, or a batch of them in the last two axes.
    k : int, default 0
        The last diagonal to keep: 0 is the main one, positive ones lie above it, negative ones below it.

    Returns
    -------
    ndarray

    Notes
    -----
    Often used to make the mask of causal attention, where a position sees only earlier ones.

    Examples
    --------
    >>> from mxnet import np
    >>> np.tril(np.ones((3, 3)))
    array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]])
    >>> np.tril(np.ones((3, 3)), k=-1)
    array([[0., 0., 0.],
           [1., 0., 0.],
           [1., 1., 0.]])
    """
    return call("_npi_tril", m, k=k)


def shares_memory(a, b, max_work=None):
    """Whether two arrays use the same memory, so that writing to one changes the other.

    Parameters
    ----------
    a : ndarray
        The first array.
    b : ndarray
        The second array.
    max_work : None
        Accepted and ignored.

    Returns
    -------
    bool

    Notes
    -----
    Basic indexing such as `x[1:]` shares memory; functions, `reshape` and `x.T` among them, return copies.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.zeros(4)
    >>> np.shares_memory(x, x[1:]), np.shares_memory(x, x + 0)
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
    """Differences of neighbouring elements of the flattened array, with values added at both ends.

    Parameters
    ----------
    ary : ndarray
        The input.
    to_end : ndarray or number, optional
        Values to add after the differences.
    to_begin : ndarray or number, optional
        Values to add before the differences.

    Returns
    -------
    ndarray
        A vector.

    Examples
    --------
    >>> from mxnet import np
    >>> np.ediff1d(np.array([1, 4, 9]))
    array([3., 5.])
    >>> np.ediff1d(np.array([1, 4, 9]), to_begin=0, to_end=np.array([7, 8]))
    array([0., 3., 5., 7., 8.])
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
    """Array with a border around it.

    Parameters
    ----------
    x : ndarray
        The input.
    pad_width : int or sequence
        The widths before and after each axis: ((before, after), …), one pair for all axes, or one number for all sides.
    mode : str, default 'constant'
        What fills the border: 'constant' a number, 'edge' the nearest element, 'reflect' the mirror image without the
        edge, 'symmetric' the mirror image with the edge, 'maximum' or 'minimum' the extreme of the axis.
    **kwargs
        `constant_values`: the number of mode 'constant', 0 by default. `reflect_type`: only 'even'.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.pad(np.array([1, 2]), (1, 2), constant_values=7)
    array([7., 1., 2., 7., 7.])
    >>> np.pad(np.array([1, 2, 3]), (2, 1), mode="reflect")
    array([3., 2., 1., 2., 3., 2.])
    >>> np.pad(np.ones((2, 2)), ((0, 1), (1, 0)))
    array([[0., 1., 1.],
           [0., 1., 1.],
           [0., 0., 0.]])
    """
    if mode not in ("constant", "edge", "reflect", "symmetric", "maximum", "minimum"):
        raise ValueError(f"mode '{mode}' is not supported")
    value = kwargs.pop("constant_values", 0)
    if kwargs.pop("reflect_type", "even") not in ("even", None) or kwargs:
        raise ValueError(f"pad: unsupported keyword arguments for mode '{mode}': {kwargs or 'reflect_type'}")
    if not isinstance(x, Traced):
        pad_width = onp.broadcast_to(pad_width, (x.ndim, 2)).tolist()
    return call("_npi_pad", x, pad_width=tuple(map(tuple, pad_width)), mode=mode, constant_value=value)
