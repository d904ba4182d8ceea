"""Rounding of Python numbers to single precision, as MXNet's kernels hold their parameters."""

import math


def single(number: float) -> float:
    """The nearest number of single precision: 1 - float32(0.999) is 5e-5 away from 0.001, which training curves show.

    The lower bits are split off by arithmetic; NumPy's conversion would be traced by torch.compile.
    """
    scaled = number * (2**29 + 1)
    return scaled - (scaled - number) if abs(scaled) < math.inf else number
