"""Which boxes better ones push out, which numba compiles; importing this module asks for numba."""

import numpy as np
from numba import njit

from ..runtime.simd import OPTIONS, compiled

F = np.float32


@njit(**OPTIONS)
def _larger(a, b):
    """The larger of both, or NaN, if one is."""
    return a if (a >= b) | (a != a) else b


@njit(**OPTIONS)
def _side(low, high, other_low, other_high, margin):
    """How much of an axis two boxes share."""
    side = -_larger(-high, -other_high) - _larger(low, other_low) + margin
    return _larger(side, F(0))


@njit(**OPTIONS)
def _push_out(box, kind, boxes, kinds, gone, threshold, margin, too):
    """Mark those of `boxes`, of that kind, that overlap by more than the threshold, or by as much, `too`."""
    left, top, right, bottom, area = boxes
    for j in range(len(gone)):
        across = _side(box[0], box[2], left[j], right[j], margin)
        common = across * _side(box[1], box[3], top[j], bottom[j], margin)
        share = common / (box[4] + area[j] - common)
        over = (share > threshold) | (too & (share == threshold))
        gone[j] |= over & (kinds[j] == kind)


@compiled("int64(float32[:, ::1], float32[::1], float32, float32, boolean, int64[::1])")
def survivors(edges, kinds, threshold, margin, too, kept):
    """Greedy suppression of boxes in order: fill `kept` with those that stay; how many there are."""
    size, count = edges.shape[1], 0
    gone = np.zeros(size, np.bool_)
    for i in range(size):
        if gone[i]:
            continue
        kept[count] = i
        count += 1
        if count == len(kept):
            break
        box = (edges[0, i], edges[1, i], edges[2, i], edges[3, i], edges[4, i])
        behind = (edges[0, i + 1 :], edges[1, i + 1 :], edges[2, i + 1 :], edges[3, i + 1 :], edges[4, i + 1 :])
        _push_out(box, kinds[i], behind, kinds[i + 1 :], gone[i + 1 :], threshold, margin, too)
    return count
