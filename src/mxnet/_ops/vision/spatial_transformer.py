"""Sampling an image on a grid: GridGenerator, BilinearSampler, SpatialTransformer."""

from typing import Literal

import torch
import torch.nn.functional as F

from ..._core.errors import MXNetError
from ..._device.settings import under
from ..registry.registry import op


@op("GridGenerator")
def grid_generator(data, *, transform_type: Literal["affine", "warp"], target_shape: tuple = (0, 0)):
    """Sampling positions (batch, xy, height, width) between -1 and 1, from affine matrices or from an optical flow."""
    if transform_type == "affine":
        return _affine_grid(data, target_shape, _steps)
    height, width = data.shape[2:]
    x = torch.arange(width, dtype=data.dtype, device=data.device)
    y = torch.arange(height, dtype=data.dtype, device=data.device).unsqueeze(1)
    flow_x, flow_y = data.unbind(1)
    return torch.stack(((flow_x + x) / ((width - 1) / 2) - 1, (flow_y + y) / ((height - 1) / 2) - 1), 1)


def _steps(count, like):
    """Positions from -1 to 1, rounded as GridGenerator does."""
    return torch.arange(count, dtype=like.dtype, device=like.device) * (2 / max(count - 1, 1)) - 1


def _double_steps(count, like):
    """Positions from -1 to 1, rounded as SpatialTransformer does: the last bit says which side of a pixel it is."""
    return (torch.arange(count, dtype=torch.float64, device=like.device) * 2 / max(count - 1, 1) - 1).to(like.dtype)


def _affine_grid(data, target_shape, steps):
    if data.shape[1:].numel() != 6 or len(target_shape) != 2 or min(target_shape) < 1:
        raise MXNetError(
            f"an affine transformation needs 6 numbers an image and a target_shape (height, width), got shape "
            f"{tuple(data.shape)} and target_shape {target_shape}"
        )
    height, width = target_shape
    y, x = torch.meshgrid(steps(height, data), steps(width, data), indexing="ij")
    base = torch.stack((x.flatten(), y.flatten(), torch.ones_like(x).flatten()))
    return under(torch.matmul, (data.reshape(-1, 3), base)).view(data.shape[0], 2, height, width)


@op("BilinearSampler")
def bilinear_sampler(data, grid, *, cudnn_off: bool | None = None):
    """The image at the grid's positions, interpolated; outside it is zero."""
    if data.dim() != 4 or grid.dim() != 4 or grid.shape[1] != 2 or grid.shape[0] != data.shape[0]:
        raise MXNetError(
            f"BilinearSampler needs data of 4 dimensions and a grid (batch, 2, height, width), got shapes "
            f"{tuple(data.shape)} and {tuple(grid.shape)}"
        )
    return F.grid_sample(data, grid.permute(0, 2, 3, 1), "bilinear", "zeros", align_corners=True)


@op("SpatialTransformer")
def spatial_transformer(
    data,
    loc,
    *,
    target_shape: tuple = (0, 0),
    transform_type: Literal["affine"],
    sampler_type: Literal["bilinear"],
    cudnn_off: bool | None = None,
):
    """The image under the affine transformation `loc`, sampled bilinearly to `target_shape`."""
    return bilinear_sampler(data, _affine_grid(loc, target_shape, _double_steps))
