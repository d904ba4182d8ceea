"""Convolutions of few channels in NCHW order by SIMD kernels; importing this module loads numba.

Vectors hold contiguous results of a row; where a row is no multiple of a vector, the last one overlaps the one before.
The stride is one, and data are padded already.
"""

from typing import Any

from ..runtime.simd import FLOAT, LANES, Writer, compiled, numbers, writes

FILTERS, VECTORS = 4, 3  # summed at once
COLUMNS = 5  # of a window: of two filters, summed at once for the gradient


def _convolve_kernel(filters: int) -> Any:
    """The kernel for some filters, `apart` in the weight, whose results are `plane` apart, and one to three vectors."""

    @writes(12)
    def kernel(
        write: Writer, vectors, data, channels, next_channel, tall, row, wide, weight, apart, bias, result, plane
    ):
        step, own = write.times(wide, FLOAT), [write.times(apart, number) for number in range(filters)]

        def some(count: int) -> None:
            def by_channel(place, taps, sums):
                def by_row(line, taps, sums):
                    def by_pixel(pixel, taps, sums):
                        values = [write.load(write.at(pixel, i * write.bytes)) for i in range(count)]
                        factors = (write.load_broadcast(write.at(taps, away)) for away in own)
                        products = [factor * value for factor in factors for value in values]
                        return write.at(taps, FLOAT), [p + total for p, total in zip(products, sums, strict=True)]

                    sums = write.loop(line, write.at(line, step), FLOAT, taps, sums, by_pixel)
                    return write.at(taps, step), sums

                sums = write.loop(place, write.at(place, write.times(row, tall)), row, taps, sums, by_row)
                return write.at(taps, write.times(step, tall)), sums

            shifts = [write.load_broadcast(write.at(bias, number * FLOAT)) for number in range(filters)]
            end = write.at(data, write.times(next_channel, channels))
            begin = [shift for shift in shifts for _ in range(count)]
            sums = write.loop(data, end, next_channel, weight, begin, by_channel)
            for number, total in enumerate(sums):
                place = write.at(write.times(plane, number // count), number % count * write.bytes)
                write.store(total, write.at(result, place))

        write.choose(vectors, VECTORS, some)

    return kernel


_four, _one = _convolve_kernel(FILTERS), _convolve_kernel(1)


@compiled(f"void({numbers(12)})")
def convolve(data, channels, height, width, weight, tall, wide, bias, result, filters, first, last):
    """Images `first` to `last`: (channels, height, width) each, with a weight (filters, channels, tall, wide)."""
    down, right = height - tall + 1, width - wide + 1
    row, apart, plane = width * FLOAT, channels * tall * wide * FLOAT, down * right * FLOAT
    for image in range(first, last):
        source, target = data + image * channels * height * row, result + image * filters * plane
        filter = 0
        while filter < filters:
            several = FILTERS if filter + FILTERS <= filters else 1
            taps, shift, out = weight + filter * apart, bias + filter * FLOAT, target + filter * plane
            for y in range(down):
                x = 0
                while x < right:
                    vectors = max(1, min(VECTORS, (right - x) // LANES))
                    at = min(x, right - vectors * LANES)
                    pixels, made = source + y * row + at * FLOAT, out + (y * right + at) * FLOAT
                    if several == FILTERS:
                        _four(vectors, pixels, channels, height * row, tall, row, wide, taps, apart, shift, made, plane)
                    else:
                        _one(vectors, pixels, channels, height * row, tall, row, wide, taps, apart, shift, made, plane)
                    x += vectors * LANES
            filter += several


def _weight_gradient_kernel(filters: int) -> Any:
    """The kernel for products of some filters' heads with data shifted by one to five columns, added to `totals`.

    Of each row `size` bytes are whole vectors; `kind` is the number of columns, or five more where a rest is left, the
    last vector but for its first `done` lanes.
    """

    @writes(12)
    def kernel(write: Writer, kind, data, row, head, head_row, plane, size, rest, done, rows, totals, apart):
        def some(which: int) -> None:
            count, ragged = (which, False) if which <= COLUMNS else (which - COLUMNS, True)

            def products(place, pixels):
                heads = [write.load(write.at(place, write.times(plane, number))) for number in range(filters)]
                values = [write.load(write.at(pixels, column * FLOAT)) for column in range(count)]
                return [one * value for one in heads for value in values]

            def by_row(line, pixels, sums):
                away = write.builder.sub(pixels, line)

                def by_vector(place, other, sums):
                    made = products(place, write.at(place, away))
                    return other, [p + total for p, total in zip(made, sums, strict=True)]

                sums = write.loop(line, write.at(line, size), write.bytes, line, sums, by_vector)
                if ragged:
                    made = products(write.at(line, rest), write.at(pixels, rest))
                    left = [write.blend(done, product, write.zeros()) for product in made]
                    sums = [p + total for p, total in zip(left, sums, strict=True)]
                return write.at(pixels, row), sums

            zeros, end = [write.zeros()] * (filters * count), write.at(head, write.times(head_row, rows))
            sums = write.loop(head, end, head_row, data, zeros, by_row)
            for number, total in enumerate(sums):
                place = write.at(totals, write.times(apart, number // count), number % count * write.bytes)
                write.store(total + write.load(place), place)

        write.choose(kind, 2 * COLUMNS, some)

    return kernel


_pair, _single = _weight_gradient_kernel(2), _weight_gradient_kernel(1)


@compiled(f"void({numbers(12)})")
def weight_gradient(data, channels, height, width, head, tall, wide, totals, filters, images, first, last):
    """Vectors whose sums are the gradient of filters `first` to `last`: (filters, channels, tall, wide, eight)."""
    down, right = height - tall + 1, width - wide + 1
    row, head_row, plane = width * FLOAT, right * FLOAT, down * right * FLOAT
    vector = LANES * FLOAT
    whole, place = head_row // vector * vector, tall * wide * vector
    rest, done = head_row - vector, -right % LANES
    for image in range(images):
        filter = first
        while filter < last:
            several = 2 if filter + 2 <= last else 1
            given = head + (image * filters + filter) * plane
            for channel in range(channels):
                source = data + (image * channels + channel) * height * row
                total = totals + (filter * channels + channel) * place
                for y in range(tall):
                    for x in range(0, wide, COLUMNS):
                        kind = min(COLUMNS, wide - x) + (COLUMNS if done else 0)
                        pixels, target = source + y * row + x * FLOAT, total + (y * wide + x) * vector
                        if several == 2:
                            _pair(kind, pixels, row, given, head_row, plane, whole, rest, done, down, target,
                                  channels * place)  # fmt: skip
                        else:
                            _single(kind, pixels, row, given, head_row, plane, whole, rest, done, down, target,
                                    channels * place)  # fmt: skip
            filter += several
