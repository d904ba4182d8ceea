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
    """Norm of vectors or matrices.

    For a vector, `ord` p means (Σ |x|ᵖ)^(1/p). For a matrix, 1 and infinity are the largest sum of absolute values of a
    column and of a row, 2 is the largest singular value, `'fro'` the root of the sum of squares, `'nuc'` the sum of the
    singular values.

    Parameters
    ----------
    x : ndarray
        The input.
    ord : int, float, inf, -inf, 'fro', 'nuc', optional
        The order of the norm. None: the root of the sum of squares of all elements, whatever the number of axes.
    axis : int or tuple of two ints, optional
        An int: the axis of vectors. Two ints: the axes of matrices. None: the whole array.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1.

    Returns
    -------
    ndarray
        A zero-dimensional array if the whole array is reduced.

    Notes
    -----
    The norm of integers is float32. MXNet returns an integer there, with a wrong value.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([[3, 4], [6, 8]])
    >>> np.linalg.norm(x, axis=1)
    array([ 5., 10.])
    >>> np.linalg.norm(x)
    array(11.18034)
    >>> np.linalg.norm(x, ord=1, axis=(0, 1))
    array(12.)
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
    """Cholesky decomposition of a positive definite matrix: the lower triangular L with L Lᵀ = a.

    It takes half the time of an LU decomposition. Multiplying L by standard normal numbers gives numbers with the
    covariance matrix `a`.

    Parameters
    ----------
    a : ndarray
        A symmetric positive definite matrix, or a batch of them, (..., n, n), float32 or float64. Only the lower
        triangle is read.

    Returns
    -------
    ndarray
        Of the shape of `a`.

    Raises
    ------
    MXNetError
        If the matrix is not positive definite.

    Examples
    --------
    >>> from mxnet import np
    >>> root = np.linalg.cholesky(np.array([[4, 2], [2, 5]]))
    >>> root
    array([[2., 0.],
           [1., 2.]])
    >>> np.matmul(root, root.T)
    array([[4., 2.],
           [2., 5.]])
    """
    return call("_npi_cholesky", a)


def inv(a):
    """Inverse of a matrix: a · inv(a) is the identity.

    The gradient g of the result gives -inv(a)ᵀ · g · inv(a)ᵀ for `a`.

    Parameters
    ----------
    a : ndarray
        A square matrix, or a batch of them, (..., n, n), float32 or float64.

    Returns
    -------
    ndarray
        Of the shape of `a`.

    Raises
    ------
    MXNetError
        If the matrix is singular.

    Notes
    -----
    To solve a x = b, `np.linalg.solve(a, b)` is faster and more accurate than `inv(a) @ b`.

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.inv(np.array([[2, 0], [0, 4]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return call("_npi_inv", a)


def det(a):
    """Determinant of a matrix.

    For [[a, b], [c, d]] it is a·d - b·c: the factor by which the matrix changes volumes, 0 for a singular matrix. It is
    computed from an LU decomposition. The gradient with respect to the matrix is det(a) · inv(a)ᵀ.

    Parameters
    ----------
    a : ndarray
        A square matrix, or a batch of them, (..., n, n), float32 or float64.

    Returns
    -------
    ndarray
        Of the shape of the batch; a zero-dimensional array for one matrix.

    Notes
    -----
    The determinant of a large matrix easily overflows; `slogdet` returns its logarithm.

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.det(np.array([[[1, 2], [3, 5]], [[2, 0], [0, 3]]]))
    array([-1.,  6.])
    """
    return call("_npi_det", a)


def slogdet(a):
    """Sign and logarithm of the absolute value of the determinant: det = sign · e^logarithm.

    It does not overflow where the determinant of a large matrix would, and is what the density of a normal distribution
    needs. The gradient of the logarithm is inv(a)ᵀ; the sign has no gradient.

    Parameters
    ----------
    a : ndarray
        A square matrix, or a batch of them, (..., n, n), float32 or float64.

    Returns
    -------
    (sign, logarithm)
        Two arrays of the shape of the batch. A singular matrix has the sign 0 and the logarithm -inf.

    Examples
    --------
    >>> from mxnet import np
    >>> sign, logarithm = np.linalg.slogdet(np.array([[1, 2], [3, 4]]))
    >>> float(sign), round(float(logarithm), 4)
    (-1.0, 0.6931)
    """
    return tuple(call("_npi_slogdet", a))


def solve(a, b):
    """Solution x of the linear equations a x = b.

    The matrix is decomposed once for all right-hand sides, which is faster and more accurate than multiplying by the
    inverse. Both inputs have gradients: inv(a)ᵀ · g for b, and its product with -xᵀ for a.

    Parameters
    ----------
    a : ndarray
        The coefficients, a square matrix or a batch of them, (..., n, n).
    b : ndarray
        The right-hand sides, (n,) or (..., n, k) for k of them.

    Returns
    -------
    ndarray
        Of the shape of `b`.

    Raises
    ------
    MXNetError
        If `a` is singular.

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.solve(np.array([[3, 1], [1, 2]]), np.array([9, 8]))
    array([2., 3.])
    >>> np.linalg.solve(np.array([[2, 0], [0, 4]]), np.eye(2))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return call("_npi_solve", a, b)


def svd(a):
    """Singular value decomposition: a = U · diag(L) · V.

    Parameters
    ----------
    a : ndarray
        A matrix, or a batch of them, (..., m, n). MXNet accepts only m ≤ n.

    Returns
    -------
    (U, L, V)
        With k = min(m, n): U of shape (..., m, k), L of shape (..., k), the singular values, descending, and V of shape
        (..., k, n). The columns of U and the rows of V are orthonormal.

    Notes
    -----
    This is NumPy's decomposition with `full_matrices=False`. The signs of corresponding vectors of U and V are not
    determined by the equation.

    Examples
    --------
    >>> from mxnet import np
    >>> u, values, v = np.linalg.svd(np.array([[2, 0, 0], [0, 3, 0]]))
    >>> values
    array([3., 2.])
    >>> np.dot(u * values, v)
    array([[2., 0., 0.],
           [0., 3., 0.]])
    """
    return tuple(call("_npi_svd", a))


def eig(a):
    """Eigenvalues and eigenvectors of a square matrix, where the eigenvalues are real.

    Parameters
    ----------
    a : ndarray
        A square matrix, or a batch of them, (..., n, n).

    Returns
    -------
    (values, vectors)
        Values of shape (..., n), in no particular order; vectors of shape (..., n, n), where column i belongs to value
        i and has the length 1.

    Raises
    ------
    MXNetError
        If an eigenvalue is complex, which `mx.np` arrays cannot hold.

    Notes
    -----
    Use `eigh` for symmetric matrices: it is faster and sorts the eigenvalues.

    Examples
    --------
    >>> from mxnet import np
    >>> values, vectors = np.linalg.eig(np.array([[2, 0], [0, 3]]))
    >>> values
    array([2., 3.])
    >>> vectors
    array([[1., 0.],
           [0., 1.]])
    """
    return tuple(call("_npi_eig", a))


def eigvals(a):
    """Eigenvalues of a square matrix, where they are real.

    They are the numbers λ for which a·v = λ·v has a solution v other than 0. `eig` returns the vectors as well; for
    symmetric matrices use `eigvalsh`, which is faster and whose results are always real.

    Parameters
    ----------
    a : ndarray
        A square matrix, or a batch of them, (..., n, n).

    Returns
    -------
    ndarray
        Of shape (..., n), in no particular order.

    Raises
    ------
    MXNetError
        If an eigenvalue is complex, which `mx.np` arrays cannot hold.

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.eigvals(np.array([[2, 1], [0, 3]]))
    array([2., 3.])
    """
    return call("_npi_eigvals", a)


def eigh(a, UPLO="L"):
    """Eigenvalues and eigenvectors of a symmetric matrix: a = V · diag(w) · Vᵀ.

    Parameters
    ----------
    a : ndarray
        A symmetric matrix, or a batch of them, (..., n, n).
    UPLO : str, default 'L'
        Which triangle is read: 'L' the lower one, 'U' the upper one. The other one is assumed to mirror it.

    Returns
    -------
    (values, vectors)
        Values of shape (..., n), ascending; vectors of shape (..., n, n), where column i belongs to value i.

    Examples
    --------
    >>> from mxnet import np
    >>> values, vectors = np.linalg.eigh(np.array([[2, 1], [1, 2]]))
    >>> values
    array([1., 3.])
    >>> np.abs(vectors)
    array([[0.70710677, 0.70710677],
           [0.70710677, 0.70710677]])
    """
    return tuple(call("_npi_eigh", a, UPLO=UPLO))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of a symmetric matrix, ascending.

    They are the numbers λ for which a·v = λ·v has a solution v other than 0; for a symmetric matrix all are real. The
    other triangle is not read, and not checked for symmetry. `eigh` returns the vectors as well.

    Parameters
    ----------
    a : ndarray
        A symmetric matrix, or a batch of them, (..., n, n).
    UPLO : str, default 'L'
        Which triangle is read: 'L' the lower one, 'U' the upper one.

    Returns
    -------
    ndarray
        Of shape (..., n).

    Examples
    --------
    >>> from mxnet import np
    >>> np.linalg.eigvalsh(np.array([[2, 1], [1, 2]]))
    array([1., 3.])
    >>> np.linalg.eigvalsh(np.array([[2, 99], [1, 2]]))
    array([1., 3.])
    """
    return call("_npi_eigvalsh", a, UPLO=UPLO)


def pinv(a, rcond=1e-15, hermitian=False):
    """Moore-Penrose pseudo-inverse of a matrix, the inverse in the sense of least squares.

    Parameters
    ----------
    a : ndarray
        A matrix, or a batch of them, (..., m, n).
    rcond : float or ndarray, default 1e-15
        Singular values below this share of the largest one count as zero. 1e-15 suits float64; for float32 use about
        1e-6.
    hermitian : bool, default False
        Whether the matrices are symmetric, which is faster.

    Returns
    -------
    ndarray
        Of shape (..., n, m).

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
    """Inverse with respect to `tensordot`: `np.tensordot(tensorinv(a, ind), a, ind)` is the identity.

    Parameters
    ----------
    a : ndarray
        The input. The product of its first `ind` lengths equals that of the others.
    ind : int, default 2
        How many of the first axes take the place of the rows of a matrix.

    Returns
    -------
    ndarray
        Of shape a.shape[ind:] + a.shape[:ind].

    Examples
    --------
    >>> from mxnet import np
    >>> a = np.eye(4).reshape(2, 2, 4)
    >>> np.linalg.tensorinv(a, ind=2).shape
    (4, 2, 2)
    """
    return call("_npi_tensorinv", a, ind=ind)


def tensorsolve(a, b, axes=None):
    """Solution x of `np.tensordot(a, x, x.ndim) = b`.

    Parameters
    ----------
    a : ndarray
        The coefficients, of shape b.shape + x.shape; both parts have the same product.
    b : ndarray
        The right-hand side.
    axes : tuple of int, optional
        Axes of `a` that are moved to the end first.

    Returns
    -------
    ndarray
        The solution x, of shape a.shape[b.ndim:].

    Examples
    --------
    >>> from mxnet import np
    >>> a = 2 * np.eye(6).reshape(2, 3, 6)
    >>> np.linalg.tensorsolve(a, np.ones((2, 3)))
    array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    """
    return call("_npi_tensorsolve", a, b, a_axes=axes)
