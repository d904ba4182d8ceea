"""Dropout."""

from typing import Literal

import torch
import torch.nn.functional as F

from ..._core.attrs import Fraction
from ..registry.registry import op
from ..registry.torch_dtypes import require_floating

_MANY = 4096


@op("Dropout")
def dropout(
    data,
    *,
    p: Fraction = 0.5,
    mode: Literal["always", "training"] = "training",
    axes: tuple = (),
    cudnn_off: bool | None = False,
    _train: bool = False,
):
    """Zero each element with probability `p` and divide the others by 1 - p; along `axes` all share one decision.

    Parameters
    ----------
    data
        The input.
    p
        The probability of an element to be set to zero.
    mode
        training: drop in training only; always: in prediction, too.
    axes
        Axes along which the same elements are dropped.
    cudnn_off
        Accepted for old programs and ignored.
    """
    if not (_train or mode == "always") or p == 0:
        return data.clone()
    require_floating(data, "Dropout")
    if p == 1:
        return data * torch.nan  # nothing is left to divide by zero
    if not axes:
        return data * _factors(data, p) if data.numel() >= _MANY and _drawn_here(data) else F.dropout(data, p, True)
    shared = [1 if axis in _positive(axes, data.dim()) else n for axis, n in enumerate(data.shape)]
    return data * F.dropout(torch.ones(shared, dtype=data.dtype, device=data.device), p, True)


def _drawn_here(data):
    return data.device.type == "cpu" and not torch.compiler.is_compiling() and not torch.compiler.is_exporting()


def _factors(data, p):
    """0 with probability `p`, else 1 / (1 - p): whole words are drawn in a fifth of the time of torch's decisions."""
    count = data.numel()
    words = torch.empty(-(-count // 2), dtype=torch.int64).random_(-(2**63), None).view(torch.int32)
    drawn = words[:count].to(torch.float32)
    left = torch.ge(drawn, p * 2.0**32 - 2.0**31, out=drawn)
    return left.to(data.dtype).mul_(1 / (1 - p)).view(data.shape)


def _positive(axes, dims):
    return [axis % dims for axis in axes]
