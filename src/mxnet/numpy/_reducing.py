"""`mx.np` functions that reduce, order and count."""

import numbers

from ._call import axes, call

__all__ = [
    "argmax", "argmin", "argsort", "average", "bincount", "diff", "histogram", "mean", "percentile", "quantile", "sort",
    "std", "unique", "var",
]  # fmt: skip


def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    """The mean over axes."""
    return call("_npi_mean", a, axis=axes(axis), dtype=dtype, keepdims=keepdims, out=out)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The standard deviation over axes."""
    return call("_npi_std", a, axis=axes(axis), dtype=dtype, ddof=ddof, keepdims=keepdims, out=out)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The variance over axes."""
    return call("_npi_var", a, axis=axes(axis), dtype=dtype, ddof=ddof, keepdims=keepdims, out=out)


def argmax(a, axis=None, out=None):
    """Where the first greatest is."""
    return call("_npi_argmax", a, axis=axis, out=out)


def argmin(a, axis=None, out=None):
    """Where the first least is."""
    return call("_npi_argmin", a, axis=axis, out=out)


def _no_order(order):
    if order is not None:
        raise NotImplementedError("order is not supported: mx.np arrays have no fields")


def sort(a, axis=-1, kind=None, order=None):
    """Sorted along an axis."""
    _no_order(order)
    return call("_npi_sort", a if axis is not None else a.reshape(-1), axis=-1 if axis is None else axis)


def argsort(a, axis=-1, kind=None, order=None):
    """The order that sorts along an axis."""
    _no_order(order)
    flat = a if axis is not None else a.reshape(-1)
    return call("_npi_argsort", flat, axis=-1 if axis is None else axis, dtype="int64")


def average(a, axis=None, weights=None, returned=False, out=None):
    """The mean over axes, or with weights the weighted mean; with `returned` also the sum of the weights."""
    inputs = (a,) if weights is None else (a, weights)
    weighted = None if inputs[1:] else False
    result = call("_npi_average", *inputs, axis=axis, returned=returned, weighted=weighted, out=out)
    return tuple(result) if returned else result


def percentile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear", keepdims=False):
    """The elements below which `q` per cent lie, over axes, without a gradient."""
    if overwrite_input is not None:
        raise NotImplementedError("overwrite_input is not supported yet")
    inputs, number = ((a,), float(q)) if isinstance(q, numbers.Number) else ((a, q), None)
    options = {"axis": axis, "interpolation": interpolation, "keepdims": keepdims, "q_scalar": number}
    return call("_npi_percentile", *inputs, **options, out=out)


def quantile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear", keepdims=False):
    """The elements below which the share `q` lies, over axes, without a gradient."""
    return percentile(a, q * 100, axis, out, overwrite_input, interpolation, keepdims)


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
    """The different elements, sorted, and where they are and how often they occur."""
    asked = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    found = call("_npi_unique", ar, **asked, axis=axis)
    return tuple(found) if isinstance(found, list) else found


def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):
    """How many elements fall in each bin, and the bins' edges."""
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
    """Differences of neighbours, `n` times over."""
    if prepend is not None or append is not None:
        raise NotImplementedError("prepend and append options are not supported yet")
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    return a if n == 0 else call("_npi_diff", a, n=n, axis=axis)


def bincount(x, weights=None, minlength=0):
    """How often each number occurs, or the sums of weights."""
    inputs = (x,) if weights is None else (x, weights)
    return call("_npi_bincount", *inputs, minlength=minlength, has_weights=weights is not None)
