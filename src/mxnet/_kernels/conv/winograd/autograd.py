"""Recorded convolutions by Winograd's tiles (see winograd), whatever memory order their inputs have."""

from typing import Any

import torch

from ...elementwise.transpose import contiguous_copy
from ...norm.fused_norm import keep, kept
from ..weight_gradient import plain_gradients
from . import f4x4 as winograd
from .f4x4 import Tiling

LAST = torch.channels_last
ONCE = (1, 1)


class _Tiled(torch.autograd.Function):
    """Results and the data's gradient are in the usual order, or channels-last."""

    @staticmethod
    def forward(ctx: Any, data, weight, bias, tiling, usual):
        keep(ctx, data, weight)
        ctx.tiling, ctx.usual = tiling, usual
        result = winograd.convolve_with(_last(data), weight, bias, tiling)
        return contiguous_copy(result) if usual else result

    @staticmethod
    def backward(ctx: Any, *heads):
        data, weight = kept(ctx)
        data_too, weight_too, bias_too = wanted = ctx.needs_input_grad[:3]
        head, before = _last(heads[0]), ctx.tiling.before
        if torch.is_grad_enabled():  # the gradient is recorded itself: only what came in is part of the graph
            return *plain_gradients(head, data, weight, (ONCE, (before, before), ONCE), 1, wanted), None, None
        by_data, by_weight = winograd.gradients(_last(data), head, weight, data_too, weight_too, ctx.tiling)
        if by_data is not None and ctx.usual:
            by_data = contiguous_copy(by_data)
        return by_data, by_weight, head.sum((0, 2, 3)) if bias_too else None, None, None


def _last(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_contiguous(memory_format=LAST):
        return tensor
    return contiguous_copy(tensor.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def tiling_of(data: torch.Tensor, weight: torch.Tensor, stride, pad, dilate) -> Tiling | None:
    """The tiles by which this convolution, of one group, is faster; None: there are none."""
    tall, wide = weight.shape[2:]
    if tall != wide or any(step != 1 for step in (*stride, *dilate)):
        return None
    above, beside = pad or (0, 0)
    tiling = Tiling(tall, above)
    return tiling if above == beside < tall and winograd.pays(data, weight, tiling=tiling) else None


def tiled(data: torch.Tensor, weight: torch.Tensor, bias, tiling: Tiling, usual: bool) -> torch.Tensor:
    """The convolution; its result in the `usual` order, or channels-last."""
    return _Tiled.apply(data, weight, bias, tiling, usual)
