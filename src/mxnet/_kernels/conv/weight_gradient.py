"""Gradients of convolutions: torch's own, and that of a 3 x 3 weight at stride two, channels-last in memory.

The kernels behind torch compute the latter at half the speed of the forward pass when channels are last. Here it is one
matrix product for each of the nine positions in the window.
"""

from typing import Any

import torch
from torch import Tensor

from .. import tuning
from ..matmul.gemm import transposed_products
from .problem import Problem


def torch_gradients(head: Tensor, data: Tensor, weight: Tensor, geometry: Any, groups: int, wanted: Any) -> Any:
    """torch's own gradients of data, weight and bias, those that are wanted; geometry: stride, padding, dilation."""
    options = ([weight.shape[0]], *geometry, False, (0, 0), groups)
    return torch.ops.aten.convolution_backward(head, data, weight, *options, list(wanted))


def applies(problem: Problem) -> int:
    """Is this a convolution whose weight gradient is faster computed here?"""
    if problem.weight[2:] != (3, 3) or not (problem.is_plain and problem.is_float32):
        return 0
    if {*problem.stride} != {2} or {*problem.pad} != {1} or min(problem.weight[:2]) < tuning.STRIDE2_CHANNELS:
        return 0
    batch, _, height, width = problem.data
    return problem.work if batch * _half(height) * _half(width) >= tuning.STRIDE2_PIXELS else 0


def _half(size: int) -> int:
    """How many steps of two cover the size."""
    return (size + 1) // 2


def weight_gradient(data: Tensor, head: Tensor) -> Tensor:
    """The gradient (filters, channels, 3, 3), contiguous; the padding is one."""
    positions = _by_position(data.permute(0, 2, 3, 1), head.permute(0, 2, 3, 1))
    return positions.permute(2, 3, 0, 1).contiguous()


def _split(images: Tensor, parts: Tensor) -> None:
    """Even and odd rows and columns apart, one further for the padding."""
    for odd_row in (0, 1):
        for odd_column in (0, 1):
            top, left = 1 - odd_row, 1 - odd_column
            part = images[:, top::2, left::2]
            parts[odd_row, :, top : top + part.shape[1], odd_column, left : left + part.shape[2]].copy_(part)


def _by_position(data: Tensor, head: Tensor) -> Tensor:
    """Stride two: each position in the window sees every second row and column, hence one quarter of the data."""
    batch, channels = data.shape[0], data.shape[3]
    down, right, filters = head.shape[1:]
    # One more row and column than the head has, of zeros: a position is then a shift in the flat memory.
    length = batch * (down + 1) * (right + 1)
    split = data.new_zeros(2, 2, length + right + 2, channels)
    views = split[:, :, :length].view(2, 2, batch, down + 1, right + 1, channels)
    _split(data, views.permute(0, 2, 3, 1, 4, 5))
    wide = data.new_zeros(batch, down + 1, right + 1, filters)
    wide[:, :down, :right] = head
    result, parts = data.new_empty(3, 3, filters, channels), []
    for row in range(3):
        for column in range(3):
            shift = (row // 2) * (right + 1) + column // 2
            parts.append(split[row % 2, column % 2, shift : shift + length])
    transposed_products(wide.view(length, filters), parts, result.flatten(0, 1).unbind())
    return result
