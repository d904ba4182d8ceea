"""Convolutions that sample their input at learnt offsets."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from ..._core.attrs import Count, Long
from ..._core.errors import MXNetError
from ..._device.settings import under
from ..registry.registry import op
from .bilinear_sampling import FAR, away_below, sampled

Layout = Literal["NCDHW", "NCHW", "NCW"] | None


def _sample(data: Tensor, y: Tensor, x: Tensor, clamp: bool) -> Tensor:
    """Bilinear values of `data` (groups, channels, height, width) at points (groups, n).

    Points count from the first pixel to just short of one past the last (`clamp`: what lies beyond the last pixel
    equals it, so that on the edge, offsets have no slope), or, with zeros around the image, from just after one before
    the first.
    """
    if data.dtype not in (torch.float32, torch.float64):
        return _sample(data.float(), y.float(), x.float(), clamp).to(data.dtype)
    height, width = data.shape[2:]
    y, x = (p.nan_to_num(-FAR, FAR, -FAR) for p in (y, x))
    if clamp:
        data = F.pad(data, (0, 1, 0, 1), mode="replicate")
        y, x = (p + away_below(p, 0, True) - away_below(-p, -size, False) for p, size in ((y, height), (x, width)))
    else:
        y, x = (p + away_below(p, -1, False) for p in (y, x))
    return sampled(data, y, x)


def _size(length: int, kernel: int, stride: int, dilate: int, pad: int) -> int:
    return (length + 2 * pad - (dilate * (kernel - 1) + 1)) // stride + 1


def _axes(attrs: dict) -> list[tuple[int, int, int, int]]:
    """kernel, stride, dilate, pad of height and of width."""
    kernel = attrs["kernel"]
    if len(kernel) != 2:
        raise MXNetError(f"Deformable convolution works on images: kernel must have 2 numbers, got {kernel}")
    return list(
        zip(
            kernel,
            attrs["stride"] or (1, 1),
            attrs["dilate"] or (1, 1),
            attrs["pad"] or (0, 0),
            strict=True,
        )
    )


def _grid(axis: tuple[int, int, int, int], length: int, like: Tensor) -> Tensor:
    """Where the kernel's taps would fall without offsets, (taps, positions) along one axis."""
    kernel, stride, dilate, pad = axis
    positions = torch.arange(_size(length, *axis), device=like.device, dtype=like.dtype) * stride - pad
    return torch.arange(kernel, device=like.device, dtype=like.dtype)[:, None] * dilate + positions[None]


def _check(data: Tensor, offset: Tensor, mask: Tensor | None, attrs: dict, sizes: tuple[int, int]) -> None:
    taps, groups = attrs["kernel"][0] * attrs["kernel"][1], attrs["num_deformable_group"]
    if data.dim() != 4 or data.shape[1] % attrs["num_group"] or data.shape[1] % groups:
        raise MXNetError(
            f"Deformable convolution: data must be (batch, channel, height, width) with channels divisible by "
            f"num_group and num_deformable_group, got {tuple(data.shape)}"
        )
    wanted = [(offset, 2), (mask, 1)] if mask is not None else [(offset, 2)]
    for tensor, numbers in wanted:
        shape = (data.shape[0], numbers * taps * groups, *sizes)
        if tuple(tensor.shape) != shape:
            raise MXNetError(
                f"Deformable convolution: {'offset' if numbers == 2 else 'mask'} must have shape {shape}, "
                f"got {tuple(tensor.shape)}"
            )


def _convolve(data, offset, mask, weight, bias, attrs: dict, clamp: bool) -> Tensor:
    batch, channels, height, width = data.shape
    axes = _axes(attrs)
    rows, columns = _grid(axes[0], height, data), _grid(axes[1], width, data)
    sizes = rows.shape[1], columns.shape[1]
    _check(data, offset, mask, attrs, sizes)
    groups, taps = attrs["num_deformable_group"], len(rows) * len(columns)
    moves = offset.reshape(batch * groups, len(rows), len(columns), 2, *sizes)
    y = moves[:, :, :, 0] + rows[:, None, :, None]
    x = moves[:, :, :, 1] + columns[None, :, None, :]
    patches = _sample(data.reshape(batch * groups, -1, height, width), y.flatten(1), x.flatten(1), clamp)
    if mask is not None:
        patches = patches * mask.reshape(batch * groups, 1, -1)
    kernels = attrs["num_group"]
    patches = patches.reshape(batch, kernels, channels // kernels * taps, -1)
    out = under(torch.matmul, (weight.reshape(kernels, -1, patches.shape[2]), patches))
    out = out.reshape(batch, -1, *sizes)
    return out if bias is None else out + bias.reshape(1, -1, 1, 1)


def _fill(number: int):
    """Weight and bias come after `number` inputs; their shapes follow from the data's channels."""

    def fill(attrs: dict, shapes: list) -> list:
        data = shapes[0]
        if not data or not data[1]:
            return shapes
        weight = (attrs["num_filter"], data[1] // attrs["num_group"], *attrs["kernel"])
        return [*shapes[:number], weight, *[(attrs["num_filter"],)] * (len(shapes) - number - 1)]

    return fill


def _names(*names: str):
    return lambda attrs: names if attrs["no_bias"] else (*names, "bias")


@op("_contrib_DeformableConvolution", inputs=_names("data", "offset", "weight"), fill=_fill(2))
def deformable_convolution(
    data,
    offset,
    weight,
    bias=None,
    *,
    kernel: tuple,
    stride: tuple = (),
    dilate: tuple = (),
    pad: tuple = (),
    num_filter: Count,
    num_group: int = 1,
    num_deformable_group: int = 1,
    workspace: Long = 1024,
    no_bias: bool = False,
    layout: Layout = None,
):
    """Convolution whose kernel taps are moved by `offset`, (dy, dx) for each tap and position."""
    return _convolve(data, offset, None, weight, bias, locals(), clamp=True)


@op(
    "_contrib_ModulatedDeformableConvolution",
    inputs=_names("data", "offset", "mask", "weight"),
    fill=_fill(3),
)
def modulated_deformable_convolution(
    data,
    offset,
    mask,
    weight,
    bias=None,
    *,
    kernel: tuple,
    stride: tuple = (),
    dilate: tuple = (),
    pad: tuple = (),
    num_filter: Count,
    num_group: int = 1,
    num_deformable_group: int = 1,
    workspace: Long = 1024,
    no_bias: bool = False,
    im2col_step: int = 64,
    layout: Layout = None,
):
    """`DeformableConvolution` whose taps are also weighted by `mask`, with zeros around the image."""
    return _convolve(data, offset, mask, weight, bias, locals(), clamp=False)
