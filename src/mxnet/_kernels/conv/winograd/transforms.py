"""Winograd's transforms of tiles (see winograd) as products with constant matrices: what torch alone can do fast.

Images are (image, row, column, channel), tiles (36, tile, channel). Tiles of pixels are those of windows of 3 x 3 with
one zero around the images; kernels are of 3 x 3 or 5 x 5.
"""

import torch

# By the points 0, 2/3, -2/3, 3/2, -3/2 and infinity.
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


def _powers(count: int) -> torch.Tensor:
    """The points' powers; infinity has only the highest."""
    finite = _POINTS[:, None] ** torch.arange(count)
    return torch.cat([finite, torch.eye(count, dtype=torch.float64)[-1:]])


def _kernel(side: int) -> torch.Tensor:
    apart = _POINTS[:, None] - _POINTS
    weights = torch.ones(6, dtype=torch.float64)
    weights[:5] = 1 / (apart + torch.eye(5, dtype=torch.float64)).prod(1)
    return _powers(side) * weights[:, None]


def _square(matrix: torch.Tensor) -> torch.Tensor:
    """For rows and columns at once."""
    return torch.kron(matrix, matrix).float().contiguous()


SPREAD, WIDEN, KERNEL, KERNEL_OF_FIVE = map(_square, (_DATA, _powers(4), _kernel(3), _kernel(5)))


def _span(group, size, before, after):
    """Rows of the image under the group's tiles, and how many zeros stand before the first."""
    first, last = 4 * group.rows.start - before, 4 * group.rows.stop + after
    return slice(max(first, 0), min(last, size)), max(-first, 0)


def _piece(images, group, before, after):
    """The group's part of the images with zeros around it."""
    height, width, channels = images.shape[1:]
    span, skipped = _span(group, height, before, after)
    part = images[group.images, span]
    rows = 4 * (group.rows.stop - group.rows.start) + before + after
    piece = images.new_zeros(part.shape[0], rows, -(-width // 4) * 4 + before + after, channels)
    piece[:, skipped : skipped + part.shape[1], before : before + width] = part
    return piece


def _windows(piece, side):
    """The tiles as (row, column, image, tile down, tile right, channel)."""
    images, rows, columns, channels = piece.shape
    down, right = (rows - side) // 4 + 1, (columns - side) // 4 + 1
    image, row, column, _ = piece.stride()
    return piece.as_strided((side, side, images, down, right, channels), (row, column, image, 4 * row, 4 * column, 1))


def spread(images, group, tiles):
    """The tiles of 6 x 6 pixels, four apart, that begin one before the image; transformed."""
    windows = _windows(_piece(images, group, 1, 1), 6)
    torch.mm(SPREAD, windows.reshape(36, -1), out=tiles.view(36, -1))


def widen(images, group, tiles):
    """The tiles of 4 x 4 pixels, side by side, as 6 x 6 values."""
    windows = _windows(_piece(images, group, 0, 0), 4)
    torch.mm(WIDEN, windows.reshape(16, -1), out=tiles.view(36, -1))


def collect(tiles, group, images):
    """The adjoint of `spread`: each tile's 6 x 6 pixels are added to the images."""
    piece = torch.zeros_like(_piece(images, group, 1, 1))
    windows = _windows(piece, 6)
    values = torch.mm(SPREAD.t(), tiles.view(36, -1)).view(windows.shape)
    for row in range(6):
        for column in range(6):  # windows overlap: one place at a time
            windows[row, column].add_(values[row, column])
    span, skipped = _span(group, images.shape[1], 1, 1)
    part = images[group.images, span]
    part.add_(piece[:, skipped : skipped + part.shape[1], 1 : 1 + part.shape[2]])


def gather(tiles, group, images, bias, addend, bounds):
    """The 4 x 4 pixels of each tile; bias and addend, which may be the images, are added, bounds applied."""
    span, _ = _span(group, images.shape[1], 0, 0)
    part = images[group.images, span]
    down, right = group.rows.stop - group.rows.start, -(-part.shape[2] // 4)
    values = torch.mm(WIDEN.t(), tiles.view(36, -1)).view(4, 4, part.shape[0], down, right, -1)
    whole = values.permute(2, 3, 0, 4, 1, 5).reshape(part.shape[0], 4 * down, 4 * right, -1)
    seen = whole[:, : part.shape[1], : part.shape[2]]
    if addend is None:
        torch.add(seen, bias, out=part)
    else:
        torch.add(seen.add_(bias), addend[group.images, span], out=part)
    if bounds != (None, None):
        part.clamp_(*bounds)


def _of(weight):
    """What transforms such kernels."""
    return KERNEL if weight.shape[2] == 3 else KERNEL_OF_FIVE


def spread_kernels(weight, matrices):
    """The weight (filters, channels, side, side) as 36 matrices (filters, channels)."""
    torch.mm(_of(weight), weight.detach().flatten(2).flatten(0, 1).t(), out=matrices.view(36, -1))


def spread_panels(weight, panels, columns):
    """The same in panels of 16 filters, (36, panel, channel, 16), by which `columns` of them the panels hold."""
    some = weight.detach()[columns]
    made = torch.mm(_of(weight), some.flatten(2).flatten(0, 1).t()).view(36, *panels.shape[1:2], -1, *some.shape[1:2])
    panels.copy_(made.transpose(2, 3))


def collect_kernels(matrices, weight):
    """The adjoint of `spread_kernels`; the other order of the product takes six times as long."""
    kernels = weight.view(-1, weight.shape[2] * weight.shape[3])
    kernels.copy_(torch.mm(_of(weight).t(), matrices.view(36, -1)).t())
