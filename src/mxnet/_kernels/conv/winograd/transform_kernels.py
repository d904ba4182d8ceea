"""Winograd's transforms of tiles (see winograd) for the processor's vectors; importing this module asks for numba.

Images are (image, row, column, channel), tiles (36, tile, channel), counted from `origin`: those from `begin` to `end`
are worked on. Windows are of 3 x 3 pixels, and tiles of results of 4 x 4; or they are of 5 x 5 and 2 x 2. Addresses and
distances are numbers, in bytes. Pixels are found by a table of their addresses, so that those beyond the image's edges
can lie elsewhere. There are as many channels as a vector has lanes at least; where they are no multiple of it, the last
vector overlaps the one before. NaN stays.
"""

import functools

import numpy as np
from numba import njit

from ...matmul.packed import PANEL
from ...runtime.simd import FLOAT, FUSED, LANES, OPTIONS, WIDE, Writer, compiled, numbers, writes

A, B = 2 / 3, 3 / 2
A2, B2, SUM = 4 / 9, 9 / 4, 4 / 9 + 9 / 4
A3, B3 = 8 / 27, 27 / 8
# One over the product of a point's distances from all others.
OVER_A, OVER_B = 1 / (8 / 9 * (4 / 9 - 9 / 4)), 1 / (9 / 2 * (9 / 4 - 4 / 9))
KERNEL, LAST = 9 * FLOAT, 8 * FLOAT  # bytes of a kernel, and of what is before its last float
AHEAD = 16 * KERNEL  # bytes of the kernels that are fetched ahead
ADDRESS = 8  # bytes

_compiled = functools.partial(compiled, fastmath=FUSED)


# Polynomials: opposite points share the even and the odd part


def _points(first, even, odd, even_too, odd_too, last):
    return [first, even + odd, even - odd, even_too + odd_too, even_too - odd_too, last]


def _spread_six(d0, d1, d2, d3, d4, d5):
    """Six values multiplied with B transposed."""
    even, odd = d4 - d2 * B2, (d3 - d1 * B2) * A
    even_too, odd_too = d4 - d2 * A2, (d3 - d1 * A2) * B
    return _points(d4 - d2 * SUM + d0, even, odd, even_too, odd_too, d5 - d3 * SUM + d1)


def _collect_six(v0, v1, v2, v3, v4, v5):
    """Six values multiplied with B: the adjoint of `_spread_six`."""
    even, odd, even_too, odd_too = v1 + v2, v1 - v2, v3 + v4, v3 - v4
    return [
        v0,
        v5 - odd * B - odd_too * A,
        v0 * -SUM - even * B2 - even_too * A2,
        odd * A + odd_too * B - v5 * SUM,
        v0 + even + even_too,
        v5,
    ]


def _gather_six(v0, v1, v2, v3, v4, v5):
    """Six values multiplied with A transposed: four."""
    even, odd, even_too, odd_too = v1 + v2, v1 - v2, v3 + v4, v3 - v4
    return [
        v0 + even + even_too,
        odd * A + odd_too * B,
        even * A2 + even_too * B2,
        odd * A3 + odd_too * B3 + v5,
    ]


def _widen_four(y0, y1, y2, y3):
    """Four values multiplied with A, the adjoint of `_gather_six`: six."""
    return _points(y0, y0 + y2 * A2, y1 * A + y3 * A3, y0 + y2 * B2, y1 * B + y3 * B3, y3)


def _gather_two(v0, v1, v2, v3, v4, v5):
    """The same for windows of five: two values."""
    return [v0 + (v1 + v2) + (v3 + v4), (v1 - v2) * A + (v3 - v4) * B + v5]


def _widen_two(y0, y1):
    """The adjoint of `_gather_two`."""
    return _points(y0, y0, y1 * A, y0, y1 * B, y1)


def _twice(transform, values, side):
    """A square of side x side values transformed along columns, then along rows: row by row, as registers are few."""
    columns = [transform(*values[column::side]) for column in range(side)]
    for row in zip(*columns, strict=True):
        yield from transform(*row)


# A vector of a tile's channels


def _pixel(write: Writer, table, number, away):
    """The address of a pixel's channels, by a table."""
    return write.at(write.whole(write.at(table, number * ADDRESS)), away)


def _load(write: Writer, source, stride):
    """The 36 values, `stride` apart, that are worked on together."""
    return [write.load(write.at(source, write.times(stride, number))) for number in range(36)]


def _store(write: Writer, values, target, stride):
    for number, value in enumerate(values):
        write.store(value, write.at(target, write.times(stride, number)))


@writes(4, lanes=WIDE)
def _spread(write: Writer, pixels, away, target, stride):
    values = [write.load(_pixel(write, pixels, number, away)) for number in range(36)]
    _store(write, _twice(_spread_six, values, 6), target, stride)


def _widening(transform, side: int):
    @writes(4, lanes=WIDE)
    def kernel(write: Writer, pixels, away, target, stride):
        values = [write.load(_pixel(write, pixels, number, away)) for number in range(side * side)]
        _store(write, _twice(transform, values, side), target, stride)

    return kernel


@writes(5, lanes=WIDE)
def _collect(write: Writer, source, stride, pixels, away, done):
    for number, value in enumerate(_twice(_collect_six, _load(write, source, stride), 6)):
        place = _pixel(write, pixels, number, away)
        write.store(write.load(place) + write.behind(done, value, write.zeros()), place)


def _gathering(transform):
    @writes(6, floats=2, lanes=WIDE)
    def kernel(write: Writer, source, stride, pixels, addends, bias, away, low, high):
        bounds, shift = (write.spread(low), write.spread(high)), write.load(write.at(bias, away))
        for number, value in enumerate(_twice(transform, _load(write, source, stride), 6)):
            total = value + shift + write.load(_pixel(write, addends, number, away))
            write.store(total.between(*bounds), _pixel(write, pixels, number, away))

    return kernel


_widen, _widen_small = _widening(_widen_four, 4), _widening(_widen_two, 2)
_gather, _gather_small = _gathering(_gather_six), _gathering(_gather_two)


# Tiles


@njit(**OPTIONS)
def _find(found, first, height, width, pixel, tile, window, before, step, elsewhere):
    """The addresses of a tile's pixels, on which windows of so many begin; those beyond the edges are elsewhere.

    The first tile begins `before` the image, the others `step` further each.
    """
    more, side = 2 * before - window + step, step + window - 1
    down, right = (height + more) // step, (width + more) // step
    image, place = tile // (down * right), tile % (down * right)
    top, left = step * (place // right) - before, step * (place % right) - before
    for row in range(side):
        for column in range(side):
            y, x = top + row, left + column
            inside = 0 <= y < height and 0 <= x < width
            at = first + ((image * height + y) * width + x) * pixel
            found[row * side + column] = at if inside else elsewhere


@njit(**OPTIONS)
def _find_wide(found, first, height, width, pixel, tile, window, before, elsewhere):
    """The pixels of a tile of data, 6 x 6: loops of a number of turns that is known are quicker."""
    if window == 3:
        _find(found, first, height, width, pixel, tile, 3, before, 4, elsewhere)
    else:
        _find(found, first, height, width, pixel, tile, 5, before, 2, elsewhere)


@njit(**OPTIONS)
def _find_own(found, first, height, width, pixel, tile, step, elsewhere):
    """The pixels of a tile of results."""
    if step == 4:
        _find(found, first, height, width, pixel, tile, 1, 0, 4, elsewhere)
    else:
        _find(found, first, height, width, pixel, tile, 1, 0, 2, elsewhere)


@njit(**OPTIONS)
def _some(first, channels):
    """Where some channels begin, so that they end with the last at the latest, and how many of them came before."""
    at = min(first, channels - WIDE)
    return at, first - at


@_compiled(f"void({numbers(13)})")
def spread(images, height, width, channels, tiles, stride, row, apart, window, before, origin, begin, end):
    """The tiles of 6 x 6 pixels, as results' tiles are apart, that begin `before` the image; transformed.

    Tiles lie `row` from each other, 16 channels `apart` from the next 16: side by side, or in panels, the last of which
    holds the last 16.
    """
    pixels, zeros = np.empty(36, np.int64), np.zeros(channels, np.float32)
    in_panels = row == PANEL * FLOAT
    many = (channels + PANEL - 1) // PANEL * PANEL if in_panels else channels
    for tile in range(begin, end):
        _find_wide(pixels, images, height, width, channels * FLOAT, tile, window, before, zeros.ctypes.data)
        for first in range(0, many, WIDE):
            at, target = _some(first, channels)[0], tiles + (tile - origin) * row
            if in_panels:
                at = min(first // PANEL * PANEL, channels - PANEL) + first % PANEL
                target += first // PANEL * apart + first % PANEL * FLOAT
            else:
                target += at * FLOAT
            _spread(pixels.ctypes.data, at * FLOAT, target, stride)


@_compiled(f"void({numbers(10)})")
def widen(images, height, width, channels, tiles, stride, step, origin, begin, end):
    """The tiles of 4 x 4 pixels (`step`), or 2 x 2, side by side, as 6 x 6 values."""
    pixels, zeros = np.empty(16, np.int64), np.zeros(channels, np.float32)
    for tile in range(begin, end):
        _find_own(pixels, images, height, width, channels * FLOAT, tile, step, zeros.ctypes.data)
        for first in range(0, channels, WIDE):
            away = _some(first, channels)[0] * FLOAT
            target = tiles + (tile - origin) * channels * FLOAT + away
            if step == 4:
                _widen(pixels.ctypes.data, away, target, stride)
            else:
                _widen_small(pixels.ctypes.data, away, target, stride)


@_compiled(f"void({numbers(12)})")
def collect(tiles, stride, images, height, width, pixel, channels, window, before, origin, begin, end):
    """The adjoint of `spread`: each tile's 6 x 6 pixels are added to the images, which may have more channels."""
    pixels, scrap = np.empty(36, np.int64), np.zeros(channels, np.float32)
    for tile in range(begin, end):
        _find_wide(pixels, images, height, width, pixel * FLOAT, tile, window, before, scrap.ctypes.data)
        for first in range(0, channels, WIDE):
            at, done = _some(first, channels)
            source = tiles + ((tile - origin) * channels + at) * FLOAT
            _collect(source, stride, pixels.ctypes.data, at * FLOAT, done)


@_compiled(f"void({numbers(10)}, float32, float32, {numbers(3)})")
def gather(tiles, stride, images, height, width, pixel, channels, step, bias, addend, low, high, origin, begin, end):
    """The 4 x 4 pixels (`step`), or 2 x 2, of each tile; bias and the addend's same place are added, bounds applied.

    The channels may be some of those that a `pixel` of the images has. The addend is none (0), other memory or, if
    channels are a multiple of 16, the images themselves.
    """
    pixels, addends = np.empty(16, np.int64), np.empty(16, np.int64)
    scrap, zeros = np.zeros(channels, np.float32), np.zeros(channels, np.float32)
    addends[:] = zeros.ctypes.data
    for tile in range(begin, end):
        _find_own(pixels, images, height, width, pixel * FLOAT, tile, step, scrap.ctypes.data)
        if addend:
            _find_own(addends, addend, height, width, pixel * FLOAT, tile, step, zeros.ctypes.data)
        for first in range(0, channels, WIDE):
            away = _some(first, channels)[0] * FLOAT
            source = tiles + (tile - origin) * channels * FLOAT + away
            if step == 4:
                _gather(source, stride, pixels.ctypes.data, addends.ctypes.data, bias, away, low, high)
            else:
                _gather_small(source, stride, pixels.ctypes.data, addends.ctypes.data, bias, away, low, high)


# Kernels


def _spread_three(w0, w1, w2):
    """Three values multiplied with G: six."""
    even, odd = (w0 + w2 * A2) * OVER_A, w1 * (OVER_A * A)
    even_too, odd_too = (w0 + w2 * B2) * OVER_B, w1 * (OVER_B * B)
    return _points(w0, even, odd, even_too, odd_too, w2)


def _collect_three(v0, v1, v2, v3, v4, v5):
    """Six values multiplied with G transposed, the adjoint of `_spread_three`: three."""
    even, odd = (v1 + v2) * OVER_A, (v1 - v2) * (OVER_A * A)
    even_too, odd_too = (v3 + v4) * OVER_B, (v3 - v4) * (OVER_B * B)
    return [v0 + even + even_too, odd + odd_too, even * A2 + even_too * B2 + v5]


@writes(4, lanes=WIDE)
def _spread_kernels(write: Writer, kernels, along, matrices, apart):
    """A vector of kernels, `along` from each other, as 36 values `apart` from each other."""
    eight, parts = Writer(write.builder, LANES), []
    for first in range(0, WIDE, LANES):
        places = [write.at(kernels, write.times(along, first + lane)) for lane in range(LANES)]
        for place in places:
            write.prefetch(write.at(place, AHEAD))
        parts.append([*eight.turned([eight.load(place) for place in places]), eight.picked(places, LAST)])
    nine = parts[0] if len(parts) == 1 else [write.joined(*both) for both in zip(*parts, strict=True)]
    _store(write, _twice(_spread_three, nine, 3), matrices, apart)


@writes(3, lanes=WIDE)
def _collect_kernels(write: Writer, matrices, apart, kernels):
    """The adjoint: a vector of kernels side by side."""
    eight, nine = Writer(write.builder, LANES), list(_twice(_collect_three, _load(write, matrices, apart), 6))
    for first in range(0, WIDE, LANES):
        part = [write.mixed(lanes, lanes, list(range(first, first + LANES))) for lanes in nine]
        places = [write.at(kernels, (first + lane) * KERNEL) for lane in range(LANES)]
        for lanes, place in zip(eight.turned(part[:LANES]), places, strict=True):
            eight.store(lanes, place)
        eight.put(part[LANES], places, LAST)


@_compiled(f"void({numbers(10)})")
def spread_kernels(kernels, size, depth, down, along, columns, matrices, stride, begin, end):
    """Kernels of 3 x 3 transformed to (36, size), `stride` bytes from each other, of which `begin` to `end` are made.

    The result is made of runs of 16: in a panel of `depth` runs the next one is `down` kernels further, within a run
    the next kernel `along` further, and the next panel `columns` further.
    """
    for first in range(begin, end, WIDE):
        run, back = first // PANEL, max(0, first + WIDE - size)  # the last vector may begin among those before
        start = run % depth * down + run // depth * columns + first % PANEL * along - back
        _spread_kernels(kernels + start * KERNEL, along * KERNEL, matrices + (first - back) * FLOAT, stride)


@_compiled(f"void({numbers(6)})")
def collect_kernels(matrices, stride, size, kernels, begin, end):
    """The adjoint of `spread_kernels`, kernels side by side: what it writes is not added."""
    for each in range(begin, end, WIDE):
        first = min(each, size - WIDE)
        _collect_kernels(matrices + first * FLOAT, stride, kernels + first * KERNEL)
