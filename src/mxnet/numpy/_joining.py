"""`mx.np` functions that join arrays and split them."""

import numbers

from .._core.tracing import Traced
from ._call import call
from ._shaping import ravel

__all__ = [
    "append",
    "array_split",
    "column_stack",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "row_stack",
    "split",
    "stack",
    "vsplit",
    "vstack",
]


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
