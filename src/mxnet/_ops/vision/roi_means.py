"""`ROIAlign` that samples regions once a pixel, on a GPU: how often a bin is sampled depends on values of the device.

The samples of a bin lie on a grid, so their mean is a product of two matrices: the shares of the rows and the shares of
the columns in it. A share is summed over the few samples that a pixel can have a part in, wherever they are.
"""

import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..._device import late
from ..._device.copies import constant
from ..._device.settings import Scope

_MOST_POINTS = 1 << 14  # along an axis of a bin
_NEAR = 6  # samples that can lie within one pixel of a pixel: they are more than half a pixel apart
_AT_A_TIME = 1 << 25  # elements of the regions' images


def points_of_bins(extent: Tensor, pooled: tuple[int, int]) -> Tensor:
    """How many samples (rows, columns) a bin of each region has, one for each pixel or part of it."""
    points = torch.ceil(extent / constant(pooled, extent.dtype, extent.device))

    def failure() -> MXNetError:
        return MXNetError(
            f"ROIAlign samples regions once a pixel: one of {extent.amax().item():g} pixels is too large, or its "
            "coordinates are no numbers; give a sample_ratio, or leave such regions out"
        )

    if points.numel():
        late.require((points <= _MOST_POINTS).all(), failure)  # also NaN
    return points


def roi_means(
    data: Tensor, image: Tensor, start: Tensor, extent: Tensor, pooled: tuple[int, int], position_sensitive: bool
) -> Tensor:
    """The mean of bilinear samples in each bin of each region; points outside the image count as zeros."""
    batch, channels, height, width = data.shape
    points = points_of_bins(extent, pooled)
    rows = _shares(start[:, 0], extent[:, 0], points[:, 0], pooled[0], height)
    columns = _shares(start[:, 1], extent[:, 1], points[:, 1], pooled[1], width)
    rows = rows * (image >= 0)[:, None, None]
    words = f"ROIAlign: a region is in an image that is not there; the batch has {batch}"
    late.require((image < batch).all(), lambda: MXNetError(words))
    image = image.clamp(0, batch - 1)
    pool = _pooled_by_position if position_sensitive else _pooled
    number = max(1, _AT_A_TIME // max(1, channels * height * width))
    rows, columns = rows.to(data.dtype), columns.to(data.dtype)
    with Scope(data.is_cuda):
        parts = [
            pool(data.index_select(0, which), down, across)
            for which, down, across in zip(*(t.split(number) for t in (image, rows, columns)), strict=True)
        ]
    return torch.cat(parts)


def _shares(start: Tensor, extent: Tensor, points: Tensor, bins: int, size: int) -> Tensor:
    """How much of each pixel of an axis is in the mean of each bin's samples, (regions, bins, size)."""
    step = (extent / bins)[:, None, None]
    apart, count = step / points[:, None, None], points[:, None, None, None]
    index = torch.arange(bins, device=start.device, dtype=start.dtype)[:, None]
    pixel = torch.arange(size, device=start.device, dtype=start.dtype)
    begin = start[:, None, None] + index * step
    first = ((pixel - 1 - begin) / apart - 0.5).floor().clamp_min(0)
    sample = first[..., None] + torch.arange(_NEAR, device=start.device, dtype=start.dtype)
    place = begin[..., None] + (sample + 0.5) * step[..., None] / count
    inside = (sample < count) & (place >= -1) & (place <= size)
    part = 1 - (place.clamp(0, size - 1) - pixel[:, None]).abs()
    return torch.where(inside, part.clamp_min(0), 0).sum(-1) / points[:, None, None]


def _pooled(planes: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    return rows.unsqueeze(1) @ (planes @ columns.mT.unsqueeze(1))


def _pooled_by_position(planes: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Every bin reads a channel of its own."""
    planes = planes.unflatten(1, (-1, rows.shape[1], columns.shape[1]))
    across = torch.einsum("rcijhw,rjw->rcijh", planes, columns)
    return torch.einsum("rcijh,rih->rcij", across, rows)
