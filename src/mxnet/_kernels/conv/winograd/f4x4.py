"""Winograd's minimal filtering F(4x4, 3x3) for 3 x 3 convolutions of stride one, channels last in memory.

A tile of 6 x 6 pixels d and a kernel w give 4 x 4 results by 36 multiplications where the plain sum has 144:
`A' [(G w G') * (B' d B)] A`, summed over channels, which makes 36 products of matrices (tiles x channels x filters).
The points of the interpolation, 0, 2/3, -2/3, 3/2, -3/2 and infinity, keep the error close to that of the plain sum
(1.4e-6 and 0.9e-6 of the largest value; with the usual 0, 1, -1, 2, -2 it is 6e-6). Gradients take the adjoints of the
same steps. F(2x2, 5x5) has the same points: 36 multiplications where the plain sum of 5 x 5 windows has 100, and the
same error as that (0.9e-6).

A few tiles at a time are transformed, multiplied and transformed back, in memory that each thread keeps: small enough
for the processor's cache. The transforms are compiled loops where numba is installed, else products of matrices.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from ...matmul import packed as panels
from ...matmul.packed import PANEL
from ...runtime.buffers import room as _room
from ...runtime.loader import Loader
from ...runtime.plan_cache import repeated
from ...runtime.task import Task
from . import tasks as tile_tasks
from . import transforms as plain

MATRICES_AT_ONCE = 36 << 16  # floats of a weight's matrices, that are used while they are in the cache
# With less, the plain sum is faster; by the windows' side. In training, numbers of channels that leave its blocks of 16
# unfilled slow it down. Transforms that are products need more channels to be worth their while.
FEWEST, FEWEST_ODD, FEWEST_TILES = {3: 32, 5: 48}, {3: 24, 5: 20}, {3: 4, 5: 512}
FEWEST_TILES_ODD = {3: 96, 5: 512}
FEWEST_CHANNELS_PLAIN = 128
FEWEST_FILTERS = 16  # for which compiled loops can transform
MANY_TILES = {3: 32, 5: 512}  # where filters of predictions fill no panels, or there are no kernels
FEWEST_TILES_KEPT = 8  # if the weight's matrices are kept, and multiplied by kernels


class Tiling(NamedTuple):
    """What tiles are for: the side of the windows, and how many zeros are around the images."""

    window: int = 3
    before: int = 1

    @property
    def step(self) -> int:
        """The side of a tile's results."""
        return 7 - self.window

    def results(self, size: int) -> int:
        """How many windows an axis of the images has."""
        return size + 2 * self.before - self.window + 1

    def tiles(self, size: int) -> int:
        """How many tiles cover them."""
        return -(-self.results(size) // self.step)

    def count(self, data: torch.Tensor) -> int:
        """The number of tiles in (image, channel, row, column)."""
        return data.shape[0] * self.tiles(data.shape[2]) * self.tiles(data.shape[3])

    def count_last(self, images: torch.Tensor) -> int:
        """The number of tiles in (image, row, column, channel)."""
        return self.count(images.permute(0, 3, 1, 2))

    def all_of(self, images: torch.Tensor) -> "Group":
        """All tiles at once."""
        count = self.count_last(images)
        return Group(slice(0, len(images)), slice(0, self.tiles(images.shape[1])), 0, count, self)


USUAL = Tiling()
NO_BOUNDS = (None, None)


class Group(NamedTuple):
    """Tiles that are worked on at once: some whole images, or some rows of tiles of one image."""

    images: slice
    rows: slice
    begin: int
    tiles: int
    tiling: Tiling


def _groups(images: torch.Tensor, channels: int, tiling: Tiling) -> Iterator[Group]:
    batch, down, right = images.shape[0], tiling.tiles(images.shape[1]), tiling.tiles(images.shape[2])
    rows = max(1, tile_tasks.at_once(channels, torch.get_num_threads()) // right)
    several, rows = max(1, rows // down), min(rows, down)
    for first in range(0, batch, several):
        last = min(first + several, batch)
        for top in range(0, down, rows):
            end = min(top + rows, down)
            size = (last - first) * (end - top) * right
            yield Group(slice(first, last), slice(top, end), (first * down + top) * right, size, tiling)


def _tiles(which: int, *shape: int) -> torch.Tensor:
    """Memory of this thread for the 36 values of tiles or kernels."""
    return panels.side_by_side(_room, which, 36, *shape)


# How the transforms are computed


def _load() -> Any:
    from . import transform_tasks as compiled_tiles

    return compiled_tiles


_loader = Loader(_load, plain)


def compiled(wait: bool = True) -> bool:
    """Are the transforms compiled loops?"""
    return _loader.get(wait) is not plain


# The convolution and its gradients


def pays(data: torch.Tensor, weight: torch.Tensor, wait: bool = True, tiling: Tiling = USUAL) -> bool:
    """Is a convolution of this kind faster by tiles? Who does not wait keeps the weight's matrices."""
    window = tiling.window
    if window not in FEWEST or tuple(weight.shape[2:]) != (window, window) or weight.shape[1] != data.shape[1]:
        return False
    (filters, channels), count = weight.shape[:2], tiling.count(data)
    fewest, odd = min(filters, channels), wait and (filters % PANEL or channels % PANEL)
    if fewest < (FEWEST_ODD if odd else FEWEST)[window]:
        return False
    if count < ((FEWEST_TILES_ODD if odd else FEWEST_TILES)[window] if wait else FEWEST_TILES_KEPT):
        return False
    if not wait and count < MANY_TILES[window] and not _whole_panels(filters, wait):
        return False
    plain_pays = tiling == USUAL and fewest >= FEWEST_CHANNELS_PLAIN and count >= MANY_TILES[window]
    return compiled(wait) or plain_pays


def _kernels(width: int, wait: bool) -> bool:
    """Are there kernels that multiply with matrices, in panels, of so many columns?"""
    return width >= PANEL and compiled(wait) and tile_tasks.available(wait)


def _whole_panels(width: int, wait: bool) -> bool:
    return width % PANEL == 0 and _kernels(width, wait)


def weight_matrices(weight: torch.Tensor) -> torch.Tensor:
    """The weight (filters, channels, 3, 3) as 36 matrices (filters, channels); in panels where kernels are."""
    filters, channels = weight.shape[:2]
    exact = torch.mm(plain.KERNEL.double(), weight.detach().double().reshape(-1, 9).t())
    return packed(exact.to(weight.dtype).view(36, filters, channels))


def packed(matrices: torch.Tensor) -> torch.Tensor:
    """Matrices of a weight in panels, if they are not yet and the kernels are there by now."""
    if matrices.dim() == 4 or matrices.dtype is not torch.float32:
        return matrices
    filters, channels = matrices.shape[1:]
    if not _whole_panels(filters, wait=False):
        return matrices
    return matrices.view(36, filters // PANEL, PANEL, channels).transpose(2, 3).contiguous()


def _for_kernels(weight: torch.Tensor) -> Any:
    """What transforms kernels: those of five are a small part of the work, for which there are no loops."""
    return plain if weight.shape[2] == 5 else _loader.get(True)


def _brief_matrices(weight: torch.Tensor, across: bool = False) -> torch.Tensor:
    """The same, valid until the next call; `across`: for products with filters, not with channels."""
    weight, (filters, channels), loops = weight.contiguous(), weight.shape[:2], _for_kernels(weight)
    depth, width = (filters, channels) if across else (channels, filters)
    if not _kernels(width, wait=True):
        room = _tiles(2, filters, channels)
        loops.spread_kernels(weight, room)
        return room
    room = _tiles(2, panels.number(width), depth, PANEL)
    if loops is not plain and width % PANEL == 0:
        loops.spread_panels(weight, room, across)
    else:
        plain.spread_panels(weight.transpose(0, 1) if across else weight, room, panels.columns(width))
    return room


def _filters_in(matrices: torch.Tensor) -> int:
    return matrices.shape[1] * (1 if matrices.dim() == 3 else PANEL)


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
    result = _new_result(data, _filters_in(matrices), USUAL) if result is None else result
    bias = data.new_zeros(_filters_in(matrices)) if bias is None else bias
    if addend is not None:
        shared = addend.data_ptr() == result.data_ptr() and result.shape[1] % PANEL  # the last channels are made twice
        addend = (addend.clone() if shared else addend).permute(0, 2, 3, 1).contiguous()
    images, results = data.permute(0, 2, 3, 1).contiguous(), result.permute(0, 2, 3, 1)
    if matrices.dim() == 4:
        for task in tile_tasks.convolving(images, matrices, bias, addend, results, bounds, USUAL, _room):
            task.run()
    else:
        _convolve(images, matrices, bias, addend, results, bounds, wait, USUAL)
    return result


def jobs(
    data: torch.Tensor,
    matrices: torch.Tensor,
    bias: torch.Tensor | None,
    addend: torch.Tensor | None,
    bounds: tuple[float | None, float | None],
    result: torch.Tensor,
    take: Callable[..., torch.Tensor],
) -> list[Task] | None:
    """What `convolve` does, in memory from `take`, as often as it is wanted; None: not all of it is compiled."""
    loops = _loader.get(wait=False)
    if loops is plain or matrices.dim() != 4:
        return None
    bias = data.new_zeros(result.shape[1]) if bias is None else bias
    images, results = (t.permute(0, 2, 3, 1) for t in (data, result))
    more = None if addend is None else addend.permute(0, 2, 3, 1)
    return tile_tasks.convolving(images, matrices, bias, more, results, bounds, USUAL, take)


def convolve_with(
    data: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, tiling: Tiling = USUAL
) -> torch.Tensor:
    """Convolution with a weight that is used once."""
    bias = data.new_zeros(weight.shape[0]) if bias is None else bias
    result, images = _new_result(data, weight.shape[0], tiling), data.permute(0, 2, 3, 1).contiguous()
    results = result.permute(0, 2, 3, 1)
    if _few(images, weight, tiling):
        repeated(tile_tasks.convolving_once, (images, weight.contiguous(), bias, results), tiling, _room)
        return result
    for part in _filters(weight):
        matrices = _brief_matrices(weight[part])
        some = len(range(*part.indices(len(weight))))
        whole = some == len(weight)
        out = results if whole else _new_result(data, some, tiling).permute(0, 2, 3, 1)
        if matrices.dim() == 4:
            repeated(tile_tasks.convolving, (images, matrices, bias[part], None, out), NO_BOUNDS, tiling, _room)
        else:
            _convolve(images, matrices, bias[part], None, out, NO_BOUNDS, True, tiling)
        if not whole:
            results[..., part] = out
    return result


def _new_result(data: torch.Tensor, filters: int, tiling: Tiling) -> torch.Tensor:
    """Not a view of something: what follows may work in place."""
    sizes = map(tiling.results, data.shape[2:])
    return torch.empty((data.shape[0], filters, *sizes), memory_format=torch.channels_last)


def _filters(weight: torch.Tensor) -> Iterator[slice]:
    """Filters whose matrices are made at once: as many as fit into the cache, and never fewer than loops need."""
    filters, channels = weight.shape[:2]
    most = max(PANEL, MATRICES_AT_ONCE // (36 * channels) // PANEL * PANEL)
    firsts = range(0, max(1, filters - FEWEST_FILTERS + 1), most)
    return map(slice, firsts, [*firsts[1:], filters])


def _convolve(
    data: torch.Tensor,
    matrices: torch.Tensor,
    bias: torch.Tensor,
    addend: torch.Tensor | None,
    result: torch.Tensor,
    bounds: tuple[float | None, float | None],
    wait: bool,
    tiling: Tiling,
) -> None:
    """Images, channels last by name, into images, by products of the library."""
    loops = _loader.get(wait)
    filters, channels = result.shape[3], data.shape[3]
    for group in _groups(data, channels + filters, tiling):
        spread, gathered = _tiles(0, group.tiles, channels), _tiles(1, group.tiles, filters)
        loops.spread(data, group, spread)
        torch.bmm(spread, matrices.transpose(1, 2), out=gathered)
        loops.gather(gathered, group, result, bias, addend, bounds)


def gradients(
    data: torch.Tensor,
    head: torch.Tensor,
    weight: torch.Tensor,
    data_too: bool,
    weight_too: bool,
    tiling: Tiling = USUAL,
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """The gradients of data and weight from that of the result."""
    data, head = data.permute(0, 2, 3, 1).contiguous(), head.permute(0, 2, 3, 1)
    by_data = torch.zeros_like(data) if data_too else None
    by_weight = torch.empty(weight.shape) if weight_too else None
    if _few(data, weight, tiling):
        few = data, head.contiguous(), weight.contiguous(), by_data, by_weight
        repeated(tile_tasks.differentiating_once, few, tiling, _room)
    else:
        for part in _filters(weight):
            own = None if by_weight is None else by_weight[part]
            by_kernels = _kernels(min(len(weight[part]), weight.shape[1]), wait=True)
            add = _add_gradients if by_kernels else _add_plain_gradients
            add(data, head[..., part].contiguous(), weight[part], by_data, own, tiling)
    return None if by_data is None else by_data.permute(0, 3, 1, 2), by_weight


def _few(images: torch.Tensor, weight: torch.Tensor, tiling: Tiling) -> bool:
    """Are there so few tiles that all are worked on at once, and kernels for it?"""
    (filters, channels), window = weight.shape[:2], tiling.window
    if window != 3 or tiling.before != 1 or not (_whole_panels(channels, True) and _whole_panels(filters, True)):
        return False
    return tiling.count_last(images) <= tile_tasks.at_once(channels + filters, torch.get_num_threads())


def _add_gradients(
    data: torch.Tensor,
    head: torch.Tensor,
    weight: torch.Tensor,
    by_data: torch.Tensor | None,
    by_weight: torch.Tensor | None,
    tiling: Tiling,
) -> None:
    """Some filters' part of the gradients: added to that of the data, written to their own."""
    filters, channels = weight.shape[:2]
    matrices = None if by_data is None else _brief_matrices(weight, across=True)
    parts, columns = tile_tasks.parts(data, filters, tiling), panels.number(channels) * PANEL
    totals = None
    if by_weight is not None:
        totals = panels.side_by_side(_room, 3, parts * 36, filters, columns).unflatten(0, (parts, 36))
    repeated(tile_tasks.differentiating, (data, head, matrices, by_data, totals), tiling, parts)
    if totals is not None:
        total = totals[0]
        for other in totals[1:]:
            total += other
        if columns > channels:
            total = total[:, :, panels.places(channels)]
        _for_kernels(weight).collect_kernels(total, by_weight)


def _add_plain_gradients(
    data: torch.Tensor,
    head: torch.Tensor,
    weight: torch.Tensor,
    by_data: torch.Tensor | None,
    by_weight: torch.Tensor | None,
    tiling: Tiling,
) -> None:
    """The same by products of the library."""
    loops, (filters, channels) = _loader.get(True), weight.shape[:2]
    matrices = _tiles(2, filters, channels)
    if by_data is not None:
        _for_kernels(weight).spread_kernels(weight.contiguous(), matrices)
    total = _tiles(3, filters, channels)
    for number, group in enumerate(_groups(data, channels + filters, tiling)):
        widened, spread = _tiles(1, group.tiles, filters), _tiles(0, group.tiles, channels)
        loops.widen(head, group, widened)
        if by_weight is not None:
            loops.spread(data, group, spread)
            torch.baddbmm(total, widened.transpose(1, 2), spread, beta=1 if number else 0, out=total)
        if by_data is not None:
            torch.bmm(widened, matrices, out=spread)
            loops.collect(spread, group, by_data)
    if by_weight is not None:
        _for_kernels(weight).collect_kernels(total, by_weight)
