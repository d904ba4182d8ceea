"""Channels-last images scaled and shifted by channel, with addend and clamp, and concatenation of channels.

Each is one pass over memory by a compiled kernel (see scale_shift_kernels).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from .. import tuning
from ..conv.clamp import Clamp, limits
from ..registry import Kernel
from ..runtime.loader import CompiledModule
from ..runtime.task import Task

LANES = 8  # channels are a multiple of it

code = CompiledModule("norm.scale_shift_kernels")


def applies(data: Tensor) -> int:
    """How many numbers these images have, if there are kernels for them."""
    plain = data.dtype is torch.float32 and data.is_cpu and data.dim() == 4
    return data.numel() if plain and data.shape[1] % LANES == 0 else 0


def task(
    data: Tensor, factors: Tensor, shifts: Tensor, clamp: Clamp, result: Tensor, addend: Tensor | None = None
) -> Task:
    """Computes data * factors + shifts + addend, clamped, from images and one number for each channel."""
    batch, channels, height, width = data.shape
    held = data, factors, shifts, addend, result
    given = (*(0 if t is None else t.data_ptr() for t in held), channels, *limits(clamp))
    span, most = (0, batch * height * width), data.numel() // tuning.CHANNELS_LAST_PER_THREAD
    return Task(code.get(wait=True).scale, given, span, most, held=held)


def concat_tasks(pieces: Sequence[Tensor], result: Tensor) -> list[Task]:
    """Concatenates the channels of images."""
    kernel, (batch, channels, height, width), made, before = code.get(wait=True).concat, result.shape, [], 0
    for piece in pieces:
        given = piece.data_ptr(), result.data_ptr() + before * result.itemsize, piece.shape[1], channels
        span, most = (0, batch * height * width), piece.numel() // tuning.CHANNELS_LAST_PER_THREAD
        made.append(Task(kernel, given, span, most, held=(piece, result)))
        before += piece.shape[1]
    return made


# `ready(data)` tells predictions, which do not wait for code, if the tasks can be made
scale = Kernel("norm.scale_shift", applies, task, 1, code)
