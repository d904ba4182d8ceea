"""The convolutions of rewritten graphs: in channels-last memory format, for training and for compilers."""

import torch

from ..._kernels.conv.choose import conv2d
from ..._kernels.conv.problem import TRAINING
from ..._ops.nn.convolution import convolution

LAST = torch.channels_last


def channels_last_convolution(data, weight, bias=None, **attrs):
    """The operator Convolution; in channels-last format where that is faster."""
    known = data.dim() == 4 == weight.dim() and attrs.get("layout") in (None, "NCHW")
    if known and (weight.shape[0], weight.shape[2:]) == (attrs["num_filter"], attrs["kernel"]):  # else it is an error
        geometry = attrs.get("stride", ()), attrs.get("pad", ()), attrs.get("dilate", ()), attrs.get("num_group", 1)
        result = conv2d(data, weight, bias, *geometry, TRAINING)
        if result is not None:
            return result
    return convolution(data, weight, bias, **attrs)


def compilable_convolution(data, weight, bias=None, **attrs):
    """The operator Convolution on data and weight in channels-last format, for code that is compiled."""
    known = data.dim() == 4 == weight.dim() and attrs.get("layout") in (None, "NCHW")
    if known and data.dtype is torch.float32 and data.device.type == "cpu":
        data, weight = data.contiguous(memory_format=LAST), weight.contiguous(memory_format=LAST)
    return convolution(data, weight, bias, **attrs)
