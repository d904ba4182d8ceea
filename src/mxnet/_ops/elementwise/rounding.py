"""Rounding as C does it: to the nearest integer, halves away from zero."""

import torch
from torch import Tensor


def round_away(value: Tensor) -> Tensor:
    """The nearest integer; torch would round halves to the even one."""
    if not value.is_floating_point():
        return value.clone()
    below_half = 0.5 - torch.finfo(value.dtype).eps / 4  # a whole half would move the number just below it, too
    return torch.copysign(torch.floor(torch.abs(value).add_(below_half)), value)
