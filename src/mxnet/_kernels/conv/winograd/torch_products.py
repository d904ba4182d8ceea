"""Winograd's F(4x4, 3x3) by torch's own matrix products: the transforms are products with constant matrices.

Used where the compiled kernels (see f4x4) are not available. Images are NHWC, transformed tiles (36, tile, channel);
the padding is one. A few tiles at a time are computed, in buffers that each thread keeps.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from ...matmul.packed import with_odd_stride
from ...runtime.buffers import buffer
from .tasks import tiles_at_once
from .tiling import DEFAULT, Group

# The interpolation points 0, 2/3, -2/3, 3/2, -3/2 and infinity.
_A, _B = 2 / 3, 3 / 2
_POINTS = torch.tensor([0, _A, -_A, _B, -_B], dtype=torch.float64)
_S = _A**2 + _B**2
_DATA = torch.tensor(
    [
        [1, 0, -_S, 0, 1, 0],
        [0, -_B, -(_B**2), _A, 1, 0],
        [0, _B, -(_B**2), -_A, 1, 0],
        [0, -_A, -(_A**2), _B, 1, 0],
        [0, _A, -(_A**2), -_B, 1, 0],
        [0, 1, 0, -_S, 0, 1],
    ],
    dtype=torch.float64,
)


def _powers(count: int) -> Tensor:
    """The points' powers; infinity has only the highest."""
    finite = _POINTS[:, None] ** torch.arange(count)
    return torch.cat([finite, torch.eye(count, dtype=torch.float64)[-1:]])


def _weight_matrix(side: int) -> Tensor:
    differences = _POINTS[:, None] - _POINTS
    scale = torch.ones(6, dtype=torch.float64)
    scale[:5] = 1 / (differences + torch.eye(5, dtype=torch.float64)).prod(1)
    return _powers(side) * scale[:, None]


def _two_dimensional(matrix: Tensor) -> Tensor:
    """The transform of rows and columns at once."""
    return torch.kron(matrix, matrix).float().contiguous()


INPUT, OUTPUT, WEIGHT, WEIGHT_5X5 = map(_two_dimensional, (_DATA, _powers(4), _weight_matrix(3), _weight_matrix(5)))


def _span(group: Group, size: int, before: int, after: int) -> tuple[slice, int]:
    """Rows of the image under the group's tiles, and how many zeros stand before the first."""
    first, last = 4 * group.rows.start - before, 4 * group.rows.stop + after
    return slice(max(first, 0), min(last, size)), max(-first, 0)


def _piece(images: Tensor, group: Group, before: int, after: int) -> Tensor:
    """The group's part of the images, padded with zeros."""
    height, width, channels = images.shape[1:]
    span, skipped = _span(group, height, before, after)
    part = images[group.images, span]
    rows = 4 * (group.rows.stop - group.rows.start) + before + after
    piece = images.new_zeros(part.shape[0], rows, -(-width // 4) * 4 + before + after, channels)
    piece[:, skipped : skipped + part.shape[1], before : before + width] = part
    return piece


def _windows(piece: Tensor, side: int) -> Tensor:
    """The tiles as (row, column, image, tile down, tile right, channel)."""
    images, rows, columns, channels = piece.shape
    down, right = (rows - side) // 4 + 1, (columns - side) // 4 + 1
    image, row, column, _ = piece.stride()
    return piece.as_strided((side, side, images, down, right, channels), (row, column, image, 4 * row, 4 * column, 1))


def input_transform(images: Tensor, group: Group, tiles: Tensor) -> None:
    """The tiles of 6 x 6 pixels at a step of four, transformed."""
    windows = _windows(_piece(images, group, 1, 1), 6)
    torch.mm(INPUT, windows.reshape(36, -1), out=tiles.view(36, -1))


def gradient_transform(head: Tensor, group: Group, tiles: Tensor) -> None:
    """The adjoint of the output transform: 4 x 4 pixels of the head as 6 x 6 values."""
    windows = _windows(_piece(head, group, 0, 0), 4)
    torch.mm(OUTPUT, windows.reshape(16, -1), out=tiles.view(36, -1))


def input_adjoint(tiles: Tensor, group: Group, images: Tensor) -> None:
    """The adjoint of `input_transform`: each tile's 6 x 6 pixels are added to the images."""
    piece = torch.zeros_like(_piece(images, group, 1, 1))
    windows = _windows(piece, 6)
    values = torch.mm(INPUT.t(), tiles.view(36, -1)).view(windows.shape)
    for row in range(6):
        for column in range(6):  # windows overlap: one place at a time
            windows[row, column].add_(values[row, column])
    span, skipped = _span(group, images.shape[1], 1, 1)
    part = images[group.images, span]
    part.add_(piece[:, skipped : skipped + part.shape[1], 1 : 1 + part.shape[2]])


def output_transform(tiles: Tensor, group: Group, images: Tensor, bias, addend, clamp) -> None:
    """The 4 x 4 pixels of each tile; bias and addend, which may be the images, are added, then clamped."""
    span, _ = _span(group, images.shape[1], 0, 0)
    part = images[group.images, span]
    down, right = group.rows.stop - group.rows.start, -(-part.shape[2] // 4)
    values = torch.mm(OUTPUT.t(), tiles.view(36, -1)).view(4, 4, part.shape[0], down, right, -1)
    whole = values.permute(2, 3, 0, 4, 1, 5).reshape(part.shape[0], 4 * down, 4 * right, -1)
    inside = whole[:, : part.shape[1], : part.shape[2]]
    if addend is None:
        torch.add(inside, bias, out=part)
    else:
        torch.add(inside.add_(bias), addend[group.images, span], out=part)
    if clamp != (None, None):
        part.clamp_(*clamp)


def _matrix_for(weight: Tensor) -> Tensor:
    return WEIGHT if weight.shape[2] == 3 else WEIGHT_5X5


def weight_transform(weight: Tensor, matrices: Tensor) -> None:
    """The weight (filters, channels, side, side) as 36 matrices (filters, channels)."""
    torch.mm(_matrix_for(weight), weight.detach().flatten(2).flatten(0, 1).t(), out=matrices.view(36, -1))


def weight_transform_packed(weight: Tensor, panels: Tensor, columns: Tensor) -> None:
    """The same in panels of 16 filters, (36, panel, channel, 16); `columns` are the filters that the panels hold."""
    some = weight.detach()[columns]
    shape = 36, *panels.shape[1:2], -1, *some.shape[1:2]
    transformed = torch.mm(_matrix_for(weight), some.flatten(2).flatten(0, 1).t()).view(shape)
    panels.copy_(transformed.transpose(2, 3))


def weight_adjoint(matrices: Tensor, weight: Tensor) -> None:
    """The adjoint of `weight_transform`; the other order of the product takes six times as long."""
    kernels = weight.view(-1, weight.shape[2] * weight.shape[3])
    kernels.copy_(torch.mm(_matrix_for(weight).t(), matrices.view(36, -1)).t())


def _groups(images: Tensor, channels: int) -> Iterator[Group]:
    batch, down, right = images.shape[0], DEFAULT.along(images.shape[1]), DEFAULT.along(images.shape[2])
    rows = max(1, tiles_at_once(channels, torch.get_num_threads()) // right)
    several, rows = max(1, rows // down), min(rows, down)
    for first in range(0, batch, several):
        last = min(first + several, batch)
        for top in range(0, down, rows):
            end = min(top + rows, down)
            size = (last - first) * (end - top) * right
            yield Group(slice(first, last), slice(top, end), (first * down + top) * right, size)


def _matrices(which: int, *shape: int) -> Tensor:
    """A buffer of this thread for the 36 values of tiles or weights."""
    return with_odd_stride(buffer, which, 36, *shape)


def convolve(data: Tensor, matrices: Tensor, bias: Tensor | None, addend, clamp, result: Tensor) -> None:
    """The convolution with a transformed weight (36, filters, channels); all tensors are channels-last."""
    images, results = data.permute(0, 2, 3, 1).contiguous(), result.permute(0, 2, 3, 1)
    addend = None if addend is None else addend.permute(0, 2, 3, 1).contiguous()
    filters, channels = matrices.shape[1:]
    bias = data.new_zeros(filters) if bias is None else bias
    for group in _groups(images, channels + filters):
        inputs, outputs = _matrices(0, group.tiles, channels), _matrices(1, group.tiles, filters)
        input_transform(images, group, inputs)
        torch.bmm(inputs, matrices.transpose(1, 2), out=outputs)
        output_transform(outputs, group, results, bias, addend, clamp)


def gradients(data: Tensor, head: Tensor, weight: Tensor, wanted) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of data and weight that are wanted; tensors are channels-last."""
    data, head, (filters, channels) = data.permute(0, 2, 3, 1).contiguous(), head.permute(0, 2, 3, 1), weight.shape[:2]
    by_data = torch.zeros_like(data) if wanted[0] else None
    matrices, total = _matrices(2, filters, channels), _matrices(3, filters, channels)
    if by_data is not None:
        weight_transform(weight.contiguous(), matrices)
    for number, group in enumerate(_groups(data, channels + filters)):
        heads, inputs = _matrices(1, group.tiles, filters), _matrices(0, group.tiles, channels)
        gradient_transform(head, group, heads)
        if wanted[1]:
            input_transform(data, group, inputs)
            torch.baddbmm(total, heads.transpose(1, 2), inputs, beta=1 if number else 0, out=total)
        if by_data is not None:
            torch.bmm(heads, matrices, out=inputs)
            input_adjoint(inputs, group, by_data)
    by_weight = None
    if wanted[1]:
        weight_adjoint(total, by_weight := torch.empty(weight.shape))
    return None if by_data is None else by_data.permute(0, 3, 1, 2), by_weight
