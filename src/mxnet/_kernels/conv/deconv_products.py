"""Deconvolutions that are faster as matrix products than with oneDNN, which pads blocks of filters with zeros.

An image of a single pixel gives one window, so the whole deconvolution is one matrix product. With up to four filters,
as in the last layer of a generator, most of a block would be padding: a matrix product followed by col2im takes a fifth
to a half of the time. In inference, windows that do not overlap need no sums.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import tuning
from ..elementwise import transpose
from ..runtime.autograd import with_gradient
from .problem import Problem, Way

_COL2IM = frozenset([torch.float32, torch.float64])  # dtypes of torch's fold


def _work(problem: Problem) -> int:
    return problem.work if problem.groups == 1 else 0


def _is_unpadded(problem: Problem) -> bool:
    return not any((*problem.pad, *problem.adj)) and set(problem.dilate) <= {1}


def _one_pixel_applies(problem: Problem) -> int:
    return _work(problem) if _is_unpadded(problem) and max(problem.data[2:]) == 1 else 0


def _side_by_side_applies(problem: Problem) -> int:
    """Gradients of windows side by side are not faster in another order."""
    apart = tuple(problem.stride) == tuple(problem.weight[2:])
    return _work(problem) if _is_unpadded(problem) and apart and not problem.recorded else 0


def _few_filters_applies(problem: Problem) -> int:
    if len(problem.data) != 4 or problem.weight[1] > tuning.DECONV_FILTERS or problem.dtype not in _COL2IM:
        return 0
    below = all(a < b for a, b in zip(problem.adj, problem.stride, strict=True))
    return _work(problem) if below else 0


def _one_pixel(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    result = (data.flatten(1) @ weight.flatten(1)).unflatten(1, weight.shape[1:])
    return result if bias is None else result + bias.reshape(-1, *[1] * (weight.dim() - 2))


def _columns(data: Tensor, weight: Tensor) -> Tensor:
    """One product for each image; `matmul` would copy the images into one matrix and copy the result back."""
    return torch.bmm(weight.flatten(1).t().expand(len(data), -1, -1), data.flatten(2))


def _side_by_side(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """One product, then the pixels are rearranged."""
    (batch, _, *sizes), kernel = data.shape, weight.shape[2:]
    product = _columns(data, weight)
    if bias is not None:
        product += bias.repeat_interleave(kernel.numel()).unsqueeze(1)
    order = [axis for i in range(2, 2 + len(sizes)) for axis in (i + len(sizes), i)]
    pixels = product.view(batch, -1, *kernel, *sizes).permute(0, 1, *order)
    return pixels.reshape(batch, -1, *(n * k for n, k in zip(sizes, kernel, strict=True)))


def _few_filters(problem: Problem) -> Any:
    kernel, stride, pad, adj, dilate = problem.weight[2:], problem.stride, problem.pad, problem.adj, problem.dilate
    axes = zip(problem.data[2:], kernel, stride, pad, adj, dilate, strict=True)
    size = tuple((n - 1) * s - 2 * p + d * (k - 1) + 1 + a for n, k, s, p, a, d in axes)

    def forward(data: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        result = F.fold(_columns(data, weight), size, tuple(kernel), dilate, pad, stride)
        return result if bias is None else result.add_(bias[:, None, None])

    return _with_torch_gradients(forward, problem)


def _channels_last_applies(problem: Problem) -> int:
    """Not with few channels, which fill a small part of a vector, nor for small images, whose weight takes longest."""
    if problem.dtype is not torch.float32 or len(problem.data) != 4 or problem.groups != 1:
        return 0
    channels, pixels = min(problem.weight[:2]), math.prod(problem.data[2:])
    enough = channels >= tuning.DECONV_LAST_CHANNELS and pixels >= tuning.DECONV_LAST_PIXELS
    return problem.work if enough and problem.work >= tuning.DECONV_LAST_WORK else 0


def _channels_last(problem: Problem) -> Any:
    geometry = problem.stride, problem.pad, problem.adj, 1, problem.dilate

    def forward(data: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        if not data.is_contiguous():
            return torch.conv_transpose2d(data, weight, bias, *geometry)
        last = transpose.contiguous_copy(data.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return transpose.contiguous_copy(torch.conv_transpose2d(last, weight, bias, *geometry))

    return _with_torch_gradients(forward, problem)


def _with_torch_gradients(forward: Callable[..., Tensor], problem: Problem) -> Any:
    geometry = problem.stride, problem.pad, problem.dilate, True, problem.adj, 1

    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        data, weight, *bias = inputs
        wanted = [t.requires_grad for t in inputs] + [False] * (2 - len(bias))
        sizes = [len(bias[0])] if bias else None
        given = heads[0], data, weight, sizes, *geometry
        return torch.ops.aten.convolution_backward(*given, wanted[:3])[: len(inputs)]

    def compute(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return with_gradient(forward, backward, data, weight, *([] if bias is None else [bias]))

    return compute


ONE_PIXEL = Way(
    "conv.deconv_one_pixel", "images of one pixel: one matrix product", _one_pixel_applies, lambda problem: _one_pixel
)
SIDE_BY_SIDE = Way(
    "conv.deconv_side_by_side",
    "windows that do not overlap, without gradients: one matrix product",
    _side_by_side_applies,
    lambda problem: _side_by_side,
)
FEW_FILTERS = Way(
    "conv.deconv_few_filters", "up to four filters: matrix products and col2im", _few_filters_applies, _few_filters
)
CHANNELS_LAST = Way(
    "conv.deconv_channels_last",
    "two spatial axes, single precision: torch, channels-last",
    _channels_last_applies,
    _channels_last,
    transpose.code,
)
