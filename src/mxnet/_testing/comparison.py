"""Comparing arrays: tolerances by dtype, and messages that show the worst places."""

import contextlib
import functools
import numbers

import numpy as np

from ..util import get_cuda_compute_capability

_EXACT = ("bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64")


def _by_dtype(half, single, double):
    table = {np.dtype("float16"): half, np.dtype("float32"): single, np.dtype("float64"): double}
    return table


def default_dtype():
    """The dtype tests use unless told otherwise."""
    return np.float32


def default_rtols():
    """Relative tolerance of each dtype."""
    return {**_by_dtype(1e-2, 1e-4, 1e-5), **{np.dtype(n): 0 for n in _EXACT}}


def default_atols():
    """Absolute tolerance of each dtype."""
    return {**_by_dtype(1e-1, 1e-3, 1e-20), **{np.dtype(n): 0 for n in _EXACT}}


def default_numeric_eps():
    """Step of finite differences for each dtype, a power of two so that no bit is lost."""
    return _by_dtype(2.0**-6, 2.0**-9, 2.0**-14)


def effective_dtype(dat):
    """The dtype whose precision a result really has: a GPU may compute float32 in TF32."""
    dtype = np.dtype(dat.dtype)
    ctx = getattr(dat, "ctx", None)
    if dtype == np.float32 and getattr(ctx, "device_type", "cpu") == "gpu":
        capability = get_cuda_compute_capability(ctx)
        if capability is not None and capability >= 80:
            return np.dtype("float16")
    return dtype


def get_tolerance(dat, tol, default_tol):
    """One number: `tol` itself, its entry for the dtype, or the default's."""
    if isinstance(tol, numbers.Number):
        return tol
    dtype = effective_dtype(dat)
    return (tol or {}).get(dtype, default_tol[dtype])


def get_tols(x, y, rtol, atol):
    """The looser of the two arrays' tolerances."""
    x, y = (np.array(v) if isinstance(v, (numbers.Number, list, tuple)) else v for v in (x, y))
    relative = max(get_tolerance(v, rtol, default_rtols()) for v in (x, y))
    absolute = max(get_tolerance(v, atol, default_atols()) for v in (x, y))
    return relative, absolute


def _given_or(tolerance, defaults, dtype):
    return defaults()[dtype] if tolerance is None else tolerance


def get_rtol(rtol=None, dtype=np.dtype(np.float64)):
    """`rtol`, or the dtype's."""
    return _given_or(rtol, default_rtols, dtype)


def get_atol(atol=None, dtype=np.dtype(np.float64)):
    """`atol`, or the dtype's."""
    return _given_or(atol, default_atols, dtype)


def get_etol(etol=None):
    """The share of elements that may differ; none unless told otherwise."""
    return 0 if etol is None else etol


def _numpy(a):
    return a.asnumpy() if hasattr(a, "asnumpy") else np.asarray(a)


def same(a, b):
    """Are the arrays equal, element for element?"""
    return np.array_equal(_numpy(a), _numpy(b))


def checkShapes(a, b):
    """Raise if the shapes differ."""
    if a.shape != b.shape:
        raise AssertionError(f"Input shapes differ: {a.shape} and {b.shape}")


def almost_equal(a, b, rtol=None, atol=None, equal_nan=False, use_broadcast=True):
    """Are the arrays equal within the tolerances?"""
    a, b = np.asarray(a), np.asarray(b)
    if not use_broadcast:
        checkShapes(a, b)
    rtol, atol = get_tols(a, b, rtol, atol)
    return np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def locationError(a, b, index, names, maxError=False):
    """One line about one place where two arrays differ."""
    kind = "maximum error" if maxError else "error"
    return f"Location of {kind}: {tuple(int(i) for i in index)}, {names[0]}={a[index]:.8f}, {names[1]}={b[index]:.8f}"


def _violations(a, b, rtol, atol):
    with np.errstate(all="ignore"):
        error = np.abs(a.astype(np.float64) - b) / (atol + rtol * np.abs(b.astype(np.float64)) + 1e-20)
    return np.where(np.isnan(error), np.where(np.isnan(a) & np.isnan(b), 0, np.inf), error)


def _report(a, b, rtol, atol, names, mismatches):
    """Prints the worst places; what an exception says of them, with both arrays in short."""
    if a.shape != b.shape:
        try:
            a, b = np.broadcast_arrays(a, b)
        except ValueError:
            return f"shapes {a.shape} and {b.shape} do not match"
    error = _violations(a, b, rtol, atol)
    wrong = np.argwhere(error > 1)
    if not len(wrong):
        wrong = np.argwhere(error >= error.max())
    order = sorted(map(tuple, wrong), key=lambda i: -error[i])
    print(f"\n*** Maximum errors for vector of size {a.size}:  rtol={rtol}, atol={atol}\n")
    for number, place in enumerate(order[: mismatches[0]], 1):
        print(f"{number:3d}: Error {error[place]:f}  {locationError(a, b, place, names)}")
    most = mismatches[1] if mismatches[1] > 0 else len(wrong)
    share = f"{'at least ' if len(wrong) > most else ''}{100 * min(len(wrong), most + 1) / max(1, a.size):f}"
    words = f"Error {error[order[0]]:f} exceeds tolerance rtol={rtol:e}, atol={atol:e} (mismatch {share}%).\n"
    words += locationError(a, b, order[0], names, maxError=True)
    with np.printoptions(threshold=4, suppress=True):
        return np.testing.build_err_msg([a, b], err_msg=words)


def assert_almost_equal(
    a, b, rtol=None, atol=None, names=("a", "b"), equal_nan=False, use_broadcast=True, mismatches=(10, 10)
):
    """Raise AssertionError with the worst places unless the arrays are equal within the tolerances."""
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = _numpy(a), _numpy(b)
    if not use_broadcast:
        checkShapes(a, b)
    if a.dtype == bool and b.dtype == bool:
        np.testing.assert_equal(a, b)
    elif not almost_equal(a, b, rtol, atol, equal_nan=equal_nan):
        raise AssertionError(_report(a, b, rtol, atol, names, mismatches))


def assert_allclose(a, b, rtol=1e-07, atol=0, equal_nan=True):
    """`assert_almost_equal` with NumPy's defaults."""
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_almost_equal_with_err(
    a, b, rtol=None, atol=None, etol=None, names=("a", "b"), equal_nan=False, mismatches=(10, 10)
):
    """Like `assert_almost_equal`, letting the share `etol` of the elements differ."""
    etol = get_etol(etol)
    if not etol:
        assert_almost_equal(a, b, rtol, atol, names, equal_nan, mismatches=mismatches)
        return
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = _numpy(a), _numpy(b)
    close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    share = 1 - close.sum() / close.size
    if share > etol:
        raise AssertionError(
            f"{share:f} of the elements differ, more than {etol}. " + _report(a, b, rtol, atol, names, mismatches)
        )


def assert_almost_equal_ignore_nan(a, b, rtol=None, atol=None, names=("a", "b")):
    """Compare where neither array is NaN."""
    a, b = np.copy(_numpy(a)), np.copy(_numpy(b))
    either = np.isnan(a) | np.isnan(b)
    a[either] = b[either] = 0
    assert_almost_equal(a, b, rtol, atol, names)


def assert_exception(f, exception_type, *args, **kwargs):
    """Raise unless the call raises that exception."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"{getattr(f, '__name__', f)} did not raise {exception_type.__name__}")


def same_array(array1, array2):
    """Do two arrays share memory? Tried by changing one."""
    for first, second in ((array1, array2), (array2, array1)):
        first[:] = first + 1
        if not same(first, second):
            first[:] = first - 1
            return False
        first[:] = first - 1
    return True


def compare_ndarray_tuple(t1, t2, rtol=None, atol=None):
    """Compare nested tuples of arrays."""
    if t1 is None or t2 is None:
        return
    if isinstance(t1, tuple):
        for a, b in zip(t1, t2, strict=True):
            compare_ndarray_tuple(a, b, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol=rtol, atol=atol)


def np_reduce(dat, axis, keepdims, numpy_reduce_func):
    """A NumPy reduction over several axes, given one that reduces one."""
    axes = list(range(dat.ndim)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    result, gone = dat, {axis % dat.ndim for axis in axes}
    for place in sorted(gone, reverse=True):
        result = numpy_reduce_func(result, axis=place)
    if not keepdims:
        return result
    return result.reshape([1 if place in gone else size for place, size in enumerate(dat.shape)])


def collapse_sum_like(a, shape):
    """Sum an array down to a shape it was broadcast from."""
    assert len(a.shape) >= len(shape)
    if np.prod(shape) == 0 or a.size == 0:
        return np.zeros(shape, dtype=a.dtype)
    lead = len(a.shape) - len(shape)
    axes = [*range(lead), *(i + lead for i, s in enumerate(shape) if s == 1 and a.shape[i + lead] != 1)]
    return np.sum(a, axis=tuple(axes), keepdims=True).reshape(shape)


def retry(n):
    """Repeat a flaky test up to `n` times."""
    assert n > 0

    def decorate(f):
        @functools.wraps(f)
        def repeated(*args, **kwargs):
            for _ in range(n - 1):
                with contextlib.suppress(AssertionError):
                    return f(*args, **kwargs)
            return f(*args, **kwargs)

        return repeated

    return decorate


__all__ = [n for n, v in list(globals().items()) if getattr(v, "__module__", None) == __name__ and n[0] != "_"]
