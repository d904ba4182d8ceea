"""torch's convolution in training graphs, computed in channels-last format for inputs of any memory format.

The weight is converted at each call, and its gradient is contiguous, so parameters, gradients and optimizer states keep
the memory layout of MXNet's files and views.
"""

from typing import Any

import torch
from torch import Tensor

from ..norm.fused_norm import save_or_recompute, saved
from .problem import Problem, Way
from .torch_gradients import torch_gradients

LAST = torch.channels_last


class ChannelsLast(torch.autograd.Function):
    """torch's convolution."""

    @staticmethod
    def forward(ctx: Any, data, weight, bias, geometry, groups):
        last = data.contiguous(memory_format=LAST), weight.contiguous(memory_format=LAST)
        save_or_recompute(ctx, data, weight, last[1])
        ctx.geometry, ctx.groups = geometry, groups
        return torch.conv2d(*last, bias, *geometry, groups)

    @staticmethod
    def backward(ctx: Any, *heads):
        recorded = torch.is_grad_enabled()  # create_graph: only the inputs are part of the graph
        data, weight, last = saved(ctx)
        if not recorded:
            data, weight = data.contiguous(memory_format=LAST), last
        wanted, head = ctx.needs_input_grad[:3], heads[0].contiguous(memory_format=LAST)
        grads = [*torch_gradients(head, data, weight, ctx.geometry, ctx.groups, wanted)]
        if wanted[1]:
            grads[1] = grads[1].contiguous()
        return *grads, None, None


def _applies(problem: Problem) -> int:
    return (
        max(1, problem.work) if problem.dtype is torch.float32 and len(problem.data) == 4 == len(problem.weight) else 0
    )


def _run(problem: Problem) -> Any:
    geometry, groups = (problem.stride, problem.pad, problem.dilate), problem.groups

    def compute(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return ChannelsLast.apply(data, weight, bias, geometry, groups)

    return compute


WAY = Way("conv.channels_last", "two spatial axes, single precision: torch, channels-last", _applies, _run)
