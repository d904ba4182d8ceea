"""`mx.np` functions that reduce, order and count."""

from ._call import axes, call

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "average", "bincount", "cumsum", "diff", "max",
    "mean", "min", "prod", "product", "sometrue", "sort", "std", "sum", "var",
]  # fmt: skip


def sum(a, axis=None, dtype=None, keepdims=False, initial=None, out=None):
    """The sum over axes."""
    return call("_np_sum", a, axis=axes(axis), dtype=dtype, keepdims=keepdims, initial=initial, out=out)


def prod(a, axis=None, dtype=None, out=None, keepdims=False):
    """The product over axes."""
    return call("_np_prod", a, axis=axes(axis), dtype=dtype, keepdims=keepdims, out=out)


product = prod


def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    """The mean over axes."""
    return call("_npi_mean", a, axis=axes(axis), dtype=dtype, keepdims=keepdims, out=out)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The standard deviation over axes."""
    return call("_npi_std", a, axis=axes(axis), dtype=dtype, ddof=ddof, keepdims=keepdims, out=out)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The variance over axes."""
    return call("_npi_var", a, axis=axes(axis), dtype=dtype, ddof=ddof, keepdims=keepdims, out=out)


def max(a, axis=None, keepdims=False, out=None):
    """The greatest over axes."""
    return call("_np_max", a, axis=axes(axis), keepdims=keepdims, out=out)


def min(a, axis=None, keepdims=False, out=None):
    """The least over axes."""
    return call("_np_min", a, axis=axes(axis), keepdims=keepdims, out=out)


amax, amin = max, min


def all(a, axis=None, keepdims=False, out=None):
    """Is every element true?"""
    return call("_np_all", a, axis=axes(axis), keepdims=keepdims, out=out)


def any(a, axis=None, keepdims=False, out=None):
    """Is some element true?"""
    return call("_np_any", a, axis=axes(axis), keepdims=keepdims, out=out)


sometrue = any


def argmax(a, axis=None, out=None):
    """Where the first greatest is."""
    return call("_npi_argmax", a, axis=axis, out=out)


def argmin(a, axis=None, out=None):
    """Where the first least is."""
    return call("_npi_argmin", a, axis=axis, out=out)


def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums."""
    return call("_np_cumsum", a, axis=axis, dtype=dtype, out=out)


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
    if weights is None:
        result = mean(a, axis, out=out)
        if a.dtype.kind == "i":
            result = result.astype(a.dtype)
        total = result * 0 + a.size / result.size if returned else None
        return (result, total) if returned else result
    if weights.shape != a.shape:
        weights = _along(weights, a, axis)
    total = sum(weights, axis)
    result = sum(a * weights, axis) / total
    if out is not None:
        out[...] = result
        result = out
    return (result, total) if returned else result


def _along(weights, a, axis):
    """One weight for each place along one axis, shaped to broadcast."""
    if axis is None or weights.ndim != 1 or weights.shape[0] != a.shape[axis]:
        raise ValueError(f"weights of shape {weights.shape} do not fit an array of shape {a.shape} along axis {axis}")
    from . import broadcast_to

    shape = [1] * a.ndim
    shape[axis] = -1
    return broadcast_to(weights.reshape(shape), a.shape)


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
