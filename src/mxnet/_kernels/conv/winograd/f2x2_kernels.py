"""The transforms of Winograd's small tiles (see small_tiles) for vectors of eight floats; importing asks for numba.

Tiles are (16, tile, channel): the values of a tile lie `apart`.
"""

from ...runtime.simd import FLOAT, VECTOR_BYTES, Writer, compiled, numbers, writes


def _spread_four(a, b, c, d):
    """Four values multiplied with B transposed."""
    return [a - c, b + c, c - b, b - d]


def _gather_four(a, b, c, d):
    """Four values multiplied with A transposed: two."""
    return [a + b + c, b - c - d]


@writes(5)
def _spread(write: Writer, source, row, channels, target, apart):
    """One tile, all channels."""

    def some(pixel, place, _):
        def load(y, x):
            return write.load(write.at(pixel, write.times(row, y), write.times(channels, x)))

        columns = [_spread_four(*(load(y, x) for y in range(4))) for x in range(4)]
        for y in range(4):
            for x, value in enumerate(_spread_four(*(column[y] for column in columns))):
                write.store(value, write.at(place, write.times(apart, 4 * y + x)))
        return write.at(place, VECTOR_BYTES), []

    write.loop(source, write.at(source, channels), VECTOR_BYTES, target, [], some)


@compiled(f"void({numbers(8)})")
def spread(padded, down, right, channels, tiles, apart, first, last):
    """Tiles `first` to `last` of 4 x 4 pixels, two apart, of images of `down` x `right` tiles, transformed."""
    pixel = channels * FLOAT
    row = (2 * right + 2) * pixel
    for tile in range(first, last):
        image, place = tile // (down * right), tile % (down * right)
        top, left = 2 * (place // right), 2 * (place % right)
        corner = padded + (image * (2 * down + 2) + top) * row + left * pixel
        _spread(corner, row, pixel, tiles + tile * pixel, apart)


@writes(12, floats=2)
def _gather(write: Writer, channels, source, apart, bias, p0, p1, p2, p3, a0, a1, a2, a3, low, high):
    """One tile, all channels: four pixels."""
    bounds = write.spread(low), write.spread(high)

    def some(place, away, _):
        def load(y, x):
            return write.load(write.at(place, write.times(apart, 4 * y + x)))

        columns = [_gather_four(*(load(y, x) for y in range(4))) for x in range(4)]
        shift = write.load(write.at(bias, away))
        for y, (pixels, addends) in enumerate((((p0, p1), (a0, a1)), ((p2, p3), (a2, a3)))):
            values = _gather_four(*(column[y] for column in columns))
            for value, pixel, addend in zip(values, pixels, addends, strict=True):
                total = value + shift + write.load(write.at(addend, away))
                write.store(total.between(*bounds), write.at(pixel, away))
        return write.at(away, VECTOR_BYTES), []

    write.loop(source, write.at(source, channels), VECTOR_BYTES, channels.type(0), [], some)


@compiled("UniTuple(int64, 2)(int64, int64, int64, int64, int64, int64, int64, int64, int64)")
def _place(result, addend, height, width, y, x, pixel, zeros, scrap):
    """Where a pixel is stored, and what is added to it; pixels beyond the image go to the scrap."""
    if y >= height or x >= width:
        return scrap, zeros
    away = (y * width + x) * pixel
    return result + away, addend + away if addend else zeros


@compiled(f"void({numbers(14)}, float32, float32)")
def gather(
    tiles, apart, result, addend, height, width, channels, down, right, bias, zeros, scratch, first, last, low, high
):
    """The 2 x 2 pixels of each tile, plus bias and addend (0: none), within the bounds."""
    pixel = channels * FLOAT
    for tile in range(first, last):
        image, place = tile // (down * right), tile % (down * right)
        y, x, away = 2 * (place // right), 2 * (place % right), image * height * width * pixel
        here, more = result + away, addend + away if addend else 0
        p0, a0 = _place(here, more, height, width, y, x, pixel, zeros, scratch)
        p1, a1 = _place(here, more, height, width, y, x + 1, pixel, zeros, scratch)
        p2, a2 = _place(here, more, height, width, y + 1, x, pixel, zeros, scratch)
        p3, a3 = _place(here, more, height, width, y + 1, x + 1, pixel, zeros, scratch)
        _gather(pixel, tiles + tile * pixel, apart, bias, p0, p1, p2, p3, a0, a1, a2, a3, low, high)
