"""Lists of tensors that optimizers iterate over: their memory layout, and what is cached from step to step."""

from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter

import torch
from torch import Tensor

from .. import tuning

Tensors = list[Tensor] | tuple[Tensor, ...]
Numbers = Sequence[float]
FUSED_DTYPES = {torch.float32, torch.float64}  # those for which torch has fused kernels on every device


def _flat(tensor: Tensor) -> bool:
    """Is the tensor one block of memory, whatever the order of its axes?"""
    return tensor.is_contiguous() or (tensor.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last))


_dtype, _device = attrgetter("dtype"), attrgetter("device")


class Layout:
    """Memory layout of the tensors of a list; it must be equal for lists that one kernel iterates over together."""

    def __init__(self, tensors: Tensors) -> None:
        self.shapes = list(map(Tensor.size, tensors))
        self.dtypes = set(map(_dtype, tensors))
        self.devices = set(map(_device, tensors))
        self.on_cpu = all(device.type == "cpu" for device in self.devices)
        self.contiguous = all(map(Tensor.is_contiguous, tensors))
        self.strides = None if self.contiguous else [t.stride() for t in tensors]
        self.flat = self.contiguous or all(map(_flat, tensors))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Layout)
            and self.shapes == other.shapes
            and self.dtypes == other.dtypes
            and self.devices == other.devices
            and self.strides == other.strides
        )


class FixedTensors(list[Tensor]):
    """Tensors that stay the same from step to step (weights, states), so that their layout is computed once."""

    steps = 0  # that were counted
    table: object = None  # what kernels keep of them and of the tensors beside them

    @cached_property
    def layout(self) -> Layout:
        return Layout(self)

    @cached_property
    def total(self) -> int:
        """How many numbers there are."""
        return sum(t.numel() for t in self)

    @cached_property
    def _buffers(self) -> dict[str, tuple[Tensor, list[Tensor]]]:
        return {}

    def buffer(self, purpose: str) -> tuple[Tensor, list[Tensor]] | None:
        """One block of memory and its parts, shaped as the tensors; None where keeping it would cost too much."""
        if purpose not in self._buffers:
            sizes = [t.numel() for t in self]
            if self.total > tuning.GRADIENT_BUFFER or not self.layout.contiguous or len(self.layout.dtypes) > 1:
                return None
            block = torch.empty(self.total, dtype=self[0].dtype, device=self[0].device)
            parts = [part.view(t.shape) for part, t in zip(block.split(sizes), self, strict=True)]
            self._buffers[purpose] = block, parts
        return self._buffers[purpose]


def layout(tensors: Tensors) -> Layout:
    """How the tensors lie in memory."""
    return tensors.layout if isinstance(tensors, FixedTensors) else Layout(tensors)


def alike(*lists: Tensors) -> bool:
    """May torch's fused kernels, which walk raw memory, run over these lists together?"""
    first = layout(lists[0])
    kinds = first.dtypes
    if not first.flat or len(kinds) > 1 or not kinds <= FUSED_DTYPES:
        return False
    return all(layout(others) == first for others in lists[1:])


def uniform(values: Sequence[object]) -> bool:
    """Are all values the same? They mostly are, and then one computation serves them all."""
    return values.count(values[0]) == len(values)
