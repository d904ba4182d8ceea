"""Pooling over two axes in the usual memory order by compiled code (see plane_kernels).

torch's kernels go element by element there, and those for maxima always note their places: 50 ms for the first pooling
of a ResNet at batch 8, where whole rows take 3.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..runtime.autograd import with_gradient
from ..runtime.buffers import share
from ..runtime.concrete import is_concrete
from ..runtime.loader import CompiledModule, any_processor

LEAST = 1 << 12  # numbers; fewer are pooled in no time
WORTH_A_THREAD = 1 << 16

_code = CompiledModule("pool.nchw_kernels", any_processor, after=1 << 22)


def ready(data: Tensor, windows: Any) -> bool:
    """Is there compiled code for these windows? Training waits for it: two runs compute the same."""
    if data.dim() != 4 or data.numel() < LEAST or data.dtype is not torch.float32 or not data.is_cpu:
        return False
    if not is_concrete(data) or not data.is_contiguous() or not windows.native or windows.any_empty():
        return False
    return _code.earned(data.numel(), wait=torch.is_grad_enabled() and data.requires_grad) is not None


def _run(name: str, tensors: tuple[Tensor, ...], windows: Any, *counts: np.ndarray) -> None:
    kernel = getattr(_code.get(wait=True), name)
    planes = [t.detach().contiguous().flatten(0, 1).numpy() for t in tensors]
    axes = tuple(zip(windows.kernel, windows.stride, windows.pad, strict=True))
    most = max(t.numel() for t in tensors) // WORTH_A_THREAD
    share(lambda first, last: kernel(*planes, *counts, *axes, first, last), 0, len(planes[0]), most)


def maxima(data: Tensor, windows: Any) -> Tensor:
    """The largest number of each window; its first place has the gradient."""
    shape, full = (*data.shape[:2], *windows.count), windows.convention == "full"
    if not (torch.is_grad_enabled() and data.requires_grad):
        result = data.new_empty(shape)
        _run("maxima", (data, result), windows)
        return result

    def forward(data: Tensor) -> tuple[Tensor, Tensor]:
        result, places = data.new_empty(shape), data.new_empty(shape, dtype=torch.int64)
        _run("places", (data, result, places), windows)
        return result, places

    def backward(inputs: Any, outputs: Any, heads: Any) -> Tensor:
        geometry = windows.kernel, windows.stride, windows.pad, (1, 1), full
        return torch.ops.aten.max_pool2d_with_indices_backward(heads[0], inputs[0], *geometry, outputs[1])

    return with_gradient(forward, backward, data)[0]


@lru_cache(maxsize=1024)
def _counts(windows: Any, include_pad: bool | None) -> list[np.ndarray]:
    """By what sums over windows are divided, by rows and columns: elements with padding or without; None: by one."""
    found = []
    for number, (size, kernel, stride, pad) in zip(windows.count, windows.axes(), strict=True):
        start = np.arange(number) * stride - pad
        end = np.minimum(start + kernel, size + pad if include_pad else size)
        count = end - (start if include_pad else start.clip(0))
        found.append((np.ones(number) if include_pad is None else count).astype(np.float32))
    return found


def sums(data: Tensor, windows: Any, include_pad: bool | None, plain: Callable[[Tensor], Tensor]) -> Tensor:
    """Sums over windows, or their means with padding or without; `plain` is torch's way to them."""
    counts = _counts(windows, include_pad)

    def forward(data: Tensor) -> Tensor:
        result = data.new_empty((*data.shape[:2], *windows.count))
        _run("sums", (data, result), windows, *counts)
        return result

    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        if torch.is_grad_enabled():  # a gradient to be differentiated again
            return torch.autograd.grad(plain(inputs[0]), inputs[0], heads[0], create_graph=True)
        result = torch.empty_like(inputs[0])
        _run("spread_sums", (heads[0], result), windows, *counts)
        return result

    return with_gradient(forward, backward, data)
