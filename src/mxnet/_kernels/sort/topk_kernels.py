"""Top-k of rows in one pass with a heap (importing this module imports numba)."""

import numpy as np
from numba import njit

from ..runtime.simd import OPTIONS, compiled

BLOCK = 128  # elements; a block whose maximum is below the heap's minimum is skipped
_ALL, _LOWEST, _INFINITE = np.int32(0x7FFFFFFF), np.int32(-0x80000000), np.int32(0x7F800000)
_INDEX, _NONE = np.int64(0xFFFFFFFF), np.int64(-1 << 63)


@njit(**OPTIONS)
def _keys(bits, keys, floating, largest):
    """Integer keys in the order of the elements, the first the highest, and their maximum."""
    highest, flip = _LOWEST, np.int32(0 if largest else -1)
    for i in range(len(bits)):
        number = bits[i]
        if floating:
            size = np.int32(number & _ALL)
            signed = np.int32(number ^ ((number >> np.int32(31)) & _ALL))
            zero_or_signed = signed if size != 0 else np.int32(0)  # there is one zero
            number = zero_or_signed if size <= _INFINITE else _ALL  # NaN counts as the largest
        number = np.int32(number ^ flip)
        keys[i] = number
        highest = max(highest, number)
    return highest


@njit(**OPTIONS)
def _entry(key, index):
    return (np.int64(key) << 32) | (~np.int64(index) & _INDEX)


@njit(**OPTIONS)
def _sift(heap, count, entry):
    """Replace the minimum of a heap."""
    at, child = 0, 1
    while child < count:
        if child + 1 < count and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= entry:
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = entry


@njit(**OPTIONS)
def _pop_all(heap, indices):
    """The indices of all entries, the highest first."""
    for count in range(len(heap), 0, -1):
        indices[count - 1] = ~heap[0] & _INDEX
        _sift(heap, count - 1, heap[count - 1])


@compiled("void(int32[:, ::1], int64[:, ::1], boolean, boolean)")
def topk(rows, indices, floating, largest):
    """Indices of the first elements of each row, as many as `indices` has columns; equal ones in their order.

    A heap keeps the first so far, each as one integer: its key, and the complement of its index.
    """
    size, wanted = rows.shape[1], indices.shape[1]
    keys, heap = np.empty(BLOCK, np.int32), np.empty(wanted, np.int64)
    for row in range(len(rows)):
        for i in range(wanted):
            heap[i] = _NONE + i  # below all others
        for first in range(0, size, BLOCK):
            last = min(first + BLOCK, size)
            highest = _keys(rows[row, first:last], keys, floating, largest)
            if _entry(highest, first) < heap[0]:
                continue
            for i in range(last - first):
                entry = _entry(keys[i], first + i)
                if entry > heap[0]:
                    _sift(heap, wanted, entry)
        _pop_all(heap, indices[row])
