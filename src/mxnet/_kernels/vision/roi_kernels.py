"""Max and average pooling over the bins of regions of interest (importing this module imports numba).

Channels `first` to `last` are computed: threads never write to the same channel. The bins of region r extend from
`rows[0, r, i]` to `rows[1, r, i]`, and the same in columns.
"""

import numpy as np

from ..runtime.simd import compiled

_LOWEST = np.float32(np.finfo(np.float32).min)
_IMAGES, _PLACES, _BOUNDS = "float32[:, :, :, ::1]", "int32[:, :, :, ::1]", "int64[:, :, ::1]"
_WHERE = f"int64[::1], {_BOUNDS}, {_BOUNDS}, int64, int64"


@compiled(f"void({_IMAGES}, {_IMAGES}, {_PLACES}, {_WHERE})")
def max_pool(data, found, places, numbers, rows, columns, first, last):
    """The largest number of each bin, and its place in the image: -1 in empty bins, which have 0, and among NaN."""
    width = data.shape[3]
    for channel in range(first, last):
        for region in range(len(numbers)):
            image = data[numbers[region], channel]
            for i in range(found.shape[2]):
                top, bottom = rows[0, region, i], rows[1, region, i]
                for j in range(found.shape[3]):
                    left, right = columns[0, region, j], columns[1, region, j]
                    largest, place = _LOWEST, -1
                    for y in range(top, bottom):
                        for x in range(left, right):
                            if image[y, x] > largest:
                                largest, place = image[y, x], y * width + x
                    found[region, channel, i, j] = largest if bottom > top and right > left else np.float32(0)
                    places[region, channel, i, j] = place


@compiled(f"void(float32[:, :, ::1], {_IMAGES}, {_PLACES}, int64[::1], int64, int64)")
def max_pool_backward(result, heads, places, numbers, first, last):
    """The gradient of `maxima`, added to (images, channels, pixels)."""
    for channel in range(first, last):
        for region in range(len(numbers)):
            pixels = result[numbers[region], channel]
            for i in range(heads.shape[2]):
                for j in range(heads.shape[3]):
                    place = places[region, channel, i, j]
                    if place >= 0:
                        pixels[place] += heads[region, channel, i, j]


@compiled(f"void({_IMAGES}, {_IMAGES}, int64[:, ::1], {_WHERE})")
def average_pool(data, found, channels, numbers, rows, columns, first, last):
    """The mean of each bin, 0 of empty ones; bin i, j of class k reads channel k * cells + channels[i, j]."""
    cells = channels.max() + 1
    for kind in range(first, last):
        for region in range(len(numbers)):
            for i in range(found.shape[2]):
                top, bottom = rows[0, region, i], rows[1, region, i]
                for j in range(found.shape[3]):
                    left, right = columns[0, region, j], columns[1, region, j]
                    image, total = data[numbers[region], kind * cells + channels[i, j]], np.float32(0)
                    for y in range(top, bottom):
                        for x in range(left, right):
                            total += image[y, x]
                    found[region, kind, i, j] = total / np.float32(max((bottom - top) * (right - left), 1))


@compiled(f"void({_IMAGES}, {_IMAGES}, int64[:, ::1], {_WHERE})")
def average_pool_backward(result, heads, channels, numbers, rows, columns, first, last):
    """The gradient of `means`, added to the images of `result`."""
    cells = channels.max() + 1
    for kind in range(first, last):
        for region in range(len(numbers)):
            for i in range(heads.shape[2]):
                top, bottom = rows[0, region, i], rows[1, region, i]
                for j in range(heads.shape[3]):
                    left, right = columns[0, region, j], columns[1, region, j]
                    image = result[numbers[region], kind * cells + channels[i, j]]
                    share = heads[region, kind, i, j] / np.float32(max((bottom - top) * (right - left), 1))
                    for y in range(top, bottom):
                        for x in range(left, right):
                            image[y, x] += share
