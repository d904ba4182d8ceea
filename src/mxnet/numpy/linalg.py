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
    """The norm of vectors or matrices.

    Parameters
    ----------
    x : ndarray
        The input.
    ord : number or str, optional
        The order of the norm; None: the root of the sum of squares.
    axis : int or tuple of two ints, optional
        The axis of vectors, or the axes of matrices; None: all.
    keepdims : bool, default False
        Whether reduced axes stay with length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.norm(np.array([[3, 4], [6, 8]]), axis=1)
    array([ 5., 10.])
    """
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
    """The lower triangular L with L Lᵀ = a, of a positive definite matrix.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.cholesky(np.array([[4, 2], [2, 5]]))
    array([[2., 0.],
           [1., 2.]])
    """
    return call("_npi_cholesky", a)


def inv(a):
    """The inverse of a matrix.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.inv(np.array([[2, 0], [0, 4]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return call("_npi_inv", a)


def det(a):
    """The determinant of a matrix.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> float(np.linalg.det(np.array([[1, 2], [3, 4]])))
    -2.0
    """
    return call("_npi_det", a)


def slogdet(a):
    """The sign of the determinant and the logarithm of its absolute value.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.

    Returns
    -------
    (sign, logarithm)

    Examples
    --------
    >>> from mxnet import np
    >>> sign, logarithm = np.linalg.slogdet(np.array([[1, 2], [3, 4]]))
    >>> float(sign), round(float(logarithm), 4)
    (-1.0, 0.6931)
    """
    return tuple(call("_npi_slogdet", a))


def solve(a, b):
    """The x with a x = b.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.
    b : ndarray
        The right-hand side.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.solve(np.array([[2, 0], [0, 4]]), np.array([2, 8]))
    array([1., 2.])
    """
    return call("_npi_solve", a, b)


def svd(a):
    """The singular value decomposition: a = U diag(L) V.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.

    Returns
    -------
    (U, L, V)

    Examples
    --------
    >>> from mxnet import np
    >>> u, values, v = np.linalg.svd(np.array([[2, 0], [0, 3]]))
    >>> values
    array([3., 2.])
    """
    return tuple(call("_npi_svd", a))


def eig(a):
    """The eigenvalues and eigenvectors of a matrix, where they are real.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.

    Returns
    -------
    (values, vectors)
        The vectors are columns.

    Examples
    --------
    >>> from mxnet import np
    >>> values, vectors = np.linalg.eig(np.array([[2, 0], [0, 3]]))
    >>> values
    array([2., 3.])
    """
    return tuple(call("_npi_eig", a))


def eigvals(a):
    """The eigenvalues of a matrix, where they are real.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.eigvals(np.array([[2, 0], [0, 3]]))
    array([2., 3.])
    """
    return call("_npi_eigvals", a)


def eigh(a, UPLO="L"):
    """The eigenvalues and eigenvectors of a symmetric matrix.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.
    UPLO : str, default 'L'
        Which triangle is read: L the lower one, U the upper one.

    Returns
    -------
    (values, vectors)
        The vectors are columns.

    Examples
    --------
    >>> from mxnet import np
    >>> values, vectors = np.linalg.eigh(np.array([[2, 1], [1, 2]]))
    >>> values
    array([1., 3.])
    """
    return tuple(call("_npi_eigh", a, UPLO=UPLO))


def eigvalsh(a, UPLO="L"):
    """The eigenvalues of a symmetric matrix, ascending.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.
    UPLO : str, default 'L'
        Which triangle is read: L the lower one, U the upper one.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.eigvalsh(np.array([[2, 1], [1, 2]]))
    array([1., 3.])
    """
    return call("_npi_eigvalsh", a, UPLO=UPLO)


def pinv(a, rcond=1e-15, hermitian=False):
    """The Moore-Penrose pseudo-inverse of a matrix.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.
    rcond : number or ndarray, default 1e-15
        Singular values below this part of the greatest count as zero.
    hermitian : bool, default False
        Whether the matrix is symmetric, which is faster.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.pinv(np.array([[2, 0], [0, 4], [0, 0]]))
    array([[0.5 , 0.  , 0.  ],
           [0.  , 0.25, 0.  ]])
    """
    if isinstance(rcond, ARRAYS):
        return call("_npi_pinv", a, rcond, hermitian=hermitian)
    return call("_npi_pinv_scalar_rcond", a, rcond=rcond, hermitian=hermitian)


def tensorinv(a, ind=2):
    """The inverse with respect to tensordot: tensordot(tensorinv(a), a, ind) is the identity.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.
    ind : int, default 2
        The number of axes of the rows.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.tensorinv(np.eye(4).reshape(2, 2, 4), ind=2).shape
    (4, 2, 2)
    """
    return call("_npi_tensorinv", a, ind=ind)


def tensorsolve(a, b, axes=None):
    """The x with tensordot(a, x, x.ndim) = b.

    Parameters
    ----------
    a : ndarray
        The matrix, or a batch of matrices in the last two axes.
    b : ndarray
        The right-hand side.
    axes : tuple of int, optional
        The axes of `a` to move to its end first.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.tensorsolve(np.eye(4).reshape(2, 2, 2, 2), np.ones((2, 2)))
    array([[1., 1.],
           [1., 1.]])
    """
    return call("_npi_tensorsolve", a, b, a_axes=axes)
