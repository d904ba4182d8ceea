"""`mx.np` functions on shapes: reshaping, joining, splitting, picking."""

import numbers

import numpy as onp

from .._core.tracing import Traced
from ._builtin import reshape
from ._call import ARRAYS, axes, call

__all__ = [
    "append", "array_split", "broadcast_arrays", "broadcast_to", "column_stack", "concatenate", "delete",
    "diag_indices_from", "dsplit", "dstack", "ediff1d", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "hstack",
    "insert", "may_share_memory", "meshgrid", "nonzero", "pad", "ravel", "resize", "rot90", "row_stack", "shape",
    "shares_memory", "split", "stack", "swapaxes", "take", "tile", "tril", "unravel_index", "vsplit", "vstack", "where",
]  # fmt: skip


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


def diag_indices_from(arr):
    """The indices of the main diagonal of an array whose axes have equal lengths.

    Parameters
    ----------
    arr : ndarray
        The input.

    Returns
    -------
    tuple of ndarrays

    Examples
    --------
    >>> from mxnet import np
    >>> np.diag_indices_from(np.zeros((2, 2)))
    (array([0, 1], dtype=int64), array([0, 1], dtype=int64))
    """
    if not isinstance(arr, Traced) and (arr.ndim < 2 or len(set(arr.shape)) != 1):
        raise ValueError(f"the array must have at least two axes, all of one length, got shape {arr.shape}")
    places = call("_npi_diag_indices_from", arr)
    return places if isinstance(arr, Traced) else tuple(places)


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


def concatenate(seq, axis=0, out=None):
    """Arrays joined along an axis that exists.

    Parameters
    ----------
    seq : sequence of ndarray
        The inputs.
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
    >>> np.concatenate((np.ones((1, 2)), np.zeros((1, 2))))
    array([[1., 1.],
           [0., 0.]])
    """
    if axis is None:
        seq, axis = [ravel(a) for a in seq], 0
    return call("_npi_concatenate", *seq, dim=axis, num_args=len(seq), out=out)


def append(arr, values, axis=None):
    """Values added at the end.

    Parameters
    ----------
    arr : ndarray
        The input.
    values : array_like
        The values to add.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.append(np.array([1, 2]), np.array([3]))
    array([1., 2., 3.])
    """
    return concatenate((arr, values), axis)


def delete(arr, obj, axis=None):
    """The array without some elements or slices.

    Parameters
    ----------
    arr : ndarray
        The input.
    obj : int, slice or array of int
        What to leave out.
    axis : int, optional
        The axis; None: the flattened array.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.delete(np.array([1, 2, 3]), 1)
    array([1., 3.])
    """
    if not isinstance(arr, ARRAYS):
        raise TypeError(f"'arr' can not support type {type(arr)}")
    if isinstance(obj, slice):
        return call(
            "_npi_delete", arr, start=obj.start, stop=obj.stop, step=1 if obj.step is None else obj.step, axis=axis
        )
    if isinstance(obj, numbers.Integral):
        if not isinstance(arr, Traced) and (axis is None or arr.ndim):
            _within(obj, arr.size if axis is None else arr.shape[axis], axis or 0)
        return call("_npi_delete", arr, int_ind=int(obj), axis=axis)
    return call("_npi_delete", arr, _places(obj, arr), axis=axis)


def insert(arr, obj, values, axis=None):
    """The array with values inserted before some places.

    Parameters
    ----------
    arr : ndarray
        The input.
    obj : int, slice or array of int
        The places.
    values : array_like
        The values.
    axis : int, optional
        The axis; None: the flattened array.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.insert(np.array([1, 2, 3]), 1, 9)
    array([1., 9., 2., 3.])
    """
    number = isinstance(values, numbers.Number)
    if not number and not isinstance(values, ARRAYS):
        values = _like(values, arr)
    inputs, value = ((arr,), float(values)) if number else ((arr, values), None)
    if isinstance(obj, slice):
        step = 1 if obj.step is None else obj.step
        where = {"start": obj.start, "stop": obj.stop, "step": step}
        return call("_npi_insert_slice", *inputs, val=value, **where, axis=axis)
    if isinstance(obj, numbers.Integral):
        if not isinstance(arr, Traced) and (axis is None or arr.ndim):
            _within(obj, (arr.size if axis is None else arr.shape[axis]) + (obj >= 0), axis or 0)
        return call("_npi_insert_scalar", *inputs, val=value, int_ind=int(obj), axis=axis)
    return call("_npi_insert_tensor", *inputs, _places(obj, arr), val=value, axis=axis)


def _within(place, size, axis):
    if not -size <= place < size:
        raise IndexError(f"index {place} is out of bounds for axis {axis} with size {size}")


def _places(obj, arr):
    """Places as an array: lists of them are NumPy's way, which this module takes, too."""
    if isinstance(obj, ARRAYS):
        return obj
    places = onp.asarray(obj)
    return _like(
        places if places.dtype == onp.bool_ else places.astype("int64"), arr, places.dtype.kind in "bi" or None
    )


def _like(values, arr, own_type=None):
    """An array of NumPy or a list beside `arr`, in its type unless the values are to keep theirs."""
    from . import array

    return array(onp.asarray(values), dtype=None if own_type else arr.dtype, ctx=arr.ctx)


def stack(arrays, axis=0, out=None):
    """Arrays joined along a new axis.

    Parameters
    ----------
    arrays : sequence of ndarray
        The inputs.
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
    >>> np.stack((np.ones(2), np.zeros(2)))
    array([[1., 1.],
           [0., 0.]])
    """
    return call("_npi_stack", *arrays, axis=axis, num_args=len(arrays), out=out)


def vstack(arrays, out=None):
    """Arrays joined along the first axis; vectors become rows.

    Parameters
    ----------
    arrays : sequence of ndarray
        The inputs.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.vstack((np.array([1, 2]), np.array([3, 4])))
    array([[1., 2.],
           [3., 4.]])
    """
    return call("_npi_vstack", *arrays, num_args=len(arrays), out=out)


def row_stack(arrays):
    """Arrays stacked as rows, as `vstack`.

    Parameters
    ----------
    arrays : sequence of arrays
        The arrays.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.row_stack([np.array([1, 2]), np.array([3, 4])])
    array([[1., 2.],
           [3., 4.]])
    """
    return vstack(arrays)


def hstack(arrays):
    """Arrays joined along the second axis (vectors: along the first).

    Parameters
    ----------
    arrays : sequence of ndarray
        The inputs.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.hstack((np.array([1]), np.array([2, 3])))
    array([1., 2., 3.])
    """
    return call("_npi_hstack", *arrays, num_args=len(arrays))


def dstack(arrays):
    """Arrays joined along a third axis.

    Parameters
    ----------
    arrays : sequence of arrays
        The arrays.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.dstack([np.array([1, 2]), np.array([3, 4])])
    array([[[1., 3.],
            [2., 4.]]])
    """
    return call("_npi_dstack", *arrays, num_args=len(arrays))


def column_stack(tup):
    """Vectors as the columns of a matrix.

    Parameters
    ----------
    tup : sequence of arrays
        The vectors; matrices are joined as they are.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.column_stack([np.array([1, 2]), np.array([3, 4])])
    array([[1., 3.],
           [2., 4.]])
    """
    return call("_npi_column_stack", *tup, num_args=len(tup))


def _cut(ary, indices, axis):
    """Pieces that end before each index."""
    return _listed(call("_npi_split", ary, indices=(0, *indices), axis=axis))


def _listed(pieces):
    """A list of pieces, also of a single one."""
    return pieces if isinstance(pieces, list) else [pieces]


def _check_even(ary, sections, axis):
    if not isinstance(ary, Traced) and ary.shape[axis] % sections:
        raise ValueError(
            f"array split does not result in an equal division: axis {axis} has size {ary.shape[axis]}, in {sections} "
            "sections"
        )


def split(ary, indices_or_sections, axis=0):
    """An array cut into equal parts along an axis, or at positions.

    Parameters
    ----------
    ary : ndarray
        The input.
    indices_or_sections : int or sequence of int
        Number of equal parts, or the positions of the cuts.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.

    Returns
    -------
    list of ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> [x.shape for x in np.split(np.ones((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    if not isinstance(indices_or_sections, numbers.Integral):
        return _cut(ary, tuple(int(i) for i in indices_or_sections), axis)
    _check_even(ary, indices_or_sections, axis)
    return array_split(ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis=0):
    """An array cut into nearly equal parts along an axis.

    Parameters
    ----------
    ary : ndarray
        The input.
    indices_or_sections : int or sequence of int
        Number of equal parts, or the positions of the cuts.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.

    Returns
    -------
    list of ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> [x.shape for x in np.array_split(np.arange(5), 2)]
    [(3,), (2,)]
    """
    if not isinstance(indices_or_sections, numbers.Integral):
        return _cut(ary, tuple(int(i) for i in indices_or_sections), axis)
    if indices_or_sections <= 0:
        raise ValueError(f"number sections must be larger than 0, got {indices_or_sections}")
    return _listed(call("_npi_split", ary, indices=(), sections=indices_or_sections, axis=axis))


def _fixed(operator, ary, indices_or_sections, axis):
    """Pieces along an axis that goes without saying."""
    if isinstance(indices_or_sections, numbers.Integral):
        options = {"indices": (), "sections": indices_or_sections}
    else:
        options = {"indices": (0, *(int(i) for i in indices_or_sections))}
    return _listed(call(operator, ary, **options, axis=axis))


def _at_least(ary, name, count):
    if not isinstance(ary, Traced) and ary.ndim < count:
        raise ValueError(f"{name} only works on arrays of {count} or more dimensions")


def hsplit(ary, indices_or_sections):
    """The array in several parts along its second axis, a vector along its only one.

    Parameters
    ----------
    ary : ndarray
        The array to split.
    indices_or_sections : int or tuple of int
        The number of equal parts, or the places where new parts begin.

    Returns
    -------
    list of ndarrays

    Examples
    --------
    >>> from mxnet import np
    >>> [part.shape for part in np.hsplit(np.ones((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    _at_least(ary, "hsplit", 1)
    return _fixed("_npi_hsplit", ary, indices_or_sections, 1 if isinstance(ary, Traced) or ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """The array in several parts along its first axis.

    Parameters
    ----------
    ary : ndarray
        The array to split.
    indices_or_sections : int or tuple of int
        The number of equal parts, or the places where new parts begin.

    Returns
    -------
    list of ndarrays

    Examples
    --------
    >>> from mxnet import np
    >>> [part.shape for part in np.vsplit(np.ones((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    _at_least(ary, "vsplit", 2)
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """The array in several parts along its third axis.

    Parameters
    ----------
    ary : ndarray
        The array to split.
    indices_or_sections : int or tuple of int
        The number of equal parts, or the places where new parts begin.

    Returns
    -------
    list of ndarrays

    Examples
    --------
    >>> from mxnet import np
    >>> [part.shape for part in np.dsplit(np.ones((2, 2, 4)), 2)]
    [(2, 2, 2), (2, 2, 2)]
    """
    _at_least(ary, "dsplit", 3)
    if isinstance(indices_or_sections, numbers.Integral):
        _check_even(ary, indices_or_sections, 2)
    return _fixed("_npi_dsplit", ary, indices_or_sections, 2)


def meshgrid(*xi, **kwargs):
    """Grids of coordinates from vectors.

    Parameters
    ----------
    *xi : ndarray
        The coordinates of each axis.
    **kwargs
        NumPy's `where`, `casting`, `order`, `dtype` and `subok` at their defaults.

    Returns
    -------
    list of ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> [g.shape for g in np.meshgrid(np.arange(2), np.arange(3))]
    [(3, 2), (3, 2)]
    """
    matrix = kwargs.pop("indexing", "xy") == "xy"
    sparse, copied = kwargs.pop("sparse", False), kwargs.pop("copy", True)
    if kwargs:
        raise TypeError(f"meshgrid() got an unexpected keyword argument '{next(iter(kwargs))}'")
    if not copied:
        raise NotImplementedError("meshgrid: copy=False is not supported, every array has memory of its own")
    places = list(range(len(xi)))
    if matrix and len(xi) > 1:
        places[0], places[1] = 1, 0
    shaped = [reshape(x, [-1 if p == axis else 1 for axis in range(len(xi))]) for x, p in zip(xi, places, strict=True)]
    return shaped if sparse else broadcast_arrays(*shaped)


def take(a, indices, axis=None, mode="raise", out=None):
    """Elements at positions along an axis.

    Parameters
    ----------
    a : array_like
        The input.
    indices : ndarray
        The positions.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    mode : str
        How to pad, or what to do with positions outside of the array.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.take(np.array([5, 6, 7]), np.array([2, 0]))
    array([7., 5.])
    """
    if mode not in ("wrap", "clip", "raise"):
        raise NotImplementedError(f"function take does not support mode '{mode}'")
    if isinstance(indices, numbers.Integral):
        from . import array

        indices = array(indices, dtype="int64")
    if axis is None:
        a, axis = ravel(a), 0
    return call("_npi_take", a, indices, axis=axis, mode=mode, out=out)


def where(condition, x=None, y=None):
    """Elements of `x` where the condition is true, of `y` elsewhere.

    Parameters
    ----------
    condition : ndarray
        Where true, take from `x`, elsewhere from `y`.
    x : ndarray or number
        The input.
    y : ndarray or number
        The second input.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.where(np.array([1, 0]), np.array([5, 6]), np.array([7, 8]))
    array([5., 8.])
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    if not isinstance(x, numbers.Number):
        if not isinstance(y, numbers.Number):
            return call("_npi_where", condition, x, y)
        return call("_npi_where_rscalar", condition, x, scalar=float(y))
    if not isinstance(y, numbers.Number):
        return call("_npi_where_lscalar", condition, y, scalar=float(x))
    return call("_npi_where_scalar2", condition, x=float(x), y=float(y))


def nonzero(a):
    """The indices of the elements that are not zero, an array for each axis.

    Parameters
    ----------
    a : array_like
        The input.

    Returns
    -------
    tuple of ndarrays

    Examples
    --------
    >>> from mxnet import np
    >>> np.nonzero(np.array([[0, 1], [2, 0]]))
    (array([0, 1], dtype=int64), array([1, 0], dtype=int64))
    """
    places = call("_npi_nonzero", a)
    return tuple(places[:, i] for i in range(max(a.ndim, 1)))


def unravel_index(indices, shape, order="C"):
    """Places in the flattened array as indices of each axis.

    Parameters
    ----------
    indices : array_like of int
        The places.
    shape : tuple of int
        The shape of the array.
    order : str, default 'C'
        Memory order; only 'C' is supported.

    Returns
    -------
    tuple of ndarrays

    Examples
    --------
    >>> from mxnet import np
    >>> np.unravel_index(np.array([1, 5]), (2, 3))
    (array([0., 1.]), array([1., 2.]))
    """
    if order != "C":
        raise NotImplementedError("Don't support column-major (Fortran-style) order yet.")
    from . import array

    if isinstance(indices, numbers.Number):
        return tuple(int(i) for i in onp.unravel_index(indices, shape))
    places = onp.unravel_index(indices.asnumpy().astype("int64"), shape)
    return tuple(array(i, dtype=indices.dtype, ctx=indices.ctx) for i in places)


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
            value = _like(value, ary)
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
