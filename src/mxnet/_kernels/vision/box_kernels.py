"""Box encoding and decoding, one box after the other (importing this module imports numba).

Every step is rounded as torch's operators round it. Arguments are addresses: reference counts of arrays would take
longer than a few boxes.
"""

import math
from typing import Any

import numpy as np
from numba import carray, njit

from ..runtime.entry_points import pointer
from ..runtime.simd import OPTIONS, compiled, numbers

F = np.float32
_inline = njit(inline="always", **OPTIONS)


@_inline
def _rows(address, count) -> Any:
    return carray(pointer(address), (count, 4), F)


@_inline
def _row(address, count) -> Any:
    return carray(pointer(address), (count,), F)


@_inline
def _center_size(low, high) -> Any:
    """The center of a side, and its length."""
    size = high - low
    return low + size * F(0.5), size


@_inline
def _matched(place, number):
    """The index of the matched reference, clipped; 0 where the match is no 64-bit integer."""
    if not (place >= F(0)) & (place < F(2**63)):
        return 0
    return number - 1 if place >= F(number) else np.int64(place)


@compiled(f"void({numbers(11)})")
def encode(
    samples_at, matches_at, anchors_at, refs_at, means_at, stds_at, targets_at, masks_at, batch, number, references
):
    """Targets and masks of `number` anchors an image, each matched with one of `references` references."""
    count = batch * number
    samples, matches, anchors = _row(samples_at, count), _row(matches_at, count), _rows(anchors_at, count)
    refs, means, stds = _rows(refs_at, batch * references), _row(means_at, 4), _row(stds_at, 4)
    targets, masks = _rows(targets_at, count), _rows(masks_at, count)
    for image in range(batch):
        for i in range(image * number, (image + 1) * number):
            valid = samples[i] > F(0.5)
            masks[i] = F(1) if valid else F(0)
            targets[i] = F(0)
            if valid:
                ref = refs[image * references + _matched(matches[i], references)]
                for axis in range(2):
                    center, size = _center_size(ref[axis], ref[axis + 2])
                    base, extent = _center_size(anchors[i, axis], anchors[i, axis + 2])
                    targets[i, axis] = ((center - base) / extent - means[axis]) / stds[axis]
                    targets[i, axis + 2] = (math.log(size / extent) - means[axis + 2]) / stds[axis + 2]


@compiled(f"void({numbers(5)}, boolean, float32, float32, float32, float32, float32)")
def decode(data_at, anchors_at, boxes_at, batch, number, from_corners, clip, std0, std1, std2, std3):
    """Corner boxes of offsets to `number` anchors, the same for each image."""
    data, boxes, anchors = (
        _rows(data_at, batch * number), _rows(boxes_at, batch * number), _rows(anchors_at, number),
    )  # fmt: skip
    for image in range(batch):
        for i in range(number):
            j = image * number + i
            for axis in range(2):
                base, extent = anchors[i, axis], anchors[i, axis + 2]
                if from_corners:
                    base, extent = _center_size(base, extent)
                center = data[j, axis] * (std1 if axis else std0) * extent + base
                grown = data[j, axis + 2] * (std3 if axis else std2)
                grown = clip if (clip > F(0)) & (grown > clip) else grown
                half = math.exp(grown) * extent * F(0.5)
                boxes[j, axis], boxes[j, axis + 2] = center - half, center + half
