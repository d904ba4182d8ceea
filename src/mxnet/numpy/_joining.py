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
    """Arrays joined along an existing axis.

    Parameters
    ----------
    seq : sequence of ndarray
        The arrays. Their shapes agree except along `axis`.
    axis : int or None, default 0
        The axis along which to join; None joins the flattened arrays.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        Of the widest type of the inputs (MXNet refuses different types).

    Examples
    --------
    >>> from mxnet import np
    >>> a, b = np.array([[1, 2]]), np.array([[3, 4]])
    >>> np.concatenate((a, b))
    array([[1., 2.],
           [3., 4.]])
    >>> np.concatenate((a, b), axis=1)
    array([[1., 2., 3., 4.]])
    >>> np.concatenate((a, b), axis=None)
    array([1., 2., 3., 4.])
    """
    if hasattr(axis, "shape"):
        raise TypeError(
            "axis must be an int or None, got an array: pass the arrays in one tuple, np.concatenate((a, b))"
        )
    if axis is None:
        seq, axis = [ravel(a) for a in seq], 0
    return call("_npi_concatenate", *seq, dim=axis, num_args=len(seq), out=out)


def append(arr, values, axis=None):
    """Array with values added at the end.

    Parameters
    ----------
    arr : ndarray
        The array.
    values : ndarray
        The values to add. With `axis`, they have the shape of `arr` except along it.
    axis : int or None, optional
        The axis along which to add; None flattens both first.

    Returns
    -------
    ndarray
        A new array. In a loop, collect the pieces in a list and call `np.concatenate` once, which copies once.

    Examples
    --------
    >>> from mxnet import np
    >>> np.append(np.array([[1, 2]]), np.array([[3, 4]]), axis=0)
    array([[1., 2.],
           [3., 4.]])
    >>> np.append(np.array([1, 2]), np.array([3]))
    array([1., 2., 3.])
    """
    return concatenate((arr, values), axis)


def stack(arrays, axis=0, out=None):
    """Arrays of one shape joined along a new axis.

    Parameters
    ----------
    arrays : sequence of ndarray
        The arrays, all of one shape.
    axis : int, default 0
        The place of the new axis in the result; its length is the number of arrays.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        It has one axis more than the inputs.

    Examples
    --------
    >>> from mxnet import np
    >>> a, b = np.array([1, 2]), np.array([3, 4])
    >>> np.stack((a, b))
    array([[1., 2.],
           [3., 4.]])
    >>> np.stack((a, b), axis=1)
    array([[1., 3.],
           [2., 4.]])
    """
    return call("_npi_stack", *arrays, axis=axis, num_args=len(arrays), out=out)


def vstack(arrays, out=None):
    """Arrays stacked as rows ("vertically"): joined along the first axis, vectors as one row each.

    Parameters
    ----------
    arrays : sequence of ndarray
        The arrays. Their shapes agree except along the first axis.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.vstack((np.array([1, 2]), np.array([[3, 4], [5, 6]])))
    array([[1., 2.],
           [3., 4.],
           [5., 6.]])
    """
    return call("_npi_vstack", *arrays, num_args=len(arrays), out=out)


def row_stack(arrays):
    """Arrays stacked as rows; another name of `np.vstack`.

    Vectors of length n count as rows of shape (1, n). NumPy 2 has removed this name; `np.vstack` exists in all
    versions.

    Parameters
    ----------
    arrays : sequence of ndarray
        The arrays. Their shapes agree except along the first axis.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.row_stack((np.array([1, 2]), np.array([3, 4])))
    array([[1., 2.],
           [3., 4.]])
    """
    return vstack(arrays)


def hstack(arrays):
    """Arrays joined side by side ("horizontally"): along the second axis, vectors along the first.

    For arrays of two or more axes it is `np.concatenate(arrays, axis=1)`, for vectors `np.concatenate(arrays)`.

    Parameters
    ----------
    arrays : sequence of ndarray
        The arrays. Their shapes agree except along the axis of joining.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.hstack((np.array([1, 2]), np.array([3])))
    array([1., 2., 3.])
    >>> np.hstack((np.ones((2, 1)), np.zeros((2, 2))))
    array([[1., 0., 0.],
           [1., 0., 0.]])
    """
    return call("_npi_hstack", *arrays, num_args=len(arrays))


def dstack(arrays):
    """Arrays joined along the third axis ("depth"). Vectors (n,) count as (1, n, 1), matrices (m, n) as (m, n, 1).

    Three grey images of shape (height, width) become a colour image of shape (height, width, 3).

    Parameters
    ----------
    arrays : sequence of ndarray
        The arrays. Their shapes agree except along the third axis.

    Returns
    -------
    ndarray
        Of at least three axes.

    Examples
    --------
    >>> from mxnet import np
    >>> np.dstack((np.array([1, 2]), np.array([3, 4])))
    array([[[1., 3.],
            [2., 4.]]])
    >>> np.dstack([np.zeros((4, 5))] * 3).shape
    (4, 5, 3)
    """
    return call("_npi_dstack", *arrays, num_args=len(arrays))


def column_stack(tup):
    """Vectors joined as the columns of a matrix; matrices are joined side by side.

    A vector becomes one column, a matrix keeps its columns, in the order of the arguments. `np.hstack` differs for
    vectors, which it joins end to end.

    Parameters
    ----------
    tup : sequence of ndarray
        Vectors of length n, or matrices of n rows.

    Returns
    -------
    ndarray
        A matrix of n rows.

    Examples
    --------
    >>> from mxnet import np
    >>> np.column_stack((np.array([1, 2]), np.array([3, 4])))
    array([[1., 3.],
           [2., 4.]])
    >>> np.column_stack((np.array([1, 2]), np.ones((2, 2))))
    array([[1., 1., 1.],
           [2., 1., 1.]])
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
    """Array cut into parts of equal length, or at given indices.

    Parameters
    ----------
    ary : ndarray
        The input.
    indices_or_sections : int or sequence of int
        A number: how many equal parts; it must divide the length of the axis. A sequence: the indices before which to
        cut.
    axis : int, default 0
        The axis to cut.

    Returns
    -------
    list of ndarray
        Copies; NumPy returns views.

    Examples
    --------
    >>> from mxnet import np
    >>> np.split(np.arange(6), 3)
    [array([0., 1.]), array([2., 3.]), array([4., 5.])]
    >>> np.split(np.arange(6), (1, 4))
    [array([0.]), array([1., 2., 3.]), array([4., 5.])]
    """
    if not isinstance(indices_or_sections, numbers.Integral):
        return _cut(ary, tuple(int(i) for i in indices_or_sections), axis)
    _check_even(ary, indices_or_sections, axis)
    return array_split(ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis=0):
    """Array cut into parts whose lengths differ by at most 1, or at given indices.

    Parameters
    ----------
    ary : ndarray
        The input.
    indices_or_sections : int or sequence of int
        A number: how many parts; unlike in `split`, it need not divide the length. A sequence: the indices before which
        to cut.
    axis : int, default 0
        The axis to cut.

    Returns
    -------
    list of ndarray
        The first parts are the longer ones.

    Examples
    --------
    >>> from mxnet import np
    >>> np.array_split(np.arange(5), 2)
    [array([0., 1., 2.]), array([3., 4.])]
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
    """Array cut along its second axis ("horizontally"), a vector along its first; see `np.split`.

    Parameters
    ----------
    ary : ndarray
        The input, of at least one axis.
    indices_or_sections : int or sequence of int
        The number of equal parts, or the indices before which to cut.

    Returns
    -------
    list of ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.hsplit(np.array([[1, 2], [3, 4]]), 2)
    [array([[1.],
           [3.]]), array([[2.],
           [4.]])]
    """
    _at_least(ary, "hsplit", 1)
    return _fixed("_npi_hsplit", ary, indices_or_sections, 1 if isinstance(ary, Traced) or ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """Array cut along its first axis ("vertically") into groups of rows; see `np.split`.

    Parameters
    ----------
    ary : ndarray
        The input, of at least two axes.
    indices_or_sections : int or sequence of int
        The number of equal parts, or the indices before which to cut.

    Returns
    -------
    list of ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.vsplit(np.array([[1, 2], [3, 4]]), 2)
    [array([[1., 2.]]), array([[3., 4.]])]
    """
    _at_least(ary, "vsplit", 2)
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Array cut along its third axis ("depth"); see `np.split`.

    Parameters
    ----------
    ary : ndarray
        The input, of at least three axes.
    indices_or_sections : int or sequence of int
        The number of equal parts, or the indices before which to cut.

    Returns
    -------
    list of ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> [part.shape for part in np.dsplit(np.ones((2, 3, 4)), 2)]
    [(2, 3, 2), (2, 3, 2)]
    """
    _at_least(ary, "dsplit", 3)
    if isinstance(indices_or_sections, numbers.Integral):
        _check_even(ary, indices_or_sections, 2)
    return _fixed("_npi_dsplit", ary, indices_or_sections, 2)
