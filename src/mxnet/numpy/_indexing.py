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
