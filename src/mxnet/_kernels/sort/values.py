"""Sorting of values without their indices: NumPy's vectorized sort takes a tenth of torch's time."""

import numpy as np
import torch
from torch import Tensor

from ..registry import Kernel
from ..runtime.concrete import is_concrete

_DTYPES = (torch.float32, torch.float64, torch.int32, torch.int64)


def _applies(data: Tensor, axis: int, descending: bool) -> int:
    recorded = data.requires_grad and torch.is_grad_enabled()
    if recorded or not data.is_cpu or data.dtype not in _DTYPES or not is_concrete(data) or _negative_zeros(data):
        return 0
    return data.numel()


def _negative_zeros(data: Tensor) -> bool:
    """Of all equal elements only -0.0 and 0.0 show their order, which is stable in MXNet."""
    if not data.is_floating_point():
        return False
    bits = data.detach().view(torch.int32 if data.dtype is torch.float32 else torch.int64)
    return bool((bits == torch.iinfo(bits.dtype).min).any())


def _run(data: Tensor, axis: int, descending: bool) -> Tensor:
    result = torch.from_numpy(np.sort(data.detach().numpy(), axis))
    return result.flip(axis) if descending else result


# (data, axis, descending)
sort_values = Kernel("sort.values", _applies, _run)
