"""Convolutions in training that oneDNN is slow at in the usual memory order: of one channel, or of odd numbers of them.

oneDNN computes in blocks of eight channels, or more. Compiled kernels are quicker for few of them (see few_rows), tiles
where there are many results (see tiled). Without these, the weight gradient of a single channel is quicker as a product
of matrices; where the numbers of channels leave blocks unfilled (20 and 50, as in LeNet), the channels-last order is
quicker, the copies into it and back included. Results and gradients are in the usual order.
"""

from typing import Any

import torch
import torch.nn.functional as F

from .nchw_few_channels import MOST_CHANNELS, rows, suits
from .weight_gradient import plain_gradients
from .winograd.autograd import tiled, tiling_of

LAST = torch.channels_last
BLOCK = 8
LEAST_WORK = 1 << 22  # multiplications below which the way through Python costs more than it saves
LEAST_COMPILED = 1 << 24  # below which nobody waits for code that is compiled
MOST_PATCHES = 1 << 22  # elements of the matrix of patches that are made at a time


class _Few(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data, weight, bias, stride, pad):
        ctx.save_for_backward(data, weight)
        ctx.geometry = stride, pad, (1, 1)
        if data.shape[1] == 1:
            return torch.conv2d(data, weight, bias, stride, pad)
        return torch.conv2d(_last(data), _last(weight), bias, stride, pad).contiguous()

    @staticmethod
    def backward(ctx: Any, *heads):
        data, weight = ctx.saved_tensors
        (head,), wanted = heads, list(ctx.needs_input_grad[:3])
        if torch.is_grad_enabled():  # the gradient is recorded itself
            return (*plain_gradients(head, data, weight, ctx.geometry, 1, wanted), None, None)
        if data.shape[1] > 1:
            grads = plain_gradients(_last(head), _last(data), _last(weight), ctx.geometry, 1, wanted)
            return (*[g if g is None else g.contiguous() for g in grads], None, None)
        data_grad = weight_grad = None
        if wanted[0]:
            data_grad = plain_gradients(head, data, weight, ctx.geometry, 1, [True, False, False])[0]
        if wanted[1]:
            weight_grad = _by_patches(data, head.contiguous(), weight.shape, *ctx.geometry[:2])
        return data_grad, weight_grad, head.sum((0, 2, 3)) if wanted[2] else None, None, None


def _last(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous(memory_format=LAST)


def _by_patches(data: torch.Tensor, head: torch.Tensor, shape, stride, pad) -> torch.Tensor:
    """The weight gradient: for each image the head times the matrix of patches, which is made for some at a time."""
    if any(pad):
        data = F.pad(data, (pad[1], pad[1], pad[0], pad[0]))
    filters, _, tall, wide = shape
    rows, columns = head.shape[2:]
    image, _, line, step = data.stride()
    steps = (image, line, step, line * stride[0], step * stride[1])
    number = max(1, MOST_PATCHES // (tall * wide * rows * columns))
    total = head.new_zeros(filters, tall * wide)
    for some, heads in zip(data.split(number), head.flatten(2).split(number), strict=True):
        patches = some.as_strided((len(some), tall, wide, rows, columns), steps, some.storage_offset())
        matrix = patches.reshape(len(some), tall * wide, rows * columns)
        total += torch.bmm(heads, matrix.transpose(1, 2)).sum(0)
    return total.view(shape)


def gains(data: torch.Tensor, weight: torch.Tensor, dilate, groups: int) -> bool:
    """May it be a convolution of this kind: is it recorded, and large enough?"""
    channels = data.shape[1]
    if groups != 1 or any(d != 1 for d in dilate) or not (0 < channels <= MOST_CHANNELS or channels >= 2 * BLOCK):
        return False
    known = data.__class__ is torch.Tensor and data.is_cpu and data.dtype is torch.float32 is weight.dtype
    if not known or not data.is_contiguous() or not (weight.requires_grad and torch.is_grad_enabled()):
        return False
    return _work(data, weight) >= LEAST_WORK and not torch.compiler.is_compiling()


def _work(data: torch.Tensor, weight: torch.Tensor) -> int:
    """How many multiplications, about."""
    return data.numel() * weight.numel() // data.shape[1]


def few_channels(data: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride, pad) -> torch.Tensor:
    """`torch.conv2d` for what may gain."""
    filters, channels = weight.shape[:2]
    known = bias is None or (bias.dtype is torch.float32 and bias.shape == (filters,))  # kernels know addresses only
    if known and _work(data, weight) >= LEAST_COMPILED:
        if suits(data, weight, stride, pad):
            return rows(data, weight, bias, pad)
        tiling = tiling_of(data, weight, stride, pad, ())
        if tiling is not None:
            return tiled(data, weight, bias, tiling, usual=True)
    if channels == 1 or (channels >= 2 * BLOCK and (channels % BLOCK or filters % BLOCK)):
        return _Few.apply(data, weight, bias, stride or (1, 1), pad or (0, 0))
    return torch.conv2d(data, weight, bias, stride or 1, pad or 0)
