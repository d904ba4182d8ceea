"""Pooling over regions of interest, and the correlation of two images."""

from math import ceil

import torch
import torch.nn.functional as F

from .._core.attrs import Fraction, Sizes
from .._core.errors import MXNetError
from .registry import op


@op("ROIPooling")
def roi_pooling(data, rois, *, pooled_size: Sizes, spatial_scale: Fraction):
    """The maxima of `pooled_size` bins of each region; a row of `rois` is (image number, x1, y1, x2, y2)."""
    if data.dim() != 4 or rois.dim() != 2 or rois.shape[1] != 5:
        raise MXNetError(
            f"ROIPooling needs data of 4 dimensions and rois (regions, 5), got shapes {tuple(data.shape)} and "
            f"{tuple(rois.shape)}"
        )
    number = rois.detach()[:, 0].long()
    edges = _round(rois.detach()[:, 1:] * spatial_scale)
    rows = _bins(edges[:, 1], edges[:, 3], pooled_size[0], data.shape[2])
    columns = _bins(edges[:, 0], edges[:, 2], pooled_size[1], data.shape[3])
    outside = (number < 0) | (number >= data.shape[0])
    images = data[number.clamp(0, data.shape[0] - 1)]
    result = _bin_maxima(_bin_maxima(images, columns, 3), rows, 2)
    empty = ~(rows.any(2)[:, :, None] & columns.any(2)[:, None, :]) | outside[:, None, None]
    return result.masked_fill(empty.unsqueeze(1), 0)


def _round(number):
    """Half away from zero, as C rounds."""
    return torch.trunc(number + 0.5 * number.sign())


def _bins(start, end, count, size):
    """(regions, bins, size): does the position belong to the bin?"""
    width = (end - start + 1).clamp_min(1) / count
    steps = torch.arange(count, dtype=start.dtype, device=start.device)
    first = (torch.floor(steps * width[:, None]) + start[:, None]).clamp(0, size)
    last = (torch.ceil((steps + 1) * width[:, None]) + start[:, None]).clamp(0, size)
    position = torch.arange(size, device=start.device)
    return (position >= first[..., None]) & (position < last[..., None])


def _bin_maxima(images, members, axis):
    """Maxima along one axis within each bin; `max` (not `amax`) sends the gradient to one element."""
    view = (members.shape[0], 1, -1, 1) if axis == 2 else (members.shape[0], 1, 1, -1)
    low = torch.finfo(images.dtype).min
    bins = [images.masked_fill(~m.reshape(view), low).max(axis).values for m in members.unbind(1)]
    return torch.stack(bins, axis)


@op("Correlation")
def correlation(
    data1,
    data2,
    *,
    kernel_size: int = 1,
    max_displacement: int = 1,
    stride1: int = 1,
    stride2: int = 1,
    pad_size: int = 0,
    is_multiply: bool = True,
):
    """Mean product (or absolute difference) of patches of `data1` with displaced patches of `data2`.

    The output's channels are the displacements, `stride2` apart up to `max_displacement`; its positions are
    `stride1` apart.
    """
    if data1.dim() != 4 or data1.shape != data2.shape:
        raise MXNetError(
            f"Correlation needs two images of one shape, got {tuple(data1.shape)} and {tuple(data2.shape)}"
        )
    border = max_displacement + (kernel_size - 1) // 2
    sizes = [ceil((n + 2 * pad_size - 2 * border) / stride1) for n in data1.shape[2:]]
    if min(sizes) < 1:
        raise MXNetError("Correlation cannot be done with current settings. Neighborhood and kernel don't fit in blob")
    first, second = (F.pad(d, [pad_size] * 4) for d in (data1, data2))
    reach = [(n - 1) * stride1 + kernel_size for n in sizes]
    radius = max_displacement // stride2
    shifts = [stride2 * i for i in range(-radius, radius + 1)]
    here = _window(first, max_displacement, max_displacement, reach)
    planes = []
    for dy in shifts:
        for dx in shifts:
            there = _window(second, max_displacement + dy, max_displacement + dx, reach)
            match = here * there if is_multiply else _distance(here, there)
            planes.append(match.sum(1, keepdim=True))
    total = F.avg_pool2d(torch.cat(planes, 1), kernel_size, stride1, divisor_override=1)
    return total / (kernel_size * kernel_size * data1.shape[1])


def _window(image, top, left, reach):
    return image[:, :, top : top + reach[0], left : left + reach[1]]


def _distance(a, b):
    """|a - b| whose slope at zero is one, as MXNet has it."""
    return torch.where(a >= b, a - b, b - a)
