"""Conversion between MXNet's data types and torch's."""

import math

import torch

from ..._core.dtypes import FLAGS, SCALARS, dtype_name
from ..._core.errors import MXNetError

TORCH: dict[str, torch.dtype] = {name: getattr(torch, name) for name in FLAGS}
NAME: dict[torch.dtype, str] = {dtype: name for name, dtype in TORCH.items()}
SCALAR: dict[torch.dtype, type] = {dtype: SCALARS[name] for dtype, name in NAME.items()}


def torch_dtype(dtype: object) -> torch.dtype:
    """The torch dtype of anything that a user may pass as `dtype`."""
    return dtype if isinstance(dtype, torch.dtype) else TORCH[dtype_name(dtype)]


def require_floating(data: torch.Tensor, operator: str = "") -> None:
    """Refuse integers in operators that MXNet has for floating point only, though torch would accept them."""
    if not data.is_floating_point():
        where = f", in operator {operator}" if operator else ""
        name = str(data.dtype).removeprefix("torch.")
        raise MXNetError(f"This operation only support floating point types, not {name}{where}")


def number_for(value: float, dtype: torch.dtype) -> float:
    """A number converted to `dtype` as in C: integers are truncated and wrap around, floats overflow to infinity."""
    if dtype is torch.bool:
        return bool(value)
    if dtype.is_floating_point:
        return math.copysign(math.inf, value) if abs(value) > torch.finfo(dtype).max else value
    limits = torch.iinfo(dtype)
    beyond = 2 ** (max(limits.bits, 32) - 1)  # CPUs convert to int32 or wider; out of range gives the smallest value
    integer = int(value) if -beyond <= value < beyond else -beyond
    return (integer - limits.min) % 2**limits.bits + limits.min
