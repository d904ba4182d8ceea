"""Matrices of few elements, or arrays of few rows, merged by loops that numba compiles; importing it asks for numba."""

import numpy as np

from .vectors import compiled

_PART, _ZERO, _BEHIND = "float32[::1], int64[::1], int64[::1]", np.float32(0), np.int64(2**62)


@compiled(f"int64({_PART}, {_PART}, float32, {_PART})")
def merge(data, columns, starts, more, others, begins, sign, sums, places, ends):
    """How many elements the first plus `sign` times the second has, without zeros; -1, if they are not in order.

    Without a sign (0) they are multiplied.
    """
    number, ends[0] = 0, 0
    for row in range(len(starts) - 1):
        i, j, stop, end, last = starts[row], begins[row], starts[row + 1], begins[row + 1], -1
        if not (0 <= i <= stop <= len(data) and 0 <= j <= end <= len(more)):
            return -1
        while i < stop or j < end:
            left, right = columns[i] if i < stop else _BEHIND, others[j] if j < end else _BEHIND
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
    """The same of arrays that keep some rows: how many both have; rows of zeros stay."""
    i, j, number, last, zeros = 0, 0, 0, np.int64(-1), np.zeros(data.shape[1], np.float32)
    while i < len(rows) or j < len(others):
        left, right = rows[i] if i < len(rows) else _BEHIND, others[j] if j < len(others) else _BEHIND
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
