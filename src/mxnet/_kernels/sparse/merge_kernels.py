"""Merging of csr matrices and row-sparse arrays, products with dense ones (importing this module imports numba)."""

from typing import Any

import numpy as np
from numba import carray, njit

from ..runtime.entry_points import pointer
from ..runtime.simd import OPTIONS, Writer, compiled, numbers, writes

_PART, _ZERO, _END = "float32[::1], int64[::1], int64[::1]", np.float32(0), np.int64(2**62)


@compiled(f"int64({_PART}, {_PART}, float32, {_PART})")
def merge(data, columns, starts, more, others, begins, sign, sums, places, ends):
    """The number of elements of the first plus `sign` times the second, without zeros; -1, if indices are not sorted.

    Without a sign (0) they are multiplied.
    """
    number, ends[0] = 0, 0
    for row in range(len(starts) - 1):
        i, j, stop, end, last = starts[row], begins[row], starts[row + 1], begins[row + 1], -1
        if not (0 <= i <= stop <= len(data) and 0 <= j <= end <= len(more)):
            return -1
        while i < stop or j < end:
            left, right = columns[i] if i < stop else _END, others[j] if j < end else _END
            here = min(left, right)
            if here <= last:
                return -1
            value, second = data[i] if left == here else _ZERO, more[j] if right == here else _ZERO
            value = value * second if sign == _ZERO else value + sign * second
            i, j, last = i + (left == here), j + (right == here), here
            sums[number], places[number] = value, here
            number += value != _ZERO
        ends[row + 1] = number
    return number


@compiled("int64(float32[:, ::1], int64[::1], float32[:, ::1], int64[::1], float32, float32[:, ::1], int64[::1])")
def merge_rows(data, rows, more, others, sign, sums, places):
    """The same of row-sparse arrays: the number of rows; rows of zeros are kept."""
    i, j, number, last, zeros = 0, 0, 0, np.int64(-1), np.zeros(data.shape[1], np.float32)
    while i < len(rows) or j < len(others):
        left, right = rows[i] if i < len(rows) else _END, others[j] if j < len(others) else _END
        here = min(left, right)
        if here <= last:
            return -1
        one, other = data[i] if left == here else zeros, more[j] if right == here else zeros
        for k in range(len(zeros)):
            sums[number, k] = one[k] * other[k] if sign == _ZERO else one[k] + sign * other[k]
        i, j, last = i + (left == here), j + (right == here), here
        places[number] = here
        number += 1
    return number


@njit(inline="always", **OPTIONS)
def _array(address, shape, kind) -> Any:
    return carray(pointer(address), shape, kind)


@njit(inline="always", **OPTIONS)
def _multiply_row(data, columns, dense, out, divide, across):
    """A row; branches are outside of the loops, so that the compiler can vectorize."""
    if divide:
        for i in range(len(data)):
            out[i] = data[i] / dense[columns[i] * across]
    elif across:
        for i in range(len(data)):
            out[i] = data[i] * dense[columns[i]]
    else:
        factor = dense[0]
        for i in range(len(data)):
            out[i] = data[i] * factor


@compiled(f"boolean({numbers(5)}, boolean, {numbers(5)})")
def multiply_dense(data_at, columns_at, starts_at, dense_at, out_at, divide, count, rows, width, down, across):
    """A matrix's elements times those of a dense one, or by them; False, if indices are out of range.

    `down` and `across` are the strides of the dense one's rows and columns: 0, where it is broadcast.
    """
    data, out = _array(data_at, (count,), np.float32), _array(out_at, (count,), np.float32)
    columns, starts = _array(columns_at, (count,), np.int64), _array(starts_at, (rows + 1,), np.int64)
    dense = _array(dense_at, ((rows - 1) * down + (width - 1) * across + 1,), np.float32)
    outside = starts[0] != 0 or starts[rows] != count
    for row in range(rows):
        outside |= starts[row] > starts[row + 1]
    for i in range(count):
        outside |= (columns[i] < 0) | (columns[i] >= width)
    if outside:
        return False
    for row in range(rows):
        some = slice(starts[row], starts[row + 1])
        _multiply_row(data[some], columns[some], dense[row * down :], out[some], divide, across)
    return True


@writes(3)
def _move(write: Writer, target, source, size):
    write.move(target, source, size)


@compiled(f"boolean({numbers(7)})")
def retain(data_at, rows_at, asked_at, out_at, count, number, size):
    """The rows of `size` bytes that are asked for, zeros where there is none; False, if indices are not sorted."""
    rows, asked = _array(rows_at, (count,), np.int64), _array(asked_at, (number,), np.int64)
    i = 0
    for j in range(number):
        if j and asked[j] <= asked[j - 1]:
            return False
        while i < count and rows[i] < asked[j]:
            i += 1
            if i < count and rows[i] <= rows[i - 1]:
                return False
        if i < count and rows[i] == asked[j]:
            _move(out_at + j * size, data_at + i * size, size)
        else:
            _array(out_at + j * size, (size,), np.uint8)[:] = 0
    return True
