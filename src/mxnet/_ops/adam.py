"""Adam's step for many tensors on the CPU in one pass, for training that goes on for a while."""

from collections.abc import Sequence

import numpy as np
import torch

from .fused_update import Steady, Tensors, alike
from .loader import kernels
from .sharing import share

LEAST = 1 << 17  # numbers in all; fewer are not worth loading a compiler
BEFORE = 1 << 27  # numbers changed by torch's kernel first: always as many, so that two runs compute the same
PIECE = 1 << 15  # numbers for each thread at least

_loader = kernels("adam_kernels")


def gains(weights: Tensors, grads: Tensors, means: Tensors, variances: Tensors) -> bool:
    """Is it worth it for these tensors, and has it begun to be?"""
    if not isinstance(weights, Steady) or weights.total < LEAST:
        return False
    first = weights[0]
    if not first.is_cpu or first.dtype is not torch.float32 or not alike(weights, grads, means, variances):
        return False
    weights.steps += 1
    changed = weights.steps * weights.total
    ready = changed > BEFORE
    return changed > BEFORE // 2 and _loader.get(wait=ready) is not None and ready


def adam(lists: Sequence[Tensors], rates: Sequence[float], decays: Sequence[float], *factors: float) -> None:
    """A step for weights, gradients, means and variances; `factors` are those of the kernel, from `rescale` on."""
    sizes = list(map(torch.Tensor.numel, lists[0]))
    tensors = np.array([*(list(map(torch.Tensor.data_ptr, tensors)) for tensors in lists), sizes])
    each = np.array([rates, decays], np.float32)
    kernel, total = _loader.get(wait=True).adam, sum(sizes)
    share(lambda first, last: kernel(tensors, each, first, last, *factors), 0, total, total // PIECE, PIECE)
