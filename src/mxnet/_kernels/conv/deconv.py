"""Deconvolutions that are quicker as products of matrices than by oneDNN, which fills blocks of filters with zeros.

A single pixel gives one window for each image: all of it is one product. Up to four filters, as in the last layer of
a generator, leave most of a block unfilled: the columns of a product, summed where windows overlap, take a fifth to a
half of the time. In predictions, windows that lie side by side need no sums.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..runtime.autograd import with_gradient
from ..runtime.concrete import is_concrete

FEW = 4  # filters
_FOLDED = frozenset([torch.float32, torch.float64])


def by_products(
    data: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    geometry: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]],
) -> Tensor | None:
    """The deconvolution of one group by stride, padding, adjustment and dilation; None: oneDNN is quicker."""
    stride, pad, adj, dilate = geometry
    if not is_concrete(data) or not data.is_cpu or not data.numel():
        return None
    if not any((*pad, *adj)) and set(dilate) <= {1}:
        if max(data.shape[2:]) == 1:
            return _single_pixels(data, weight, bias)
        if tuple(stride) == tuple(weight.shape[2:]) and not _recorded(data, weight, bias):
            return _apart(data, weight, bias)
    if data.dim() == 4 and weight.shape[1] <= FEW and data.dtype in _FOLDED:
        full = [tuple(part) or (usual, usual) for part, usual in zip(geometry, (1, 0, 0, 1), strict=True)]
        return _few_filters(data, weight, bias, *full) if _less(full[2], full[0]) else None
    return None


def _less(some: Sequence[int], others: Sequence[int]) -> bool:
    return all(a < b for a, b in zip(some, others, strict=True))


def _recorded(*tensors: Tensor | None) -> bool:
    """Does anybody want gradients? Those of windows side by side are not faster in another order."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def _single_pixels(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    result = (data.flatten(1) @ weight.flatten(1)).unflatten(1, weight.shape[1:])
    return result if bias is None else result + bias.reshape(-1, *[1] * (weight.dim() - 2))


def _columns(data: Tensor, weight: Tensor) -> Tensor:
    """A product for each image; `matmul` would copy them into one matrix, and the result back."""
    return torch.bmm(weight.flatten(1).t().expand(len(data), -1, -1), data.flatten(2))


def _apart(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Windows that lie side by side: one product, then pixels are put in their places."""
    (batch, _, *sizes), kernel = data.shape, weight.shape[2:]
    product = _columns(data, weight)
    if bias is not None:
        product += bias.repeat_interleave(kernel.numel()).unsqueeze(1)
    order = [axis for i in range(2, 2 + len(sizes)) for axis in (i + len(sizes), i)]
    pixels = product.view(batch, -1, *kernel, *sizes).permute(0, 1, *order)
    return pixels.reshape(batch, -1, *(n * k for n, k in zip(sizes, kernel, strict=True)))


def _few_filters(
    data: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, pad: Any, adj: Any, dilate: Any
) -> Tensor:
    kernel = tuple(weight.shape[2:])
    axes = zip(data.shape[2:], kernel, stride, pad, adj, dilate, strict=True)
    size = tuple((n - 1) * s - 2 * p + d * (k - 1) + 1 + a for n, k, s, p, a, d in axes)

    def forward(data: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        columns = _columns(data, weight)
        result = F.fold(columns, size, kernel, dilate, pad, stride)
        return result if bias is None else result.add_(bias[:, None, None])

    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        data, weight, *bias = inputs
        wanted = [t.requires_grad for t in inputs] + [False] * (2 - len(bias))
        sizes = [len(bias[0])] if bias else None
        given = heads[0], data, weight, sizes, stride, pad, dilate, True, adj, 1
        return torch.ops.aten.convolution_backward(*given, wanted[:3])[: len(inputs)]

    return with_gradient(forward, backward, data, weight, *([] if bias is None else [bias]))
