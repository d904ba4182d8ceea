"""Convolution for training in channels-last memory order, whatever order its inputs have.

The weight is brought into that order at each call, and its gradient leaves in the usual one: parameters, gradients and
the optimizer's states stay as MXNet's files and views have them.
"""

import torch

from .convolution import convolution
from .normed import keep, kept
from .tiled import tiled, tiling_of
from .weight_gradient import applies, plain_gradients, weight_gradient

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


def ordered_convolution(data, weight, bias=None, **attrs):
    """The operator Convolution; in channels-last order where that is the fast one."""
    if not suits(data, weight, attrs):
        return convolution(data, weight, bias, **attrs)
    geometry = (attrs.get("stride") or (1, 1), attrs.get("pad") or (0, 0), attrs.get("dilate") or (1, 1))
    if weight.shape[0] != attrs["num_filter"] or tuple(weight.shape[2:]) != tuple(attrs["kernel"]):
        return convolution(data, weight, bias, **attrs)  # which says what is wrong
    groups = attrs.get("num_group", 1)
    tiling = tiling_of(data, weight, *geometry) if groups == 1 else None
    if tiling is not None:
        return tiled(data, weight, bias, tiling, usual=False)
    return _Ordered.apply(data, weight, bias, geometry, groups)


def last_convolution(data, weight, bias=None, **attrs):
    """The operator Convolution on data and weight in channels-last order, for code that is compiled."""
    if suits(data, weight, attrs):
        data, weight = data.contiguous(memory_format=LAST), weight.contiguous(memory_format=LAST)
    return convolution(data, weight, bias, **attrs)


def suits(data, weight, attrs):
    """Two space axes, channels first by name, single precision, on the CPU?"""
    if data.dim() != 4 or weight.dim() != 4 or attrs.get("layout") not in (None, "NCHW"):
        return False
    return data.dtype is torch.float32 and data.device.type == "cpu"
