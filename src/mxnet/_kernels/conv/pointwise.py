"""Convolutions of 1 x 1 windows in training graphs: matrix products with a row for each pixel, channels-last."""

from typing import Any

import torch
from torch import Tensor

from ..matmul import gemm
from ..norm.fused_norm import save_or_recompute, saved
from .problem import Problem, Way
from .torch_gradients import torch_gradients

LAST = torch.channels_last
ONES, ZEROS = (1, 1), (0, 0)


class Pointwise(torch.autograd.Function):
    """Of every pixel, or of pixels `stride` apart."""

    @staticmethod
    def forward(ctx: Any, data, weight, bias, stride):
        save_or_recompute(ctx, data, weight)
        ctx.stride, read = stride, _strided(data, stride)
        batch, _, *sizes = read.shape
        result = torch.empty((batch, len(weight), *sizes), memory_format=LAST)
        gemm.affine(_pixels(read), weight.flatten(1), bias, _pixels(result))
        return result

    @staticmethod
    def backward(ctx: Any, *heads):
        data, weight = saved(ctx)
        wanted = ctx.needs_input_grad[:3]
        if torch.is_grad_enabled():  # create_graph: only the inputs are part of the graph
            return *torch_gradients(heads[0], data, weight, (ctx.stride, ZEROS, ONES), 1, wanted), None
        head, matrix, by_data, by_weight = _pixels(heads[0]), weight.flatten(1), None, None
        if wanted[0]:
            batch, _, *sizes = heads[0].shape
            by_data = gemm.product(head, matrix).view(batch, *sizes, -1).permute(0, 3, 1, 2)
            if ctx.stride != ONES:
                _strided(full := torch.zeros_like(data, memory_format=LAST), ctx.stride).copy_(by_data)
                by_data = full
        if wanted[1]:
            by_weight = gemm.product(head.t(), _pixels(_strided(data, ctx.stride))).view_as(weight)
        return by_data, by_weight, head.sum(0) if wanted[2] else None, None


def _strided(images: Tensor, stride: Any) -> Tensor:
    """The pixels that windows of one pixel read."""
    return images if stride == ONES else images[:, :, :: stride[0], :: stride[1]]


def _pixels(images: Tensor) -> Tensor:
    """NCHW images as rows of channels."""
    return images.contiguous(memory_format=LAST).permute(0, 2, 3, 1).flatten(0, 2)


def _applies(problem: Problem) -> int:
    filters, channels, *window = problem.weight
    if window != [1, 1] or any(problem.pad) or not (problem.is_plain and problem.is_float32):
        return 0
    down, right = problem.output
    pixels = problem.data[0] * down * right
    return 3 * gemm.layer_work(pixels, channels, filters)  # the product, and those of two gradients


def _make(problem: Problem) -> Any:
    return lambda data, weight, bias: Pointwise.apply(data, weight, bias, problem.stride)


WAY = Way("conv.pointwise", "a 1x1 window, as matrix products of our own", _applies, _make, gemm.code)
