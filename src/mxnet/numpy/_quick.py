"""The common case of Python's operators on `mx.np` arrays: single precision that nobody differentiates or watches.

Whatever does not fit, errors included, goes the long way, which knows every rule.
"""

import torch

from .._core.modes import MODES
from .._ops.elementwise.bool_cast import COMPARISONS
from .._ops.registry import observe
from ..ndarray.ndarray import NDArray

_new = object.__new__
_FLOAT32 = torch.float32


def _from(data, number):
    return number - data


def _over(data, number):
    return torch.div(number, data) if number.__class__ is torch.Tensor else number / data


# operator: with an array or a number on the right; the second table has the number on the left
FORWARD = {
    "add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "true_divide": torch.div,
    **COMPARISONS,
}  # fmt: skip
BACKWARD = {"add": torch.add, "subtract": _from, "multiply": torch.mul, "true_divide": _over}
ARITHMETIC = ("add", "subtract", "multiply", "true_divide")


def quickened(cls, function, slow, name):
    """`slow(self, other)`, preceded by `function` on tensors where that is all there is to do."""
    if function is None or not issubclass(cls, NDArray):  # nodes of a graph have these operators, too
        return slow
    numbers = _numbers(name)

    def operator(self, other):
        t, kind = self._t, other.__class__
        if t.dtype is not _FLOAT32 or observe.watching():
            return slow(self, other)
        if kind is float or kind is int:
            if t.requires_grad:
                if MODES.recording:
                    return slow(self, other)
                t = t.data
            u = None
        elif kind is cls:
            u = other._t
            if u.dtype is not _FLOAT32 or other._ctx is not self._ctx or t.requires_grad or u.requires_grad:
                return slow(self, other)
        else:
            return slow(self, other)
        try:
            result = function(t, numbers(other) if u is None else u)
        except (RuntimeError, OverflowError):
            return slow(self, other)
        array = _new(cls)
        array._t, array._ctx, array._ag = result, self._ctx.home, None
        return array

    return operator


def _numbers(name):
    """Numbers as tensors, once they come again; the operators' table is loaded at the first use."""

    def first(number):
        from .._ops.elementwise.scalar import BOUNDS, TERMS

        nonlocal found
        found = (TERMS if name in ARITHMETIC else BOUNDS).__getitem__
        return found(number)

    found = first
    return lambda number: found(number)


def assigned(cls, dunder, slow):
    """`self op= number` as classic arrays do it, else `slow`."""
    if not issubclass(cls, NDArray):
        return slow
    name = f"__i{dunder}__"

    def operator(self, other):
        if (other.__class__ is float or other.__class__ is int) and self._t.dtype is _FLOAT32 and not MODES.recording:
            return getattr(NDArray, name)(self, other)  # looked up each time: the first use builds it
        return slow(self, other)

    return operator
