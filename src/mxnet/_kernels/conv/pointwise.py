"""Convolutions of 1 x 1 windows in training graphs: matrix products with a row for each pixel, channels-last."""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..matmul import gemm
from ..norm.fused_norm import save_or_recompute, saved
from .problem import Problem, Way
from .torch_gradients import torch_gradients

LAST = torch.channels_last
ONES, ZEROS = (1, 1), (0, 0)


def _torch_affine(rows: Tensor, weight: Tensor, bias: Tensor | None, result: Tensor) -> None:
    if bias is None:
        torch.mm(rows, weight.t(), out=result)
    else:
        torch.addmm(bias, rows, weight.t(), out=result)


class Products(NamedTuple):
    """Functions for matrix products: result = rows · weightᵀ + bias, and left · right."""

    affine: Callable[[Tensor, Tensor, Tensor | None, Tensor], None]
    product: Callable[[Tensor, Tensor], Tensor]


OURS, TORCHS = Products(gemm.affine, gemm.product), Products(_torch_affine, torch.mm)


class Pointwise(torch.autograd.Function):
    """Of every pixel, or of pixels `stride` apart."""

    @staticmethod
    def forward(ctx: Any, data, weight, bias, stride, products):
        save_or_recompute(ctx, data, weight)
        ctx.stride, ctx.product, read = stride, products.product, _strided(data, stride)
        batch, _, *sizes = read.shape
        result = torch.empty((batch, len(weight), *sizes), memory_format=LAST)
        products.affine(_pixels(read), weight.flatten(1), bias, _pixels(result))
        return result

    @staticmethod
    def backward(ctx: Any, *heads):
        data, weight = saved(ctx)
        wanted = ctx.needs_input_grad[:3]
        if torch.is_grad_enabled():  # create_graph: only the inputs are part of the graph
            return *torch_gradients(heads[0], data, weight, (ctx.stride, ZEROS, ONES), 1, wanted), None, None
        head, matrix, by_data, by_weight = _pixels(heads[0]), weight.flatten(1), None, None
        if wanted[0]:
            batch, _, *sizes = heads[0].shape
            by_data = ctx.product(head, matrix).view(batch, *sizes, -1).permute(0, 3, 1, 2)
            if ctx.stride != ONES:
                _strided(full := torch.zeros_like(data, memory_format=LAST), ctx.stride).copy_(by_data)
                by_data = full
        if wanted[1]:
            by_weight = ctx.product(head.t(), _pixels(_strided(data, ctx.stride))).view_as(weight)
        return by_data, by_weight, head.sum(0) if wanted[2] else None, None, None


def _strided(images: Tensor, stride: Any) -> Tensor:
    """The pixels that windows of one pixel read."""
    return images if stride == ONES else images[:, :, :: stride[0], :: stride[1]]


def _pixels(images: Tensor) -> Tensor:
    """NCHW images as rows of channels."""
    return images.contiguous(memory_format=LAST).permute(0, 2, 3, 1).flatten(0, 2)


def _is_pointwise(problem: Problem) -> bool:
    one = problem.weight[2:] == (1, 1) and not any(problem.pad)
    return one and problem.groups == 1 and problem.is_float32


def _applies(problem: Problem) -> int:
    if not _is_pointwise(problem):
        return 0
    filters, channels = problem.weight[:2]
    pixels = prod((problem.data[0], *problem.output))
    return 3 * gemm.layer_work(pixels, channels, filters)  # the product, and those of two gradients


def _torch_applies(problem: Problem) -> int:
    return max(1, problem.work) if _is_pointwise(problem) else 0


def _by(products: Products) -> Callable[[Problem], Any]:
    def make(problem: Problem) -> Any:
        return lambda data, weight, bias: Pointwise.apply(data, weight, bias, problem.stride, products)

    return make


WAY = Way("conv.pointwise", "a 1x1 window, as matrix products of our own", _applies, _by(OURS), gemm.code)
TORCH = Way("conv.pointwise_torch", "a 1x1 window, as matrix products by torch", _torch_applies, _by(TORCHS))
