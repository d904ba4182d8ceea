"""`mx.np.linalg`: norms, decompositions and solvers."""

import numbers

from .._core.errors import MXNetError
from .._core.tracing import Traced
from ._call import ARRAYS, call, face
from .fallback_linalg import cond, lstsq, matrix_power, matrix_rank, multi_dot, qr

__all__ = [
    "cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matrix_power", "matrix_rank",
    "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "svd", "tensorinv", "tensorsolve",
]  # fmt: skip

INFINITE = float("inf")


def norm(x, ord=None, axis=None, keepdims=False):
    """A vector or matrix norm; the Euclidean one unless told."""
    if axis is not None and not isinstance(axis, (numbers.Integral, tuple, list)):
        raise TypeError("'axis' must be None, an integer or a tuple of integers.")
    if ord in ("inf", "-inf"):
        if axis is None:  # the word without axes is about elements
            return _extreme(ord == "inf")(call("_npi_absolute", x), axis=None, keepdims=keepdims)
        ord = float(ord)
    axes = (axis,) if isinstance(axis, numbers.Integral) else axis if axis is None else tuple(axis)
    if ord in (None, "fro", "f"):
        return _norm(x, 2, axes, keepdims, -2 if axes is None and ord is None else 1)
    if axes is None and isinstance(x, Traced):
        return _norm(x, 2 if ord == "nuc" else ord, None, keepdims, 2 if ord == "nuc" else -1)
    axes = tuple(range(x.ndim)) if axes is None else axes
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    if len(axes) != 1 or not isinstance(ord, numbers.Number):
        raise MXNetError(f"norm: ord {ord!r} is none over the axes {axes} of {x!r}")
    if ord in (INFINITE, -INFINITE):
        return _extreme(ord > 0)(call("_npi_absolute", x), axis=axes, keepdims=keepdims)
    return _norm(x, ord, axes, keepdims, -1)


def _norm(x, ord, axes, keepdims, flag):
    return call("_npi_norm", x, ord=ord, axis=axes, keepdims=keepdims, flag=flag)


def _extreme(greatest):
    return face("_np_max" if greatest else "_np_min")


def _matrix_norm(x, ord, axes, keepdims):
    if ord in (2, -2, "nuc"):
        return _norm(x, 2 if ord == "nuc" else ord, axes, keepdims, 2 if ord == "nuc" else 0)
    if ord not in (1, -1, INFINITE, -INFINITE):
        raise ValueError(f"Invalid norm order {ord!r} for matrices.")
    summed, compared = axes if abs(ord) == 1 else axes[::-1]
    total = call("_np_sum", call("_npi_absolute", x), axis=summed, keepdims=True)
    result = _extreme(ord > 0)(total, axis=compared, keepdims=True)
    return result if keepdims else call("_np_squeeze", result, axis=axes)


def cholesky(a):
    """The lower triangular root."""
    return call("_npi_cholesky", a)


def inv(a):
    """Inverses of square matrices."""
    return call("_npi_inv", a)


def det(a):
    """Determinants."""
    return call("_npi_det", a)


def slogdet(a):
    """Signs and logarithms of determinants."""
    return tuple(call("_npi_slogdet", a))


def solve(a, b):
    """The x of a x = b."""
    return call("_npi_solve", a, b)


def svd(a):
    """Left vectors, singular values, right vectors."""
    return tuple(call("_npi_svd", a))


def eig(a):
    """Eigenvalues and vectors."""
    return tuple(call("_npi_eig", a))


def eigvals(a):
    """Eigenvalues."""
    return call("_npi_eigvals", a)


def eigh(a, UPLO="L"):
    """Eigenvalues and vectors of symmetric matrices."""
    return tuple(call("_npi_eigh", a, UPLO=UPLO))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of symmetric matrices."""
    return call("_npi_eigvalsh", a, UPLO=UPLO)


def pinv(a, rcond=1e-15, hermitian=False):
    """Pseudo-inverses."""
    if isinstance(rcond, ARRAYS):
        return call("_npi_pinv", a, rcond, hermitian=hermitian)
    return call("_npi_pinv_scalar_rcond", a, rcond=rcond, hermitian=hermitian)


def tensorinv(a, ind=2):
    """The inverse with respect to tensordot."""
    return call("_npi_tensorinv", a, ind=ind)


def tensorsolve(a, b, axes=None):
    """The x of tensordot(a, x) = b."""
    return call("_npi_tensorsolve", a, b, a_axes=axes)
