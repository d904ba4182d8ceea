"""`mx.np` functions that reduce, order and count."""

import numbers

from ._call import axes, call

__all__ = [
    "argmax", "argmin", "argsort", "average", "bincount", "diff", "histogram", "mean", "percentile", "quantile", "sort",
    "std", "unique", "var",
]  # fmt: skip


def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    """The mean over axes: Σ a / n.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    dtype : str or type, optional
        The type of the result.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.mean(np.array([[1, 2], [3, 4]]), axis=0)
    array([2., 3.])
    """
    return call("_npi_mean", a, axis=axes(axis), dtype=dtype, keepdims=keepdims, out=out)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The standard deviation over axes: √var(a).

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    dtype : str or type, optional
        The type of the result.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    ddof : int, default 0
        The divisor is the number of elements minus `ddof`.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.std(np.array([1, 3]))
    array(1.)
    """
    return call("_npi_std", a, axis=axes(axis), dtype=dtype, ddof=ddof, keepdims=keepdims, out=out)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The variance over axes: Σ (a - mean)² / (n - ddof).

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    dtype : str or type, optional
        The type of the result.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    ddof : int, default 0
        The divisor is the number of elements minus `ddof`.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.var(np.array([1, 3]))
    array(1.)
    """
    return call("_npi_var", a, axis=axes(axis), dtype=dtype, ddof=ddof, keepdims=keepdims, out=out)


def argmax(a, axis=None, out=None):
    """Position of the first maximum along an axis.

    Parameters
    ----------
    a : array_like
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
    >>> np.argmax(np.array([[1, 5, 2]]), axis=1)
    array([1], dtype=int64)
    """
    return call("_npi_argmax", a, axis=axis, out=out)


def argmin(a, axis=None, out=None):
    """Position of the first minimum along an axis.

    Parameters
    ----------
    a : array_like
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
    >>> np.argmin(np.array([[1, 5, 0]]), axis=1)
    array([2], dtype=int64)
    """
    return call("_npi_argmin", a, axis=axis, out=out)


def _no_order(order):
    if order is not None:
        raise NotImplementedError("order is not supported: mx.np arrays have no fields")


def sort(a, axis=-1, kind=None, order=None):
    """A sorted copy along an axis.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    kind : str, optional
        Accepted for NumPy and ignored.
    order : str, default 'C'
        Memory order; only 'C' is supported.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.sort(np.array([3, 1, 2]))
    array([1., 2., 3.])
    """
    _no_order(order)
    return call("_npi_sort", a if axis is not None else a.reshape(-1), axis=-1 if axis is None else axis)


def argsort(a, axis=-1, kind=None, order=None):
    """Positions that sort an array along an axis.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    kind : str, optional
        Accepted for NumPy and ignored.
    order : str, default 'C'
        Memory order; only 'C' is supported.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.argsort(np.array([3, 1, 2]))
    array([1, 2, 0], dtype=int64)
    """
    _no_order(order)
    flat = a if axis is not None else a.reshape(-1)
    return call("_npi_argsort", flat, axis=-1 if axis is None else axis, dtype="int64")


def average(a, axis=None, weights=None, returned=False, out=None):
    """The mean over axes, weighted by `weights`.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    weights : ndarray, optional
        The weight of each element.
    returned : bool, default False
        Whether the sum of the weights is returned, too.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.average(np.array([1, 2]), weights=np.array([3, 1]))
    array(1.25)
    """
    inputs = (a,) if weights is None else (a, weights)
    weighted = None if inputs[1:] else False
    result = call("_npi_average", *inputs, axis=axis, returned=returned, weighted=weighted, out=out)
    return tuple(result) if returned else result


def percentile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear", keepdims=False):
    """The value below which `q` per cent of the elements lie; without a gradient.

    Parameters
    ----------
    a : array_like
        The input.
    q : float or ndarray
        The percentage (0 to 100) or share (0 to 1).
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    overwrite_input : bool, optional
        Accepted for NumPy and ignored.
    interpolation : str, default 'linear'
        How to choose between two neighbours: linear, lower, higher, midpoint or nearest.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.percentile(np.array([1, 2, 3]), 50)
    array(2.)
    """
    if overwrite_input is not None:
        raise NotImplementedError("overwrite_input is not supported yet")
    inputs, number = ((a,), float(q)) if isinstance(q, numbers.Number) else ((a, q), None)
    options = {"axis": axis, "interpolation": interpolation, "keepdims": keepdims, "q_scalar": number}
    return call("_npi_percentile", *inputs, **options, out=out)


def quantile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear", keepdims=False):
    """The value below which the share `q` of the elements lies; without a gradient.

    Parameters
    ----------
    a : array_like
        The input.
    q : float or ndarray
        The percentage (0 to 100) or share (0 to 1).
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    overwrite_input : bool, optional
        Accepted for NumPy and ignored.
    interpolation : str, default 'linear'
        How to choose between two neighbours: linear, lower, higher, midpoint or nearest.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.quantile(np.array([1, 2, 3]), 0.5)
    array(2.)
    """
    return percentile(a, q * 100, axis, out, overwrite_input, interpolation, keepdims)


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
    """The different elements, sorted.

    Parameters
    ----------
    ar : ndarray
        The input.
    return_index : bool, default False
        Whether the first positions are returned, too.
    return_inverse : bool, default False
        Whether the positions in the result are returned, too.
    return_counts : bool, default False
        Whether the counts are returned, too.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.unique(np.array([2, 1, 2]))
    array([1., 2.])
    """
    asked = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    found = call("_npi_unique", ar, **asked, axis=axis)
    return tuple(found) if isinstance(found, list) else found


def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):
    """How many elements fall into each interval, and the edges of the intervals.

    Parameters
    ----------
    a : array_like
        The input.
    bins : int or array_like, default 10
        The number of intervals of equal width, or their edges.
    range : tuple of two numbers, optional
        The lower and upper end of the intervals, with a number of bins.
    normed : bool, optional
        Not supported; leave it None.
    weights : array_like, optional
        Not supported; leave it None.
    density : bool, optional
        Not supported; leave it None.

    Returns
    -------
    (counts, edges)

    Examples
    --------
    >>> from mxnet import np
    >>> np.histogram(np.array([1, 2, 2, 5]), bins=2, range=(0, 6))
    (array([3, 1], dtype=int64), array([0., 3., 6.]))
    """
    if normed or weights is not None or density:
        raise NotImplementedError("histogram: normed, weights and density are not supported")
    if isinstance(bins, numbers.Integral):
        if range is None:
            raise NotImplementedError("automatic range is not supported yet...")
        return tuple(call("_histogram", a, bin_cnt=int(bins), range=tuple(range)))
    if isinstance(bins, (list, tuple)):
        raise NotImplementedError("array_like bins is not supported yet...")
    return tuple(call("_histogram", a, bins))


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours: a[i + 1] - a[i], taken `n` times.

    Parameters
    ----------
    a : array_like
        The input.
    n : int
        The size, or how often to repeat.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    prepend : array_like, optional
        Values put before the input.
    append : array_like, optional
        Values put behind the input.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.diff(np.array([1, 4, 9]))
    array([3., 5.])
    """
    if prepend is not None or append is not None:
        raise NotImplementedError("prepend and append options are not supported yet")
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    return a if n == 0 else call("_npi_diff", a, n=n, axis=axis)


def bincount(x, weights=None, minlength=0):
    """How often each non-negative integer occurs, or the sum of its weights.

    Parameters
    ----------
    x : ndarray or number
        The input.
    weights : ndarray, optional
        The weight of each element.
    minlength : int, default 0
        The least length of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.bincount(np.array([0, 2, 2], dtype="int32"))
    array([1, 0, 2], dtype=int32)
    """
    inputs = (x,) if weights is None else (x, weights)
    return call("_npi_bincount", *inputs, minlength=minlength, has_weights=weights is not None)
