"""Convolution for training in channels-last memory order, whatever order its inputs have.

The weight is brought into that order at each call, and its gradient leaves in the usual one: parameters, gradients and
the optimizer's states stay as MXNet's files and views have them.
"""

import torch

from ..matmul import gemm
from ..norm.fused_norm import keep, kept
from .weight_gradient import applies, plain_gradients, weight_gradient
from .winograd.autograd import tiled, tiling_of

LAST = torch.channels_last


class _Ordered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, data, weight, bias, geometry, groups):
        last = data.contiguous(memory_format=LAST), weight.contiguous(memory_format=LAST)
        keep(ctx, data, weight, last[1])
        ctx.geometry, ctx.groups = geometry, groups
        return torch.conv2d(*last, bias, *geometry, groups)

    @staticmethod
    def backward(ctx, *heads):
        again = torch.is_grad_enabled()  # the gradient is recorded itself: only what came in is part of the graph
        data, weight, last = kept(ctx)
        if not again:
            data, weight = data.contiguous(memory_format=LAST), last
        data_too, weight_too, bias_too = ctx.needs_input_grad[:3]
        head = heads[0].contiguous(memory_format=LAST)
        own = weight_too and not again and applies(data, weight, ctx.geometry)
        data_grad = weight_grad = bias_grad = None
        if data_too or bias_too or not own:
            wanted = [data_too, weight_too and not own, bias_too]
            data_grad, weight_grad, bias_grad = plain_gradients(head, data, weight, ctx.geometry, ctx.groups, wanted)
        if own:
            weight_grad = weight_gradient(data, head)
        elif weight_grad is not None:
            weight_grad = weight_grad.contiguous()
        return data_grad, weight_grad, bias_grad, None, None


class _Pixelwise(torch.autograd.Function):
    """A convolution whose windows are pixels, `steps` apart: a product of matrices, with a row for each pixel."""

    @staticmethod
    def forward(ctx, data, weight, bias, steps):
        keep(ctx, data, weight)
        ctx.steps, taken = steps, _taken(data, steps)
        batch, _, *sizes = taken.shape
        result = torch.empty((batch, len(weight), *sizes), memory_format=LAST)
        gemm.affine(_pixels(taken), weight.flatten(1), bias, _pixels(result))
        return result

    @staticmethod
    def backward(ctx, *heads):
        data, weight = kept(ctx)
        data_too, weight_too, bias_too = wanted = ctx.needs_input_grad[:3]
        if torch.is_grad_enabled():  # the gradient is recorded itself: only what came in is part of the graph
            return *plain_gradients(heads[0], data, weight, (ctx.steps, *UNPADDED), 1, wanted), None
        head, matrix, by_data, by_weight = _pixels(heads[0]), weight.flatten(1), None, None
        if data_too:
            batch, _, *sizes = heads[0].shape
            by_data = gemm.product(head, matrix).view(batch, *sizes, -1).permute(0, 3, 1, 2)
            if ctx.steps != ONE_BY_ONE:
                _taken(whole := torch.zeros_like(data, memory_format=LAST), ctx.steps).copy_(by_data)
                by_data = whole
        if weight_too:
            by_weight = gemm.product(head.t(), _pixels(_taken(data, ctx.steps))).view_as(weight)
        return by_data, by_weight, head.sum(0) if bias_too else None, None


def _taken(images, steps):
    """The pixels that windows of one pixel meet."""
    return images if steps == ONE_BY_ONE else images[:, :, :: steps[0], :: steps[1]]


def _pixels(images):
    """(image, channel, row, column) as rows of channels."""
    return images.contiguous(memory_format=LAST).permute(0, 2, 3, 1).flatten(0, 2)


ONE_BY_ONE = (1, 1)
UNPADDED = ((0, 0), (1, 1))  # and not dilated


def convolve(data, weight, bias, attrs):
    """A convolution for training in channels-last order by the operator's attributes; None: it does not apply."""
    if not applies_to(data, weight, attrs):
        return None
    if weight.shape[0] != attrs["num_filter"] or tuple(weight.shape[2:]) != tuple(attrs["kernel"]):
        return None  # the operator says what is wrong
    geometry = (attrs.get("stride") or (1, 1), attrs.get("pad") or (0, 0), attrs.get("dilate") or (1, 1))
    groups = attrs.get("num_group", 1)
    tiling = tiling_of(data, weight, *geometry) if groups == 1 else None
    if tiling is not None:
        return tiled(data, weight, bias, tiling, usual=False)
    if geometry[1:] == UNPADDED and groups == 1 and tuple(weight.shape[2:]) == (1, 1):
        steps = geometry[0]
        if weight.shape[1] == data.shape[1] and gemm.gains(_taken(data[:, :1], steps).numel(), weight):
            return _Pixelwise.apply(data, weight, bias, steps)
    return _Ordered.apply(data, weight, bias, geometry, groups)


def applies_to(data, weight, attrs):
    """Two space axes, layout NCHW, single precision, on the CPU?"""
    if data.dim() != 4 or weight.dim() != 4 or attrs.get("layout") not in (None, "NCHW"):
        return False
    return data.dtype is torch.float32 and data.device.type == "cpu"
