"""The maximum of windows of two by two, one beside the other: the commonest pooling, as maxima of whole slices.

torch's kernel for the usual memory order goes element by element: 18 ms for 256 images of 20 channels at 24, where two
maxima of slices take 1.4. With numba, once many were pooled, all is one pass over memory (see halving_kernels). Values
and gradients are the same: of equal elements the first has the gradient.
"""

from typing import Any

import torch

from ..runtime.loader import CompiledModule
from ..runtime.task import Task

LEAST = 1 << 14  # elements below which torch's one call is quicker
WORTH_A_COMPILER = 1 << 22  # elements that were pooled so far; for fewer no compiler is loaded
WORTH_A_THREAD = 1 << 14
NARROWEST = 4  # results of a row, for kernels

_code = CompiledModule("pool.max_2x2_kernels", after=WORTH_A_COMPILER)


class _InOnePass(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data):
        ctx.save_for_backward(data)
        return _largest(data)

    @staticmethod
    def backward(ctx: Any, *heads):
        (data,) = ctx.saved_tensors
        if torch.is_grad_enabled():
            return _recorded(data, heads[0])
        head, result = heads[0].contiguous(), torch.empty_like(data)
        _run("shared", head, data, head, result)
        return result


def _largest(data: torch.Tensor) -> torch.Tensor:
    batch, channels, height, width = data.shape
    result = data.new_empty(batch, channels, height // 2, width // 2)
    _run("largest", result, data, result)
    return result


def _run(name: str, small: torch.Tensor, *tensors: torch.Tensor) -> None:
    """A kernel for as many rows as the small tensor, one of results, has."""
    width = small.shape[3]
    given = (*(t.data_ptr() for t in tensors), width)
    kernel = getattr(_code.get(wait=True), name)
    Task(kernel, given, (0, small.numel() // width), small.numel() // WORTH_A_THREAD, held=tensors).run()


def _ready(data: torch.Tensor) -> bool:
    """Are there kernels for these data, and is it worth while to load them?"""
    if data.dtype is not torch.float32 or data.shape[3] < 2 * NARROWEST:
        return False
    return _code.earned(data.numel()) is not None


def _recorded(data: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
    """The gradient, part of a graph: torch's own rule can be differentiated."""
    _, places = torch.ops.aten.max_pool2d_with_indices(data.detach(), [2, 2])
    window = ([2, 2], [2, 2], [0, 0], [1, 1], False)
    return torch.ops.aten.max_pool2d_with_indices_backward(head, data, *window, places)


class _Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data):
        narrow = torch.maximum(data[..., 0::2], data[..., 1::2])
        ctx.save_for_backward(data, narrow)
        return torch.maximum(narrow[:, :, 0::2], narrow[:, :, 1::2])

    @staticmethod
    def backward(ctx: Any, *heads):
        data, narrow = ctx.saved_tensors
        if torch.is_grad_enabled():
            return _recorded(data, heads[0])
        middle, result = torch.empty_like(narrow), torch.empty_like(data)
        _share(heads[0], narrow[:, :, 0::2], narrow[:, :, 1::2], middle[:, :, 0::2], middle[:, :, 1::2])
        _share(middle, data[..., 0::2], data[..., 1::2], result[..., 0::2], result[..., 1::2])
        return result


def _share(head, first, second, to_first, to_second):
    """Give the head to the larger of two, to the first where they are equal."""
    torch.mul(head, first >= second, out=to_first)
    torch.sub(head, to_first, out=to_second)


def halves(data: torch.Tensor, kernel, stride, pad) -> bool:
    """Is it this pooling, in the usual memory order on the CPU, and large enough?"""
    if tuple(kernel) != (2, 2) or tuple(stride) != (2, 2) or any(pad):
        return False
    if data.__class__ is not torch.Tensor or not data.is_cpu or data.dtype not in (torch.float32, torch.float64):
        return False
    even = data.shape[2] % 2 == 0 == data.shape[3] % 2
    return even and data.numel() >= LEAST and data.is_contiguous() and not torch.compiler.is_compiling()


def halved(data: torch.Tensor) -> torch.Tensor:
    """Maxima of windows of two by two."""
    ready = _ready(data)
    if data.requires_grad and torch.is_grad_enabled():
        return (_InOnePass if ready else _Halved).apply(data)
    if ready:
        return _largest(data)
    rows = torch.maximum(data[:, :, 0::2], data[:, :, 1::2])
    return torch.maximum(rows[..., 0::2], rows[..., 1::2])
