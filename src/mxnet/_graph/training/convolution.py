"""The convolutions of rewritten graphs: in channels-last memory order, for training and for compilers."""

import torch

from ..._kernels.conv import channels_last
from ..._ops.nn.convolution import convolution

LAST = torch.channels_last


def channels_last_convolution(data, weight, bias=None, **attrs):
    """The operator Convolution; in channels-last order where that is faster."""
    result = channels_last.convolve(data, weight, bias, attrs)
    return convolution(data, weight, bias, **attrs) if result is None else result


def compilable_convolution(data, weight, bias=None, **attrs):
    """The operator Convolution on data and weight in channels-last order, for code that is compiled."""
    if channels_last.applies_to(data, weight, attrs):
        data, weight = data.contiguous(memory_format=LAST), weight.contiguous(memory_format=LAST)
    return convolution(data, weight, bias, **attrs)
