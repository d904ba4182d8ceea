"""The first elements of rows in one pass, which numba compiles; importing this module asks for numba."""

import numpy as np
from numba import njit

from ..runtime.simd import OPTIONS, compiled

BLOCK = 128  # elements of which the best is looked at first: few blocks have one that counts
_ALL, _LOWEST, _INFINITE = np.int32(0x7FFFFFFF), np.int32(-0x80000000), np.int32(0x7F800000)
_PLACE, _NONE = np.int64(0xFFFFFFFF), np.int64(-1 << 63)


@njit(**OPTIONS)
def _keys(bits, keys, floating, largest):
    """Whole numbers in the order of the elements, the best the highest, and the highest of them."""
    highest, turn = _LOWEST, np.int32(0 if largest else -1)
    for i in range(len(bits)):
        number = bits[i]
        if floating:
            size = np.int32(number & _ALL)
            signed = np.int32(number ^ ((number >> np.int32(31)) & _ALL))
            zero_or_signed = signed if size != 0 else np.int32(0)  # there is one zero
            number = zero_or_signed if size <= _INFINITE else _ALL  # NaN counts as the largest
        number = np.int32(number ^ turn)
        keys[i] = number
        highest = max(highest, number)
    return highest


@njit(**OPTIONS)
def _mark(key, place):
    return (np.int64(key) << 32) | (~np.int64(place) & _PLACE)


@njit(**OPTIONS)
def _sift(heap, count, mark):
    """Put a mark in the place of the lowest one of a heap."""
    at, child = 0, 1
    while child < count:
        if child + 1 < count and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= mark:
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = mark


@njit(**OPTIONS)
def _hand_out(heap, places):
    """The places of all marks, the highest first."""
    for count in range(len(heap), 0, -1):
        places[count - 1] = ~heap[0] & _PLACE
        _sift(heap, count - 1, heap[count - 1])


@compiled("void(int32[:, ::1], int64[:, ::1], boolean, boolean)")
def best(rows, places, floating, largest):
    """Where the first elements of each row are, as many as `places` has columns; equal ones in their order.

    A heap keeps the best so far, each as one number: its key, and the complement of its place.
    """
    size, wanted = rows.shape[1], places.shape[1]
    keys, heap = np.empty(BLOCK, np.int32), np.empty(wanted, np.int64)
    for row in range(len(rows)):
        for i in range(wanted):
            heap[i] = _NONE + i  # below all others
        for first in range(0, size, BLOCK):
            last = min(first + BLOCK, size)
            highest = _keys(rows[row, first:last], keys, floating, largest)
            if _mark(highest, first) < heap[0]:
                continue
            for i in range(last - first):
                mark = _mark(keys[i], first + i)
                if mark > heap[0]:
                    _sift(heap, wanted, mark)
        _hand_out(heap, places[row])
