"""Dropout."""

from typing import Literal

import torch
import torch.nn.functional as F

from .._core.attrs import Fraction
from .activation import require_floating
from .registry import op


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
    """Zero each element with probability `p` and divide the others by 1 - p; along `axes` all share one decision."""
    if not (_train or mode == "always") or p == 0:
        return data.clone()
    require_floating(data, "Dropout")
    if p == 1:
        return data * torch.nan  # nothing is left to divide by zero
    if not axes:
        return F.dropout(data, p, True)
    shared = [1 if axis in _positive(axes, data.dim()) else n for axis, n in enumerate(data.shape)]
    return data * F.dropout(torch.ones(shared, dtype=data.dtype, device=data.device), p, True)


def _positive(axes, dims):
    return [axis % dims for axis in axes]
