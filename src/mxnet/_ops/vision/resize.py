"""Pooling and resizing of feature maps to a wanted height and width."""

from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..._core.attrs import Count
from ..._core.errors import MXNetError
from ..._kernels.vision.resize import bilinear, neighbours
from ..registry.registry import op

Mode = Literal["like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"]


@op("_contrib_AdaptiveAvgPooling2D")
def adaptive_avg_pooling2d(data, *, output_size: tuple = ()):
    """Average pooling into bins of nearly equal size, as many as `output_size` says (one without it)."""
    if data.dim() != 4:
        raise MXNetError(f"AdaptiveAvgPooling2D pools (batch, channel, height, width), got {tuple(data.shape)}")
    height, width = {1: output_size * 2, 2: output_size}.get(len(output_size), (1, 1))
    return F.adaptive_avg_pool2d(data, (height, width))


def _scaled(size: int, scale: float | None) -> int:
    if scale is None:
        raise MXNetError("BilinearResize2D: this mode needs both scale_height and scale_width")
    return int(np.float32(size) * np.float32(scale))


def _odd_scaled(size: int, scale: float | None) -> int:
    return _scaled(size, scale) if size % 2 == 0 else _scaled(size - 1, scale) + 1


ROUNDED = {
    "to_even_down": lambda size: size - size % 2,
    "to_even_up": lambda size: size + size % 2,
    "to_odd_down": lambda size: size - (size + 1) % 2,
    "to_odd_up": lambda size: size + (size + 1) % 2,
}


def _wanted(sizes: tuple[int, int], like: Tensor | None, mode: str, fixed: tuple, scales: tuple) -> tuple[int, int]:
    if mode == "like":
        return tuple(like.shape[2:])  # pyright: ignore[reportOptionalMemberAccess, reportReturnType]
    if mode == "size":
        return fixed if scales[0] is None else tuple(map(_scaled, sizes, scales))  # pyright: ignore[reportReturnType]
    if mode == "odd_scale":
        return tuple(map(_odd_scaled, sizes, scales))  # pyright: ignore[reportReturnType]
    return tuple(map(ROUNDED[mode], sizes))


def _resized_double(data: Tensor, wanted: tuple[int, int], align_corners: bool) -> Tensor:
    """MXNet's positions are float32 for float64 images too, torch's are float64: results differ from 1e-7 on."""
    for axis in (3, 2):
        parts = neighbours(data.shape[axis], wanted[axis - 2], align_corners)
        first, second, near = (torch.from_numpy(part).to(data.device) for part in parts)
        near = near.to(data.dtype).reshape(-1, *[1] * (3 - axis))
        data = data.index_select(axis, first) * (1 - near) + data.index_select(axis, second) * near
    return data


def _resized(data: Tensor, wanted: tuple[int, int], align_corners: bool) -> Tensor:
    if not align_corners:  # MXNet's one-pixel result is the first pixel, torch's the middle one
        data = data[:, :, : 1 if wanted[0] == 1 else None, : 1 if wanted[1] == 1 else None]
    return F.interpolate(data, wanted, mode="bilinear", align_corners=align_corners)


@op(
    "_contrib_BilinearResize2D",
    inputs=lambda attrs: ("data", "like") if attrs["mode"] == "like" else ("data",),
    dtype="any",
)
def bilinear_resize2d(
    data,
    like=None,
    *,
    height: Count = 1,
    width: Count = 1,
    scale_height: float | None = None,
    scale_width: float | None = None,
    mode: Mode = "size",
    align_corners: bool = True,
):
    """Resize by linear interpolation; `mode` says where the wanted size comes from."""
    if data.dim() != 4 or (mode == "like" and like is None):
        raise MXNetError(
            f"BilinearResize2D resizes (batch, channel, height, width), got {tuple(data.shape)}; "
            "mode='like' needs a second input"
        )
    wanted = _wanted(tuple(data.shape[2:]), like, mode, (height, width), (scale_height, scale_width))
    if min(wanted) < 1:
        raise MXNetError(f"BilinearResize2D: the result would be {wanted[0]} x {wanted[1]}")
    if data.dtype == torch.float64:
        return _resized_double(data, wanted, align_corners)
    result = bilinear(data, wanted, align_corners, _resized)
    return _resized(data, wanted, align_corners) if result is None else result
