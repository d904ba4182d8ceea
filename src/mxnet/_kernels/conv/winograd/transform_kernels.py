"""The transforms of Winograd's F(4x4, 3x3) and F(2x2, 5x5) for the processor's vectors; importing loads numba.

Images are NHWC, transformed tiles (36, tile, channel) with tiles counted from `origin`; those from `begin` to `end` are
computed. Addresses, strides and offsets are in bytes. A tile's pixels are found by a table of their addresses, so that
those beyond the image's edges can point to zeros (or, for stores, to memory that is discarded). There are at least as
many channels as a vector has lanes; where they are no multiple of it, the last vector overlaps the one before. NaN
propagates.
"""

import functools

import numpy as np
from numba import njit

from ...matmul.packed import PANEL
from ...runtime.simd import FLOAT, FUSED, LANES, OPTIONS, WIDE, Writer, compiled, numbers, writes

A, B = 2 / 3, 3 / 2
A2, B2, SUM = 4 / 9, 9 / 4, 4 / 9 + 9 / 4
A3, B3 = 8 / 27, 27 / 8
# Reciprocals of the products of a point's differences from all others.
OVER_A, OVER_B = 1 / (8 / 9 * (4 / 9 - 9 / 4)), 1 / (9 / 2 * (9 / 4 - 4 / 9))
KERNEL, LAST = 9 * FLOAT, 8 * FLOAT  # bytes of a kernel, and of all but its last float
AHEAD = 16 * KERNEL  # bytes of the kernels that are fetched ahead
ADDRESS = 8  # bytes

_compiled = functools.partial(compiled, fastmath=FUSED)


# One-dimensional transforms: opposite interpolation points share the even and the odd part of a polynomial


def _points(first, even, odd, even_too, odd_too, last):
    return [first, even + odd, even - odd, even_too + odd_too, even_too - odd_too, last]


def _input_points(d0, d1, d2, d3, d4, d5):
    """Six values multiplied by the transpose of B."""
    even, odd = d4 - d2 * B2, (d3 - d1 * B2) * A
    even_too, odd_too = d4 - d2 * A2, (d3 - d1 * A2) * B
    return _points(d4 - d2 * SUM + d0, even, odd, even_too, odd_too, d5 - d3 * SUM + d1)


def _input_points_adjoint(v0, v1, v2, v3, v4, v5):
    """Six values multiplied by B: the adjoint of `_input_points`."""
    even, odd, even_too, odd_too = v1 + v2, v1 - v2, v3 + v4, v3 - v4
    return [
        v0,
        v5 - odd * B - odd_too * A,
        v0 * -SUM - even * B2 - even_too * A2,
        odd * A + odd_too * B - v5 * SUM,
        v0 + even + even_too,
        v5,
    ]


def _output_points(v0, v1, v2, v3, v4, v5):
    """Six values multiplied by the transpose of A: four results."""
    even, odd, even_too, odd_too = v1 + v2, v1 - v2, v3 + v4, v3 - v4
    return [
        v0 + even + even_too,
        odd * A + odd_too * B,
        even * A2 + even_too * B2,
        odd * A3 + odd_too * B3 + v5,
    ]


def _output_points_adjoint(y0, y1, y2, y3):
    """Four values multiplied by A, the adjoint of `_output_points`: six results."""
    return _points(y0, y0 + y2 * A2, y1 * A + y3 * A3, y0 + y2 * B2, y1 * B + y3 * B3, y3)


def _output_points_2x2(v0, v1, v2, v3, v4, v5):
    """`_output_points` of F(2x2, 5x5): two results."""
    return [v0 + (v1 + v2) + (v3 + v4), (v1 - v2) * A + (v3 - v4) * B + v5]


def _output_points_2x2_adjoint(y0, y1):
    """The adjoint of `_output_points_2x2`."""
    return _points(y0, y0, y1 * A, y0, y1 * B, y1)


def _rows_and_columns(transform, values, side):
    """A one-dimensional transform along the columns of side x side values, then along the rows, row by row."""
    columns = [transform(*values[column::side]) for column in range(side)]
    for row in zip(*columns, strict=True):
        yield from transform(*row)


# Two-dimensional transforms of one vector of channels


def _pixel(write: Writer, table, number, offset):
    """The address of a pixel's channels, from the table."""
    return write.at(write.int64(write.at(table, number * ADDRESS)), offset)


def _load(write: Writer, source, stride):
    """The 36 values of a tile, `stride` apart."""
    return [write.load(write.at(source, write.times(stride, number))) for number in range(36)]


def _store(write: Writer, values, target, stride):
    for number, value in enumerate(values):
        write.store(value, write.at(target, write.times(stride, number)))


@writes(4, lanes=WIDE)
def _input_transform(write: Writer, pixels, offset, target, stride):
    values = [write.load(_pixel(write, pixels, number, offset)) for number in range(36)]
    _store(write, _rows_and_columns(_input_points, values, 6), target, stride)


def _gradient_transform_kernel(transform, side: int):
    @writes(4, lanes=WIDE)
    def kernel(write: Writer, pixels, offset, target, stride):
        values = [write.load(_pixel(write, pixels, number, offset)) for number in range(side * side)]
        _store(write, _rows_and_columns(transform, values, side), target, stride)

    return kernel


@writes(5, lanes=WIDE)
def _input_adjoint(write: Writer, source, stride, pixels, offset, done):
    for number, value in enumerate(_rows_and_columns(_input_points_adjoint, _load(write, source, stride), 6)):
        place = _pixel(write, pixels, number, offset)
        write.store(write.load(place) + write.blend(done, value, write.zeros()), place)


def _output_transform_kernel(transform):
    @writes(6, floats=2, lanes=WIDE)
    def kernel(write: Writer, source, stride, pixels, addends, bias, offset, low, high):
        clamp, shift = (write.broadcast(low), write.broadcast(high)), write.load(write.at(bias, offset))
        for number, value in enumerate(_rows_and_columns(transform, _load(write, source, stride), 6)):
            total = value + shift + write.load(_pixel(write, addends, number, offset))
            write.store(total.clamp(*clamp), _pixel(write, pixels, number, offset))

    return kernel


_gradient_transform, _gradient_transform_2x2 = (
    _gradient_transform_kernel(_output_points_adjoint, 4),
    _gradient_transform_kernel(_output_points_2x2_adjoint, 2),
)
_output_transform, _output_transform_2x2 = (
    _output_transform_kernel(_output_points),
    _output_transform_kernel(_output_points_2x2),
)


# Tiles


@njit(**OPTIONS)
def _tile_addresses(found, first, height, width, pixel, tile, window, pad, step, outside):
    """Fill `found` with the addresses of a tile's pixels; those beyond the image's edges become `outside`.

    The first tile begins `pad` pixels before the image, each next one `step` further.
    """
    more, side = 2 * pad - window + step, step + window - 1
    down, right = (height + more) // step, (width + more) // step
    image, place = tile // (down * right), tile % (down * right)
    top, left = step * (place // right) - pad, step * (place % right) - pad
    for row in range(side):
        for column in range(side):
            y, x = top + row, left + column
            inside = 0 <= y < height and 0 <= x < width
            at = first + ((image * height + y) * width + x) * pixel
            found[row * side + column] = at if inside else outside


@njit(**OPTIONS)
def _input_tile(found, first, height, width, pixel, tile, window, pad, outside):
    """The 6 x 6 pixels of an input tile; loops whose length is a constant are faster."""
    if window == 3:
        _tile_addresses(found, first, height, width, pixel, tile, 3, pad, 4, outside)
    else:
        _tile_addresses(found, first, height, width, pixel, tile, 5, pad, 2, outside)


@njit(**OPTIONS)
def _output_tile(found, first, height, width, pixel, tile, step, outside):
    """The pixels of an output tile."""
    if step == 4:
        _tile_addresses(found, first, height, width, pixel, tile, 1, 0, 4, outside)
    else:
        _tile_addresses(found, first, height, width, pixel, tile, 1, 0, 2, outside)


@njit(**OPTIONS)
def _some(first, channels):
    """Where a vector of channels begins so that it fits, and how many of its lanes the vector before had."""
    at = min(first, channels - WIDE)
    return at, first - at


@_compiled(f"void({numbers(13)})")
def input_transform(images, height, width, channels, tiles, stride, row, apart, window, pad, origin, begin, end):
    """The input transform of tiles of 6 x 6 pixels.

    Tiles are `row` bytes apart, each 16 channels `apart` from the next 16: contiguous, or in panels of 16 channels, the
    last of which holds the last 16.
    """
    pixels, zeros = np.empty(36, np.int64), np.zeros(channels, np.float32)
    in_panels = row == PANEL * FLOAT
    many = (channels + PANEL - 1) // PANEL * PANEL if in_panels else channels
    for tile in range(begin, end):
        _input_tile(pixels, images, height, width, channels * FLOAT, tile, window, pad, zeros.ctypes.data)
        for first in range(0, many, WIDE):
            at, target = _some(first, channels)[0], tiles + (tile - origin) * row
            if in_panels:
                at = min(first // PANEL * PANEL, channels - PANEL) + first % PANEL
                target += first // PANEL * apart + first % PANEL * FLOAT
            else:
                target += at * FLOAT
            _input_transform(pixels.ctypes.data, at * FLOAT, target, stride)


@_compiled(f"void({numbers(10)})")
def gradient_transform(images, height, width, channels, tiles, stride, step, origin, begin, end):
    """The adjoint of the output transform: tiles of 4 x 4 (`step`) or 2 x 2 pixels of the head become 6 x 6 values."""
    pixels, zeros = np.empty(16, np.int64), np.zeros(channels, np.float32)
    for tile in range(begin, end):
        _output_tile(pixels, images, height, width, channels * FLOAT, tile, step, zeros.ctypes.data)
        for first in range(0, channels, WIDE):
            offset = _some(first, channels)[0] * FLOAT
            target = tiles + (tile - origin) * channels * FLOAT + offset
            if step == 4:
                _gradient_transform(pixels.ctypes.data, offset, target, stride)
            else:
                _gradient_transform_2x2(pixels.ctypes.data, offset, target, stride)


@_compiled(f"void({numbers(12)})")
def input_adjoint(tiles, stride, images, height, width, pixel, channels, window, pad, origin, begin, end):
    """The adjoint of `input_transform`: each tile's 6 x 6 pixels are added to the images, of `pixel` channels."""
    pixels, discard = np.empty(36, np.int64), np.zeros(channels, np.float32)
    for tile in range(begin, end):
        _input_tile(pixels, images, height, width, pixel * FLOAT, tile, window, pad, discard.ctypes.data)
        for first in range(0, channels, WIDE):
            at, done = _some(first, channels)
            source = tiles + ((tile - origin) * channels + at) * FLOAT
            _input_adjoint(source, stride, pixels.ctypes.data, at * FLOAT, done)


@_compiled(f"void({numbers(10)}, float32, float32, {numbers(3)})")
def output_transform(
    tiles, stride, images, height, width, pixel, channels, step, bias, addend, low, high, origin, begin, end
):
    """The output transform: 4 x 4 (`step`) or 2 x 2 pixels of each tile; bias and addend are added, then clamped.

    The channels may be some of the `pixel` channels of the images. The addend is none (0), other memory or, if the
    channels are a multiple of 16, the images themselves.
    """
    pixels, addends = np.empty(16, np.int64), np.empty(16, np.int64)
    discard, zeros = np.zeros(channels, np.float32), np.zeros(channels, np.float32)
    addends[:] = zeros.ctypes.data
    for tile in range(begin, end):
        _output_tile(pixels, images, height, width, pixel * FLOAT, tile, step, discard.ctypes.data)
        if addend:
            _output_tile(addends, addend, height, width, pixel * FLOAT, tile, step, zeros.ctypes.data)
        for first in range(0, channels, WIDE):
            offset = _some(first, channels)[0] * FLOAT
            source = tiles + (tile - origin) * channels * FLOAT + offset
            if step == 4:
                _output_transform(source, stride, pixels.ctypes.data, addends.ctypes.data, bias, offset, low, high)
            else:
                _output_transform_2x2(source, stride, pixels.ctypes.data, addends.ctypes.data, bias, offset, low, high)


# The weight's transforms


def _weight_points(w0, w1, w2):
    """Three values multiplied by G: six results."""
    even, odd = (w0 + w2 * A2) * OVER_A, w1 * (OVER_A * A)
    even_too, odd_too = (w0 + w2 * B2) * OVER_B, w1 * (OVER_B * B)
    return _points(w0, even, odd, even_too, odd_too, w2)


def _weight_points_adjoint(v0, v1, v2, v3, v4, v5):
    """Six values multiplied by the transpose of G, the adjoint of `_weight_points`: three results."""
    even, odd = (v1 + v2) * OVER_A, (v1 - v2) * (OVER_A * A)
    even_too, odd_too = (v3 + v4) * OVER_B, (v3 - v4) * (OVER_B * B)
    return [v0 + even + even_too, odd + odd_too, even * A2 + even_too * B2 + v5]


@writes(4, lanes=WIDE)
def _weight_transform(write: Writer, kernels, along, matrices, apart):
    """A vector of 3 x 3 kernels, `along` apart, as 36 values with a stride of `apart`."""
    eight, parts = Writer(write.builder, LANES), []
    for first in range(0, WIDE, LANES):
        places = [write.at(kernels, write.times(along, first + lane)) for lane in range(LANES)]
        for place in places:
            write.prefetch(write.at(place, AHEAD))
        parts.append([*eight.transpose([eight.load(place) for place in places]), eight.gather(places, LAST)])
    nine = parts[0] if len(parts) == 1 else [write.concat(*both) for both in zip(*parts, strict=True)]
    _store(write, _rows_and_columns(_weight_points, nine, 3), matrices, apart)


@writes(3, lanes=WIDE)
def _weight_adjoint(write: Writer, matrices, apart, kernels):
    """The adjoint: a vector of contiguous kernels."""
    eight, nine = (
        Writer(write.builder, LANES),
        list(_rows_and_columns(_weight_points_adjoint, _load(write, matrices, apart), 6)),
    )
    for first in range(0, WIDE, LANES):
        part = [write.shuffle(lanes, lanes, list(range(first, first + LANES))) for lanes in nine]
        places = [write.at(kernels, (first + lane) * KERNEL) for lane in range(LANES)]
        for lanes, place in zip(eight.transpose(part[:LANES]), places, strict=True):
            eight.store(lanes, place)
        eight.scatter(part[LANES], places, LAST)


@_compiled(f"void({numbers(10)})")
def weight_transform(kernels, size, depth, down, along, columns, matrices, stride, begin, end):
    """The weight transform: 3 x 3 kernels as (36, size), matrices `stride` apart; `begin` to `end` are computed.

    The result consists of runs of 16. Within a run the next kernel is `along` kernels further in the weight, the next
    run of a panel of `depth` runs is `down` further, and the next panel `columns` further.
    """
    for first in range(begin, end, WIDE):
        run, back = first // PANEL, max(0, first + WIDE - size)  # the last vector may begin among those pad
        start = run % depth * down + run // depth * columns + first % PANEL * along - back
        _weight_transform(kernels + start * KERNEL, along * KERNEL, matrices + (first - back) * FLOAT, stride)


@_compiled(f"void({numbers(6)})")
def weight_adjoint(matrices, stride, size, kernels, begin, end):
    """The adjoint of `weight_transform` for contiguous kernels; it overwrites what is there."""
    for each in range(begin, end, WIDE):
        first = min(each, size - WIDE)
        _weight_adjoint(matrices + first * FLOAT, stride, kernels + first * KERNEL)
