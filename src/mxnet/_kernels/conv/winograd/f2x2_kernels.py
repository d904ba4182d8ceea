"""The transforms of Winograd's F(2x2, 3x3) (see f2x2) for vectors of eight floats; importing this module loads numba.

Transformed tiles are (16, tile, channel); consecutive ones of a tile's 16 values are `stride` bytes apart.
"""

# The products between the transforms: one module to wait for
from ...matmul import micro_kernels  # noqa: F401  # pyright: ignore[reportUnusedImport]
from ...runtime.simd import FLOAT, VECTOR_BYTES, Writer, compiled, numbers, writes


def _input_points(a, b, c, d):
    """Four values multiplied by the transpose of B."""
    return [a - c, b + c, c - b, b - d]


def _output_points(a, b, c, d):
    """Four values multiplied by the transpose of A: two results."""
    return [a + b + c, b - c - d]


@writes(5)
def _input_transform(write: Writer, source, row, channels, target, stride):
    """One tile, all channels."""

    def some(pixel, place, _):
        def load(y, x):
            return write.load(write.at(pixel, write.times(row, y), write.times(channels, x)))

        columns = [_input_points(*(load(y, x) for y in range(4))) for x in range(4)]
        for y in range(4):
            for x, value in enumerate(_input_points(*(column[y] for column in columns))):
                write.store(value, write.at(place, write.times(stride, 4 * y + x)))
        return write.at(place, VECTOR_BYTES), []

    write.loop(source, write.at(source, channels), VECTOR_BYTES, target, [], some)


@compiled(f"void({numbers(8)})")
def input_transform(padded, down, right, channels, tiles, stride, first, last):
    """Tiles `first` to `last` of 4 x 4 pixels at a step of two, of images of `down` x `right` tiles, transformed."""
    pixel = channels * FLOAT
    row = (2 * right + 2) * pixel
    for tile in range(first, last):
        image, place = tile // (down * right), tile % (down * right)
        top, left = 2 * (place // right), 2 * (place % right)
        corner = padded + (image * (2 * down + 2) + top) * row + left * pixel
        _input_transform(corner, row, pixel, tiles + tile * pixel, stride)


@writes(12, floats=2)
def _output_transform(write: Writer, channels, source, stride, bias, p0, p1, p2, p3, a0, a1, a2, a3, low, high):
    """One tile, all channels: four pixels."""
    clamp = write.broadcast(low), write.broadcast(high)

    def some(place, offset, _):
        def load(y, x):
            return write.load(write.at(place, write.times(stride, 4 * y + x)))

        columns = [_output_points(*(load(y, x) for y in range(4))) for x in range(4)]
        shift = write.load(write.at(bias, offset))
        for y, (pixels, addends) in enumerate((((p0, p1), (a0, a1)), ((p2, p3), (a2, a3)))):
            values = _output_points(*(column[y] for column in columns))
            for value, pixel, addend in zip(values, pixels, addends, strict=True):
                total = value + shift + write.load(write.at(addend, offset))
                write.store(total.clamp(*clamp), write.at(pixel, offset))
        return write.at(offset, VECTOR_BYTES), []

    write.loop(source, write.at(source, channels), VECTOR_BYTES, channels.type(0), [], some)


@compiled("UniTuple(int64, 2)(int64, int64, int64, int64, int64, int64, int64, int64, int64)")
def _place(result, addend, height, width, y, x, pixel, zeros, discard):
    """Where an output pixel and its addend are; pixels beyond the image are written to scratch memory."""
    if y >= height or x >= width:
        return discard, zeros
    offset = (y * width + x) * pixel
    return result + offset, addend + offset if addend else zeros


@compiled(f"void({numbers(14)}, float32, float32)")
def output_transform(
    tiles, stride, result, addend, height, width, channels, down, right, bias, zeros, scratch, first, last, low, high
):
    """The output transform: 2 x 2 pixels of each tile, plus bias and addend (address 0: none), clamped."""
    pixel = channels * FLOAT
    for tile in range(first, last):
        image, place = tile // (down * right), tile % (down * right)
        y, x, offset = 2 * (place // right), 2 * (place % right), image * height * width * pixel
        here, more = result + offset, addend + offset if addend else 0
        p0, a0 = _place(here, more, height, width, y, x, pixel, zeros, scratch)
        p1, a1 = _place(here, more, height, width, y, x + 1, pixel, zeros, scratch)
        p2, a2 = _place(here, more, height, width, y + 1, x, pixel, zeros, scratch)
        p3, a3 = _place(here, more, height, width, y + 1, x + 1, pixel, zeros, scratch)
        _output_transform(pixel, tiles + tile * pixel, stride, bias, p0, p1, p2, p3, a0, a1, a2, a3, low, high)
