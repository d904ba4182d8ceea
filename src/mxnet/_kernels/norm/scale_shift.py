"""Passes over images by compiled kernels (see pixelwise_kernels).

Channels are scaled, shifted and cut off in one pass, or laid side by side.
"""

from collections.abc import Sequence

import torch

from ..conv.direct import Bounds, ends
from ..runtime.loader import CompiledModule
from ..runtime.task import Task

WORTH_A_THREAD = 1 << 14  # floats, in a part of the work

_code = CompiledModule("norm.scale_shift_kernels")


def suits(data: torch.Tensor, wait: bool = False) -> bool:
    """Are there kernels for these images? Predictions do not wait for them."""
    plain = data.dtype is torch.float32 and data.is_cpu and data.dim() == 4 and data.numel() > 0
    return plain and data.shape[1] % 8 == 0 and _code.get(wait) is not None


def scaling(
    data: torch.Tensor,
    factors: torch.Tensor,
    shifts: torch.Tensor,
    bounds: Bounds,
    result: torch.Tensor,
    addend: torch.Tensor | None = None,
) -> Task:
    """What computes, from images and one number for each channel: data * factors + shifts + addend, within bounds."""
    batch, channels, height, width = data.shape
    held = data, factors, shifts, addend, result
    given = (*(0 if t is None else t.data_ptr() for t in held), channels, *ends(bounds))
    span, most = (0, batch * height * width), data.numel() // WORTH_A_THREAD
    return Task(_code.get(wait=True).scale, given, span, most, held=held)


def joining(pieces: Sequence[torch.Tensor], result: torch.Tensor) -> list[Task]:
    """What lays the channels of images side by side."""
    join, (batch, channels, height, width), made, before = _code.get(wait=True).join, result.shape, [], 0
    for piece in pieces:
        given = piece.data_ptr(), result.data_ptr() + before * result.itemsize, piece.shape[1], channels
        span, most = (0, batch * height * width), piece.numel() // WORTH_A_THREAD
        made.append(Task(join, given, span, most, held=(piece, result)))
        before += piece.shape[1]
    return made
