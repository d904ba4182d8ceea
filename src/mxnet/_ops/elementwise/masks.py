"""Floating-point masks of 1 and 0: multiplying by them takes a tenth of the time of torch's `where` with bool masks."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def marks(test: Callable[..., Tensor], lhs: Tensor, rhs: Any) -> Tensor:
    """1 where a comparison holds, else 0, in the dtype of `lhs`."""
    lhs, rhs = lhs.detach(), rhs.detach() if isinstance(rhs, Tensor) else rhs
    if lhs.__class__ is not Tensor or torch.compiler.is_compiling():
        return test(lhs, rhs).to(lhs.dtype)
    return test(lhs, rhs, out=torch.empty(0, dtype=lhs.dtype, device=lhs.device))  # takes the shape of the result


def kept(values: Tensor, marked: Tensor) -> Tensor:
    """The values where `marked` is 1, else 0, even where they are infinite or NaN; all are floating point."""
    return torch.ops.aten.threshold_backward(values, marked.expand(values.shape), 0.5)
