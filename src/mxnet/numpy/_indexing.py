"""`mx.np` functions on indices: taking, inserting and deleting elements, making and converting indices."""

import numbers

import numpy as onp

from .._core.tracing import Traced
from ._builtin import reshape
from ._call import ARRAYS, array_beside, call
from ._shaping import broadcast_arrays, ravel

__all__ = [
    "delete",
    "diag_indices_from",
    "insert",
    "meshgrid",
    "nonzero",
    "take",
    "unravel_index",
    "where",
]


def diag_indices_from(arr):
    """Indices of the main diagonal of a square array, one vector for each axis.

    Parameters
    ----------
    arr : ndarray
        An array of at least two axes of equal length.

    Returns
    -------
    tuple of ndarray of int64
        Use it as an index: `arr[np.diag_indices_from(arr)]`.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.zeros((2, 2))
    >>> x[np.diag_indices_from(x)] = 5
    >>> x
    array([[5., 0.],
           [0., 5.]])
    """
    if not isinstance(arr, Traced) and (arr.ndim < 2 or len(set(arr.shape)) != 1):
        raise ValueError(f"the array must have at least two axes, all of one length, got shape {arr.shape}")
    places = call("_npi_diag_indices_from", arr)
    return places if isinstance(arr, Traced) else tuple(places)


def delete(arr, obj, axis=None):
    """Array without some elements, rows or columns.

    The other elements keep their order; the input is not changed. `np.insert` is the opposite.

    Parameters
    ----------
    arr : ndarray
        The input.
    obj : int, slice, list or ndarray of int
        Which indices along `axis` to leave out.
    axis : int or None, optional
        The axis; None flattens the array first.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> from mxnet import np
    >>> np.delete(np.array([1, 2, 3, 4]), [0, 2])
    array([2., 4.])
    >>> np.delete(np.array([[1, 2], [3, 4]]), 0, axis=1)
    array([[2.],
           [4.]])
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
    """Array with values inserted before given indices.

    Parameters
    ----------
    arr : ndarray
        The input.
    obj : int, slice, list or ndarray of int
        The indices, in `arr`, before which values are inserted.
    values : ndarray or number
        The values; they are converted to the type of `arr` and broadcast to the inserted part.
    axis : int or None, optional
        The axis; None flattens the array first.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> from mxnet import np
    >>> np.insert(np.array([1, 2, 3]), 1, 9)
    array([1., 9., 2., 3.])
    >>> np.insert(np.array([[1, 2], [3, 4]]), 1, np.array([8, 9]), axis=0)
    array([[1., 2.],
           [8., 9.],
           [3., 4.]])
    """
    number = isinstance(values, numbers.Number)
    if not number and not isinstance(values, ARRAYS):
        values = array_beside(values, arr)
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
    return array_beside(
        places if places.dtype == onp.bool_ else places.astype("int64"), arr, places.dtype.kind in "bi" or None
    )


def meshgrid(*xi, **kwargs):
    """Coordinates of all points of a grid, made from the coordinates of its axes.

    Parameters
    ----------
    *xi : ndarray
        The coordinates along each axis, vectors.
    **kwargs
        `indexing`: 'xy' (the default) puts the first vector along the columns, so that two vectors of lengths n and m
        give shape (m, n); 'ij' gives (n, m). `sparse`: whether each result keeps the length 1 along the other axes
        (MXNet refuses it).

    Returns
    -------
    list of ndarray
        One array of the shape of the grid for each vector.

    Examples
    --------
    >>> from mxnet import np
    >>> x, y = np.meshgrid(np.array([1, 2, 3]), np.array([10, 20]))
    >>> x
    array([[1., 2., 3.],
           [1., 2., 3.]])
    >>> y
    array([[10., 10., 10.],
           [20., 20., 20.]])
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
    """Elements at given indices along an axis.

    Parameters
    ----------
    a : ndarray
        The input.
    indices : ndarray or int
        The indices, of any shape and any type; floating-point ones are truncated.
    axis : int or None, optional
        The axis of the indices; None takes from the flattened array.
    mode : str, default 'raise'
        What to do with an index outside of the axis: 'raise' an error (for negative ones, too), 'clip' it to the
        nearest valid one (negative ones to 0), or 'wrap' it around.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        Of the shape of `a` with the shape of `indices` in the place of `axis`.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([[1, 2], [3, 4], [5, 6]])
    >>> np.take(x, np.array([2, 0]), axis=0)
    array([[5., 6.],
           [1., 2.]])
    >>> np.take(x, np.array([0, 7]), mode="clip")
    array([1., 6.])
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
    """Elements of `x` where a condition is true and of `y` elsewhere.

    With the condition alone, the indices where it is true.

    Parameters
    ----------
    condition : ndarray
        The condition; numbers are true unless they are 0.
    x : ndarray or number, optional
        The values where the condition is true.
    y : ndarray or number, optional
        The values where it is false. Give both `x` and `y`, or neither.

    Returns
    -------
    ndarray, or a tuple of ndarrays
        All three are broadcast against each other. Without `x` and `y`: the result of `np.nonzero(condition)`.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([-1, 2, -3])
    >>> np.where(x > 0, x, 0)
    array([0., 2., 0.])
    >>> np.where(x > 0)
    (array([1], dtype=int64),)
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
    """Indices of the elements that are not zero, one vector for each axis.

    Parameters
    ----------
    a : ndarray
        The input.

    Returns
    -------
    tuple of ndarray of int64
        Use it as an index: `a[np.nonzero(a)]` are the elements themselves.

    Notes
    -----
    The length of the result depends on the values, so a hybridized block that calls it runs eagerly.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([[0, 1], [2, 0]])
    >>> rows, columns = np.nonzero(x)
    >>> rows, columns
    (array([0, 1], dtype=int64), array([1, 0], dtype=int64))
    >>> x[rows, columns]
    array([1., 2.])
    """
    places = call("_npi_nonzero", a)
    return tuple(places[:, i] for i in range(max(a.ndim, 1)))


def unravel_index(indices, shape, order="C"):
    """Coordinates of elements from their positions in the flattened array.

    Parameters
    ----------
    indices : ndarray of int
        The positions.
    shape : tuple of int
        The shape of the array that they refer to.
    order : str, default 'C'
        The order in which elements are counted; only 'C' is supported.

    Returns
    -------
    tuple of ndarray
        The index along each axis.

    Examples
    --------
    >>> from mxnet import np
    >>> np.unravel_index(np.array([3, 5], dtype="int64"), (2, 3))
    (array([1, 1], dtype=int64), array([0, 2], dtype=int64))
    """
    if order != "C":
        raise NotImplementedError("Don't support column-major (Fortran-style) order yet.")
    from . import array

    if isinstance(indices, numbers.Number):
        return tuple(int(i) for i in onp.unravel_index(indices, shape))
    places = onp.unravel_index(indices.asnumpy().astype("int64"), shape)
    return tuple(array(i, dtype=indices.dtype, ctx=indices.ctx) for i in places)
