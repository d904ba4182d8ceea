"""ELU and `softrelu` of many floats in one pass (see smooth_kernels); torch's own take three times as long and more."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..runtime.autograd import with_gradient
from ..runtime.loader import kernels
from ..runtime.task import Task

LEAST = 1 << 15  # numbers; fewer are not worth loading a compiler
WORTH_A_THREAD = 1 << 14
UNIT = 64  # floats: no part has fewer than a vector

_loader = kernels("elementwise.elu_kernels")


def quick(name: str, data: Tensor, plain: Callable[[Tensor], Tensor], *factors: float) -> Tensor:
    """The kernel of that name where there is one, and it is ready; training waits for it: two runs compute the same."""
    if not _fits(data) or _loader.get(wait=torch.is_grad_enabled() and data.requires_grad) is None:
        return plain(data)

    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        x, head = inputs[0], heads[0]
        if torch.is_grad_enabled():
            return torch.autograd.grad(plain(x), x, head, create_graph=True)
        if head.stride() != x.stride():
            head = torch.empty_like(x).copy_(head)
        return _run(f"{name}_slope", (x, head), factors)

    return with_gradient(lambda x: _run(name, (x,), factors), backward, data)


def _fits(data: Tensor) -> bool:
    if data.numel() < LEAST or data.dtype is not torch.float32 or data.__class__ is not Tensor or not data.is_cpu:
        return False
    dense = data.is_contiguous() or data.is_contiguous(memory_format=torch.channels_last)
    return dense and not torch.compiler.is_compiling()


def _run(name: str, inputs: tuple[Tensor, ...], factors: tuple[float, ...]) -> Tensor:
    kernel, result = getattr(_loader.get(wait=True), name), torch.empty_like(inputs[0])
    given, size = (*(t.data_ptr() for t in (*inputs, result)), *factors), result.numel()
    Task(kernel, given, (0, size), size // WORTH_A_THREAD, UNIT).run()
    return result
