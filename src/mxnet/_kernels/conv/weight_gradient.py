"""Gradients of convolutions: torch's own, and that of a 3 x 3 weight at stride two, channels last in memory.

The kernels behind torch compute the latter at half the speed of the forward pass when channels are last. Here it is one
product of matrices for each of the nine places in the kernel.
"""

import torch

from ..matmul.gemm import turned_products

FEWEST_CHANNELS, FEWEST_PLACES = 32, 384  # with less, products are slower than the plain sum


def plain_gradients(head, data, weight, geometry, groups, wanted):
    """torch's own gradients of data, weight and bias, those that are wanted; geometry: stride, padding, dilation."""
    options = ([weight.shape[0]], *geometry, False, (0, 0), groups)
    return torch.ops.aten.convolution_backward(head, data, weight, *options, list(wanted))


def applies(data, weight, geometry):
    """Is this a convolution whose weight gradient is faster computed here?"""
    if tuple(weight.shape[2:]) != (3, 3) or weight.shape[1] != data.shape[1] or min(weight.shape[:2]) < FEWEST_CHANNELS:
        return False
    if geometry != ((2, 2), (1, 1), (1, 1)) or data.dtype is not torch.float32 or data.device.type != "cpu":
        return False
    return data.shape[0] * half(data.shape[2]) * half(data.shape[3]) >= FEWEST_PLACES


def half(size):
    """How many steps of two cover the size."""
    return (size + 1) // 2


def weight_gradient(data, head):
    """The gradient, in the shape (filters, channels, 3, 3) and the usual order; padding is one."""
    places = _place_by_place(data.permute(0, 2, 3, 1), head.permute(0, 2, 3, 1))
    return places.permute(2, 3, 0, 1).contiguous()


def _split(images, parts):
    """Even and odd rows and columns apart, one further for the padding."""
    for odd_row in (0, 1):
        for odd_column in (0, 1):
            top, left = 1 - odd_row, 1 - odd_column
            part = images[:, top::2, left::2]
            parts[odd_row, :, top : top + part.shape[1], odd_column, left : left + part.shape[2]].copy_(part)


def _place_by_place(data, head):
    """Stride two: each place of the kernel sees every second row and column, hence one quarter of the data."""
    batch, channels = data.shape[0], data.shape[3]
    down, right, filters = head.shape[1:]
    # One more row and column than the head has, and zeros there: a place is then a shift in the flat memory.
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
    turned_products(wide.view(length, filters), parts, result.flatten(0, 1).unbind())
    return result
