"""Winograd's minimal filtering F(2x2, 3x3) on data in channels-last memory order, as products of matrices.

Tiles of 4 x 4 values, two apart, take 16 multiplications where the plain sum of a 3 x 3 kernel has 36. The transforms
only add, subtract and halve, so that the error is no larger than that of the plain sum.
"""

import torch

# Enough tiles at a time for fast products, few enough to stay in the cache.
TILES_AT_ONCE = 1024


def half(size):
    """How many tiles cover the size."""
    return (size + 1) // 2


def group_of(batch, tiles):
    """How many images to take at a time; a divisor of their number."""
    most = max(1, min(batch, TILES_AT_ONCE // tiles))
    return next(n for n in range(most, 0, -1) if batch % n == 0)


def part(images, split, pad):
    """Even and odd rows and columns apart, so that all that follows works on long runs; `pad` shifts by the padding."""
    for odd_row in (0, 1):
        for odd_column in (0, 1):
            top, left = (odd_row + pad) % 2, (odd_column + pad) % 2
            part = images[:, top::2, left::2]
            down, right = (top + pad) // 2, (left + pad) // 2
            target = split[odd_row, :, down : down + part.shape[1], odd_column, right : right + part.shape[2]]
            target.copy_(part)


def spread(split, rows, tiles):
    """The data's tiles of 4 x 4 (two apart), transformed along rows and then along columns."""
    _differences(split[0, :, :-1], split[1, :, :-1], split[0, :, 1:], split[1, :, 1:], rows)
    even, odd = rows[:, :, :, 0], rows[:, :, :, 1]
    _differences(even[:, :, :, :-1], odd[:, :, :, :-1], even[:, :, :, 1:], odd[:, :, :, 1:], tiles)


def _differences(first, second, third, fourth, out):
    torch.sub(first, third, out=out[0])
    torch.add(second, third, out=out[1])
    torch.sub(third, second, out=out[2])
    torch.sub(second, fourth, out=out[3])


def spread_weight(weight):
    """The weight (filters, channels, 3, 3) as 16 matrices (channels, filters)."""
    sums = torch.tensor([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], dtype=torch.float64)
    spread_out = torch.einsum("ai,ocij,bj->baco", sums, weight.double(), sums)
    return spread_out.reshape(16, weight.shape[1], weight.shape[0]).to(weight.dtype).contiguous()


def convolve(data, matrices, bias=None):
    """Convolution of stride and padding one with a weight from `spread_weight`; the result is channels-last, too."""
    data = data.permute(0, 2, 3, 1)
    batch, height, width, channels = data.shape
    down, right, filters = half(height), half(width), matrices.shape[2]
    group, new = group_of(batch, down * right), data.new_empty
    split = data.new_zeros(2, group, down + 1, 2, right + 1, channels)
    rows, tiles = new(4, group, down, 2, right + 1, channels), new(4, 4, group, down, right, channels)
    products, columns = new(4, 4, group, down, right, filters), new(2, 4, group, down, right, filters)
    result = new(batch, down, 2, right, 2, filters)
    for first in range(0, batch, group):
        part(data[first : first + group], split, 1)
        spread(split, rows, tiles)
        torch.bmm(tiles.view(16, -1, channels), matrices, out=products.view(16, -1, filters))
        _gather(products, columns)
        if bias is not None:
            columns[:, 1].add_(bias)  # the one value that both results of a tile's side take with a plus
        _gather(columns.transpose(0, 1), result[first : first + group].permute(2, 4, 0, 1, 3, 5))
    whole = result.view(batch, 2 * down, 2 * right, filters)
    return whole[:, :height, :width].permute(0, 3, 1, 2)


def _gather(four, two):
    """Four values of each tile as two: first + second + third, second - third - fourth."""
    torch.add(four[1], four[2], out=two[0])
    two[0].add_(four[0])
    torch.sub(four[1], four[2], out=two[1])
    two[1].sub_(four[3])
