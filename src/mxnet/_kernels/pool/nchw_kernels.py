"""Max (with indices), sum and average pooling of NCHW images, compiled by numba (importing this module imports numba).

Pooling is separable: the rows of a window are reduced first, whole rows at a time, then the columns of that one row.
`planes` are (batch * channels, height, width); those from `first` to `last` are computed. `down` and `across` are
(kernel, stride, padding) of height and width; no window lies completely in the padding.
"""

import numpy as np
from numba import njit

from ..runtime.simd import OPTIONS, compiled

F, I, U = np.float32, np.int32, np.uint64  # numba checks indices for wraparound unless they are unsigned
_PLANES, _AXIS, _DIVISORS = "float32[:, :, ::1]", "UniTuple(int64, 3)", "float32[::1]"
_WHERE = f"{_AXIS}, {_AXIS}, int64, int64"


@njit(**OPTIONS)
def _extent(columns, across):
    """How many elements of a row the windows cover."""
    return (columns - 1) * across[1] + across[0]


@njit(**OPTIONS)
def _rows(row, down, height):
    """The first row of a window, and its end."""
    top = row * down[1] - down[2]
    return max(top, 0), min(top + down[0], height)


@njit(**OPTIONS)
def _argmax_rows(plane, top, bottom, line, rows):
    """The maximum of each column, and the first row that has it."""
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
def _strided(line, shift, stride, target):
    """Gather every `stride`-th element, so that the compiler can vectorize what follows."""
    for i in range(len(target)):
        target[i] = line[U(i) * U(stride) + U(shift)]


@njit(**OPTIONS)
def _argmax_columns(value, row, number, values, rows, best_column):
    for i in range(len(values)):
        equal = (value[i] == values[i]) & (row[i] < rows[i])
        better = (value[i] > values[i]) | (value[i] != value[i]) | equal
        values[i] = value[i] if better else values[i]
        rows[i] = row[i] if better else rows[i]
        best_column[i] = number if better else best_column[i]


@compiled(f"void({_PLANES}, {_PLANES}, int64[:, :, ::1], {_WHERE})")
def max_pool_with_indices(planes, result, indices, down, across, first, last):
    """The maxima, and the index in its plane of the first element that equals each."""
    height, width = planes.shape[1:]
    extent, columns = max(_extent(result.shape[2], across), width + across[2]), result.shape[2]
    line, rows = np.full(extent, -np.inf, F), np.full(extent, I(0x7FFFFFFF), I)
    value, other_row, best_row, best_column = (
        np.empty(columns, F),
        np.empty(columns, I),
        np.empty(columns, I),
        np.empty(columns, I),
    )
    inside = slice(across[2], across[2] + width)
    for plane in range(first, last):
        for row in range(result.shape[1]):
            top, bottom = _rows(row, down, height)
            _argmax_rows(planes[plane], top, bottom, line[inside], rows[inside])
            values, target = result[plane, row], indices[plane, row]
            _strided(line, 0, across[1], values)
            _strided(rows, 0, across[1], best_row)
            best_column[:] = 0
            for shift in range(1, across[0]):
                _strided(line, shift, across[1], value)
                _strided(rows, shift, across[1], other_row)
                _argmax_columns(value, other_row, I(shift), values, best_row, best_column)
            for i in range(columns):
                target[i] = best_row[i] * width + i * across[1] - across[2] + best_column[i]


@njit(**OPTIONS)
def _sum_rows(plane, top, bottom, line):
    for x in range(len(line)):
        line[x] = plane[top, x]
    for y in range(top + 1, bottom):
        source = plane[y]
        for x in range(len(line)):
            line[x] += source[x]


@njit(**OPTIONS)
def _sum_columns(line, target, kernel, stride):
    for i in range(len(target)):
        target[i] = line[U(i) * U(stride)]
    for shift in range(1, kernel):
        for i in range(len(target)):
            target[i] += line[U(i) * U(stride) + U(shift)]


@compiled(f"void({_PLANES}, {_PLANES}, {_DIVISORS}, {_DIVISORS}, {_WHERE})")
def sum_pool(planes, result, heights, widths, down, across, first, last):
    """Sums over the windows, divided by `heights` of their row times `widths` of their column."""
    height, width = planes.shape[1:]
    line = np.zeros(max(_extent(result.shape[2], across), width + across[2]), F)
    for plane in range(first, last):
        for row in range(result.shape[1]):
            top, bottom = _rows(row, down, height)
            target = result[plane, row]
            _sum_rows(planes[plane], top, bottom, line[across[2] : across[2] + width])
            _sum_columns(line, target, across[0], across[1])
            for i in range(len(target)):
                target[i] /= heights[row] * widths[i]


@compiled(f"void({_PLANES}, {_PLANES}, {_DIVISORS}, {_DIVISORS}, {_WHERE})")
def sum_pool_backward(heads, result, heights, widths, down, across, first, last):
    """The gradient of `sum_pool`."""
    height, width = result.shape[1:]
    line = np.zeros(max(_extent(heads.shape[2], across), width + across[2]), F)
    quotients = np.empty(heads.shape[2], F)
    for plane in range(first, last):
        result[plane] = 0
        for row in range(heads.shape[1]):
            source = heads[plane, row]
            for i in range(len(quotients)):
                quotients[i] = source[i] / (heights[row] * widths[i])
            line[:] = 0
            for shift in range(across[0]):
                for i in range(len(quotients)):
                    line[U(i) * U(across[1]) + U(shift)] += quotients[i]
            inside = line[across[2] : across[2] + width]
            top, bottom = _rows(row, down, height)
            for y in range(top, bottom):
                target = result[plane, y]
                for x in range(len(target)):
                    target[x] += inside[x]
