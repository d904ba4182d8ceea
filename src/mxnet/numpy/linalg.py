"""`mx.np.linalg`: norms, decompositions and solvers."""

import numbers

from .._core.tracing import Traced
from ._call import ARRAYS, call
from .fallback_linalg import cond, lstsq, matrix_power, matrix_rank, multi_dot, qr

__all__ = [
    "cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matrix_power", "matrix_rank",
    "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "svd", "tensorinv", "tensorsolve",
]  # fmt: skip


def norm(x, ord=None, axis=None, keepdims=False):
    """A vector or matrix norm; the Euclidean one unless told."""
    from . import abs as absolute
    from . import max as greatest
    from . import min as least
    from . import sqrt
    from . import sum as total

    if ord in ("inf", "-inf"):
        if axis is None:  # the word without axes is about elements
            return (greatest if ord == "inf" else least)(absolute(x), None, keepdims)
        ord = float(ord)
    if axis is None and isinstance(x, Traced) and ord in (None, "fro"):
        return sqrt(total(x * x, keepdims=keepdims))
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, numbers.Integral) else tuple(axis)
    if ord in (None, "fro") or (ord == 2 and len(axes) == 1):
        return sqrt(total(x * x, axes, keepdims=keepdims))
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    if len(axes) != 1:
        raise ValueError(f"norm: ord {ord!r} needs one axis or two, got {axes}")
    if ord in (float("inf"), float("-inf")):
        return (greatest if ord > 0 else least)(absolute(x), axes, keepdims)
    if ord == 0:
        return total((x != 0).astype(x.dtype), axes, keepdims=keepdims)
    if not isinstance(ord, numbers.Number):
        raise ValueError(f"Invalid norm order {ord!r} for vectors.")
    return total(absolute(x) ** ord, axes, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(x, ord, axes, keepdims):
    from . import abs as absolute
    from . import expand_dims, moveaxis
    from . import max as greatest
    from . import min as least
    from . import sum as total

    if isinstance(ord, str) and ord != "nuc":
        raise ValueError(f"Invalid norm order {ord!r} for matrices.")
    pick = greatest if ord == "nuc" or ord > 0 else least
    matrix = moveaxis(x, axes, (-2, -1))
    if ord in (1, -1, float("inf"), float("-inf")):
        result = pick(total(absolute(matrix), -2 if abs(ord) == 1 else -1), -1)
    elif ord in (2, -2, "nuc"):
        values = svd(matrix)[1]
        result = total(values, -1) if ord == "nuc" else pick(values, -1)
    else:
        raise ValueError(f"Invalid norm order {ord!r} for matrices.")
    for axis in sorted(a % x.ndim for a in axes) if keepdims else ():
        result = expand_dims(result, axis)
    return result


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
