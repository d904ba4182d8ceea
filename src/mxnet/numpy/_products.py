"""`mx.np` products of arrays and polynomials."""

import numbers

from .._core.tracing import Traced
from ._call import ARRAYS, call

__all__ = ["einsum", "inner", "matmul", "outer", "polyval", "tensordot", "vdot"]


def matmul(a, b, out=None, **kwargs):
    """Matrix products over the last two axes."""
    return call("_npi_matmul", a, b, out=out)


def tensordot(a, b, axes=2):
    """A product summed over axes: so many at the end and the beginning, or pairs."""
    if isinstance(axes, numbers.Integral):
        return call("_npi_tensordot_int_axes", a, b, axes=int(axes))
    if len(axes) != 2:
        raise ValueError("Axes must consist of two arrays.")
    first, second = ((x,) if isinstance(x, numbers.Integral) else tuple(x) for x in axes)
    if len(first) != len(second):
        raise ValueError("Axes length mismatch")
    return call("_npi_tensordot", a, b, a_axes_summed=first, b_axes_summed=second)


def inner(a, b):
    """A product summed over the last axes."""
    numbers_alone = not isinstance(a, Traced) and not (a.ndim and b.ndim)
    return a * b if numbers_alone else tensordot(a, b, [-1, -1])


def outer(a, b):
    """Every element of one times every element of the other."""
    return tensordot(a.reshape(-1), b.reshape(-1), 0)


def vdot(a, b):
    """The product of the flat arrays."""
    return tensordot(a.reshape(-1), b.reshape(-1), 1)


def einsum(*operands, **kwargs):
    """A sum of products in Einstein's notation."""
    out, optimize = kwargs.pop("out", None), kwargs.pop("optimize", False)
    if kwargs:
        raise TypeError(f"Did not understand the following kwargs: {list(kwargs)}")
    subscripts, *arrays = operands
    return call(
        "_npi_einsum", *arrays, num_args=len(arrays), subscripts=subscripts, optimize=int(bool(optimize)), out=out
    )


def polyval(p, x):
    """The polynomial with the coefficients `p`, highest first, at `x`."""
    if not (isinstance(p, ARRAYS) and isinstance(x, ARRAYS)):
        raise TypeError("type not supported: polyval takes two mx.np arrays")
    return call("_npi_polyval", p, x)
