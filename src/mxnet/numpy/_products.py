"""`mx.np` products of arrays and polynomials."""

import numbers

from .._core.tracing import Traced
from ._call import ARRAYS, call

__all__ = ["einsum", "inner", "matmul", "outer", "polyval", "tensordot", "vdot"]


def matmul(a, b, out=None, **kwargs):
    """Matrix product, which `a @ b` calls.

    For two matrices the result is Σₖ a[i, k] · b[k, j]. The last two axes of arrays with more axes are matrices; the
    axes before them are batches, which broadcast. A vector counts as a row on the left and as a column on the right,
    and the added axis is removed from the result.

    Parameters
    ----------
    a : ndarray
        Of shape (..., n, k) or (k,).
    b : ndarray
        Of shape (..., k, m) or (k,).
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.
    **kwargs
        NumPy's `casting`, `order`, `dtype` and `subok`. Only their default values are supported.

    Returns
    -------
    ndarray
        Of shape (..., n, m).

    Notes
    -----
    A number is refused; multiply with `*`. `np.dot` differs for arrays of more than two axes: it does not broadcast
    batches.

    Examples
    --------
    >>> from mxnet import np
    >>> np.matmul(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [0, 2]]))
    array([[1., 4.],
           [3., 8.]])
    >>> np.matmul(np.ones((5, 2, 3)), np.ones((3, 4))).shape
    (5, 2, 4)
    >>> np.matmul(np.array([1, 2]), np.array([3, 4]))
    array(11.)
    """
    return call("_npi_matmul", a, b, out=out)


def tensordot(a, b, axes=2):
    """Sum of products over given axes of two arrays.

    The result has the remaining axes of `a`, followed by those of `b`.

    Parameters
    ----------
    a : ndarray
        The first array.
    b : ndarray
        The second array.
    axes : int or pair of sequences, default 2
        A number n: the last n axes of `a` and the first n of `b`. A pair: the axes of `a` and the axes of `b`, matched
        in order. Matched axes must have the same length.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> a, b = np.ones((2, 3, 4)), np.ones((3, 4, 5))
    >>> np.tensordot(a, b).shape
    (2, 5)
    >>> np.tensordot(a, b, axes=([1], [0])).shape
    (2, 4, 4, 5)
    >>> np.tensordot(np.array([1, 2]), np.array([3, 4]), axes=0)
    array([[3., 4.],
           [6., 8.]])
    """
    if isinstance(axes, numbers.Integral):
        return call("_npi_tensordot_int_axes", a, b, axes=int(axes))
    if len(axes) != 2:
        raise ValueError("Axes must consist of two arrays.")
    first, second = ((x,) if isinstance(x, numbers.Integral) else tuple(x) for x in axes)
    if len(first) != len(second):
        raise ValueError("Axes length mismatch")
    return call("_npi_tensordot", a, b, a_axes_summed=first, b_axes_summed=second)


def inner(a, b):
    """Inner product: sum of products over the last axis of both arrays.

    For vectors it is the scalar product Σ a[i] · b[i]. For arrays of more axes the last axes of both are summed over,
    so that the result has the other axes of `a`, then those of `b`; for matrices it is a · bᵀ.

    Parameters
    ----------
    a : ndarray
        Of shape (..., k).
    b : ndarray
        Of shape (..., k); its last axis is as long as that of `a`.

    Returns
    -------
    ndarray
        Of shape a.shape[:-1] + b.shape[:-1]; a zero-dimensional array for two vectors.

    Examples
    --------
    >>> from mxnet import np
    >>> np.inner(np.array([1, 2]), np.array([3, 4]))
    array(11.)
    >>> np.inner(np.ones((2, 3)), np.ones((4, 3))).shape
    (2, 4)
    """
    numbers_alone = not isinstance(a, Traced) and not (a.ndim and b.ndim)
    return a * b if numbers_alone else tensordot(a, b, [-1, -1])


def outer(a, b):
    """Outer product: the products of all pairs of elements, a[i] · b[j].

    The gradient with respect to a[i] is the sum over j of b[j] times the gradient of the result, and likewise for b.

    Parameters
    ----------
    a : ndarray
        The first input; it is flattened to length n.
    b : ndarray
        The second input; it is flattened to length m.

    Returns
    -------
    ndarray
        Of shape (n, m).

    Examples
    --------
    >>> from mxnet import np
    >>> np.outer(np.array([1, 2]), np.array([3, 4, 5]))
    array([[ 3.,  4.,  5.],
           [ 6.,  8., 10.]])
    """
    return tensordot(a.reshape(-1), b.reshape(-1), 0)


def vdot(a, b):
    """Sum of the products of corresponding elements; both arrays are flattened first.

    The result is Σ a[i] · b[i]. In contrast to `np.dot`, it is never a product of matrices: arrays of any shape give
    one number. The gradient with respect to each input is the other input.

    Parameters
    ----------
    a : ndarray
        The first input.
    b : ndarray
        The second input, with as many elements as the first.

    Returns
    -------
    ndarray
        A zero-dimensional array.

    Examples
    --------
    >>> from mxnet import np
    >>> np.vdot(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [0, 1]]))
    array(5.)
    >>> np.dot(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [0, 1]]))
    array([[1., 2.],
           [3., 4.]])
    """
    return tensordot(a.reshape(-1), b.reshape(-1), 1)


def einsum(*operands, **kwargs):
    """Einstein summation: products of arrays, summed over the axes that the result does not name.

    The subscripts name each axis of each input by a letter, and the axes of the result after `->`. A letter that two
    inputs share multiplies their elements along it; a letter that the result omits is summed. `...` stands for any
    further axes, which broadcast.

    Parameters
    ----------
    *operands : str and ndarrays
        The subscripts, such as `"ij,jk->ik"`, followed by one array for each term. Without `->`, the result has the
        letters that occur once, in alphabetical order.
    **kwargs
        `out`: where to write the result. `optimize`: accepted; the order of the products is always chosen.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> a, b = np.array([[1, 2], [3, 4]]), np.array([[1, 1], [0, 1]])
    >>> np.einsum("ij,jk->ik", a, b)
    array([[1., 3.],
           [3., 7.]])
    >>> np.einsum("ii->i", a)
    array([1., 4.])
    >>> np.einsum("ij->j", a)
    array([4., 6.])
    >>> np.einsum("bij,bjk->bik", np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    out, optimize = kwargs.pop("out", None), kwargs.pop("optimize", False)
    if kwargs:
        raise TypeError(f"Did not understand the following kwargs: {list(kwargs)}")
    subscripts, *arrays = operands
    return call(
        "_npi_einsum", *arrays, num_args=len(arrays), subscripts=subscripts, optimize=int(bool(optimize)), out=out
    )


def polyval(p, x):
    """Value of a polynomial: p[0]·xⁿ + p[1]·xⁿ⁻¹ + … + p[n].

    Parameters
    ----------
    p : ndarray
        The n + 1 coefficients, the highest power first.
    x : ndarray
        Where to evaluate the polynomial. Numbers and lists are refused; use `np.array`.

    Returns
    -------
    ndarray
        Of the shape of `x`.

    Examples
    --------
    >>> from mxnet import np
    >>> np.polyval(np.array([1, 2, 3]), np.array([0, 1, 2]))
    array([ 3.,  6., 11.])
    """
    if not (isinstance(p, ARRAYS) and isinstance(x, ARRAYS)):
        raise TypeError("type not supported: polyval takes two mx.np arrays")
    return call("_npi_polyval", p, x)
