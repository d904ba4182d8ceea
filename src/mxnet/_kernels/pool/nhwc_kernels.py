"""Pooling of channels-last images in SIMD vectors of channels (importing this module imports numba)."""

from typing import Any

import numpy as np

from ..runtime.simd import FLOAT, VECTOR_BYTES, Writer, compiled, numbers, writes

UNROLL = 4  # vectors at a time: independent maxima hide the latency of each


def _max(vectors: int) -> Any:
    """The kernel for the maximum of a window of rows x columns, at least one each."""

    @writes(6)
    def kernel(write: Writer, data, rows, row, columns, channels, result):
        def load(address):
            return [write.load(write.at(address, i * VECTOR_BYTES)) for i in range(vectors)]

        def by_row(begin, unused, maximum):
            def by_pixel(pixel, unused, maximum):
                return unused, [one.maximum(two) for one, two in zip(maximum, load(pixel), strict=True)]

            end = write.at(begin, write.times(channels, columns))
            return unused, write.loop(begin, end, channels, unused, maximum, by_pixel)

        maximum = write.loop(data, write.at(data, write.times(row, rows)), row, data.type(0), load(data), by_row)
        for i, lanes in enumerate(maximum):
            write.store(lanes, write.at(result, i * VECTOR_BYTES))

    return kernel


def _sum(vectors: int) -> Any:
    """The kernel for the sum of at least one pixel, times a factor."""

    @writes(4, floats=1)
    def kernel(write: Writer, data, pixels, channels, result, factor):
        def add(pixel, unused, sums):
            return unused, [total + write.load(write.at(pixel, i * VECTOR_BYTES)) for i, total in enumerate(sums)]

        end = write.at(data, write.times(channels, pixels))
        sums = write.loop(data, end, channels, data.type(0), [write.zeros()] * vectors, add)
        for i, total in enumerate(sums):
            write.store(total * write.broadcast(factor), write.at(result, i * VECTOR_BYTES))

    return kernel


_max_unrolled, _max_one = _max(UNROLL), _max(1)
_sum_unrolled, _sum_one = _sum(UNROLL), _sum(1)


@compiled(f"void({numbers(15)})")
def max_pool(
    data, result, height, width, channels, out_height, out_width, kernel_height, kernel_width, stride_height,
    stride_width, pad_height, pad_width, first, last,
):  # fmt: skip
    """Rows `first` to `last` of the results of all images: the part of each window that is inside its image."""
    pixel_bytes = channels * FLOAT
    row = width * pixel_bytes
    wide = UNROLL * VECTOR_BYTES
    for line in range(first, last):
        top = line % out_height * stride_height - pad_height
        begin, end = max(top, 0), min(top + kernel_height, height)
        start = data + (line // out_height * height + begin) * row
        for x in range(out_width):
            left = x * stride_width - pad_width
            from_, to = max(left, 0), min(left + kernel_width, width)
            at, out, i = start + from_ * pixel_bytes, result + (line * out_width + x) * pixel_bytes, 0
            while i + wide <= pixel_bytes:
                _max_unrolled(at + i, end - begin, row, to - from_, pixel_bytes, out + i)
                i += wide
            while i < pixel_bytes:
                _max_one(at + i, end - begin, row, to - from_, pixel_bytes, out + i)
                i += VECTOR_BYTES


@compiled(f"void({numbers(6)})")
def global_average_pool(data, result, pixels, channels, first, last):
    """The average of all pixels of the images `first` to `last`."""
    pixel_bytes, wide = channels * FLOAT, UNROLL * VECTOR_BYTES
    for image in range(first, last):
        at, out, i = data + image * pixels * pixel_bytes, result + image * pixel_bytes, 0
        while i + wide <= pixel_bytes:
            _sum_unrolled(at + i, pixels, pixel_bytes, out + i, np.float32(1 / pixels))
            i += wide
        while i < pixel_bytes:
            _sum_one(at + i, pixels, pixel_bytes, out + i, np.float32(1 / pixels))
            i += VECTOR_BYTES
