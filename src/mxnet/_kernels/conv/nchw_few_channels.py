"""Recorded convolutions of one to four channels by compiled kernels (see few_kernels), in the usual memory order.

oneDNN reaches a quarter of the processor's pace for one channel and half of it for three; here are two thirds or more.
"""

from typing import Any

import torch
import torch.nn.functional as F

from ..matmul.packed import WORTH_A_THREAD
from ..runtime.loader import CompiledModule
from ..runtime.task import Task
from .weight_gradient import plain_gradients

MOST_CHANNELS, LARGEST_WINDOW, LANES = 4, 5, 8
ONCE = (1, 1)

_code = CompiledModule("conv.nchw_kernels")


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data, weight, bias, pad):
        ctx.save_for_backward(data, weight)
        ctx.pad = pad
        images, bias = _padded(data, pad), weight.new_zeros(len(weight)) if bias is None else bias.contiguous()
        weight = weight.contiguous()
        batch, channels, height, width = images.shape
        filters, _, tall, wide = weight.shape
        result = data.new_empty(batch, filters, height - tall + 1, width - wide + 1)
        places = (weight.data_ptr(), tall, wide, bias.data_ptr(), result.data_ptr(), filters)
        _run("convolved", (images.data_ptr(), channels, height, width, *places), batch, 1, result, weight)
        return result

    @staticmethod
    def backward(ctx: Any, *heads):
        data, weight = ctx.saved_tensors
        wanted, head, geometry = list(ctx.needs_input_grad[:3]), heads[0], (ONCE, ctx.pad, ONCE)
        if torch.is_grad_enabled():  # the gradient is recorded itself
            return *plain_gradients(head, data, weight, geometry, 1, wanted), None
        by_data = by_weight = None
        if wanted[0]:
            by_data = plain_gradients(head, data, weight, geometry, 1, [True, False, False])[0]
        if wanted[1]:
            by_weight = _weight_gradient(_padded(data, ctx.pad), head.contiguous(), weight)
        return by_data, by_weight, head.sum((0, 2, 3)) if wanted[2] else None, None


def _padded(data: torch.Tensor, pad) -> torch.Tensor:
    return F.pad(data, (pad[1], pad[1], pad[0], pad[0])) if any(pad) else data


def _weight_gradient(images: torch.Tensor, head: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Sums of vectors, one for each element of the weight."""
    batch, channels, height, width = images.shape
    filters, _, tall, wide = weight.shape
    totals = weight.new_zeros(*weight.shape, LANES)
    places = (head.data_ptr(), tall, wide, totals.data_ptr(), filters, batch)
    _run("weight_gradient", (images.data_ptr(), channels, height, width, *places), filters, 2, head, weight)
    return totals.sum(-1)


def _run(name: str, given, count: int, unit: int, results: torch.Tensor, weight: torch.Tensor) -> None:
    most = results.numel() * weight[0].numel() // WORTH_A_THREAD
    Task(getattr(_code.get(wait=True), name), given, (0, count), most, unit).run()


def suits(data: torch.Tensor, weight: torch.Tensor, stride, pad) -> bool:
    """Is this a convolution for the kernels? They are waited for, so that two runs compute the same."""
    channels, tall, wide = weight.shape[1:]
    if channels > MOST_CHANNELS or data.shape[1] != channels or max(tall, wide) > LARGEST_WINDOW:
        return False
    above, beside = pad or (0, 0)
    room = data.shape[2] + 2 * above >= tall and data.shape[3] + 2 * beside >= wide + LANES - 1
    return room and all(step == 1 for step in stride) and _code.get(wait=True) is not None


def rows(data: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, pad) -> torch.Tensor:
    """`torch.conv2d` for what suits."""
    return _Rows.apply(data, weight, bias, pad or (0, 0))
