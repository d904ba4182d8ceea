"""The inner loops of Winograd's tiles (see winograd), which numba compiles; importing this module asks for numba.

Images are (image, row, column, channel), flat; tiles are (36, tile, channel): `size` of them, counted from `origin`, of
which those from `begin` to `end` are worked on. Work goes `WIDE` channels at a time through small blocks whose
distances are constants, so that the compiler sees that loads and stores do not overlap, and uses vectors. NaN stays.
"""

import functools

import numpy as np
from numba import njit

from .panels import PANEL
from .vectors import FUSED, OPTIONS, compiled

WIDE = 64
A, B = np.float32(2 / 3), np.float32(3 / 2)
A2, B2, SUM = np.float32(4 / 9), np.float32(9 / 4), np.float32(4 / 9 + 9 / 4)
A3, B3 = np.float32(8 / 27), np.float32(27 / 8)
# One over the product of a point's distances from all others.
OVER_A, OVER_B = np.float32(1 / (8 / 9 * (4 / 9 - 9 / 4))), np.float32(1 / (9 / 2 * (9 / 4 - 4 / 9)))

_inline = njit(inline="always", fastmath=FUSED, **OPTIONS)
_compiled = functools.partial(compiled, fastmath=FUSED)
_array, _sizes, _span = "float32[::1]", "int64, int64, int64", "int64, int64, int64, int64"


@_inline
def _copy(source, start, block, at, wide):
    # Slices tell the compiler what indices cannot: nothing below is negative.
    given, made = source[start : start + wide], block[at : at + wide]
    for i in range(wide):
        made[i] = given[i]


@_inline
def _patch(images, height, width, channels, image, top, left, side, first, wide, block):
    """`side` x `side` pixels of an image, zeros beyond its edges, into a block."""
    for row in range(side):
        for column in range(side):
            at, y, x = (row * side + column) * WIDE, top + row, left + column
            if 0 <= y < height and 0 <= x < width:
                _copy(images, ((image * height + y) * width + x) * channels + first, block, at, wide)
            else:
                block[at : at + wide] = 0


@_inline
def _six(source, start, step, wide):
    """Six runs of values, `step` apart."""
    return (
        source[start : start + wide],
        source[start + step : start + step + wide],
        source[start + 2 * step : start + 2 * step + wide],
        source[start + 3 * step : start + 3 * step + wide],
        source[start + 4 * step : start + 4 * step + wide],
        source[start + 5 * step : start + 5 * step + wide],
    )


@_inline
def _put_six(block, i, apart, first, even, odd, even_too, odd_too, last):
    """What the six points make of a polynomial: opposite ones share its even and its odd part."""
    block[i] = first
    block[i + apart] = even + odd
    block[i + 2 * apart] = even - odd
    block[i + 3 * apart] = even_too + odd_too
    block[i + 4 * apart] = even_too - odd_too
    block[i + 5 * apart] = last


@_inline
def _spread_six(six, block, apart, wide):
    """Six values multiplied with B transposed, to places `apart` apart in a block."""
    s0, s1, s2, s3, s4, s5 = six
    for i in range(wide):
        d0, d1, d2, d3, d4, d5 = s0[i], s1[i], s2[i], s3[i], s4[i], s5[i]
        even, odd = d4 - B2 * d2, A * (d3 - B2 * d1)
        even_too, odd_too = d4 - A2 * d2, B * (d3 - A2 * d1)
        _put_six(block, i, apart, d4 - SUM * d2 + d0, even, odd, even_too, odd_too, d5 - SUM * d3 + d1)


@_inline
def _collect_six(six, block, apart, wide):
    """Six values multiplied with B: the adjoint of `_spread_six`."""
    s0, s1, s2, s3, s4, s5 = six
    for i in range(wide):
        v0, v5 = s0[i], s5[i]
        even, odd, even_too, odd_too = s1[i] + s2[i], s1[i] - s2[i], s3[i] + s4[i], s3[i] - s4[i]
        block[i] = v0
        block[i + apart] = v5 - B * odd - A * odd_too
        block[i + 2 * apart] = -SUM * v0 - B2 * even - A2 * even_too
        block[i + 3 * apart] = A * odd + B * odd_too - SUM * v5
        block[i + 4 * apart] = v0 + even + even_too
        block[i + 5 * apart] = v5


@_inline
def _gather_six(six, block, apart, wide):
    """Six values multiplied with A transposed: four."""
    s0, s1, s2, s3, s4, s5 = six
    for i in range(wide):
        even, odd, even_too, odd_too = s1[i] + s2[i], s1[i] - s2[i], s3[i] + s4[i], s3[i] - s4[i]
        block[i] = s0[i] + even + even_too
        block[i + apart] = A * odd + B * odd_too
        block[i + 2 * apart] = A2 * even + B2 * even_too
        block[i + 3 * apart] = A3 * odd + B3 * odd_too + s5[i]


@_inline
def _widen_four(source, step, block, apart, wide):
    """Four values `step` apart multiplied with A, the adjoint of `_gather_six`: six."""
    for i in range(wide):
        y0, y1, y2, y3 = source[i], source[i + step], source[i + 2 * step], source[i + 3 * step]
        even, odd = y0 + A2 * y2, A * y1 + A3 * y3
        even_too, odd_too = y0 + B2 * y2, B * y1 + B3 * y3
        _put_six(block, i, apart, y0, even, odd, even_too, odd_too, y3)


@_inline
def _store_six(line, tiles, stride, start, wide):
    for place in range(6):
        _copy(line, place * WIDE, tiles, start + place * stride, wide)


@_inline
def _store_six_in_panels(line, tiles, stride, start, wide, apart):
    """Six runs of values to places `stride` apart; each run of 16 of them lies `apart` from the next."""
    for place in range(6):
        for number in range(wide // PANEL):
            to, source = start + place * stride + number * apart, place * WIDE + number * PANEL
            _copy(line, source, tiles, to, PANEL)


@_compiled(f"void({_array}, {_sizes}, {_span}, {_array}, int64, int64)")
def spread(images, height, width, channels, origin, size, begin, end, tiles, row, apart):
    """The tiles of 6 x 6 pixels, four apart, that begin one before the image; transformed.

    Tiles lie `row` from each other, 16 channels `apart` from the next 16: side by side, or in panels.
    """
    block, middle = np.empty(36 * WIDE, np.float32), np.empty(36 * WIDE, np.float32)
    line = np.empty(6 * WIDE, np.float32)
    down, right, stride = (height + 3) // 4, (width + 3) // 4, size * channels
    for tile in range(begin, end):
        image, place = tile // (down * right), tile % (down * right)
        top, left = 4 * (place // right) - 1, 4 * (place % right) - 1
        inside = top >= 0 and left >= 0 and top + 6 <= height and left + 6 <= width
        for first in range(0, channels, WIDE):
            wide = min(WIDE, channels - first)
            if inside:
                corner = ((image * height + top) * width + left) * channels + first
                for column in range(6):
                    start = corner + column * channels
                    _spread_six(_six(images, start, width * channels, wide), middle[column * WIDE :], 6 * WIDE, wide)
            else:
                _patch(images, height, width, channels, image, top, left, 6, first, wide, block)
                for column in range(6):
                    _spread_six(_six(block, column * WIDE, 6 * WIDE, wide), middle[column * WIDE :], 6 * WIDE, wide)
            for number in range(6):
                _spread_six(_six(middle, number * 6 * WIDE, WIDE, wide), line, WIDE, wide)
                start = number * 6 * stride + (tile - origin) * row + first // PANEL * apart
                if apart == PANEL:
                    _store_six(line, tiles, stride, start, wide)
                else:
                    _store_six_in_panels(line, tiles, stride, start, wide, apart)


@_compiled(f"void({_array}, {_sizes}, {_span}, {_array})")
def widen(images, height, width, channels, origin, size, begin, end, tiles):
    """The tiles of 4 x 4 pixels, side by side, as 6 x 6 values."""
    block, middle = np.empty(16 * WIDE, np.float32), np.empty(24 * WIDE, np.float32)
    line = np.empty(6 * WIDE, np.float32)
    down, right, stride = (height + 3) // 4, (width + 3) // 4, size * channels
    for tile in range(begin, end):
        image, place = tile // (down * right), tile % (down * right)
        top, left = 4 * (place // right), 4 * (place % right)
        for first in range(0, channels, WIDE):
            wide = min(WIDE, channels - first)
            _patch(images, height, width, channels, image, top, left, 4, first, wide, block)
            for column in range(4):
                _widen_four(block[column * WIDE :], 4 * WIDE, middle[column * WIDE :], 4 * WIDE, wide)
            for row in range(6):
                _widen_four(middle[row * 4 * WIDE :], WIDE, line, WIDE, wide)
                _store_six(line, tiles, stride, row * 6 * stride + (tile - origin) * channels + first, wide)


@_compiled(f"void({_array}, {_array}, {_sizes}, {_span})")
def collect(tiles, images, height, width, channels, origin, size, begin, end):
    """The adjoint of `spread`: each tile's 6 x 6 pixels are added to the images."""
    middle, line = np.empty(36 * WIDE, np.float32), np.empty(6 * WIDE, np.float32)
    down, right, stride = (height + 3) // 4, (width + 3) // 4, size * channels
    for tile in range(begin, end):
        image, place = tile // (down * right), tile % (down * right)
        top, left = 4 * (place // right) - 1, 4 * (place % right) - 1
        for first in range(0, channels, WIDE):
            wide = min(WIDE, channels - first)
            for column in range(6):
                start = column * stride + (tile - origin) * channels + first
                _collect_six(_six(tiles, start, 6 * stride, wide), middle[column * WIDE :], 6 * WIDE, wide)
            for row in range(max(0, -top), min(6, height - top)):
                _collect_six(_six(middle, row * 6 * WIDE, WIDE, wide), line, WIDE, wide)
                for column in range(max(0, -left), min(6, width - left)):
                    at = ((image * height + top + row) * width + left + column) * channels + first
                    pixel, value = images[at : at + wide], line[column * WIDE : column * WIDE + wide]
                    for i in range(wide):
                        pixel[i] += value[i]


@_inline
def _finished(value, low, high):
    value = low if value < low else value
    return high if value > high else value


_ends = f"{_array}, {_array}, boolean, float32, float32"


@_compiled(f"void({_array}, {_array}, {_sizes}, {_span}, {_ends})")
def gather(tiles, images, height, width, channels, origin, size, begin, end, bias, addend, add, low, high):
    """The 4 x 4 pixels of each tile; bias and, with `add`, the same place of `addend` are added, bounds applied."""
    middle, line = np.empty(24 * WIDE, np.float32), np.empty(4 * WIDE, np.float32)
    down, right, stride = (height + 3) // 4, (width + 3) // 4, size * channels
    for tile in range(begin, end):
        image, place = tile // (down * right), tile % (down * right)
        top, left = 4 * (place // right), 4 * (place % right)
        for first in range(0, channels, WIDE):
            wide = min(WIDE, channels - first)
            for column in range(6):
                start = column * stride + (tile - origin) * channels + first
                _gather_six(_six(tiles, start, 6 * stride, wide), middle[column * WIDE :], 6 * WIDE, wide)
            for row in range(min(4, height - top)):
                _gather_six(_six(middle, row * 6 * WIDE, WIDE, wide), line, WIDE, wide)
                for column in range(min(4, width - left)):
                    at = ((image * height + top + row) * width + left + column) * channels + first
                    pixel, value = images[at : at + wide], line[column * WIDE : column * WIDE + wide]
                    shift = bias[first : first + wide]
                    if add:
                        other = addend[at : at + wide]
                        for i in range(wide):
                            pixel[i] = _finished(value[i] + shift[i] + other[i], low, high)
                    else:
                        for i in range(wide):
                            pixel[i] = _finished(value[i] + shift[i], low, high)


@_inline
def _spread_three(source, step, block, apart, wide):
    """Three values `step` apart multiplied with G: six."""
    for i in range(wide):
        w0, w1, w2 = source[i], source[i + step], source[i + 2 * step]
        even, odd = OVER_A * (w0 + A2 * w2), OVER_A * A * w1
        even_too, odd_too = OVER_B * (w0 + B2 * w2), OVER_B * B * w1
        _put_six(block, i, apart, w0, even, odd, even_too, odd_too, w2)


@_inline
def _collect_three(six, block, apart, wide):
    """Six values multiplied with G transposed, the adjoint of `_spread_three`: three."""
    s0, s1, s2, s3, s4, s5 = six
    for i in range(wide):
        even, odd = OVER_A * (s1[i] + s2[i]), OVER_A * A * (s1[i] - s2[i])
        even_too, odd_too = OVER_B * (s3[i] + s4[i]), OVER_B * B * (s3[i] - s4[i])
        block[i] = s0[i] + even + even_too
        block[i + apart] = odd + odd_too
        block[i + 2 * apart] = A2 * even + B2 * even_too + s5[i]


@_inline
def _take(source, start, step, block, at, count):
    """Every `step`-th value into a block."""
    made = block[at : at + count]
    if count == PANEL:
        for i in range(PANEL):
            made[i] = source[start + i * step]
    else:
        for i in range(count):
            made[i] = source[start + i * step]


@_compiled(f"void({_array}, {_sizes}, {_span}, {_array})")
def spread_kernels(kernels, size, depth, down, along, columns, begin, end, matrices):
    """Kernels of 3 x 3 transformed to (36, size); `begin` and `end` are multiples of 16.

    The result is made of runs of 16: in a panel of `depth` runs the next one is `down` kernels further, within a run
    the next kernel `along` further, and the next panel `columns` further.
    """
    block, middle = np.empty(9 * WIDE, np.float32), np.empty(18 * WIDE, np.float32)
    line = np.empty(6 * WIDE, np.float32)
    for first in range(begin, min(end, size), WIDE):
        wide = min(WIDE, end - first, size - first)
        for some in range(0, wide, PANEL):
            run = (first + some) // PANEL
            start = 9 * (run % depth * down + run // depth * columns)
            count = min(PANEL, wide - some)
            for place in range(9):
                _take(kernels, start + place, 9 * along, block, place * WIDE + some, count)
        for column in range(3):
            _spread_three(block[column * WIDE :], 3 * WIDE, middle[column * WIDE :], 3 * WIDE, wide)
        for row in range(6):
            _spread_three(middle[row * 3 * WIDE :], WIDE, line, WIDE, wide)
            _store_six(line, matrices, size, row * 6 * size + first, wide)


@_compiled(f"void({_array}, int64, int64, int64, {_array})")
def collect_kernels(matrices, size, begin, end, kernels):
    """The adjoint of `spread_kernels`: what it writes is not added."""
    middle, block = np.empty(18 * WIDE, np.float32), np.empty(9 * WIDE, np.float32)
    for first in range(begin, end, WIDE):
        wide = min(WIDE, end - first)
        for column in range(6):
            six = _six(matrices, column * size + first, 6 * size, wide)
            _collect_three(six, middle[column * WIDE :], 6 * WIDE, wide)
        for row in range(3):
            _collect_three(_six(middle, row * 6 * WIDE, WIDE, wide), block[row * 3 * WIDE :], WIDE, wide)
        made = kernels[9 * first : 9 * (first + wide)]
        for place in range(9):
            for i in range(wide):
                made[9 * i + place] = block[place * WIDE + i]
