"""Maxima of windows of two by two, and their gradient, by kernels for vectors; importing this module asks for numba.

Two rows of data give one of results. Where the vectors do not fit, the last begins among the results of the one before.
"""

from typing import Any

from ..runtime.simd import FLOAT, LANES, Lanes, Writer, compiled, numbers, writes

HALF = LANES // 2  # lanes of the vectors for narrow rows


def _exceeds(one: Lanes, other: Lanes) -> Any:
    """Where one is larger, or NaN."""
    builder = one.builder
    is_nan = builder.fcmp_unordered("uno", one.value, one.value)
    return builder.or_(builder.fcmp_ordered(">", one.value, other.value), is_nan)


def _chosen(truth: Any, one: Lanes, other: Lanes) -> Lanes:
    return Lanes(one.builder, one.builder.select(truth, one.value, other.value))


def _apart(write: Writer, row: Any) -> list[Lanes]:
    """Two vectors' elements at even places, and those at odd ones."""
    pair = write.load(row), write.load(write.at(row, write.bytes))
    return [write.mixed(*pair, list(range(first, 2 * write.lanes, 2))) for first in (0, 1)]


def _together(write: Writer, even: Lanes, odd: Lanes, row: Any) -> None:
    """The contrary."""
    places = [lane // 2 + lane % 2 * write.lanes for lane in range(2 * write.lanes)]
    for number, part in enumerate((places[: write.lanes], places[write.lanes :])):
        write.store(write.mixed(even, odd, part), write.at(row, number * write.bytes))


def _largest(lanes: int) -> Any:
    @writes(3, lanes=lanes)
    def kernel(write: Writer, above, below, result):
        pixels = *_apart(write, above), *_apart(write, below)
        largest = pixels[0]
        for pixel in pixels[1:]:
            largest = largest.larger(pixel)
        write.store(largest, result)

    return kernel


def _shared(lanes: int) -> Any:
    @writes(5, lanes=lanes)
    def kernel(write: Writer, above, below, head, to_above, to_below):
        """The head goes to the first of the largest pixels."""
        pixels = *_apart(write, above), *_apart(write, below)
        largest, truths = pixels[0], []
        for pixel in pixels[1:]:
            truths.append(_exceeds(pixel, largest))
            largest = _chosen(truths[-1], pixel, largest)
        left, zeros, parts = write.load(head), write.zeros(), []
        for truth in reversed(truths):
            parts.insert(0, _chosen(truth, left, zeros))
            left = _chosen(truth, zeros, left)
        _together(write, left, parts[0], to_above)
        _together(write, parts[1], parts[2], to_below)

    return kernel


_largest_narrow, _largest_wide = _largest(HALF), _largest(LANES)
_shared_narrow, _shared_wide = _shared(HALF), _shared(LANES)


@compiled(f"void({numbers(5)})")
def largest(data, result, width, first, last):
    """Rows `first` to `last` of the results, of `width` each, at least four."""
    lanes = LANES if width >= LANES else HALF
    row = 2 * width * FLOAT
    for line in range(first, last):
        for x in range(0, width, lanes):
            at = min(x, width - lanes)
            above, out = data + line * 2 * row + 2 * at * FLOAT, result + (line * width + at) * FLOAT
            if lanes == LANES:
                _largest_wide(above, above + row, out)
            else:
                _largest_narrow(above, above + row, out)


@compiled(f"void({numbers(6)})")
def shared(data, head, result, width, first, last):
    """The gradient of the data, from that of the rows `first` to `last` of the results."""
    lanes = LANES if width >= LANES else HALF
    row = 2 * width * FLOAT
    for line in range(first, last):
        for x in range(0, width, lanes):
            at = min(x, width - lanes)
            away, given = line * 2 * row + 2 * at * FLOAT, head + (line * width + at) * FLOAT
            above, out = data + away, result + away
            if lanes == LANES:
                _shared_wide(above, above + row, given, out, out + row)
            else:
                _shared_narrow(above, above + row, given, out, out + row)
