"""Operators that hand their input on: copies, casts, gradient barriers, and questions about its form."""

import math
from typing import Literal

import torch

from ..._core.attrs import Dtype
from ..._core.errors import MXNetError
from ..._device.copies import constant
from ..registry.gradient import headless, with_gradient, without_gradient
from ..registry.integer_gradient import with_root
from ..registry.registry import op
from ..registry.shape_rules import fill_same
from ..registry.torch_dtypes import torch_dtype


@op("_copy", "identity", shape="same")
def copy(data):
    """A copy."""
    return torch.clone(data)


@op("_copyto", shape="same")
def copy_to(data):
    """A copy, made to be written to an `out` array, which may be on another device."""
    return torch.clone(data)


@op("_CrossDeviceCopy", shape="same")
def cross_device_copy(data):
    """A copy that a graph placed on several devices makes between them."""
    return torch.clone(data)


@op("BlockGrad", "stop_gradient", shape="same")
def block_grad(data):
    """`data` unchanged; no gradient passes through it."""
    return without_gradient(torch.clone, data)


@op("make_loss", shape="same")
def make_loss(data):
    """Declare `data` to be a loss: its gradient is one, whatever gradient later operators pass back."""
    return with_gradient(torch.clone, _ones, data)


@headless
def _ones(inputs, outputs, heads):
    return torch.ones_like(inputs[0])


@op("Cast", "cast", "_npi_cast")
def cast(data, *, dtype: Dtype):
    """Convert the elements of `data` to another data type.

    Parameters
    ----------
    data
        The array to convert, of any shape. Fractions are cut off towards zero when the type is an integer.
    dtype
        The data type of the result, such as "float16" or "int32".
    """
    return to_dtype(data, torch_dtype(dtype))


def to_dtype(data: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Numbers out of an integer type's range wrap around, as they do in C on usual machines."""
    if data.is_floating_point() and not dtype.is_floating_point:
        return _to_integers(data, dtype)
    return data.to(dtype, copy=True)


def _to_integers(data: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    result = data.to(torch.int32) if dtype in (torch.uint8, torch.int8, torch.int16) else data
    result = result.to(dtype, copy=True)
    return with_root(result, data) if data.requires_grad and torch.is_grad_enabled() else result


# from and to a type -> torch's method, quicker than `to`; not where numbers wrap around.
_METHODS = {
    torch.float16: torch.Tensor.half,
    torch.float32: torch.Tensor.float,
    torch.float64: torch.Tensor.double,
    torch.uint8: torch.Tensor.byte,
    torch.int8: torch.Tensor.char,
    torch.int32: torch.Tensor.int,
    torch.int64: torch.Tensor.long,
}
QUICK_CASTS = {
    (source, target): method
    for source in _METHODS
    for target, method in _METHODS.items()
    if source is not target and not (source.is_floating_point and target in (torch.uint8, torch.int8))
}


@op("cast_storage", shape="same")
def cast_storage(data, *, stype: Literal["csr", "default", "row_sparse"]):
    """Convert between dense, csr and row_sparse storage; the values stay the same."""
    return torch.clone(data)


@op("_identity_with_attr_like_rhs", fill=fill_same)
def identity_with_attr_like_rhs(lhs, rhs):
    """`lhs`; `rhs` only says which shape and storage it has."""
    return torch.clone(lhs)


@op("zeros_like", shape="same")
def zeros_like(data):
    """Zeros in the shape and data type of `data`."""
    return without_gradient(torch.zeros_like, data)


@op("ones_like", shape="same")
def ones_like(data):
    """Ones in the shape and data type of `data`."""
    return without_gradient(torch.ones_like, data)


@op("shape_array", differentiable=False)
def shape_array(data):
    """The shape of `data` as an int64 array."""
    return constant(tuple(data.shape), torch.int64, data.device)


@op("size_array", differentiable=False)
def size_array(data):
    """The number of elements as an int64 array of one element."""
    return torch.full((1,), data.numel(), dtype=torch.int64, device=data.device)


def _span(begin: int | None, end: int | None, ndim: int) -> tuple[int, int]:
    first = 0 if begin is None else begin + ndim if begin < 0 else begin
    last = ndim if end is None else end + ndim if end < 0 else end
    if not 0 <= first <= last <= ndim:
        raise MXNetError(f"axes [{begin}, {end}) are not within an array of {ndim} axes")
    return first, last


@op("reshape_like", dtype="any")
def reshape_like(
    lhs,
    rhs,
    *,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
):
    """`lhs` with the shape of `rhs`, or with a range of its axes replaced by a range of those of `rhs`."""
    first, last = _span(lhs_begin, lhs_end, lhs.dim())
    middle = rhs.shape[slice(*_span(rhs_begin, rhs_end, rhs.dim()))]
    shape = (*lhs.shape[:first], *middle, *lhs.shape[last:])
    if math.prod(shape) != lhs.numel():
        raise MXNetError(f"Cannot reshape lhs with shape {list(lhs.shape)} to {list(shape)}")
    return lhs.reshape(shape)
