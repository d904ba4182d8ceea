"""Pooling, channels last, by kernels for vectors of eight floats; importing this module asks for numba."""

from typing import Any

import numpy as np

from ..runtime.simd import FLOAT, VECTOR_BYTES, Writer, compiled, numbers, writes

WIDE = 4  # vectors at a time: the processor works at several maxima at once


def _largest(vectors: int) -> Any:
    """The kernel for the maximum of a window of rows x columns, at least one each."""

    @writes(6)
    def kernel(write: Writer, data, rows, row, columns, channels, result):
        def load(address):
            return [write.load(write.at(address, i * VECTOR_BYTES)) for i in range(vectors)]

        def by_row(begin, unused, largest):
            def by_pixel(pixel, unused, largest):
                return unused, [one.larger(two) for one, two in zip(largest, load(pixel), strict=True)]

            end = write.at(begin, write.times(channels, columns))
            return unused, write.loop(begin, end, channels, unused, largest, by_pixel)

        largest = write.loop(data, write.at(data, write.times(row, rows)), row, data.type(0), load(data), by_row)
        for i, lanes in enumerate(largest):
            write.store(lanes, write.at(result, i * VECTOR_BYTES))

    return kernel


def _sum(vectors: int) -> Any:
    """The kernel for the sum of some pixels, at least one, times a number."""

    @writes(4, floats=1)
    def kernel(write: Writer, data, pixels, channels, result, factor):
        def add(pixel, unused, sums):
            return unused, [total + write.load(write.at(pixel, i * VECTOR_BYTES)) for i, total in enumerate(sums)]

        end = write.at(data, write.times(channels, pixels))
        sums = write.loop(data, end, channels, data.type(0), [write.zeros()] * vectors, add)
        for i, total in enumerate(sums):
            write.store(total * write.spread(factor), write.at(result, i * VECTOR_BYTES))

    return kernel


_largest_four, _largest_one = _largest(WIDE), _largest(1)
_sum_four, _sum_one = _sum(WIDE), _sum(1)


@compiled(f"void({numbers(15)})")
def maxima(
    data, result, height, width, channels, down, right, window, across, step, aside, above, beside, first, last
):  # fmt: skip
    """Rows `first` to `last` of the results, counted over all images: of each window the part within its image."""
    apart = channels * FLOAT
    row = width * apart
    wide = WIDE * VECTOR_BYTES
    for line in range(first, last):
        top = line % down * step - above
        begin, end = max(top, 0), min(top + window, height)
        start = data + (line // down * height + begin) * row
        for x in range(right):
            left = x * aside - beside
            from_, to = max(left, 0), min(left + across, width)
            at, out, i = start + from_ * apart, result + (line * right + x) * apart, 0
            while i + wide <= apart:
                _largest_four(at + i, end - begin, row, to - from_, apart, out + i)
                i += wide
            while i < apart:
                _largest_one(at + i, end - begin, row, to - from_, apart, out + i)
                i += VECTOR_BYTES


@compiled(f"void({numbers(6)})")
def means(data, result, pixels, channels, first, last):
    """The mean of all pixels of the images `first` to `last`."""
    apart, wide = channels * FLOAT, WIDE * VECTOR_BYTES
    for image in range(first, last):
        at, out, i = data + image * pixels * apart, result + image * apart, 0
        while i + wide <= apart:
            _sum_four(at + i, pixels, apart, out + i, np.float32(1 / pixels))
            i += wide
        while i < apart:
            _sum_one(at + i, pixels, apart, out + i, np.float32(1 / pixels))
            i += VECTOR_BYTES
