"""Top-k without a full sort: equal elements keep their order, NaN counts as the largest.

Compiled: one pass with a heap. Until then: torch's `topk` where no two of the first k + 1 elements are equal, else
NumPy's partition of keys made of element and index.
"""

import numpy as np
import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.concrete import is_concrete
from ..runtime.loader import CompiledModule, any_processor

_code = CompiledModule("sort.topk_kernels", any_processor, after=tuning.TOPK_COMPILE)


def _applies_partial(data: Tensor, axis: int, k: int, largest: bool) -> int:
    """A full sort is as fast if much of it is wanted."""
    few = k > 1 and tuning.TOPK_RATIO * k < data.shape[axis]
    return data.numel() if few and data.is_cpu and is_concrete(data) else 0


def _applies_heap(data: Tensor, axis: int, k: int, largest: bool) -> int:
    if k > tuning.TOPK_HEAP or data.element_size() > 4 or not data.is_cpu:
        return 0
    return _applies_partial(data, axis, k, largest)


def _heap(data: Tensor, axis: int, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    rows = data.detach().movedim(axis, -1)
    numbers = rows.float().view(torch.int32) if rows.is_floating_point() else rows.int()
    indices = torch.empty((*rows.shape[:-1], k), dtype=torch.int64)
    flat = numbers.reshape(-1, rows.shape[-1]).contiguous().numpy()
    _code.get(wait=True).topk(flat, indices.view(-1, k).numpy(), rows.is_floating_point(), largest)
    indices = indices.movedim(-1, axis)
    return data.gather(axis, indices), indices


def _partial(data: Tensor, axis: int, k: int, largest: bool) -> tuple[Tensor, Tensor] | None:
    values, indices = torch.topk(data, k + 1, axis, largest)  # with the first that is left out
    before, after = values.detach().narrow(axis, 0, k), values.detach().narrow(axis, 1, k)
    if bool((before > after if largest else before < after).all()):  # NaN is neither
        return values.narrow(axis, 0, k), indices.narrow(axis, 0, k)
    indices = _partition(data.detach().movedim(axis, -1), k, largest)
    if indices is None:
        return None
    indices = indices.movedim(-1, axis)
    return data.gather(axis, indices), indices


def _partition(rows: Tensor, k: int, largest: bool) -> Tensor | None:
    """Indices of the first `k` of each row, by distinct integer keys: an element's order and its index."""
    if rows.element_size() > 4 or not rows.is_cpu:
        return None
    if rows.is_floating_point():
        bits = (rows.float() + 0.0).view(torch.int32)  # -0.0 becomes 0.0
        keys = (bits ^ (bits >> 31 & 0x7FFFFFFF)).masked_fill_(rows.isnan(), 0x7FFFFFFF)
    else:
        keys = rows.int()
    keyed = (~keys if largest else keys).numpy().astype(np.int64) << 32
    keyed |= np.arange(rows.shape[-1])
    chosen = np.sort(np.partition(keyed, k - 1, -1)[..., :k], -1)
    return torch.from_numpy(chosen & 0xFFFFFFFF)


# (data, axis, k, largest) -> values and indices
topk_heap = Kernel("sort.topk", _applies_heap, _heap, code=_code)
topk_partial = Kernel("sort.topk_partial", _applies_partial, _partial)


def topk(data: Tensor, axis: int, k: int, largest: bool) -> tuple[Tensor, Tensor] | None:
    """Values and indices by the first kernel that computes them; None: sort all."""
    result = topk_heap(data, axis, k, largest)
    return topk_partial(data, axis, k, largest) if result is None else result
