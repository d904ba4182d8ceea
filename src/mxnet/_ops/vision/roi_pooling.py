"""ROIPooling: maxima over the bins of regions of interest."""

import torch

from ..._core.attrs import Fraction, Sizes
from ..._core.errors import MXNetError
from ..._core.rounding import single
from ..._kernels.runtime.concrete import is_concrete
from ..._kernels.vision.roi_bins import Bins, roi_bins
from ..registry.gradient import with_gradient
from ..registry.registry import op


def _output_shape(attrs, shapes):
    """The output's shape without a run on torch's meta device, which would load its compiler."""
    data, rois = shapes
    if not data or not rois or not all((*data, *rois)) or len(data) != 4 or len(rois) != 2 or rois[1] != 5:
        return None
    return [(rois[0], data[1], *attrs["pooled_size"])]


@op("ROIPooling", shape=_output_shape)
def roi_pooling(data, rois, *, pooled_size: Sizes, spatial_scale: Fraction):
    """The maxima of `pooled_size` bins of each region; a row of `rois` is (image number, x1, y1, x2, y2)."""
    if data.dim() != 4 or rois.dim() != 2 or rois.shape[1] != 5:
        raise MXNetError(
            f"ROIPooling needs data of 4 dimensions and rois (regions, 5), got shapes {tuple(data.shape)} and "
            f"{tuple(rois.shape)}"
        )
    number = rois.detach()[:, 0].long()
    edges = _as_int32(_round(rois.detach()[:, 1:] * single(spatial_scale)))
    rows = _bins(edges[:, 1], edges[:, 3], pooled_size[0], data.shape[2])
    columns = _bins(edges[:, 0], edges[:, 2], pooled_size[1], data.shape[3])
    empty = ~((rows[1] > rows[0])[:, :, None] & (columns[1] > columns[0])[:, None])
    empty |= ((number < 0) | (number >= data.shape[0]))[:, None, None]
    numbers, empty = number.clamp(0, data.shape[0] - 1), empty.unsqueeze(1)
    if not is_concrete(number) or not number.is_cpu:
        return _traced_maxima(_without_nan(data)[numbers], rows, columns).masked_fill(empty, 0)
    return _pooled(data, Bins(numbers, rows, columns, data.shape[1]), empty)


def _pooled(data, bins, empty):
    """The maxima of all bins, 0 of empty ones, with their gradient."""
    wanted = torch.is_grad_enabled() and data.requires_grad

    def forward(data):
        quick = roi_bins(data, bins)
        found, indices = _maxima(_without_nan(data), bins, wanted) if quick is None else quick.max_pool(data)
        return found.masked_fill_(empty, 0), indices

    def backward(inputs, outputs, heads):
        head, indices = heads[0].masked_fill(empty, 0), outputs[1]
        if indices.dtype is torch.int32 and not torch.is_grad_enabled():
            return bins.max_pool_backward(head, indices, inputs[0].shape)
        head = head.masked_fill(indices < 0, 0)
        return _spread(head, indices.clamp_min(0).long(), bins.numbers, inputs[0].shape)

    return with_gradient(forward, backward, data)[0]


def _without_nan(data):
    """What maxima are taken of: NaN, and whatever else is below the lowest single number, is that number."""
    low = _low(data)
    return torch.where(data > low, data, low)


def _low(data):
    return -torch.inf if data.dtype is torch.float16 else torch.finfo(torch.float32).min


def _traced_maxima(images, rows, columns):
    """The maxima of all bins without a look at where they are; `max` (not `amax`) sends the gradient to one element."""
    for axis, bins in ((3, columns), (2, rows)):
        position = torch.arange(images.shape[axis], device=images.device)
        inside = (position >= bins[0, ..., None]) & (position < bins[1, ..., None])
        view = (len(inside), 1, -1, 1) if axis == 2 else (len(inside), 1, 1, -1)
        low = _low(images)
        best = [images.masked_fill(~members.reshape(view), low).max(axis).values for members in inside.unbind(1)]
        images = torch.stack(best, axis)
    return images


def _filled(bins, size):
    """The bins as lists; an empty one gets one position, whose maximum nobody sees."""
    first = bins[0].clamp_max(size - 1)
    return torch.stack([first, torch.maximum(bins[1], first + 1)], -1).tolist()


def _maxima(data, bins, wanted):
    """The maxima of all bins, and, if wanted, the index of the first occurrence in the image; -1: none."""
    height, width = data.shape[2:]
    found = data.new_empty(bins.shape)
    regions = zip(bins.numbers.tolist(), _filled(bins.rows, height), _filled(bins.columns, width), strict=True)
    indices = torch.empty(found.shape if wanted else (0,), dtype=torch.long, device=data.device)
    for region, (number, rows, columns) in enumerate(regions):
        lines, top = data[number, :, : max(last for _, last in rows)], min(first for first, _ in rows)
        parts = [lines[:, top:, left:right] for left, right in columns]
        if not wanted:
            across = torch.stack([part.amax(2) for part in parts], 2)
            for down, (first, last) in enumerate(rows):
                found[region, :, down] = across[:, first - top : last - top].amax(1)
            continue
        best = [part.max(2) for part in parts]
        across = torch.stack([values for values, _ in best], 2)
        along = torch.stack([place + left for (_, place), (left, _) in zip(best, columns, strict=True)], 2)
        for down, (first, last) in enumerate(rows):
            found[region, :, down], line = across[:, first - top : last - top].max(1)
            line = line + (first - top)
            indices[region, :, down] = (line + top) * width + along.gather(1, line.unsqueeze(1)).squeeze(1)
    return found, indices.masked_fill_(found <= _low(found), -1) if wanted else indices


def _spread(head, indices, number, shape):
    """The gradient: each bin's head at the place of its maximum."""
    batch, channels, height, width = shape
    plane = number[:, None] * channels + torch.arange(channels, device=head.device)
    where = indices + (plane * (height * width))[:, :, None, None]
    result = head.new_zeros(batch * channels * height * width)
    return result.index_add_(0, where.flatten(), head.flatten()).view(shape)


def _round(number):
    """Half away from zero, as C rounds."""
    return torch.trunc(number + 0.5 * number.sign())


def _as_int32(edges):
    """What processors make of a number that 32 bits do not hold, infinity or NaN: the lowest integer."""
    return torch.where(edges.abs() < 2.0**31, edges, -(2.0**31))


def _bins(start, end, count, size):
    """(2, regions, bins): the first position of each bin, and the one behind its last."""
    across = end - start + 1
    width = across.masked_fill(across >= 2.0**31, 1).clamp_min(1) / count  # beyond 32 bits it would be negative
    steps = torch.arange(count, dtype=start.dtype, device=start.device)
    first = (torch.floor(steps * width[:, None]) + start[:, None]).clamp(0, size)
    last = (torch.ceil((steps + 1) * width[:, None]) + start[:, None]).clamp(0, size)
    return torch.stack([first, last]).long()
