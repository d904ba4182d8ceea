"""ELU, softplus (`softrelu`) and tanh in one pass over memory; torch's own take three times as long and more."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.autograd import with_gradient
from ..runtime.loader import CompiledModule
from ..runtime.task import Task

UNIT = 64  # floats: no part of the work is smaller than a vector

_code = CompiledModule("elementwise.elu_kernels")


def _applies(name: str, data: Tensor, plain: Callable[[Tensor], Tensor], *factors: float) -> int:
    if data.dtype is not torch.float32 or data.__class__ is not Tensor or not data.is_cpu:
        return 0
    dense = data.is_contiguous() or data.is_contiguous(memory_format=torch.channels_last)
    return data.numel() if dense and not torch.compiler.is_compiling() else 0


def _run(name: str, data: Tensor, plain: Callable[[Tensor], Tensor], *factors: float) -> Tensor:
    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        x, head = inputs[0], heads[0]
        if torch.is_grad_enabled():
            return torch.autograd.grad(plain(x), x, head, create_graph=True)
        if name == "tanh":  # its slope follows from its value
            return torch.ops.aten.tanh_backward(head, outputs[0])
        if head.stride() != x.stride():
            head = torch.empty_like(x).copy_(head)
        return _map(f"{name}_slope", (x, head), factors)

    return with_gradient(lambda x: _map(name, (x,), factors), backward, data)


def _map(name: str, inputs: tuple[Tensor, ...], factors: tuple[float, ...]) -> Tensor:
    kernel, result = getattr(_code.get(wait=True), name), torch.empty_like(inputs[0])
    given, size = (*(t.data_ptr() for t in (*inputs, result)), *factors), result.numel()
    Task(kernel, given, (0, size), size // tuning.ELEMENTWISE_PER_THREAD, UNIT).run()
    return result


# (name of the function, data, torch's way to it, parameters)
elu = Kernel("elementwise.elu", _applies, _run, tuning.ELU_ELEMENTS, _code)
