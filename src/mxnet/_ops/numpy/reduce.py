"""NumPy-semantics reductions: over all axes the result has none."""

import math

import torch

from ..._core.attrs import Dtype
from ..._core.errors import MXNetError
from ..elementwise.identity import to_dtype
from ..reduce.reduction import largest, product, smallest
from ..registry.registry import op
from ..registry.shape_rules import real_axis
from ..registry.torch_dtypes import number_for, torch_dtype


def reduced_axes(data, axis):
    """A number without axes may be reduced over its first or last one all the same."""
    if axis is None:
        return tuple(range(data.dim()))
    if not data.dim() and set(axis) <= {0, -1}:
        return ()
    return tuple(real_axis(a, data.dim(), "Reduction axis") for a in axis)


def _typed(data, dtype, boolean=torch.int64):
    """The input in the type to compute in: booleans are counted in integers."""
    if dtype is not None:
        kind = torch_dtype(dtype)
        return data if data.dtype is kind else to_dtype(data, kind)
    return data.to(boolean) if data.dtype is torch.bool else data


def _started(result, initial, combine):
    return result if initial is None else combine(result, torch.as_tensor(initial, dtype=result.dtype))


def _kinds(a, dtype):
    """The input in the type in which a sum or product is taken, and the result's: floats are narrowed afterwards."""
    wanted = _typed(a, dtype)
    late = a.is_floating_point() and (wanted.dtype.itemsize < a.dtype.itemsize or not wanted.is_floating_point())
    return a if late else wanted, wanted.dtype


@op("_np_sum", dtype="any")
def sum_(
    a, *, axis: tuple | None = None, dtype: Dtype | None = None, keepdims: bool = False, initial: float | None = None
):
    """The sum over axes."""
    a, kind = _kinds(a, dtype)
    axes = reduced_axes(a, axis)
    result = torch.sum(a, axes, keepdims, dtype=a.dtype) if axes else a.clone()
    return _narrowed(_started(result, initial, torch.add), kind)


@op("_np_prod", "_np_product", dtype="any")
def prod(
    a, *, axis: tuple | None = None, dtype: Dtype | None = None, keepdims: bool = False, initial: float | None = None
):
    """The product over axes; of nothing it is 0 in MXNet."""
    a, kind = _kinds(a, dtype)
    axes = reduced_axes(a, axis)
    if a.numel():
        result = product(a, axes, keepdims) if axes else a.clone()
    else:
        result = torch.sum(a, axes, keepdims, dtype=a.dtype)
    return _narrowed(_started(result, initial, torch.mul), kind)


def _narrowed(result, kind):
    return result if result.dtype is kind else to_dtype(result, kind)


@op("_npi_mean", dtype="any")
def mean(
    a, *, axis: tuple | None = None, dtype: Dtype | None = None, keepdims: bool = False, initial: float | None = None
):
    """The mean over axes; of integers it is a float32, of nothing 0."""
    wanted = torch_dtype(dtype) if dtype else (a.dtype if a.is_floating_point() else torch.float32)
    data = a if a.is_floating_point() else a.float()
    if wanted is torch.float64:
        data = data.to(wanted)
    axes = reduced_axes(a, axis)
    integral = not (a.is_floating_point() or wanted.is_floating_point)
    if axes and (integral or not a.numel()):  # a sum that may run over, divided by a number that may, too
        total = torch.sum(to_dtype(a, wanted), axes, keepdims, dtype=wanted)
        number = a.numel() // max(total.numel(), 1)
        result = total.double() / (number_for(number, wanted) or max(number, 1))
    else:
        result = torch.mean(data, axes, keepdims) if axes else data.clone()
    return result if result.dtype is wanted else to_dtype(result, wanted)


def _freedom(count: int, ddof: int) -> int:
    """What squares are divided by: in MXNet a number without sign, so that less than nothing is very much."""
    return (count - ddof) % 2**64


def _lonely(data, ddof):
    """The variance of each element by itself: nothing, or no number at all."""
    return torch.square(data - data) / _freedom(1, ddof)


def _variance(data, axes, ddof, keepdims):
    count = math.prod(data.shape[i] for i in axes)
    if count > ddof:
        return torch.var(data, axes, correction=ddof, keepdim=keepdims)
    return torch.var(data, axes, correction=0, keepdim=keepdims) * count / _freedom(count, ddof)


def _integer_variance(data, axes, ddof, keepdims):
    """Of integers: the mean from which they deviate has lost its fraction."""
    squares = torch.square(data - torch.mean(data, axes, True).trunc())
    total = torch.sum(squares, axes, keepdims)
    return total / _freedom(data.numel() // max(total.numel(), 1), ddof)


def refuse_truth(data, name):
    """MXNet has no moments of truth values; cast to their type they would say nothing."""
    if data.dtype is torch.bool:
        raise MXNetError(f"Unknown type enum 7: {name} of bool arrays is not defined; convert them with astype")


def _moment(name, root):
    def moment(a, *, axis: tuple | None = None, dtype: Dtype | None = None, ddof: int = 0, keepdims: bool = False):
        refuse_truth(a, name)
        data = a if a.is_floating_point() else a.float()
        axes = reduced_axes(a, axis)
        if axes and not a.is_floating_point():
            result = _integer_variance(data, axes, ddof, keepdims)
        else:
            result = _variance(data, axes, ddof, keepdims) if axes else _lonely(data, ddof)
        return (torch.sqrt(result) if root else result).to(torch_dtype(dtype) if dtype else a.dtype)

    moment.__doc__ = f"NumPy's {name} over axes."
    op(f"_npi_{name}", dtype="any")(moment)


_moment("var", False)
_moment("std", True)


def _extreme(name, function, combine):
    def extreme(a, *, axis: tuple | None = None, keepdims: bool = False, initial: float | None = None):
        axes = reduced_axes(a, axis)
        return _started(function(a, axes, keepdims) if axes else a.clone(), initial, combine)

    extreme.__doc__ = f"The {name} over axes."
    op(f"_np_{name}", f"_np_a{name}", dtype="any")(extreme)


_extreme("max", largest, torch.maximum)
_extreme("min", smallest, torch.minimum)


def _position(name, function):
    def position(data, *, axis: int | None = None, keepdims: bool = False):
        return function(data, axis, keepdim=keepdims) if axis is not None else function(data)

    position.__doc__ = f"Where the first {name[3:]} is."
    op(f"_npi_{name}", dtype="any", differentiable=False)(position)


_position("argmax", torch.argmax)
_position("argmin", torch.argmin)


def _truth(names, function):
    def truth(data, *, axis: tuple | None = None, keepdims: bool = False):
        data = data != 0
        axes = reduced_axes(data, axis)
        return function(data, axes, keepdim=keepdims) if axes else data

    truth.__doc__ = f"NumPy's {names[0][4:]} over axes."
    op(*names, dtype="any", differentiable=False)(truth)


_truth(("_np_all",), torch.all)
_truth(("_np_any", "_np_sometrue"), torch.any)
