"""Pooling of planes, the usual memory order, which numba compiles; importing this module asks for numba.

The rows of a window are put together first, whole rows at a time; then, shifted against itself, what came out. Planes
`first` to `last` are worked on. `down` and `across` are (kernel, stride, padding) of the axes; no window lies wholly in
the padding.
"""

import numpy as np
from numba import njit

from ..runtime.simd import OPTIONS, compiled

F, I, U = np.float32, np.int32, np.uint64  # numba looks for places behind the end in all but unsigned numbers
_PLANES, _AXIS, _COUNTS = "float32[:, :, ::1]", "UniTuple(int64, 3)", "float32[::1]"
_WHERE = f"{_AXIS}, {_AXIS}, int64, int64"


@njit(**OPTIONS)
def _room(columns, across):
    """How many numbers the windows of a row reach over."""
    return (columns - 1) * across[1] + across[0]


@njit(**OPTIONS)
def _rows(row, down, height):
    """The first row of a window, and the one behind its last."""
    top = row * down[1] - down[2]
    return max(top, 0), min(top + down[0], height)


@njit(**OPTIONS)
def _larger(a, b):
    """The larger of both, or NaN, if one is."""
    return a if (a >= b) | (a != a) else b


@njit(**OPTIONS)
def _largest_rows(plane, top, bottom, line):
    for x in range(len(line)):
        line[x] = plane[top, x]
    for y in range(top + 1, bottom):
        source = plane[y]
        for x in range(len(line)):
            line[x] = _larger(line[x], source[x])


@njit(**OPTIONS)
def _largest_across(line, target, kernel, stride):
    for i in range(len(target)):
        target[i] = line[U(i) * U(stride)]
    for shift in range(1, kernel):
        for i in range(len(target)):
            target[i] = _larger(target[i], line[U(i) * U(stride) + U(shift)])


@compiled(f"void({_PLANES}, {_PLANES}, {_WHERE})")
def maxima(planes, result, down, across, first, last):
    height, width = planes.shape[1:]
    line = np.full(max(_room(result.shape[2], across), width + across[2]), -np.inf, F)
    for plane in range(first, last):
        for row in range(result.shape[1]):
            top, bottom = _rows(row, down, height)
            _largest_rows(planes[plane], top, bottom, line[across[2] : across[2] + width])
            _largest_across(line, result[plane, row], across[0], across[1])


@njit(**OPTIONS)
def _first_rows(plane, top, bottom, line, rows):
    """The largest number of each column, and the first row that has it."""
    for x in range(len(line)):
        line[x], rows[x] = plane[top, x], I(top)
    for y in range(top + 1, bottom):
        source, number = plane[y], I(y)
        for x in range(len(line)):
            value = source[x]
            better = (value > line[x]) | (value != value)
            line[x] = value if better else line[x]
            rows[x] = number if better else rows[x]


@njit(**OPTIONS)
def _each(line, shift, stride, target):
    """Numbers that are `stride` apart side by side, so that there are vectors of them."""
    for i in range(len(target)):
        target[i] = line[U(i) * U(stride) + U(shift)]


@njit(**OPTIONS)
def _choose(value, row, number, values, down, right):
    for i in range(len(values)):
        equal = (value[i] == values[i]) & (row[i] < down[i])
        better = (value[i] > values[i]) | (value[i] != value[i]) | equal
        values[i] = value[i] if better else values[i]
        down[i] = row[i] if better else down[i]
        right[i] = number if better else right[i]


@compiled(f"void({_PLANES}, {_PLANES}, int64[:, :, ::1], {_WHERE})")
def places(planes, result, found, down, across, first, last):
    """The maxima, and where in its plane the first element is that has it."""
    height, width = planes.shape[1:]
    room, columns = max(_room(result.shape[2], across), width + across[2]), result.shape[2]
    line, rows = np.full(room, -np.inf, F), np.full(room, I(0x7FFFFFFF), I)
    value, down_to, which, right = (
        np.empty(columns, F),
        np.empty(columns, I),
        np.empty(columns, I),
        np.empty(columns, I),
    )
    inside = slice(across[2], across[2] + width)
    for plane in range(first, last):
        for row in range(result.shape[1]):
            top, bottom = _rows(row, down, height)
            _first_rows(planes[plane], top, bottom, line[inside], rows[inside])
            values, target = result[plane, row], found[plane, row]
            _each(line, 0, across[1], values)
            _each(rows, 0, across[1], which)
            right[:] = 0
            for shift in range(1, across[0]):
                _each(line, shift, across[1], value)
                _each(rows, shift, across[1], down_to)
                _choose(value, down_to, I(shift), values, which, right)
            for i in range(columns):
                target[i] = which[i] * width + i * across[1] - across[2] + right[i]


@njit(**OPTIONS)
def _sum_rows(plane, top, bottom, line):
    for x in range(len(line)):
        line[x] = plane[top, x]
    for y in range(top + 1, bottom):
        source = plane[y]
        for x in range(len(line)):
            line[x] += source[x]


@njit(**OPTIONS)
def _sum_across(line, target, kernel, stride):
    for i in range(len(target)):
        target[i] = line[U(i) * U(stride)]
    for shift in range(1, kernel):
        for i in range(len(target)):
            target[i] += line[U(i) * U(stride) + U(shift)]


@compiled(f"void({_PLANES}, {_PLANES}, {_COUNTS}, {_COUNTS}, {_WHERE})")
def sums(planes, result, tall, wide, down, across, first, last):
    """Sums over the windows, divided by `tall` of their row times `wide` of their column."""
    height, width = planes.shape[1:]
    line = np.zeros(max(_room(result.shape[2], across), width + across[2]), F)
    for plane in range(first, last):
        for row in range(result.shape[1]):
            top, bottom = _rows(row, down, height)
            target = result[plane, row]
            _sum_rows(planes[plane], top, bottom, line[across[2] : across[2] + width])
            _sum_across(line, target, across[0], across[1])
            for i in range(len(target)):
                target[i] /= tall[row] * wide[i]


@compiled(f"void({_PLANES}, {_PLANES}, {_COUNTS}, {_COUNTS}, {_WHERE})")
def spread_sums(heads, result, tall, wide, down, across, first, last):
    """The gradient of `sums`."""
    height, width = result.shape[1:]
    line = np.zeros(max(_room(heads.shape[2], across), width + across[2]), F)
    shares = np.empty(heads.shape[2], F)
    for plane in range(first, last):
        result[plane] = 0
        for row in range(heads.shape[1]):
            source = heads[plane, row]
            for i in range(len(shares)):
                shares[i] = source[i] / (tall[row] * wide[i])
            line[:] = 0
            for shift in range(across[0]):
                for i in range(len(shares)):
                    line[U(i) * U(across[1]) + U(shift)] += shares[i]
            inside = line[across[2] : across[2] + width]
            top, bottom = _rows(row, down, height)
            for y in range(top, bottom):
                target = result[plane, y]
                for x in range(len(target)):
                    target[x] += inside[x]
