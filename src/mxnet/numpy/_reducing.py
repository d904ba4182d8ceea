"""`mx.np` functions that reduce, order and count."""

import numbers

from ._call import axes, call

__all__ = [
    "argmax", "argmin", "argsort", "average", "bincount", "diff", "histogram", "mean", "percentile", "quantile", "sort",
    "std", "unique", "var",
]  # fmt: skip


def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    """Arithmetic mean over one or several axes: Σ a / n.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int, tuple of int or None, optional
        The axes to average over; negative ones count from the last. None averages over all elements.
    dtype : str or type, optional
        The type of the result and of the sum. By default float32 for integers and booleans, else the type of `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.

    Returns
    -------
    ndarray
        A zero-dimensional array if all axes are reduced.

    Notes
    -----
    NumPy averages integers in float64; this function averages them in float32, which is exact up to 2²⁴. The gradient
    of each element is 1 / n.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([[1, 2], [3, 4]])
    >>> np.mean(x)
    array(2.5)
    >>> np.mean(x, axis=0)
    array([2., 3.])
    >>> x - np.mean(x, axis=1, keepdims=True)
    array([[-0.5,  0.5],
           [-0.5,  0.5]])
    """
    return call("_npi_mean", a, axis=axes(axis), dtype=dtype, keepdims=keepdims, out=out)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """Standard deviation over one or several axes: the square root of the variance, √(Σ (a - mean)² / (n - ddof)).

    Parameters
    ----------
    a : ndarray
        The input, of a floating-point type.
    axis : int, tuple of int or None, optional
        The axes to reduce; None reduces all.
    dtype : str or type, optional
        The type of the result. By default the type of `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.
    ddof : int, default 0
        "Delta degrees of freedom": the divisor is n - ddof. Use 1 for the unbiased estimate from a sample.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1.

    Returns
    -------
    ndarray
        A zero-dimensional array if all axes are reduced.

    Notes
    -----
    The result of an integer array is an integer, truncated (NumPy: float64). Convert it first, or give
    `dtype="float32"`.

    Examples
    --------
    >>> from mxnet import np
    >>> np.std(np.array([1, 3, 5]))
    array(1.6329932)
    >>> np.std(np.array([1, 3, 5]), ddof=1)
    array(2.)
    >>> np.std(np.array([[1, 3], [2, 8]]), axis=1)
    array([1., 3.])
    """
    return call("_npi_std", a, axis=axes(axis), dtype=dtype, ddof=ddof, keepdims=keepdims, out=out)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """Variance over one or several axes: Σ (a - mean)² / (n - ddof).

    Parameters
    ----------
    a : ndarray
        The input, of a floating-point type.
    axis : int, tuple of int or None, optional
        The axes to reduce; None reduces all.
    dtype : str or type, optional
        The type of the result. By default the type of `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.
    ddof : int, default 0
        The divisor is n - ddof. Use 1 for the unbiased estimate from a sample.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1.

    Returns
    -------
    ndarray
        A zero-dimensional array if all axes are reduced.

    Notes
    -----
    The result of an integer array is an integer, truncated (NumPy: float64). Convert it first, or give
    `dtype="float32"`.

    Examples
    --------
    >>> from mxnet import np
    >>> np.var(np.array([1, 3, 5]))
    array(2.6666667)
    >>> np.var(np.array([1, 3, 5]), ddof=1)
    array(4.)
    >>> np.var(np.array([[1, 3], [2, 8]]), axis=1, keepdims=True)
    array([[1.],
           [9.]])
    """
    return call("_npi_var", a, axis=axes(axis), dtype=dtype, ddof=ddof, keepdims=keepdims, out=out)


def argmax(a, axis=None, out=None):
    """Index of the largest element along an axis; of several equal ones, the first.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int or None, optional
        The axis to search. None searches the flattened array.
    out : ndarray, optional
        Where to write the result, an int64 array of its shape.

    Returns
    -------
    ndarray of int64
        The indices, without the searched axis.

    Notes
    -----
    Without a gradient. `mx.nd.argmax` returns float32 instead of int64.

    Examples
    --------
    >>> from mxnet import np
    >>> scores = np.array([[1, 5, 2], [7, 0, 7]])
    >>> np.argmax(scores, axis=1)
    array([1, 0], dtype=int64)
    >>> int(np.argmax(scores))
    3
    """
    return call("_npi_argmax", a, axis=axis, out=out)


def argmin(a, axis=None, out=None):
    """Index of the smallest element along an axis; of several equal ones, the first.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int or None, optional
        The axis to search. None searches the flattened array.
    out : ndarray, optional
        Where to write the result, an int64 array of its shape.

    Returns
    -------
    ndarray of int64
        The indices, without the searched axis.

    Notes
    -----
    Without a gradient. `mx.nd.argmin` returns float32 instead of int64.

    Examples
    --------
    >>> from mxnet import np
    >>> np.argmin(np.array([[1, 5, 0], [3, 3, 9]]), axis=1)
    array([2, 0], dtype=int64)
    """
    return call("_npi_argmin", a, axis=axis, out=out)


def _no_order(order):
    if order is not None:
        raise NotImplementedError("order is not supported: mx.np arrays have no fields")


def sort(a, axis=-1, kind=None, order=None):
    """Sorted copy of an array, ascending.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int or None, default -1
        The axis along which to sort; the default is the last one. None sorts the flattened array.
    kind : str, optional
        NumPy's name of the algorithm; accepted and ignored. The sort is stable.
    order : optional
        Fields of structured arrays in NumPy; only None is supported.

    Returns
    -------
    ndarray
        A new array of the type of `a`; its shape is that of `a`, or one axis if `axis` is None.

    Notes
    -----
    For descending order, sort and flip: `np.flip(np.sort(x), axis=-1)`.

    Examples
    --------
    >>> from mxnet import np
    >>> np.sort(np.array([[3, 1, 2], [0, 5, 4]]))
    array([[1., 2., 3.],
           [0., 4., 5.]])
    >>> np.sort(np.array([[3, 1], [0, 5]]), axis=None)
    array([0., 1., 3., 5.])
    """
    _no_order(order)
    return call("_npi_sort", a if axis is not None else a.reshape(-1), axis=-1 if axis is None else axis)


def argsort(a, axis=-1, kind=None, order=None):
    """Indices that sort an array along an axis, ascending; equal elements keep their order.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int or None, default -1
        The axis along which to sort; the default is the last one. None sorts the flattened array.
    kind : str, optional
        NumPy's name of the algorithm; accepted and ignored. The sort is stable.
    order : optional
        Fields of structured arrays in NumPy; only None is supported.

    Returns
    -------
    ndarray of int64
        The indices, of the shape of `a` (`mx.nd.argsort` returns float32).

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([30, 10, 20])
    >>> order = np.argsort(x)
    >>> order
    array([1, 2, 0], dtype=int64)
    >>> x[order]
    array([10., 20., 30.])
    """
    _no_order(order)
    flat = a if axis is not None else a.reshape(-1)
    return call("_npi_argsort", flat, axis=-1 if axis is None else axis, dtype="int64")


def average(a, axis=None, weights=None, returned=False, out=None):
    """Weighted mean over one or several axes: Σ wᵢ aᵢ / Σ wᵢ.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int, tuple of int or None, optional
        The axes to average over; None averages over all elements.
    weights : ndarray, optional
        The weights: an array of the shape of `a`, or a vector as long as `axis`. None means that all weights are 1.
    returned : bool, default False
        Whether to return the sum of the weights as a second result.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray, or (ndarray, ndarray) with `returned=True`

    Notes
    -----
    The average of an integer array is an integer, truncated; `np.mean` gives float32.

    Examples
    --------
    >>> from mxnet import np
    >>> np.average(np.array([1, 2]), weights=np.array([3, 1]))
    array(1.25)
    >>> np.average(np.array([[1, 2], [3, 6]]), axis=1, weights=np.array([1, 3]))
    array([1.75, 5.25])
    >>> np.average(np.array([1, 2, 3]), returned=True)
    (array(2.), array(3.))
    """
    inputs = (a,) if weights is None else (a, weights)
    weighted = None if inputs[1:] else False
    result = call("_npi_average", *inputs, axis=axis, returned=returned, weighted=weighted, out=out)
    return tuple(result) if returned else result


def percentile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear", keepdims=False):
    """Percentile along an axis: the value below which `q` per cent of the elements lie.

    Parameters
    ----------
    a : ndarray
        The input.
    q : float or ndarray
        The percentages, from 0 to 100. A list must be made an array first.
    axis : int, tuple of int or None, optional
        The axes to reduce; None reduces all.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.
    overwrite_input : None
        Not supported; leave it None.
    interpolation : str, default 'linear'
        What to return when the percentile lies between two elements: `linear` interpolates, `lower` and `higher` take
        one of them, `midpoint` their mean, `nearest` the closer one.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1.

    Returns
    -------
    ndarray
        float32 for integers. If `q` is an array, its axes come first.

    Notes
    -----
    Without a gradient.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([1, 2, 3, 10])
    >>> np.percentile(x, 50)
    array(2.5)
    >>> np.percentile(x, np.array([25, 75]), interpolation="lower")
    array([1., 3.])
    """
    if overwrite_input is not None:
        raise NotImplementedError("overwrite_input is not supported yet")
    inputs, number = ((a,), float(q)) if isinstance(q, numbers.Number) else ((a, q), None)
    options = {"axis": axis, "interpolation": interpolation, "keepdims": keepdims, "q_scalar": number}
    return call("_npi_percentile", *inputs, **options, out=out)


def quantile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear", keepdims=False):
    """Quantile along an axis: the value below which the share `q` of the elements lies.

    Parameters
    ----------
    a : ndarray
        The input.
    q : float or ndarray
        The shares, from 0 to 1. A list must be made an array first.
    axis : int, tuple of int or None, optional
        The axes to reduce; None reduces all.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.
    overwrite_input : None
        Not supported; leave it None.
    interpolation : str, default 'linear'
        What to return when the quantile lies between two elements: `linear`, `lower`, `higher`, `midpoint` or
        `nearest`, as in `percentile`.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1.

    Returns
    -------
    ndarray
        float32 for integers. If `q` is an array, its axes come first.

    Notes
    -----
    Without a gradient. The median is the quantile 0.5; `mx.np` has no function `median`.

    Examples
    --------
    >>> from mxnet import np
    >>> np.quantile(np.array([1, 2, 3, 10]), 0.5)
    array(2.5)
    >>> np.quantile(np.array([[1, 2, 9], [4, 5, 6]]), 0.5, axis=1)
    array([2., 5.])
    """
    return percentile(a, q * 100, axis, out, overwrite_input, interpolation, keepdims)


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
    """Distinct elements of an array, in ascending order.

    Parameters
    ----------
    ar : ndarray
        The input; it is flattened unless `axis` is given.
    return_index : bool, default False
        Whether to return the index of the first occurrence of each element.
    return_inverse : bool, default False
        Whether to return the indices that rebuild the input from the result.
    return_counts : bool, default False
        Whether to return how often each element occurs.
    axis : int or None, optional
        The axis whose slices are compared as a whole; for 0, the distinct rows of a matrix.

    Returns
    -------
    ndarray, or a tuple of ndarrays
        The distinct elements, then the requested index arrays (int64) in the order of the parameters.

    Notes
    -----
    The shape of the result depends on the values, so a hybridized block that calls it runs eagerly. Without a gradient.

    Examples
    --------
    >>> from mxnet import np
    >>> values, inverse, counts = np.unique(np.array([2, 1, 2]), return_inverse=True, return_counts=True)
    >>> values
    array([1., 2.])
    >>> values[inverse]
    array([2., 1., 2.])
    >>> counts
    array([1, 2], dtype=int64)
    >>> np.unique(np.array([[1, 2], [1, 2], [0, 5]]), axis=0)
    array([[0., 5.],
           [1., 2.]])
    """
    asked = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    found = call("_npi_unique", ar, **asked, axis=axis)
    return tuple(found) if isinstance(found, list) else found


def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):
    """Number of elements in each interval, and the edges of the intervals.

    Parameters
    ----------
    a : ndarray
        The input, which is flattened.
    bins : int or ndarray, default 10
        The number of intervals of equal width, or an array of their edges in ascending order. An interval includes its
        left edge; the last one includes both.
    range : tuple of two numbers, optional
        The outermost edges; elements outside are ignored. Required if `bins` is a number (NumPy takes the extremes of
        the data).
    normed : None
        Not supported; leave it None.
    weights : None
        Not supported; leave it None.
    density : None
        Not supported; leave it None.

    Returns
    -------
    (counts, edges)
        The counts are int64; there is one edge more than there are counts.

    Examples
    --------
    >>> from mxnet import np
    >>> counts, edges = np.histogram(np.array([1, 2, 2, 5]), bins=3, range=(0, 6))
    >>> counts
    array([1, 2, 1], dtype=int64)
    >>> edges
    array([0., 2., 4., 6.])
    >>> np.histogram(np.array([1, 2, 2, 5]), bins=np.array([0, 2, 10]))[0]
    array([1, 3], dtype=int64)
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
    """Differences of neighbouring elements along an axis: a[i + 1] - a[i], repeated `n` times.

    Parameters
    ----------
    a : ndarray
        The input.
    n : int, default 1
        How often the difference is taken; 0 returns the input.
    axis : int, default -1
        The axis along which neighbours are subtracted.
    prepend : None
        Not supported; concatenate the values yourself.
    append : None
        Not supported; concatenate the values yourself.

    Returns
    -------
    ndarray
        The type of `a`; the axis is shorter by `n`.

    Examples
    --------
    >>> from mxnet import np
    >>> np.diff(np.array([1, 4, 9, 16]))
    array([3., 5., 7.])
    >>> np.diff(np.array([1, 4, 9, 16]), n=2)
    array([2., 2.])
    >>> np.diff(np.array([[1, 2], [10, 20]]), axis=0)
    array([[ 9., 18.]])
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
    x : ndarray of int
        A vector of non-negative integers (int8, uint8, int32 or int64).
    weights : ndarray, optional
        A weight for each element of `x`. Result i is then the sum of the weights where `x` is i.
    minlength : int, default 0
        The least length of the result.

    Returns
    -------
    ndarray
        Of length max(x) + 1, or `minlength` if that is greater; of the type of `x`, or of `weights`.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([0, 2, 2], dtype="int32")
    >>> np.bincount(x, minlength=5)
    array([1, 0, 2, 0, 0], dtype=int32)
    >>> np.bincount(x, weights=np.array([0.5, 1, 2]))
    array([0.5, 0. , 3. ])
    """
    inputs = (x,) if weights is None else (x, weights)
    return call("_npi_bincount", *inputs, minlength=minlength, has_weights=weights is not None)
