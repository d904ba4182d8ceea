"""Greedy non-maximum suppression (importing this module imports numba)."""

import numpy as np
from numba import njit

from ..runtime.simd import OPTIONS, compiled

F = np.float32


@njit(**OPTIONS)
def _maximum(a, b):
    """The maximum; NaN if either is NaN."""
    return a if (a >= b) | (a != a) else b


@njit(**OPTIONS)
def _overlap(low, high, other_low, other_high, margin):
    """The overlap of two intervals of one axis."""
    side = -_maximum(-high, -other_high) - _maximum(low, other_low) + margin
    return _maximum(side, F(0))


@njit(**OPTIONS)
def _suppress(box, own_class, boxes, classes, suppressed, threshold, margin, or_equal):
    """Mark those of `boxes`, of the same class, whose IoU exceeds the threshold, or equals it (`or_equal`)."""
    left, top, right, bottom, area = boxes
    for j in range(len(suppressed)):
        across = _overlap(box[0], box[2], left[j], right[j], margin)
        intersection = across * _overlap(box[1], box[3], top[j], bottom[j], margin)
        iou = intersection / (box[4] + area[j] - intersection)
        over = (iou > threshold) | (or_equal & (iou == threshold))
        suppressed[j] |= over & (classes[j] == own_class)


@compiled("int64(float32[:, ::1], float32[::1], float32, float32, boolean, int64[::1])")
def nms(edges, classes, threshold, margin, or_equal, kept):
    """Greedy NMS of boxes in order: write the indices of those that are kept; their number."""
    size, count = edges.shape[1], 0
    suppressed = np.zeros(size, np.bool_)
    for i in range(size):
        if suppressed[i]:
            continue
        kept[count] = i
        count += 1
        if count == len(kept):
            break
        box = (edges[0, i], edges[1, i], edges[2, i], edges[3, i], edges[4, i])
        later = (edges[0, i + 1 :], edges[1, i + 1 :], edges[2, i + 1 :], edges[3, i + 1 :], edges[4, i + 1 :])
        _suppress(box, classes[i], later, classes[i + 1 :], suppressed[i + 1 :], threshold, margin, or_equal)
    return count
