"""Recorded convolutions by Winograd tiles, by compiled kernels or torch's matrix products, of any memory format."""

from typing import Any

import torch
from torch import Tensor

from ...elementwise.transpose import contiguous_copy
from ...norm.fused_norm import save_or_recompute, saved
from ..torch_gradients import torch_gradients
from . import f4x4, torch_products
from .tiling import Tiling

ONES = (1, 1)


class Winograd(torch.autograd.Function):
    """The result and the data's gradient are NCHW in memory, or channels-last."""

    @staticmethod
    def forward(ctx: Any, data, weight, bias, tiling: Tiling, nchw: bool, compiled: bool):
        save_or_recompute(ctx, data, weight)
        ctx.tiling, ctx.nchw, ctx.compiled = tiling, nchw, compiled
        result = (f4x4.convolve if compiled else _convolve)(_channels_last(data), weight, bias, tiling)
        return contiguous_copy(result) if nchw else result

    @staticmethod
    def backward(ctx: Any, *heads):
        data, weight = saved(ctx)
        wanted, head, pad = ctx.needs_input_grad[:3], _channels_last(heads[0]), ctx.tiling.pad
        if torch.is_grad_enabled():  # create_graph: only the inputs are part of the graph
            return *torch_gradients(head, data, weight, (ONES, (pad, pad), ONES), 1, wanted), None, None, None
        if ctx.compiled:
            by_data, by_weight = f4x4.gradients(_channels_last(data), head, weight, wanted, ctx.tiling)
        else:
            by_data, by_weight = torch_products.gradients(_channels_last(data), head, weight, wanted)
        if by_data is not None and ctx.nchw:
            by_data = contiguous_copy(by_data)
        return by_data, by_weight, head.sum((0, 2, 3)) if wanted[2] else None, None, None, None


def _convolve(data: Tensor, weight: Tensor, bias: Tensor | None, tiling: Tiling) -> Tensor:
    filters, channels = weight.shape[:2]
    torch_products.weight_transform(weight.contiguous(), matrices := weight.new_empty(36, filters, channels))
    result = torch.empty((len(data), filters, *data.shape[2:]), memory_format=torch.channels_last)
    torch_products.convolve(data, matrices, bias, None, (None, None), result)
    return result


def _channels_last(tensor: Tensor) -> Tensor:
    if tensor.is_contiguous(memory_format=torch.channels_last):
        return tensor
    return contiguous_copy(tensor.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
