"""`mx.np` products of arrays and polynomials."""

import numbers

from .._core.tracing import Traced
from ._call import ARRAYS, call

__all__ = ["einsum", "inner", "matmul", "outer", "polyval", "tensordot", "vdot"]


def matmul(a, b, out=None, **kwargs):
    """The matrix product; leading axes are batches and broadcast.

    Parameters
    ----------
    a : array_like
        The input.
    b : array_like
        The second input.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    **kwargs
        NumPy's `where`, `casting`, `order`, `dtype` and `subok` at their defaults.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.matmul(np.ones((2, 3)), np.ones((3, 1)))
    array([[3.],
           [3.]])
    """
    return call("_npi_matmul", a, b, out=out)


def tensordot(a, b, axes=2):
    """The sum of products over the given axes.

    Parameters
    ----------
    a : array_like
        The input.
    b : array_like
        The second input.
    axes : int or sequence
        The axes to sum over; None reverses all axes.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
    (2, 4)
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
    """The sum of products over the last axes.

    Parameters
    ----------
    a : array_like
        The input.
    b : array_like
        The second input.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.inner(np.array([1, 2]), np.array([3, 4]))
    array(11.)
    """
    numbers_alone = not isinstance(a, Traced) and not (a.ndim and b.ndim)
    return a * b if numbers_alone else tensordot(a, b, [-1, -1])


def outer(a, b):
    """Products of all pairs of elements of two vectors.

    Parameters
    ----------
    a : array_like
        The input.
    b : array_like
        The second input.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.outer(np.array([1, 2]), np.array([3, 4]))
    array([[3., 4.],
           [6., 8.]])
    """
    return tensordot(a.reshape(-1), b.reshape(-1), 0)


def vdot(a, b):
    """The sum of the products of all elements.

    Parameters
    ----------
    a : array_like
        The input.
    b : array_like
        The second input.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> float(np.vdot(np.array([1, 2]), np.array([3, 4])))
    11.0
    """
    return tensordot(a.reshape(-1), b.reshape(-1), 1)


def einsum(*operands, **kwargs):
    """Einstein's summation: products summed over the axes that the result does not name.

    Parameters
    ----------
    *operands : ndarray
        The inputs.
    **kwargs
        NumPy's `where`, `casting`, `order`, `dtype` and `subok` at their defaults.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.einsum("ij,j->i", np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3., 7.])
    """
    out, optimize = kwargs.pop("out", None), kwargs.pop("optimize", False)
    if kwargs:
        raise TypeError(f"Did not understand the following kwargs: {list(kwargs)}")
    subscripts, *arrays = operands
    return call(
        "_npi_einsum", *arrays, num_args=len(arrays), subscripts=subscripts, optimize=int(bool(optimize)), out=out
    )


def polyval(p, x):
    """The value of a polynomial: p[0]·xⁿ + … + p[n].

    Parameters
    ----------
    p : array_like
        The coefficients, highest power first.
    x : array_like
        Where to evaluate it.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.polyval(np.array([1, 2, 3]), np.array([0, 1, 2]))
    array([ 3.,  6., 11.])
    """
    if not (isinstance(p, ARRAYS) and isinstance(x, ARRAYS)):
        raise TypeError("type not supported: polyval takes two mx.np arrays")
    return call("_npi_polyval", p, x)
