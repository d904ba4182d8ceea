"""Rounding as C does it: whole numbers, halves moving away from zero, and numbers of single precision."""

import torch
from torch import Tensor


def round_away(value: Tensor) -> Tensor:
    """The nearest whole number; torch would send halves to the even one."""
    if not value.is_floating_point():
        return value.clone()
    inner = torch.trunc(value)  # adding a half would move the number just below a half, too
    return torch.where(torch.abs(value - inner) >= 0.5, inner + torch.sign(value), inner)


def single(number: float) -> float:
    """As MXNet's kernels hold it: 1 - float32(0.999) is 5e-5 away from 0.001, which training curves show.

    The lower bits are split off; NumPy would do it, too, but torch.compile would trace it.
    """
    scaled = number * (2**29 + 1)
    return scaled - (scaled - number)
