"""Recorded NCHW convolutions with one channel, or with channels that do not fill whole blocks, by torch's own calls.

oneDNN computes in blocks of eight channels, or more. The weight gradient of a single channel is faster as a matrix
product; where the numbers of channels leave blocks unfilled (20 and 50, as in LeNet), the channels-last memory format
is faster, including the conversions. Results and gradients are NCHW.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import tuning
from .problem import Problem, Way
from .torch_gradients import torch_gradients

ONES = (1, 1)


def _channels_last(tensor: Tensor) -> Tensor:
    return tensor.contiguous(memory_format=torch.channels_last)


class OneChannel(torch.autograd.Function):
    """The weight's gradient is a product with the im2col matrix."""

    @staticmethod
    def forward(ctx: Any, data, weight, bias, stride, pad):
        ctx.save_for_backward(data, weight)
        ctx.geometry = stride, pad, ONES
        return torch.conv2d(data, weight, bias, stride, pad)

    @staticmethod
    def backward(ctx: Any, *heads):
        (data, weight), (head,), wanted = ctx.saved_tensors, heads, ctx.needs_input_grad[:3]
        if torch.is_grad_enabled():  # create_graph
            return *torch_gradients(head, data, weight, ctx.geometry, 1, wanted), None, None
        by_data = by_weight = None
        if wanted[0]:
            by_data = torch_gradients(head, data, weight, ctx.geometry, 1, [True, False, False])[0]
        if wanted[1]:
            by_weight = _weight_gradient(data, head.contiguous(), weight.shape, *ctx.geometry[:2])
        return by_data, by_weight, head.sum((0, 2, 3)) if wanted[2] else None, None, None


class OddChannels(torch.autograd.Function):
    """Computed in the channels-last memory format."""

    @staticmethod
    def forward(ctx: Any, data, weight, bias, stride, pad):
        ctx.save_for_backward(data, weight)
        ctx.geometry = stride, pad, ONES
        return torch.conv2d(_channels_last(data), _channels_last(weight), bias, stride, pad).contiguous()

    @staticmethod
    def backward(ctx: Any, *heads):
        tensors, wanted = (heads[0], *ctx.saved_tensors), ctx.needs_input_grad[:3]
        if torch.is_grad_enabled():  # create_graph
            return *torch_gradients(*tensors, ctx.geometry, 1, wanted), None, None
        grads = torch_gradients(*map(_channels_last, tensors), ctx.geometry, 1, wanted)
        return *[g if g is None else g.contiguous() for g in grads], None, None


def _weight_gradient(data: Tensor, head: Tensor, shape, stride, pad) -> Tensor:
    """For each image the head times the im2col matrix, which is made for some images at a time."""
    if any(pad):
        data = F.pad(data, (pad[1], pad[1], pad[0], pad[0]))
    filters, _, tall, wide = shape
    rows, columns = head.shape[2:]
    image, _, line, step = data.stride()
    strides = (image, line, step, line * stride[0], step * stride[1])
    number = max(1, tuning.CONV_PATCHES // (tall * wide * rows * columns))
    total = head.new_zeros(filters, tall * wide)
    for some, heads in zip(data.split(number), head.flatten(2).split(number), strict=True):
        patches = some.as_strided((len(some), tall, wide, rows, columns), strides, some.storage_offset())
        matrix = patches.reshape(len(some), tall * wide, rows * columns)
        total += torch.bmm(heads, matrix.transpose(1, 2)).sum(0)
    return total.view(shape)


def _work(problem: Problem) -> int:
    """The work of what torch can compute in another memory format, and large enough."""
    floats = problem.dtype is torch.float32 is problem.weight_dtype and len(problem.data) == 4
    if not floats or not problem.is_plain or problem.data[1] != problem.weight[1] or min(problem.output) < 1:
        return 0
    return problem.work if problem.work >= tuning.CONV_WORK else 0


def _one_channel_applies(problem: Problem) -> int:
    return _work(problem) if problem.data[1] == 1 else 0


def _odd_channels_applies(problem: Problem) -> int:
    (filters, channels), block = problem.weight[:2], tuning.CONV_BLOCK
    return _work(problem) if channels >= 2 * block and (channels % block or filters % block) else 0


def _run(function: Any) -> Any:
    def make(problem: Problem) -> Any:
        geometry = problem.stride, problem.pad
        return lambda data, weight, bias: function.apply(data, weight, bias, *geometry)

    return make


ONE_CHANNEL = Way(
    "conv.nchw_one_channel",
    "a single channel: the weight gradient is a matrix product",
    _one_channel_applies,
    _run(OneChannel),
)
ODD_CHANNELS = Way(
    "conv.nchw_odd_channels",
    "channels or filters that are no multiple of oneDNN's blocks: channels-last and back",
    _odd_channels_applies,
    _run(OddChannels),
)
