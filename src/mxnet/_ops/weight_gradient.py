"""The gradient of a 3 x 3 convolution's weight, by products of matrices on data in channels-last memory order.

The kernels behind torch compute this gradient at half the speed of the forward pass when channels are last. Stride one:
Winograd's minimal filtering F(2x2, 3x3), 16 multiplications where the plain sum has 36; its transforms only add,
subtract and halve, and the error is below that of the plain sum, which adds one long chain. Stride two: one product of
matrices for each of the nine places in the kernel.
"""

import torch

from .winograd import group_of, half, part, spread

# With fewer tiles the products are slower than the plain sum.
FEWEST_TILES = 96
FEWEST_CHANNELS = 32


def applies(data, weight, attrs):
    """Is this a convolution whose weight gradient is faster computed here?"""
    if tuple(weight.shape[2:]) != (3, 3) or weight.shape[1] != data.shape[1] or min(weight.shape[:2]) < FEWEST_CHANNELS:
        return False
    stride, pad, dilate = attrs
    if pad != (1, 1) or dilate != (1, 1) or data.dtype is not torch.float32 or data.device.type != "cpu":
        return False
    if stride == (1, 1):
        return data.shape[0] * half(data.shape[2]) * half(data.shape[3]) >= FEWEST_TILES
    return stride == (2, 2) and data.shape[0] * half(data.shape[2]) * half(data.shape[3]) >= 4 * FEWEST_TILES


def weight_gradient(data, head, stride):
    """The gradient, in the shape (filters, channels, 3, 3) and the usual order; padding is one."""
    data, head = data.permute(0, 2, 3, 1), head.permute(0, 2, 3, 1)
    places = _winograd(data, head) if stride == (1, 1) else _place_by_place(data, head)
    return places.permute(2, 3, 0, 1).contiguous()


def _winograd(data, head):
    """Rows and columns of the kernel first: (3, 3, filters, channels)."""
    batch, height, width, channels = data.shape
    filters, down, right = head.shape[3], half(height), half(width)
    group, new = group_of(batch, down * right), data.new_empty
    split = data.new_zeros(2, group, down + 1, 2, right + 1, channels)
    rows, tiles = new(4, group, down, 2, right + 1, channels), new(4, 4, group, down, right, channels)
    head_split = data.new_zeros(2, group, down, 2, right, filters)
    head_rows, head_tiles = new(4, group, down, 2, right, filters), new(4, 4, group, down, right, filters)
    left, rest = head_tiles.view(16, -1, filters).transpose(1, 2), tiles.view(16, -1, channels)
    total = new(16, filters, channels)
    for first in range(0, batch, group):
        part(data[first : first + group], split, 1)
        spread(split, rows, tiles)
        part(head[first : first + group], head_split, 0)
        _widen(head_split[0], head_split[1], head_rows)
        _widen(head_rows[:, :, :, 0], head_rows[:, :, :, 1], head_tiles)
        torch.baddbmm(total, left, rest, beta=1 if first else 0, out=total)
    sums = torch.tensor([[1, 0.5, 0.5, 0], [0, 0.5, -0.5, 0], [0, 0.5, 0.5, 1]])
    # tiles count columns before rows, so the result does, too
    return (torch.kron(sums, sums) @ total.view(16, -1)).view(3, 3, filters, channels).transpose(0, 1)


def _widen(first, second, out):
    """The head's tiles of two values as four."""
    out[0].copy_(first)
    torch.add(first, second, out=out[1])
    torch.sub(first, second, out=out[2])
    torch.neg(second, out=out[3])


def _place_by_place(data, head):
    """Stride two: each place of the kernel sees every second row and column, hence one quarter of the data."""
    batch, channels = data.shape[0], data.shape[3]
    down, right, filters = head.shape[1:]
    # One more row and column than the head has, and zeros there: a place is then a shift in the flat memory.
    length = batch * (down + 1) * (right + 1)
    split = data.new_zeros(2, 2, length + right + 2, channels)
    views = split[:, :, :length].view(2, 2, batch, down + 1, right + 1, channels)
    part(data, views.permute(0, 2, 3, 1, 4, 5), 1)
    wide = data.new_zeros(batch, down + 1, right + 1, filters)
    wide[:, :down, :right] = head
    left, result = wide.view(length, filters).t(), data.new_empty(3, 3, filters, channels)
    for row in range(3):
        for column in range(3):
            shift = (row // 2) * (right + 1) + column // 2
            torch.mm(left, split[row % 2, column % 2, shift : shift + length], out=result[row, column])
    return result
