"""Correlation: patches of one image compared with displaced patches of another."""

from math import ceil

import torch
import torch.nn.functional as F

from ..._core.errors import MXNetError
from ..registry.registry import op


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
