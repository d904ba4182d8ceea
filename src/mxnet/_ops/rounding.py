"""Rounding as C does it: whole numbers, halves moving away from zero, and numbers of single precision."""

import math

import torch
from torch import Tensor


def round_away(value: Tensor) -> Tensor:
    """The nearest whole number; torch would send halves to the even one."""
    if not value.is_floating_point():
        return value.clone()
    below_half = 0.5 - torch.finfo(value.dtype).eps / 4  # a whole half would move the number just below it, too
    return torch.copysign(torch.floor(torch.abs(value).add_(below_half)), value)


def single(number: float) -> float:
    """As MXNet's kernels hold it: 1 - float32(0.999) is 5e-5 away from 0.001, which training curves show.

    The lower bits are split off; NumPy would do it, too, but torch.compile would trace it.
    """
    scaled = number * (2**29 + 1)
    return scaled - (scaled - number) if abs(scaled) < math.inf else number
