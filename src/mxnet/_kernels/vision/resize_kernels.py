"""Bilinear interpolation and its gradient (importing this module imports numba)."""

import numpy as np

from ..runtime.simd import compiled

_AXIS = "int64[::1], int64[::1], float32[::1]"


@compiled(f"void(float32[:, :, ::1], float32[:, :, ::1], {_AXIS}, {_AXIS}, int64, int64)")
def bilinear(planes, result, above, below, down, before, behind, across, first, last):
    """Resize planes `first` to `last`, given two neighbouring rows and columns of each pixel and their weights."""
    one = np.float32(1)
    for plane in range(first, last):
        for row in range(result.shape[1]):
            upper, lower, target = planes[plane, above[row]], planes[plane, below[row]], result[plane, row]
            part = down[row]
            for i in range(len(target)):
                left, right, near = before[i], behind[i], across[i]
                high = upper[left] * (one - near) + upper[right] * near
                low = lower[left] * (one - near) + lower[right] * near
                target[i] = high * (one - part) + low * part


@compiled(f"void(float32[:, :, ::1], float32[:, :, ::1], {_AXIS}, {_AXIS}, int64, int64)")
def bilinear_backward(heads, result, above, below, down, before, behind, across, first, last):
    """The gradient of `bilinear`, added to the planes of `result`."""
    one = np.float32(1)
    for plane in range(first, last):
        for row in range(heads.shape[1]):
            upper, lower, source = result[plane, above[row]], result[plane, below[row]], heads[plane, row]
            part = down[row]
            for i in range(len(source)):
                left, right, near = before[i], behind[i], across[i]
                high, low = source[i] * (one - part), source[i] * part
                upper[left] += high * (one - near)
                upper[right] += high * near
                lower[left] += low * (one - near)
                lower[right] += low * near
