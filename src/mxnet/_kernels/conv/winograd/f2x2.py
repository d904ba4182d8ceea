"""Winograd's F(2x2, 3x3) for convolutions of few pixels with a constant weight, by compiled kernels.

F(4x4, 3x3) (see f4x4) needs fewer multiplications, but must read 36 weight matrices from memory, which takes most of
the time for few tiles. F(2x2, 3x3) reads 16 matrices, less than half, for four times as many tiles.
"""

from typing import Any

import torch
from torch import Tensor

from ... import tuning
from ...matmul.packed import PANEL, product_task, with_odd_stride
from ...runtime.loader import CompiledModule
from ...runtime.task import Task
from .. import direct
from ..clamp import Clamp, limits
from ..problem import Problem, Way
from .tasks import Take

_code = CompiledModule("conv.winograd.f2x2_kernels")
_WEIGHT = torch.tensor([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], dtype=torch.float64)


def _applies(problem: Problem) -> int:
    filters, channels, *window = problem.weight
    if window != [3, 3] or not (problem.is_plain and problem.is_float32) or {*problem.stride, *problem.pad} != {1}:
        return 0
    if channels % 8 or filters % PANEL or min(filters, channels) < tuning.WINOGRAD_F2X2_CHANNELS:
        return 0
    down, right = _tiles(problem.data[2:])
    return problem.work if problem.data[0] * down * right >= tuning.WINOGRAD_F2X2_TILES else 0


def _tiles(sizes: Any) -> list[int]:
    """How many tiles cover rows and columns."""
    return [-(-size // 2) for size in sizes]


class PackedWeights:
    """A constant 3 x 3 weight as 16 matrices in panels of 16 filters; the padding is one."""

    adds = True

    def __init__(self, weight: Tensor, bias: Tensor | None, geometry: Any, clamp: Clamp) -> None:
        self.filters, channels = weight.shape[:2]
        exact = torch.mm(torch.kron(_WEIGHT, _WEIGHT), weight.detach().double().reshape(-1, 9).t())
        rows = exact.to(weight.dtype).view(16, self.filters // PANEL, PANEL, channels)
        self.matrices = rows.transpose(2, 3).contiguous()
        self.bias = weight.new_zeros(self.filters) if bias is None else bias
        self.clamp = clamp

    def shape(self, data: Tensor) -> tuple[int, ...]:
        """The result's."""
        return data.shape[0], self.filters, *data.shape[2:]

    def tasks(self, data: Tensor, result: Tensor, addend: Tensor | None, take: Take) -> list[Task]:
        """The convolution, plus `addend`, clamped; tensors are channels-last, buffers come from `take`."""
        (batch, channels, height, width), filters, kernels = data.shape, self.filters, _code.get(wait=True)
        down, right = _tiles((height, width))
        count = batch * down * right
        inputs, outputs = (with_odd_stride(take, i, 16, count, size) for i, size in enumerate((channels, filters)))
        padded = take(2, batch, 2 * down + 2, 2 * right + 2, channels)
        source = padded.data_ptr(), down, right, channels, inputs.data_ptr(), inputs.stride(0) * inputs.itemsize
        zeros = data.new_zeros(filters)
        target = result.data_ptr(), 0 if addend is None else addend.data_ptr(), height, width, filters, down, right
        tiles = outputs.data_ptr(), outputs.stride(0) * outputs.itemsize
        given = (*tiles, *target, self.bias.data_ptr(), zeros.data_ptr(), *limits(self.clamp))
        span, held = (0, count), (outputs, self.bias, zeros, addend, result)
        most = [t.numel() // tuning.CHANNELS_LAST_PER_THREAD for t in (inputs, outputs)]
        return [
            direct.pad_task(data.permute(0, 2, 3, 1), padded, (1, 1)),
            Task(kernels.input_transform, source, span, most[0], held=(padded, inputs)),
            product_task(inputs, self.matrices, outputs),
            Task(kernels.output_transform, given, span, most[1], scratch=filters, held=held),
        ]


PACKED = Way(
    "conv.packed_winograd_f2x2",
    "3x3 windows of stride 1 and a constant weight, with too few tiles for Winograd's F(4x4, 3x3)",
    _applies,
    lambda problem: PackedWeights,
    _code,
)
