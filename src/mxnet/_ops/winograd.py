"""Winograd's minimal filtering F(4x4, 3x3) for 3 x 3 convolutions of stride and padding one, channels last in memory.

A tile of 6 x 6 pixels d and a kernel w give 4 x 4 results by 36 multiplications where the plain sum has 144:
`A' [(G w G') * (B' d B)] A`, summed over channels, which makes 36 products of matrices (tiles x channels x filters).
The points of the interpolation, 0, 2/3, -2/3, 3/2, -3/2 and infinity, keep the error close to that of the plain sum
(1.4e-6 and 0.9e-6 of the largest value; with the usual 0, 1, -1, 2, -2 it is 6e-6). Gradients take the adjoints of the
same steps.

A few tiles at a time are transformed, multiplied and transformed back, in memory that each thread keeps: small enough
for the processor's cache. The transforms are compiled loops where numba is installed, else products of matrices.
"""

import functools
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from . import tiles as plain
from .loader import Loader

# Few enough for the cache, and enough that the matrices of the weight are not read too often.
FLOATS_AT_ONCE, TILES_AT_ONCE, MATRICES_AT_ONCE = 1 << 20, 128, 36 << 16
# With less, the plain sum is faster; transforms that are products need more channels to be worth their while.
FEWEST_CHANNELS, FEWEST_CHANNELS_PLAIN, FEWEST_TILES = 32, 128, 32
_kept = threading.local()


class Group(NamedTuple):
    """Tiles that are worked on at once: some whole images, or some rows of tiles of one image."""

    images: slice
    rows: slice
    begin: int
    tiles: int


def quarter(size: int) -> int:
    """How many tiles cover the size."""
    return (size + 3) // 4


def count(data: torch.Tensor) -> int:
    """The number of tiles in (image, channel, row, column)."""
    return data.shape[0] * quarter(data.shape[2]) * quarter(data.shape[3])


def _groups(images: torch.Tensor, channels: int) -> Iterator[Group]:
    batch, down, right = images.shape[0], quarter(images.shape[1]), quarter(images.shape[2])
    rows = max(1, max(FLOATS_AT_ONCE * torch.get_num_threads() // (36 * channels), TILES_AT_ONCE) // right)
    several, rows = max(1, rows // down), min(rows, down)
    for first in range(0, batch, several):
        last = min(first + several, batch)
        for top in range(0, down, rows):
            end = min(top + rows, down)
            size = (last - first) * (end - top) * right
            yield Group(slice(first, last), slice(top, end), (first * down + top) * right, size)


def _room(which: int, *shape: int) -> torch.Tensor:
    """Memory of this thread, kept from call to call; what it held before is lost."""
    rooms = _kept.__dict__.setdefault("rooms", {})
    size = functools.reduce(int.__mul__, shape)
    if which not in rooms or rooms[which].numel() < size:
        rooms[which] = torch.empty(size)
    return rooms[which][:size].view(shape)


# How the transforms are computed


def _load() -> Any:
    from . import compiled_tiles

    return compiled_tiles


_loader = Loader(_load, plain)


def compiled(wait: bool = True) -> bool:
    """Are the transforms compiled loops?"""
    return _loader.get(wait) is not plain


# The convolution and its gradients


def pays(data: torch.Tensor, weight: torch.Tensor, wait: bool = True) -> bool:
    """Is a convolution of this kind faster by tiles?"""
    if tuple(weight.shape[2:]) != (3, 3) or weight.shape[1] != data.shape[1]:
        return False
    fewest = min(weight.shape[:2])
    if fewest < FEWEST_CHANNELS or count(data) < FEWEST_TILES:
        return False
    return compiled(wait) or fewest >= FEWEST_CHANNELS_PLAIN


def weight_matrices(weight: torch.Tensor, kept: bool = False) -> torch.Tensor:
    """The weight (filters, channels, 3, 3) as 36 matrices (filters, channels); `kept`: valid until the next call."""
    filters, channels = weight.shape[:2]
    if kept:
        room = _room(2, 36, filters, channels)
        _loader.get(True).spread_kernels(weight.contiguous(), room)
        return room
    exact = torch.mm(plain.KERNEL.double(), weight.detach().double().reshape(-1, 9).t())
    return exact.to(weight.dtype).view(36, filters, channels)


def convolve(
    data: torch.Tensor,
    matrices: torch.Tensor,
    bias: torch.Tensor | None = None,
    addend: torch.Tensor | None = None,
    bounds: tuple[float | None, float | None] = (None, None),
    wait: bool = True,
    result: torch.Tensor | None = None,
) -> torch.Tensor:
    """Convolution with a weight from `weight_matrices`, plus `addend`, cut off at `bounds`; all is channels-last."""
    result = _new_result(data, matrices.shape[1]) if result is None else result
    bias = data.new_zeros(matrices.shape[1]) if bias is None else bias
    addend = None if addend is None else addend.permute(0, 2, 3, 1).contiguous()
    _convolve(data.permute(0, 2, 3, 1).contiguous(), matrices, bias, addend, bounds, result.permute(0, 2, 3, 1), wait)
    return result


def convolve_with(data: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Convolution with a weight that is used once."""
    bias = data.new_zeros(weight.shape[0]) if bias is None else bias
    result, images = _new_result(data, weight.shape[0]), data.permute(0, 2, 3, 1).contiguous()
    for part in _filters(weight):
        matrices = weight_matrices(weight[part], kept=True)
        whole = matrices.shape[1] == weight.shape[0]
        out = result if whole else _new_result(data, matrices.shape[1])
        _convolve(images, matrices, bias[part], None, (None, None), out.permute(0, 2, 3, 1), True)
        if not whole:
            result[:, part] = out
    return result


def _new_result(data: torch.Tensor, filters: int) -> torch.Tensor:
    """Not a view of something: what follows may work in place."""
    return torch.empty((data.shape[0], filters, *data.shape[2:]), memory_format=torch.channels_last)


def _filters(weight: torch.Tensor) -> Iterator[slice]:
    """Filters whose matrices are made at once: as many as fit into the cache."""
    filters, channels = weight.shape[:2]
    most = max(1, MATRICES_AT_ONCE // (36 * channels))
    return (slice(first, min(first + most, filters)) for first in range(0, filters, most))


def _convolve(
    data: torch.Tensor,
    matrices: torch.Tensor,
    bias: torch.Tensor,
    addend: torch.Tensor | None,
    bounds: tuple[float | None, float | None],
    result: torch.Tensor,
    wait: bool,
) -> None:
    """Images, channels last by name, into images."""
    loops, products = _loader.get(wait), matrices.transpose(1, 2)
    filters, channels = matrices.shape[1:]
    for group in _groups(data, channels + filters):
        spread, gathered = _room(0, 36, group.tiles, channels), _room(1, 36, group.tiles, filters)
        loops.spread(data, group, spread)
        torch.bmm(spread, products, out=gathered)
        loops.gather(gathered, group, result, bias, addend, bounds)


def gradients(
    data: torch.Tensor, head: torch.Tensor, weight: torch.Tensor, data_too: bool, weight_too: bool
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """The gradients of data and weight from that of the result."""
    data, head = data.permute(0, 2, 3, 1).contiguous(), head.permute(0, 2, 3, 1)
    by_data = torch.zeros_like(data) if data_too else None
    by_weight = torch.empty(weight.shape) if weight_too else None
    for part in _filters(weight):
        _add_gradients(
            data,
            head[..., part].contiguous(),
            weight[part],
            by_data,
            None if by_weight is None else by_weight[part],
        )
    return None if by_data is None else by_data.permute(0, 3, 1, 2), by_weight


def _add_gradients(
    data: torch.Tensor,
    head: torch.Tensor,
    weight: torch.Tensor,
    by_data: torch.Tensor | None,
    by_weight: torch.Tensor | None,
) -> None:
    """Some filters' part of the gradients: added to that of the data, written to their own."""
    loops = _loader.get(True)
    filters, channels = weight.shape[:2]
    matrices = None if by_data is None else weight_matrices(weight, kept=True)
    total = None if by_weight is None else _room(3, 36, filters, channels)
    for number, group in enumerate(_groups(data, channels + filters)):
        widened, spread = _room(1, 36, group.tiles, filters), _room(0, 36, group.tiles, channels)
        loops.widen(head, group, widened)
        if total is not None:
            loops.spread(data, group, spread)
            torch.baddbmm(total, widened.transpose(1, 2), spread, beta=1 if number else 0, out=total)
        if by_data is not None and matrices is not None:
            torch.bmm(widened, matrices, out=spread)
            loops.collect(spread, group, by_data)
    if total is not None:
        loops.collect_kernels(total, by_weight)
