"""Hue, saturation and PCA lighting of pixels (importing this module imports numba).

Every step is rounded as MXNet rounds it. Selects instead of branches, and several short loops, let the compiler
vectorize.
"""

import numpy as np
from numba import njit

from ..runtime.simd import OPTIONS, compiled

F, I = np.float32, np.int32
PIXELS = 512  # in a block, which stays in the cache
_EPSILON = F(np.finfo(F).eps)
_SIXTH = F(1 / 60)
_BYTES, _FLOATS = "uint8[::1], uint8[::1]", "float32[::1], float32[::1]"


@njit(**OPTIONS)
def _to_uint8(value):
    """Saturated to the range of uint8, and truncated."""
    value = value if value > F(0) else F(0)
    return np.uint8(I(value if value < F(255) else F(255)))


@njit(**OPTIONS)
def _maximum(a, b):
    """The maximum; NaN if either is NaN."""
    return a if (a >= b) | (a != a) else b


@njit(**OPTIONS)
def _rgb_to_hls(red, green, blue):
    """Hue (degrees), lightness and saturation of a pixel."""
    high, low = _maximum(_maximum(red, green), blue), -_maximum(_maximum(-red, -green), -blue)
    spread, total = high - low, high + low
    light = total * F(0.5)
    saturation = spread / (total if light < F(0.5) else F(2) - high - low)
    away, start = (blue - red, F(120)) if high == green else (red - green, F(240))
    away, start = (green - blue, F(0)) if high == red else (away, start)
    hue = away * (F(60) / spread) + start
    hue = hue + F(360) if hue < F(0) else hue
    coloured = spread > _EPSILON
    return hue if coloured else F(0), light, saturation if coloured else F(0)


@njit(**OPTIONS)
def _wrap_hue(place):
    """A hue in sixths of a turn, wrapped to [0, 6)."""
    turns = I(place / F(6))
    place = place - F(6) * F(turns)
    place = place + F(6) if place < F(0) else place
    return place - F(6) if place >= F(6) else place


@njit(**OPTIONS)
def _level(sixth, lowest, highest, lower, between, upper):
    """The level of a channel in a sextant of the hue circle; the bit masks hold the sextants of each level."""
    level = upper if I(highest >> sixth) & I(1) != I(0) else between
    return lower if I(lowest >> sixth) & I(1) != I(0) else level


@njit(**OPTIONS)
def _hls_to_rgb(hue, light, saturation):
    """Red, green and blue: in each sextant of the hue circle one is the upper level, one the lower, one between."""
    upper = light * (F(1) + saturation) if light <= F(0.5) else light + saturation - light * saturation
    lower = F(2) * light - upper
    place = _wrap_hue(hue * _SIXTH)
    sixth = I(place)
    part = place - F(sixth)
    between = lower + (upper - lower) * (F(1) - part if sixth & I(1) else part)
    red = _level(sixth, I(0b001100), I(0b100001), lower, between, upper)
    green = _level(sixth, I(0b110000), I(0b000110), lower, between, upper)
    blue = _level(sixth, I(0b000011), I(0b011000), lower, between, upper)
    gray = saturation == F(0)
    return light if gray else red, light if gray else green, light if gray else blue


@njit(**OPTIONS)
def _rotate_hue(block, red, green, blue, angle):
    """Hues rotated by an angle; channels are deinterleaved for it."""
    for i in range(PIXELS):
        red[i], green[i], blue[i] = block[i, 0], block[i, 1], block[i, 2]
    for i in range(PIXELS):
        red[i], green[i], blue[i] = _rgb_to_hls(red[i] / F(255), green[i] / F(255), blue[i] / F(255))
    for i in range(PIXELS):
        red[i], green[i], blue[i] = _hls_to_rgb(red[i] + angle, green[i], blue[i])
    for i in range(PIXELS):
        block[i, 0], block[i, 1], block[i, 2] = red[i] * F(255), green[i] * F(255), blue[i] * F(255)


@njit(**OPTIONS)
def _saturate(block, grays, factor, share, rest):
    """Colours times a factor, and a part of the last channel's share in all of them."""
    for i in range(PIXELS):
        grays[i] = block[i, 2] * share * rest
    numbers = block.reshape(-1)
    for i in range(3 * PIXELS):
        numbers[i] *= factor
    for i in range(PIXELS):
        block[i, 0] += grays[i]
        block[i, 1] += grays[i]
        block[i, 2] += grays[i]


# The numbers of an image, a block at a time


@njit(**OPTIONS)
def _read(numbers, block):
    for i in range(len(numbers)):
        block[i] = F(numbers[i])


@njit(**OPTIONS)
def _write_bytes(block, result):
    for i in range(len(result)):
        result[i] = _to_uint8(block[i])


@njit(**OPTIONS)
def _write_floats(block, result):
    for i in range(len(result)):
        result[i] = block[i]


@compiled(f"void({_BYTES}, float32)")
def hue_uint8(numbers, result, angle):
    block, red, green, blue = np.zeros((PIXELS, 3), F), np.empty(PIXELS, F), np.empty(PIXELS, F), np.empty(PIXELS, F)
    for first in range(0, len(numbers), 3 * PIXELS):
        _read(numbers[first : first + 3 * PIXELS], block.reshape(-1))
        _rotate_hue(block, red, green, blue, angle)
        _write_bytes(block.reshape(-1), result[first : first + 3 * PIXELS])


@compiled(f"void({_FLOATS}, float32)")
def hue_float32(numbers, result, angle):
    block, red, green, blue = np.zeros((PIXELS, 3), F), np.empty(PIXELS, F), np.empty(PIXELS, F), np.empty(PIXELS, F)
    for first in range(0, len(numbers), 3 * PIXELS):
        _read(numbers[first : first + 3 * PIXELS], block.reshape(-1))
        _rotate_hue(block, red, green, blue, angle)
        _write_floats(block.reshape(-1), result[first : first + 3 * PIXELS])


@compiled(f"void({_BYTES}, float32, float32, float32)")
def saturation_uint8(numbers, result, factor, share, rest):
    block, grays = np.zeros((PIXELS, 3), F), np.empty(PIXELS, F)
    for first in range(0, len(numbers), 3 * PIXELS):
        _read(numbers[first : first + 3 * PIXELS], block.reshape(-1))
        _saturate(block, grays, factor, share, rest)
        _write_bytes(block.reshape(-1), result[first : first + 3 * PIXELS])


@compiled(f"void({_FLOATS}, float32, float32, float32)")
def saturation_float32(numbers, result, factor, share, rest):
    pixels, changed = numbers.reshape(-1, 3), result.reshape(-1, 3)
    for i in range(len(pixels)):
        gray = pixels[i, 2] * share * rest
        for j in range(3):
            changed[i, j] = gray + pixels[i, j] * factor


@njit(**OPTIONS)
def _lighting_shifts(red, green, blue):
    """What is added to the numbers of a block's pixels."""
    shifts = np.empty((PIXELS, 3), F)
    shifts[:, 0], shifts[:, 1], shifts[:, 2] = red, green, blue
    return shifts.reshape(-1)


@compiled(f"void({_BYTES}, float32, float32, float32)")
def lighting_uint8(numbers, result, red, green, blue):
    shifts = _lighting_shifts(red, green, blue)
    for first in range(0, len(numbers), len(shifts)):
        some, changed = numbers[first : first + len(shifts)], result[first : first + len(shifts)]
        for i in range(len(some)):
            changed[i] = _to_uint8(F(some[i]) + shifts[i])


@compiled(f"void({_FLOATS}, float32, float32, float32)")
def lighting_float32(numbers, result, red, green, blue):
    shifts = _lighting_shifts(red, green, blue)
    for first in range(0, len(numbers), len(shifts)):
        some, changed = numbers[first : first + len(shifts)], result[first : first + len(shifts)]
        for i in range(len(some)):
            changed[i] = some[i] + shifts[i]
