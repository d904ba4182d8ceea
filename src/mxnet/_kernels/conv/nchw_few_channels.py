"""Recorded NCHW convolutions of one to four channels by compiled kernels (see nchw_kernels).

oneDNN reaches a quarter of the processor's peak for one channel and half of it for three; these two thirds or more.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import tuning
from ..runtime.loader import CompiledModule
from ..runtime.task import Task
from .problem import Problem, Way
from .torch_gradients import torch_gradients

LANES = 8  # results that a kernel computes side by side
ONES = (1, 1)

_code = CompiledModule("conv.nchw_kernels")


class FewChannels(torch.autograd.Function):
    """Windows of stride one."""

    @staticmethod
    def forward(ctx: Any, data, weight, bias, pad):
        ctx.save_for_backward(data, weight)
        ctx.pad = pad
        images, bias = _padded(data, pad), weight.new_zeros(len(weight)) if bias is None else bias.contiguous()
        weight = weight.contiguous()
        batch, channels, height, width = images.shape
        filters, _, tall, wide = weight.shape
        result = data.new_empty(batch, filters, height - tall + 1, width - wide + 1)
        arguments = (weight.data_ptr(), tall, wide, bias.data_ptr(), result.data_ptr(), filters)
        _run("convolve", (images.data_ptr(), channels, height, width, *arguments), batch, 1, result, weight)
        return result

    @staticmethod
    def backward(ctx: Any, *heads):
        (data, weight), head, wanted = ctx.saved_tensors, heads[0], ctx.needs_input_grad[:3]
        geometry = ONES, ctx.pad, ONES
        if torch.is_grad_enabled():  # create_graph
            return *torch_gradients(head, data, weight, geometry, 1, wanted), None
        by_data = by_weight = None
        if wanted[0]:
            by_data = torch_gradients(head, data, weight, geometry, 1, [True, False, False])[0]
        if wanted[1]:
            by_weight = _weight_gradient(_padded(data, ctx.pad), head.contiguous(), weight)
        return by_data, by_weight, head.sum((0, 2, 3)) if wanted[2] else None, None


def _padded(data: Tensor, pad) -> Tensor:
    return F.pad(data, (pad[1], pad[1], pad[0], pad[0])) if any(pad) else data


def _weight_gradient(images: Tensor, head: Tensor, weight: Tensor) -> Tensor:
    """Sums of vectors, one for each element of the weight."""
    batch, channels, height, width = images.shape
    filters, _, tall, wide = weight.shape
    totals = weight.new_zeros(*weight.shape, LANES)
    arguments = (head.data_ptr(), tall, wide, totals.data_ptr(), filters, batch)
    _run("weight_gradient", (images.data_ptr(), channels, height, width, *arguments), filters, 2, head, weight)
    return totals.sum(-1)


def _run(name: str, arguments, count: int, unit: int, results: Tensor, weight: Tensor) -> None:
    most = results.numel() * weight[0].numel() // tuning.MULTIPLICATIONS_PER_THREAD
    Task(getattr(_code.get(wait=True), name), arguments, (0, count), most, unit).run()


def _applies(problem: Problem) -> int:
    channels, tall, wide = problem.weight[1:]
    if not (problem.is_float32 and problem.is_plain and set(problem.stride) == {1}):
        return 0
    if channels > tuning.CONV_FEW_CHANNELS or max(tall, wide) > tuning.CONV_FEW_CHANNELS_WINDOW:
        return 0
    fits = min(problem.output) > 0 and problem.output[1] >= LANES
    return problem.work if fits and problem.work >= tuning.CONV_COMPILED_WORK else 0


def _make(problem: Problem) -> Any:
    return lambda data, weight, bias: FewChannels.apply(data, weight, bias, problem.pad)


WAY = Way("conv.nchw_few_channels", "up to four channels, windows up to 5x5 of stride 1", _applies, _make, _code)
