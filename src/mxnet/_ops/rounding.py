"""Rounding as C does it: halves move away from zero."""

import torch
from torch import Tensor


def round_away(value: Tensor) -> Tensor:
    """The nearest whole number; torch would send halves to the even one."""
    if not value.is_floating_point():
        return value.clone()
    return torch.sign(value) * torch.floor(value.abs() + 0.5)
