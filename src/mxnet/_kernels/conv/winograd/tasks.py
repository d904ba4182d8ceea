"""What computes convolutions by tiles, and their gradients, with compiled kernels (see tile_kernels).

Where there are many tiles, threads share them out, else filters: each reads all tiles then, but its own weights only.
"""

from collections.abc import Callable
from typing import Any

import torch

from ...matmul import packed as panels
from ...matmul.packed import PANEL, WORTH_A_THREAD, apart
from ...runtime.loader import CompiledModule
from ...runtime.task import ROUNDS, Task
from ..direct import Bounds, ends

# Few enough for the cache, and enough that the matrices of the weight are not read too often.
FLOATS_AT_ONCE, TILES_AT_ONCE = 1 << 20, 128
FEWEST_TILES = 48  # for each thread, or they share filters out
MOST_TOTALS = 1 << 25  # floats of weights' gradients, one for each thread
FEWEST_LINES = 2  # of tiles, in a strip of an image

Take = Callable[..., torch.Tensor]

_code = CompiledModule("conv.winograd.f4x4_kernels")


def available(wait: bool) -> bool:
    return _code.get(wait) is not None


def at_once(channels: int, threads: int = 1) -> int:
    """How many tiles of so many channels, of data and results, are worked on at once."""
    return max(FLOATS_AT_ONCE * threads // (36 * channels), TILES_AT_ONCE)


def _size(count: int, channels: int, threads: int) -> int:
    """The tiles of a part of the work: as many for each thread."""
    parts = -(-count // at_once(channels))
    if parts < ROUNDS * threads:
        parts = -(-parts // threads) * threads
    return -(-count // (parts * 8)) * 8


def _address(tensor: torch.Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()


def convolving(
    images: torch.Tensor,
    matrices: torch.Tensor,
    bias: torch.Tensor,
    addend: torch.Tensor | None,
    result: torch.Tensor,
    bounds: Bounds,
    tiling: Any,
    take: Take,
) -> list[Task]:
    """A convolution with the matrices of a weight in panels; images, addend and result are channels-last by name."""
    assert images.is_contiguous() and result.is_contiguous()  # kernels only know the address
    count, filters, threads = tiling.count_last(images), result.shape[3], torch.get_num_threads()
    whole = tiling.window == 3 and filters % PANEL == 0
    if threads > 1 and whole and count < FEWEST_TILES * threads:
        return _by_filters((images, result, bias, addend), matrices, None, bounds, tiling, take)
    zeros, channels = images.new_zeros(filters), images.shape[3]
    some = _size(count, channels + filters, threads)
    given = (
        _code.get(True).STEPS, images.data_ptr(), *images.shape[1:], *tiling, matrices.data_ptr(),
        matrices.stride(0) * 4, zeros.data_ptr(), result.data_ptr(), *result.shape[1:], bias.data_ptr(),
        _address(addend), some, *ends(bounds),
    )  # fmt: skip
    most = 36 * count * channels * filters // WORTH_A_THREAD
    room = 36 * (apart(some * channels) + apart(some * filters))
    held = images, matrices, zeros, result, bias, addend
    return [Task(_code.get(True).convolve, given, (0, count), most, some, room, held=held)]


def convolving_once(
    images: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, result: torch.Tensor, tiling: Any, take: Take
) -> list[Task]:
    """A convolution of 3 x 3 windows with few tiles, and a weight that is used once."""
    return _by_filters((images, result, bias, None), None, weight, (None, None), tiling, take)


def _by_filters(
    given: tuple[Any, ...],
    matrices: torch.Tensor | None,
    weight: torch.Tensor | None,
    bounds: Bounds,
    tiling: Any,
    take: Take,
) -> list[Task]:
    """The same, with matrices of a weight, or the weight itself, for images, result, bias and addend."""
    from .transform_tasks import spreading

    images, result, bias, addend = given
    code, count, filters, channels = _code.get(True), tiling.count_last(images), result.shape[3], images.shape[3]
    tiles, zeros = panels.side_by_side(take, 0, 36, count, channels), images.new_zeros(filters)
    own = (_address(weight), _address(matrices), 0 if matrices is None else matrices.stride(0) * 4, zeros.data_ptr())
    made = (result.data_ptr(), *result.shape[1:], bias.data_ptr(), _address(addend), *ends(bounds))
    arguments = (code.STEPS, tiles.data_ptr(), tiles.stride(0) * 4, count, channels, *own, *made)
    width = code.SEVERAL * PANEL
    room = 36 * (apart(width * count) + (0 if weight is None else apart(width * channels)))
    most = 36 * count * channels * filters // WORTH_A_THREAD
    held = tiles, weight, matrices, zeros, result, bias, addend
    columns = Task(code.convolve_columns, arguments, (0, filters // PANEL), most, code.SEVERAL, room, held=held)
    return [spreading(images, tiling.all_of(images), tiles), columns]


def parts(images: torch.Tensor, filters: int, tiling: Any) -> int:
    """How many threads compute gradients of many tiles: each has a total of those of the weight."""
    batch, height, _, channels = images.shape
    size, threads = 36 * filters * panels.number(channels) * PANEL, torch.get_num_threads()
    lines = batch * tiling.tiles(height)
    return max(1, min(threads, MOST_TOTALS // size, batch if batch >= threads else lines // (2 * FEWEST_LINES)))


def differentiating(
    images: torch.Tensor,
    head: torch.Tensor,
    matrices: torch.Tensor | None,
    by_data: torch.Tensor | None,
    totals: torch.Tensor | None,
    tiling: Any,
    parts: int,
) -> list[Task]:
    """The gradients of many tiles: that of the data is added, those of the weight are (part, 36, filters, columns)."""
    assert images.is_contiguous() and head.is_contiguous()
    count, channels, filters, batch = tiling.count_last(images), images.shape[3], head.shape[3], len(images)
    columns, zeros = panels.number(channels) * PANEL, images.new_zeros(max(channels + PANEL, filters))
    some = _size(-(-count // parts), channels + filters, 1)
    weights = (_address(matrices), 0 if matrices is None else matrices.stride(0) * 4, zeros.data_ptr())
    made = (_address(by_data), _address(totals), *(0 if totals is None else totals.stride(i) * 4 for i in (1, 0)))
    # Neighbours in an image add to the same pixels: threads get whole images, or every other strip of an image's lines
    lines, turns = (batch, 1) if batch >= parts else (batch * tiling.tiles(images.shape[1]), 2)
    own = (_code.get(True).STEPS, images.data_ptr(), *images.shape[1:])
    fixed = (*own, *tiling, head.data_ptr(), *head.shape[1:], *weights, *made)
    room = 36 * (apart(some * filters) + apart(some * columns))
    held, tasks = (images, head, matrices, zeros, by_data, totals), []
    for turn in range(turns):
        given = (*fixed, lines, count // lines, turns * parts, turns, turn, some)
        tasks.append(Task(_code.get(True).gradients, given, (0, parts), parts, 1, room, held=held))
    return tasks


def differentiating_once(
    images: torch.Tensor,
    head: torch.Tensor,
    weight: torch.Tensor,
    by_data: torch.Tensor | None,
    by_weight: torch.Tensor | None,
    tiling: Any,
    take: Take,
) -> list[Task]:
    """The gradients of 3 x 3 windows with few tiles: of the data, to which it is added, and of the weight."""
    from .transform_tasks import spreading, widening

    code, count, channels, filters = _code.get(True), tiling.count_last(images), images.shape[3], head.shape[3]
    widened, group = panels.side_by_side(take, 1, 36, count, filters), tiling.all_of(images)
    zeros, work = images.new_zeros(max(channels, filters)), 36 * count * channels * filters
    given = (code.STEPS, widened.data_ptr(), widened.stride(0) * 4, count, filters)
    tasks = [widening(head, group, widened)]
    if by_weight is not None:
        tiles = panels.side_by_side(take, 0, 36, channels // PANEL, count, PANEL)
        own = (tiles.data_ptr(), tiles.stride(0) * 4, channels, zeros.data_ptr(), by_weight.data_ptr())
        held, room = (widened, tiles, zeros, by_weight), 36 * apart(code.ROWS * channels)
        rows = Task(code.weight_rows, (*given, *own), (0, filters), work // WORTH_A_THREAD, code.ROWS, room, held=held)
        tasks += [spreading(images, group, tiles), rows]
    if by_data is not None:
        own = (weight.data_ptr(), zeros.data_ptr(), by_data.data_ptr(), *by_data.shape[1:])
        width, held = code.SEVERAL * PANEL, (widened, weight, zeros, by_data)
        room, span = 36 * (apart(width * filters) + apart(width * count)), (0, channels // PANEL)
        most = work // WORTH_A_THREAD
        tasks.append(Task(code.data_columns, (*given, *own), span, most, code.SEVERAL, room, held=held))
    return tasks
