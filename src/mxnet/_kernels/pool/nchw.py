"""Max, average and sum pooling of NCHW images, over whole rows; torch's kernels work element by element.

torch's max pooling takes 16 ms for LeNet's first pooling at batch 256, also because it always computes indices. Maxima
of strided slices take 1.3 ms, compiled vectors for 2 x 2 windows 0.4 ms. Gradients are computed by compiled code.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.autograd import with_gradient
from ..runtime.buffers import share
from ..runtime.concrete import is_concrete
from ..runtime.loader import CompiledModule, any_processor
from ..runtime.task import Task

# Both modules load after the same number of pooled elements. Windows of 2 x 2 with stride 2 have kernels of their own:
# the gradient needs no stored indices there.
_code = CompiledModule("pool.nchw_kernels", any_processor, after=tuning.POOL_NCHW_COMPILE)
_code_2x2 = CompiledModule("pool.nchw_2x2_kernels", after=tuning.POOL_NCHW_COMPILE)


def _applies(data: Tensor, windows: Any, *rest: Any) -> int:
    if data.dtype is not torch.float32 or not data.is_cpu or data.dim() != 4 or not data.is_contiguous():
        return 0
    return data.numel() if windows.native and not windows.any_empty() and is_concrete(data) else 0


def _call(name: str, tensors: tuple[Tensor, ...], windows: Any, *counts: np.ndarray) -> None:
    """Run a kernel of `nchw_kernels` on planes (batch * channels, height, width) of all tensors."""
    kernel = getattr(_code.get(wait=True), name)
    planes = [t.detach().contiguous().flatten(0, 1).numpy() for t in tensors]
    axes = tuple(zip(windows.kernel, windows.stride, windows.pad, strict=True))
    parts = max(t.numel() for t in tensors) // tuning.POOL_NCHW_PER_THREAD
    share(lambda first, last: kernel(*planes, *counts, *axes, first, last), 0, len(planes[0]), parts)


def _applies_recorded(data: Tensor, windows: Any) -> int:
    """Without a gradient, slices take as long, and wait for no compiler."""
    return _applies(data, windows) if torch.is_grad_enabled() and data.requires_grad else 0


def _max(data: Tensor, windows: Any) -> Tensor:
    """The maximum of each window; its first occurrence has the gradient."""
    shape, full = (*data.shape[:2], *windows.count), windows.convention == "full"

    def forward(data: Tensor) -> tuple[Tensor, Tensor]:
        result, indices = data.new_empty(shape), data.new_empty(shape, dtype=torch.int64)
        _call("max_pool_with_indices", (data, result, indices), windows)
        return result, indices

    def backward(inputs: Any, outputs: Any, heads: Any) -> Tensor:
        geometry = windows.kernel, windows.stride, windows.pad, (1, 1), full
        return torch.ops.aten.max_pool2d_with_indices_backward(heads[0], inputs[0], *geometry, outputs[1])

    return with_gradient(forward, backward, data)[0]


# ---- windows of 2 x 2 with stride 2 ----


def _applies_2x2(data: Tensor, windows: Any) -> int:
    if windows.kernel != (2, 2) or windows.stride != (2, 2) or any(windows.pad):
        return 0
    height, width = windows.sizes
    fits = height % 2 == 0 == width % 2 and width >= tuning.POOL_2X2_WIDTH
    return _applies(data, windows) if fits else 0


def _max_2x2(data: Tensor, windows: Any) -> Tensor:
    def forward(data: Tensor) -> Tensor:
        result = data.new_empty(*data.shape[:2], *windows.count)
        _call_2x2("max_pool", result, data, result)
        return result

    def backward(inputs: Any, outputs: Any, heads: Any) -> Tensor:
        if torch.is_grad_enabled():  # torch's own rule can be differentiated again
            _, indices = torch.ops.aten.max_pool2d_with_indices(inputs[0].detach(), [2, 2])
            window = ([2, 2], [2, 2], [0, 0], [1, 1], False)
            return torch.ops.aten.max_pool2d_with_indices_backward(heads[0], inputs[0], *window, indices)
        head, result = heads[0].contiguous(), torch.empty_like(inputs[0])
        _call_2x2("max_pool_backward", head, inputs[0], head, result)
        return result

    return with_gradient(forward, backward, data)


def _call_2x2(name: str, pooled: Tensor, *tensors: Tensor) -> None:
    """Run a kernel of `nchw_2x2_kernels` for all rows of the pooled tensor."""
    width = pooled.shape[3]
    given = (*(t.data_ptr() for t in tensors), width)
    kernel, parts = getattr(_code_2x2.get(wait=True), name), pooled.numel() // tuning.POOL_2X2_PER_THREAD
    Task(kernel, given, (0, pooled.numel() // width), parts, held=tensors).run()


# ---- inference: maxima of strided slices ----


def _applies_slices(data: Tensor, windows: Any) -> int:
    if data.dim() != 4 or not data.is_cpu or (torch.is_grad_enabled() and data.requires_grad):
        return 0
    return data.numel() if windows.native and not windows.any_empty() and is_concrete(data) else 0


def _max_slices(data: Tensor, windows: Any) -> Tensor:
    """Maxima over the rows of the windows, then over their columns; as many images at a time as the cache holds."""
    result = data.new_empty(*data.shape[:2], *windows.count)
    images = max(1, tuning.POOL_SLICES_CACHED // max(1, data[0].numel()))
    rows, columns = zip(windows.count, windows.axes(), strict=True)
    for some, target in zip(data.split(images), result.split(images), strict=True):
        over_rows = some.new_empty(*some.shape[:2], windows.count[0], some.shape[3])
        _max_over_axis(some, 2, rows, over_rows)
        _max_over_axis(over_rows, 3, columns, target)
    return result


def _max_over_axis(data: Tensor, axis: int, geometry: Any, out: Tensor) -> None:
    """Maxima of windows of one axis: the k-th elements of all windows are one strided slice."""
    count, (size, kernel, stride, pad) = geometry
    whole, partial = [], []  # padding cuts off the first or the last windows of a slice
    for shift in range(kernel):
        begin, end = max(0, -((shift - pad) // stride)), min(count, (size - 1 + pad - shift) // stride + 1)
        if begin < end:
            start = begin * stride - pad + shift
            place = (*[slice(None)] * axis, slice(start, start + (end - begin - 1) * stride + 1, stride))
            target = out.narrow(axis, begin, end - begin)
            (whole if end - begin == count else partial).append((target, data[place]))
    if len(whole) > 1:
        torch.maximum(whole[0][1], whole[1][1], out=out)
    elif whole:
        out.copy_(whole[0][1])
    else:
        out.fill_(-torch.inf)
    for target, one in (*whole[2:], *partial):
        torch.maximum(target, one, out=target)


# ---- average and sum ----


@lru_cache(maxsize=1024)
def _divisors(windows: Any, include_pad: bool | None) -> list[np.ndarray]:
    """Heights and widths of the windows, with padding or without; ones for sums (`include_pad` None)."""
    found = []
    for number, (size, kernel, stride, pad) in zip(windows.count, windows.axes(), strict=True):
        start = np.arange(number) * stride - pad
        end = np.minimum(start + kernel, size + pad if include_pad else size)
        count = end - (start if include_pad else start.clip(0))
        found.append((np.ones(number) if include_pad is None else count).astype(np.float32))
    return found


def _sum(data: Tensor, windows: Any, include_pad: bool | None, plain: Callable[[Tensor], Tensor]) -> Tensor:
    divisors = _divisors(windows, include_pad)

    def forward(data: Tensor) -> Tensor:
        result = data.new_empty((*data.shape[:2], *windows.count))
        _call("sum_pool", (data, result), windows, *divisors)
        return result

    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        if torch.is_grad_enabled():  # a gradient to be differentiated again
            return torch.autograd.grad(plain(inputs[0]), inputs[0], heads[0], create_graph=True)
        result = torch.empty_like(inputs[0])
        _call("sum_pool_backward", (heads[0], result), windows, *divisors)
        return result

    return with_gradient(forward, backward, data)


_elements = tuning.POOL_NCHW_ELEMENTS
# (data, windows)
max_2x2 = Kernel("pool.max_nchw_2x2", _applies_2x2, _max_2x2, _elements, _code_2x2)
max_windows = Kernel("pool.max_nchw", _applies_recorded, _max, _elements, _code)
max_slices = Kernel("pool.max_nchw_slices", _applies_slices, _max_slices, tuning.POOL_SLICES_ELEMENTS)
# (data, windows, whether padding counts (None: the sum), torch's way to it)
average = Kernel("pool.average_nchw", _applies, _sum, _elements, _code)


def max_pool(data: Tensor, windows: Any) -> Tensor | None:
    """Max pooling by the first kernel that computes it; None: torch has to."""
    for kernel in (max_2x2, max_windows, max_slices):
        result = kernel(data, windows)
        if result is not None:
            return result
    return None
