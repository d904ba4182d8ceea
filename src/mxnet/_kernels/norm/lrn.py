"""Local response normalization in one pass over memory, by a compiled kernel (see lrn_kernels)."""

import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.loader import CompiledModule
from ..runtime.task import Task

LANES = 8  # pixels of a vector, at least
BETA = 0.75  # the exponent of the kernel, which takes square roots

_code = CompiledModule("norm.lrn_kernels")


def _applies(data: Tensor, side: int, share: float, knorm: float, beta: float) -> int:
    if beta != BETA or side < 0 or data.__class__ is not Tensor or not data.is_cpu:
        return 0
    plain = data.dtype is torch.float32 and data.is_contiguous() and not torch.compiler.is_compiling()
    return data.numel() if plain and data.shape[2] * data.shape[3] >= LANES else 0


def _run(data: Tensor, side: int, share: float, knorm: float, beta: float) -> Tensor:
    result, (images, channels, pixels) = torch.empty_like(data), data.flatten(2).shape
    given = data.data_ptr(), result.data_ptr(), channels, pixels, side, share, knorm
    span, most = (0, images * channels), data.numel() // tuning.CHANNELS_LAST_PER_THREAD
    Task(_code.get(wait=True).lrn, given, span, most).run()
    return result


# (data, neighbours on each side, alpha / nsize, knorm, beta), without gradients
lrn = Kernel("norm.lrn", _applies, _run, tuning.LRN_ELEMENTS, _code)
