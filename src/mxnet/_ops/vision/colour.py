"""Colour adjustment of (height, width, channel) images: brightness, contrast, saturation, hue and PCA lighting."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..._device.copies import constant, uploaded
from ..._kernels.vision.colour import adjust

GRAY = (0.299, 0.587, 0.114)
# Principal components of ImageNet's colours, scaled by their deviations.
LIGHTING = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]) * (
    55.46,
    4.794,
    1.148,
)


def _back(value: Tensor, dtype: torch.dtype) -> Tensor:
    """Back to the image's dtype; uint8 saturates and truncates."""
    return (value.clamp_(0, 255) if dtype == torch.uint8 else value).to(dtype)


def pca_lighting(image: Tensor, alpha: Sequence[float]) -> Tensor:
    """AlexNet's colour shift along the principal components, `alpha` of each; a row of pixels at once."""
    if image.shape[2] == 1:
        return image.clone()
    shifts = LIGHTING @ np.array(alpha[:3])
    result = adjust("lighting", image, *shifts)
    if result is not None:
        return result
    shift = uploaded(shifts.astype(np.float32), image.device)
    rows = image.flatten(1).float() + shift.expand(image.shape[1], 3).reshape(-1)
    return _back(rows, image.dtype).view(image.shape)


def adjust_brightness(image: Tensor, factor: float) -> Tensor:
    """All values times a factor."""
    return _back(image.float() * factor, image.dtype)


def _gray(image: Tensor) -> Tensor:
    return image.float() @ constant(GRAY, torch.float32, image.device)


def adjust_contrast(image: Tensor, factor: float) -> Tensor:
    """All pixels interpolated with the image's mean grey."""
    mean = (_gray(image) if image.shape[2] == 3 else image.float()).mean()
    return _back(image.float() * factor + (1 - factor) * mean, image.dtype)


def adjust_saturation(image: Tensor, factor: float) -> Tensor:
    """Every pixel interpolated with its grey; MXNet's grey is only the last channel's term of it."""
    if image.shape[2] == 1:
        return image.clone()
    result = adjust("saturation", image, factor, GRAY[2], 1 - factor)
    if result is not None:
        return result
    gray = image[..., 2:].float() * GRAY[2]
    return _back(gray * (1 - factor) + image.float() * factor, image.dtype)


def adjust_hue(image: Tensor, alpha: float) -> Tensor:
    """The hue rotated by `alpha` full turns."""
    if image.shape[2] == 1:
        return image.clone()
    result = adjust("hue", image, alpha * 360)
    if result is not None:
        return result
    hue, light, saturation = _rgb_to_hls(image)
    return _back(_hls_to_rgb(hue + alpha * 360, light, saturation), image.dtype)


def _rgb_to_hls(image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
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


def _hls_to_rgb(hue: Tensor, light: Tensor, saturation: Tensor) -> Tensor:
    upper = torch.where(light <= 0.5, light * (1 + saturation), light + saturation - light * saturation)
    lower = 2 * light - upper
    position = torch.remainder(hue * (1 / 60), 6).nan_to_num(0.0)  # of infinite pixels, whose levels are NaN
    sector = position.floor().clamp_max(5)
    part = position - sector
    levels = torch.stack([upper, lower, lower + (upper - lower) * (1 - part), lower + (upper - lower) * part], -1)
    choice = constant(SECTORS, torch.int64, hue.device)[sector.long()].flip(-1)
    coloured = torch.gather(levels, -1, choice)
    return torch.where((saturation == 0)[..., None], light[..., None], coloured) * 255
