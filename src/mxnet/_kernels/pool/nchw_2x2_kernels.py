"""2 x 2 max pooling with stride 2 of NCHW images, and its gradient, in SIMD vectors (importing this imports numba).

Two rows of data give one row of results. The last vector of a row overlaps the one before if the width is no multiple.
"""

from typing import Any

from ..runtime.simd import FLOAT, LANES, Lanes, Writer, compiled, numbers, writes

HALF = LANES // 2  # lanes of the vectors for rows of less than LANES results


def _greater_or_nan(one: Lanes, other: Lanes) -> Any:
    """Mask of the lanes where one is greater, or NaN."""
    builder = one.builder
    is_nan = builder.fcmp_unordered("uno", one.value, one.value)
    return builder.or_(builder.fcmp_ordered(">", one.value, other.value), is_nan)


def _select(mask: Any, one: Lanes, other: Lanes) -> Lanes:
    return Lanes(one.builder, one.builder.select(mask, one.value, other.value))


def _deinterleave(write: Writer, row: Any) -> list[Lanes]:
    """The even elements of two adjacent vectors, and the odd ones."""
    pair = write.load(row), write.load(write.at(row, write.bytes))
    return [write.shuffle(*pair, list(range(first, 2 * write.lanes, 2))) for first in (0, 1)]


def _interleave(write: Writer, even: Lanes, odd: Lanes, row: Any) -> None:
    """The inverse of `_deinterleave`."""
    order = [lane // 2 + lane % 2 * write.lanes for lane in range(2 * write.lanes)]
    for number, lanes in enumerate((order[: write.lanes], order[write.lanes :])):
        write.store(write.shuffle(even, odd, lanes), write.at(row, number * write.bytes))


def _max(lanes: int) -> Any:
    @writes(3, lanes=lanes)
    def kernel(write: Writer, above, below, result):
        pixels = *_deinterleave(write, above), *_deinterleave(write, below)
        maximum = pixels[0]
        for pixel in pixels[1:]:
            maximum = maximum.maximum(pixel)
        write.store(maximum, result)

    return kernel


def _max_backward(lanes: int) -> Any:
    @writes(5, lanes=lanes)
    def kernel(write: Writer, above, below, head, to_above, to_below):
        """The head's gradient goes to the first maximum of each window."""
        pixels = *_deinterleave(write, above), *_deinterleave(write, below)
        maximum, masks = pixels[0], []
        for pixel in pixels[1:]:
            masks.append(_greater_or_nan(pixel, maximum))
            maximum = _select(masks[-1], pixel, maximum)
        left, zeros, gradients = write.load(head), write.zeros(), []
        for mask in reversed(masks):
            gradients.insert(0, _select(mask, left, zeros))
            left = _select(mask, zeros, left)
        _interleave(write, left, gradients[0], to_above)
        _interleave(write, gradients[1], gradients[2], to_below)

    return kernel


_max_half, _max_full = _max(HALF), _max(LANES)
_max_backward_half, _max_backward_full = _max_backward(HALF), _max_backward(LANES)


@compiled(f"void({numbers(5)})")
def max_pool(data, result, width, first, last):
    """Rows `first` to `last` of the results, of `width` each, at least HALF."""
    lanes = LANES if width >= LANES else HALF
    row = 2 * width * FLOAT
    for line in range(first, last):
        for x in range(0, width, lanes):
            at = min(x, width - lanes)
            above, out = data + line * 2 * row + 2 * at * FLOAT, result + (line * width + at) * FLOAT
            if lanes == LANES:
                _max_full(above, above + row, out)
            else:
                _max_half(above, above + row, out)


@compiled(f"void({numbers(6)})")
def max_pool_backward(data, head, result, width, first, last):
    """The gradient of the data, from that of the rows `first` to `last` of the results."""
    lanes = LANES if width >= LANES else HALF
    row = 2 * width * FLOAT
    for line in range(first, last):
        for x in range(0, width, lanes):
            at = min(x, width - lanes)
            away, given = line * 2 * row + 2 * at * FLOAT, head + (line * width + at) * FLOAT
            above, out = data + away, result + away
            if lanes == LANES:
                _max_backward_full(above, above + row, given, out, out + row)
            else:
                _max_backward_half(above, above + row, given, out, out + row)
