"""The inner loops of Winograd's tiles (see winograd), which numba compiles; importing this module asks for numba.

Images are (image, row, column, channel), flat; tiles are (36, tile, channel), flat, counted from `origin`: those from
`begin` to `end` are worked on, and the 36 values of each lie `stride` apart. Work goes `WIDE` channels at a time
through small blocks whose distances are constants, so that the compiler sees that loads and stores do not overlap, and
uses vectors. NaN stays.
"""

import functools

import numpy as np
from numba import njit

from .panels import PANEL
from .vectors import FLOAT, FUSED, LANES, OPTIONS, Writer, compiled, numbers, writes

WIDE = 64
AHEAD = 16 * 9 * FLOAT  # bytes of the kernels that are fetched ahead
KERNEL, LAST = 9 * FLOAT, 8 * FLOAT  # bytes of a kernel, and of what is before its last float
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
def spread(images, height, width, channels, origin, stride, begin, end, tiles, row, apart):
    """The tiles of 6 x 6 pixels, four apart, that begin one before the image; transformed.

    Tiles lie `row` from each other, 16 channels `apart` from the next 16: side by side, or in panels.
    """
    block, middle = np.empty(36 * WIDE, np.float32), np.empty(36 * WIDE, np.float32)
    line = np.empty(6 * WIDE, np.float32)
    down, right = (height + 3) // 4, (width + 3) // 4
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
def widen(images, height, width, channels, origin, stride, begin, end, tiles):
    """The tiles of 4 x 4 pixels, side by side, as 6 x 6 values."""
    block, middle = np.empty(16 * WIDE, np.float32), np.empty(24 * WIDE, np.float32)
    line = np.empty(6 * WIDE, np.float32)
    down, right = (height + 3) // 4, (width + 3) // 4
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
def collect(tiles, images, height, width, channels, origin, stride, begin, end):
    """The adjoint of `spread`: each tile's 6 x 6 pixels are added to the images."""
    middle, line = np.empty(36 * WIDE, np.float32), np.empty(6 * WIDE, np.float32)
    down, right = (height + 3) // 4, (width + 3) // 4
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
def gather(tiles, images, height, width, channels, origin, stride, begin, end, bias, addend, add, low, high):
    """The 4 x 4 pixels of each tile; bias and, with `add`, the same place of `addend` are added, bounds applied."""
    middle, line = np.empty(24 * WIDE, np.float32), np.empty(4 * WIDE, np.float32)
    down, right = (height + 3) // 4, (width + 3) // 4
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


def _spread_three(w0, w1, w2):
    """Three values multiplied with G: six."""
    even, odd = (w0 + w2 * A2) * OVER_A, w1 * (OVER_A * A)
    even_too, odd_too = (w0 + w2 * B2) * OVER_B, w1 * (OVER_B * B)
    return [w0, even + odd, even - odd, even_too + odd_too, even_too - odd_too, w2]


def _collect_three(v0, v1, v2, v3, v4, v5):
    """Six values multiplied with G transposed, the adjoint of `_spread_three`: three."""
    even, odd = (v1 + v2) * OVER_A, (v1 - v2) * (OVER_A * A)
    even_too, odd_too = (v3 + v4) * OVER_B, (v3 - v4) * (OVER_B * B)
    return [v0 + even + even_too, odd + odd_too, even * A2 + even_too * B2 + v5]


@writes(4)
def _spread_kernels(write: Writer, kernels, along, matrices, apart):
    """Eight kernels, `along` from each other, as 36 values `apart` from each other."""
    places = [write.at(kernels, write.times(along, lane)) for lane in range(LANES)]
    for place in places:
        write.prefetch(write.at(place, AHEAD))
    nine = [*write.turned([write.load(place) for place in places]), write.picked(places, LAST)]
    columns = [_spread_three(*nine[column::3]) for column in range(3)]
    for row in range(6):
        for column, value in enumerate(_spread_three(*(each[row] for each in columns))):
            write.store(value, write.at(matrices, write.times(apart, 6 * row + column)))


@writes(3)
def _collect_kernels(write: Writer, matrices, apart, kernels):
    """The adjoint: eight kernels side by side."""

    def load(row, column):
        return write.load(write.at(matrices, write.times(apart, 6 * row + column)))

    columns = [_collect_three(*(load(row, column) for row in range(6))) for column in range(6)]
    nine = [value for row in range(3) for value in _collect_three(*(each[row] for each in columns))]
    places = [write.at(kernels, lane * KERNEL) for lane in range(LANES)]
    for lanes, place in zip(write.turned(nine[:LANES]), places, strict=True):
        write.store(lanes, place)
    write.put(nine[LANES], places, LAST)


@_compiled(f"void({numbers(10)})")
def spread_kernels(kernels, size, depth, down, along, columns, matrices, stride, begin, end):
    """Kernels of 3 x 3 transformed to (36, size), `stride` bytes from each other, of which `begin` to `end` are made.

    The result is made of runs of 16: in a panel of `depth` runs the next one is `down` kernels further, within a run
    the next kernel `along` further, and the next panel `columns` further.
    """
    for first in range(begin, end, LANES):
        run, back = first // PANEL, max(0, first + LANES - size)  # the last eight may begin among those before
        start = run % depth * down + run // depth * columns + first % PANEL * along - back
        _spread_kernels(kernels + start * KERNEL, along * KERNEL, matrices + (first - back) * FLOAT, stride)


@_compiled(f"void({numbers(6)})")
def collect_kernels(matrices, stride, size, kernels, begin, end):
    """The adjoint of `spread_kernels`, kernels side by side: what it writes is not added."""
    for each in range(begin, end, LANES):
        first = min(each, size - LANES)
        _collect_kernels(matrices + first * FLOAT, stride, kernels + first * KERNEL)
