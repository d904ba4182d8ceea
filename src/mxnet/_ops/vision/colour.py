"""Colours of (height, width, channel) images: brightness, contrast, saturation, hue and light, rounded as in MXNet."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._device.copies import constant, uploaded
from ..._kernels.runtime.concrete import is_concrete
from ..._kernels.runtime.loader import CompiledModule, any_processor

GRAY = (0.299, 0.587, 0.114)
# Principal components of ImageNet's colours, scaled by their deviations.
LIGHTING = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]) * (
    55.46,
    4.794,
    1.148,
)
_KINDS = {torch.uint8: "bytes", torch.float32: "floats"}

CALL = 1 << 13  # numbers that are changed in the time of a call
_code = CompiledModule("vision.colour_kernels", any_processor, after=1 << 24)


def _back(value: Tensor, dtype: torch.dtype) -> Tensor:
    """Back to the image's type; bytes are cut to their range and truncated."""
    return (value.clamp_(0, 255) if dtype == torch.uint8 else value).to(dtype)


def _in_one_pass(name: str, image: Tensor, *factors: float) -> Tensor | None:
    """What the kernel of that name makes of a colour image; None: it is not for it, or not ready."""
    kind = _KINDS.get(image.dtype)
    if kind is None or not image.is_cpu or not is_concrete(image):
        return None
    if (kernels := _code.earned(CALL + image.numel())) is None:
        return None
    result = torch.empty_like(image, memory_format=torch.contiguous_format)
    arrays: list[Any] = [t.detach().numpy().reshape(-1) for t in (image.contiguous(), result)]
    getattr(kernels, f"{name}_{kind}")(*arrays, *factors)
    return result


def lit(image: Tensor, alpha: Sequence[float]) -> Tensor:
    """AlexNet's colour shift along the principal components, `alpha` of each; a row of pixels at once."""
    if image.shape[2] == 1:
        return image.clone()
    shifts = LIGHTING @ np.array(alpha[:3])
    result = _in_one_pass("light", image, *shifts)
    if result is not None:
        return result
    shift = uploaded(shifts.astype(np.float32), image.device)
    rows = image.flatten(1).float() + shift.expand(image.shape[1], 3).reshape(-1)
    return _back(rows, image.dtype).view(image.shape)


def brighter(image: Tensor, factor: float) -> Tensor:
    """All numbers times a factor."""
    return _back(image.float() * factor, image.dtype)


def _gray(image: Tensor) -> Tensor:
    return image.float() @ constant(GRAY, torch.float32, image.device)


def contrasted(image: Tensor, factor: float) -> Tensor:
    """All pixels moved from or to the image's mean grey."""
    mean = (_gray(image) if image.shape[2] == 3 else image.float()).mean()
    return _back(image.float() * factor + (1 - factor) * mean, image.dtype)


def saturated(image: Tensor, factor: float) -> Tensor:
    """Every pixel moved from or to its grey; MXNet's grey is only the last channel's share of it."""
    if image.shape[2] == 1:
        return image.clone()
    result = _in_one_pass("saturate", image, factor, GRAY[2], 1 - factor)
    if result is not None:
        return result
    gray = image[..., 2:].float() * GRAY[2]
    return _back(gray * (1 - factor) + image.float() * factor, image.dtype)


def turned(image: Tensor, alpha: float) -> Tensor:
    """The circle of colours turned by a part of a turn."""
    if image.shape[2] == 1:
        return image.clone()
    result = _in_one_pass("turn", image, alpha * 360)
    if result is not None:
        return result
    hue, light, saturation = _hue_lightness_saturation(image)
    return _back(_from_hue(hue + alpha * 360, light, saturation), image.dtype)


def _hue_lightness_saturation(image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    red, green, blue = (image.float() / 255).unbind(2)
    high, low = torch.maximum(torch.maximum(red, green), blue), torch.minimum(torch.minimum(red, green), blue)
    spread, light = high - low, (high + low) * 0.5
    coloured = spread > torch.finfo(torch.float32).eps
    saturation = spread / torch.where(light < 0.5, high + low, 2 - high - low)
    turn = torch.full_like(spread, 60) / spread  # 60 / spread would be 60 times the reciprocal, which is rounded
    hue = torch.where(
        high == red,
        (green - blue) * turn,
        torch.where(high == green, (blue - red) * turn + 120, (red - green) * turn + 240),
    )
    hue = torch.where(hue < 0, hue + 360, hue)
    return torch.where(coloured, hue, 0), light, torch.where(coloured, saturation, 0)


# Which of (upper, lower, falling, rising) blue, green and red take in each sixth of the colour circle.
SECTORS = ((1, 3, 0), (1, 0, 2), (3, 0, 1), (0, 2, 1), (0, 1, 3), (2, 1, 0))


def _from_hue(hue: Tensor, light: Tensor, saturation: Tensor) -> Tensor:
    upper = torch.where(light <= 0.5, light * (1 + saturation), light + saturation - light * saturation)
    lower = 2 * light - upper
    position = torch.remainder(hue * (1 / 60), 6).nan_to_num(0.0)  # of infinite pixels, whose levels are NaN
    sector = position.floor().clamp_max(5)
    part = position - sector
    levels = torch.stack([upper, lower, lower + (upper - lower) * (1 - part), lower + (upper - lower) * part], -1)
    choice = constant(SECTORS, torch.int64, hue.device)[sector.long()].flip(-1)
    coloured = torch.gather(levels, -1, choice)
    return torch.where((saturation == 0)[..., None], light[..., None], coloured) * 255
