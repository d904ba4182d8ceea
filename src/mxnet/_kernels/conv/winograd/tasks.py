"""The tasks of a convolution by compiled Winograd kernels (see f4x4_kernels), and of its gradients.

Where there are many tiles, threads divide the tiles; else they divide the filters: each reads all tiles then, but only
its own weights. Images are NHWC.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from ... import tuning
from ...matmul.packed import PANEL, number_of_panels, odd_stride, with_odd_stride
from ...runtime.buffers import buffer
from ...runtime.loader import CompiledModule
from ...runtime.task import ROUNDS, Task
from ..clamp import Clamp, limits
from .tiling import Tiling

FLOAT = 4  # bytes
FEWEST_FILTERS = 16  # for which there are kernels

Take = Callable[..., Tensor]  # (which, *shape) -> a buffer

code = CompiledModule("conv.winograd.f4x4_kernels")


def _kernels() -> Any:
    return code.get(wait=True)


def _transforms() -> Any:
    return _kernels().transform_kernels


def tiles_at_once(channels: int, threads: int = 1) -> int:
    """How many tiles of so many channels, of data and results together, are computed at once."""
    return max(tuning.WINOGRAD_FLOATS * threads // (36 * channels), tuning.WINOGRAD_TILES_AT_ONCE)


def _block(count: int, channels: int, threads: int) -> int:
    """The tiles of one part of the work: equally many for each thread."""
    parts = -(-count // tiles_at_once(channels))
    if parts < ROUNDS * threads:
        parts = -(-parts // threads) * threads
    return -(-count // (parts * 8)) * 8


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()


def _images(images: Tensor) -> tuple[int, ...]:
    assert images.is_contiguous()  # kernels only know the address
    return (images.data_ptr(), *images.shape[1:])


def _matrices(matrices: Tensor) -> tuple[int, int]:
    """The address of 36 matrices, and the bytes from one to the next."""
    return matrices.data_ptr(), matrices.stride(0) * FLOAT


# Transforms


def _transform(kernel: Any, arguments: tuple[Any, ...], tiles: Tensor, images: Tensor, tiling: Tiling) -> Task:
    """A transform of all tiles of the images."""
    most = tiles.numel() // tuning.WINOGRAD_FLOATS_PER_THREAD
    return Task(kernel, (*arguments, 0), (0, tiling.count_nhwc(images)), most, held=(tiles, images))


def input_transform(images: Tensor, tiling: Tiling, tiles: Tensor) -> Task:
    """The input transform of all tiles, to (36, tile, channel) or, in panels of 16 channels, (36, panel, tile, 16)."""
    stride, panel = (images.shape[3], PANEL) if tiles.dim() == 3 else (PANEL, tiles.shape[2] * PANEL)
    order = (stride * FLOAT, panel * FLOAT, *tiling)
    arguments = (*_images(images), *_matrices(tiles), *order)
    return _transform(_transforms().input_transform, arguments, tiles, images, tiling)


def gradient_transform(head: Tensor, images: Tensor, tiling: Tiling, tiles: Tensor) -> Task:
    """The adjoint of the output transform, of all tiles of the head gradient."""
    most = tiles.numel() // tuning.WINOGRAD_FLOATS_PER_THREAD
    arguments = (*_images(head), *_matrices(tiles), tiling.step, 0)
    span = 0, tiling.count_nhwc(images)
    return Task(_transforms().gradient_transform, arguments, span, most, held=(tiles, head))


def weight_transform(weight: Tensor, panels: Tensor, transpose: bool = False) -> list[Task]:
    """The 3 x 3 weight as matrices in panels of 16 filters, (36, panel, channel, 16).

    With `transpose`, panels are of channels, (36, panel, filter, 16). A last panel that is not full holds the last 16.
    """
    filters, channels = weight.shape[:2]
    width, depth = (channels, filters) if transpose else (filters, channels)
    along, down = (1, channels) if transpose else (channels, 1)
    whole, tasks = width // PANEL, []
    for first, begin, count in ((0, 0, whole), (width - PANEL, whole, int(width % PANEL > 0))):
        if count:
            size, made = count * depth * PANEL, panels[:, begin:]
            start = weight.data_ptr() + first * along * 9 * FLOAT
            arguments = (start, size, depth, down, along, PANEL * along, *_matrices(made))
            most = 36 * size // tuning.WINOGRAD_FLOATS_PER_THREAD
            kernel = _transforms().weight_transform
            tasks.append(Task(kernel, arguments, (0, size), most, PANEL, held=(weight, panels)))
    return tasks


def weight_adjoint(matrices: Tensor, weight: Tensor) -> Task:
    """The adjoint of the weight transform: 36 matrices (filters, channels) to the gradient of a 3 x 3 weight."""
    size, most = matrices[0].numel(), matrices.numel() // tuning.WINOGRAD_FLOATS_PER_THREAD
    arguments = (*_matrices(matrices), size, weight.data_ptr())
    return Task(_transforms().weight_adjoint, arguments, (0, size), most, PANEL, held=(matrices, weight))


# Convolution


def filter_blocks(filters: int, channels: int) -> Iterator[slice]:
    """Filters whose matrices are computed at once: as many as fit into the cache, and never fewer than kernels need."""
    most = max(PANEL, tuning.WINOGRAD_WEIGHT_FLOATS // (36 * channels) // PANEL * PANEL)
    firsts = range(0, max(1, filters - FEWEST_FILTERS + 1), most)
    return map(slice, firsts, [*firsts[1:], filters])


def panels_of(width: int, depth: int, take: Take = buffer) -> Tensor:
    """A buffer for 36 matrices of a weight in panels."""
    return with_odd_stride(take, 2, 36, number_of_panels(width), depth, PANEL)


def few_tiles(images: Tensor, weight: Tensor, tiling: Tiling) -> bool:
    """Are there so few tiles that all can be computed at once, by threads that divide the filters?"""
    filters, channels = weight.shape[:2]
    if tiling != (3, 1) or filters % PANEL or channels % PANEL:
        return False
    return tiling.count_nhwc(images) <= tiles_at_once(channels + filters, torch.get_num_threads())


def convolve(images: Tensor, weight: Tensor, bias: Tensor, result: Tensor, tiling: Tiling) -> list[Task]:
    """A 3 x 3 convolution whose weight is transformed on the way."""
    if few_tiles(images, weight, tiling):
        return _by_filters((images, result, bias, None), None, weight, (None, None), tiling, buffer)
    tasks: list[Task] = []
    for block in filter_blocks(*weight.shape[:2]):
        own, made = weight[block], result[..., block]
        panels = panels_of(len(own), own.shape[1])
        tasks += weight_transform(own, panels)
        tasks += _by_tiles(images, panels, bias[block], None, made, (None, None), tiling)
    return tasks


def convolve_packed(
    images: Tensor,
    panels: Tensor,
    bias: Tensor,
    addend: Tensor | None,
    result: Tensor,
    clamp: Clamp,
    tiling: Tiling,
    take: Take,
) -> list[Task]:
    """A convolution with a transformed weight in panels; then the addend is added, and the sum clamped."""
    count, filters, threads = tiling.count_nhwc(images), result.shape[3], torch.get_num_threads()
    whole = tiling.window == 3 and filters % PANEL == 0
    if threads > 1 and whole and count < tuning.WINOGRAD_TILES_PER_THREAD * threads:
        return _by_filters((images, result, bias, addend), panels, None, clamp, tiling, take)
    return _by_tiles(images, panels, bias, addend, result, clamp, tiling)


def _by_tiles(
    images: Tensor,
    panels: Tensor,
    bias: Tensor,
    addend: Tensor | None,
    result: Tensor,
    clamp: Clamp,
    tiling: Tiling,
) -> list[Task]:
    """Threads divide the tiles; the result may be some channels of larger images."""
    count, threads = tiling.count_nhwc(images), torch.get_num_threads()
    channels, filters = images.shape[3], result.shape[3]
    zeros, block = images.new_zeros(filters), _block(count, channels + filters, threads)
    made = (result.data_ptr(), *result.shape[1:3], result.stride(2), filters, bias.data_ptr(), _address(addend))
    arguments = (
        _kernels().STEPS, *_images(images), *tiling, *_matrices(panels), zeros.data_ptr(), *made, block, *limits(clamp)
    )  # fmt: skip
    most = 36 * count * channels * filters // tuning.MULTIPLICATIONS_PER_THREAD
    scratch = 36 * (odd_stride(block * channels) + odd_stride(block * filters))
    held = images, panels, zeros, result, bias, addend
    return [Task(_kernels().convolve, arguments, (0, count), most, block, scratch, held=held)]


def _by_filters(
    tensors: tuple[Any, ...],
    panels: Tensor | None,
    weight: Tensor | None,
    clamp: Clamp,
    tiling: Tiling,
    take: Take,
) -> list[Task]:
    """Threads divide the filters, with a transformed weight in panels, or a weight that they transform.

    The tensors are images, result, bias and addend.
    """
    images, result, bias, addend = tensors
    kernels, count, filters, channels = _kernels(), tiling.count_nhwc(images), result.shape[3], images.shape[3]
    assert result.is_contiguous()
    tiles, zeros = with_odd_stride(take, 0, 36, count, channels), images.new_zeros(filters)
    own = (_address(weight), _address(panels), 0 if panels is None else panels.stride(0) * FLOAT, zeros.data_ptr())
    made = (result.data_ptr(), *result.shape[1:], bias.data_ptr(), _address(addend), *limits(clamp))
    arguments = (kernels.STEPS, *_matrices(tiles), count, channels, *own, *made)
    width = kernels.SEVERAL * PANEL
    scratch = 36 * (odd_stride(width * count) + (0 if weight is None else odd_stride(width * channels)))
    most = 36 * count * channels * filters // tuning.MULTIPLICATIONS_PER_THREAD
    held = tiles, weight, panels, zeros, result, bias, addend
    span = 0, filters // PANEL
    columns = Task(kernels.convolve_columns, arguments, span, most, kernels.SEVERAL, scratch, held=held)
    return [input_transform(images, tiling, tiles), columns]


# Gradients


def gradient_parts(images: Tensor, filters: int, tiling: Tiling) -> int:
    """How many threads compute the gradients of many tiles: each has its own sum of the weight's gradient."""
    batch, height, _, channels = images.shape
    size, threads = 36 * filters * number_of_panels(channels) * PANEL, torch.get_num_threads()
    rows = batch * tiling.along(height)
    own = batch if batch >= threads else rows // (2 * tuning.WINOGRAD_STRIP_ROWS)
    return max(1, min(threads, tuning.WINOGRAD_GRADIENT_FLOATS // size, own))


def gradients(
    images: Tensor,
    head: Tensor,
    weight: Tensor,
    by_data: Tensor | None,
    totals: Tensor | None,
    tiling: Tiling,
    parts: int,
) -> list[Task]:
    """The gradients of many tiles of a 3 x 3 convolution, whose weight is transformed on the way."""
    if by_data is None:
        return gradients_packed(images, head, None, by_data, totals, tiling, parts)
    panels = panels_of(weight.shape[1], weight.shape[0])
    tasks = weight_transform(weight, panels, transpose=True)
    return tasks + gradients_packed(images, head, panels, by_data, totals, tiling, parts)


def gradients_packed(
    images: Tensor,
    head: Tensor,
    panels: Tensor | None,
    by_data: Tensor | None,
    totals: Tensor | None,
    tiling: Tiling,
    parts: int,
) -> list[Task]:
    """The data's gradient is added to `by_data`, the weight's are `totals`, (part, 36, filters, columns of panels)."""
    count, channels, filters, batch = tiling.count_nhwc(images), images.shape[3], head.shape[3], len(images)
    columns, zeros = number_of_panels(channels) * PANEL, images.new_zeros(max(channels + PANEL, filters))
    block = _block(-(-count // parts), channels + filters, 1)
    weights = (*((0, 0) if panels is None else _matrices(panels)), zeros.data_ptr())
    made = (_address(by_data), _address(totals), *(0 if totals is None else totals.stride(i) * FLOAT for i in (1, 0)))
    # Neighbours in an image add to the same pixels: threads get whole images, or every other strip of tile rows.
    rows, turns = (batch, 1) if batch >= parts else (batch * tiling.along(images.shape[1]), 2)
    fixed = (_kernels().STEPS, *_images(images), *tiling, *_images(head), *weights, *made)
    scratch = 36 * (odd_stride(block * filters) + odd_stride(block * columns))
    held, tasks = (images, head, panels, zeros, by_data, totals), []
    for turn in range(turns):
        arguments = (*fixed, rows, count // rows, turns * parts, turns, turn, block)
        tasks.append(Task(_kernels().gradients, arguments, (0, parts), parts, 1, scratch, held=held))
    return tasks


def gradients_of_few_tiles(
    images: Tensor, head: Tensor, weight: Tensor, by_data: Tensor | None, by_weight: Tensor | None, tiling: Tiling
) -> list[Task]:
    """The gradients of 3 x 3 windows where threads divide filters, or channels; the data's is added to `by_data`."""
    kernels, count, channels, filters = _kernels(), tiling.count_nhwc(images), images.shape[3], head.shape[3]
    heads = with_odd_stride(buffer, 1, 36, count, filters)
    zeros, most = images.new_zeros(max(channels, filters)), 36 * count * channels * filters
    most //= tuning.MULTIPLICATIONS_PER_THREAD
    arguments = (kernels.STEPS, *_matrices(heads), count, filters)
    tasks = [gradient_transform(head, images, tiling, heads)]
    if by_weight is not None:
        tiles = with_odd_stride(buffer, 0, 36, channels // PANEL, count, PANEL)
        own = (*_matrices(tiles), channels, zeros.data_ptr(), by_weight.data_ptr())
        held, scratch = (heads, tiles, zeros, by_weight), 36 * odd_stride(kernels.ROWS * channels)
        rows = Task(kernels.weight_rows, (*arguments, *own), (0, filters), most, kernels.ROWS, scratch, held=held)
        tasks += [input_transform(images, tiling, tiles), rows]
    if by_data is not None:
        own = (weight.data_ptr(), zeros.data_ptr(), *_images(by_data))
        width, held = kernels.SEVERAL * PANEL, (heads, weight, zeros, by_data)
        scratch, span = 36 * (odd_stride(width * filters) + odd_stride(width * count)), (0, channels // PANEL)
        given = (*arguments, *own)
        tasks.append(Task(kernels.data_columns, given, span, most, kernels.SEVERAL, scratch, held=held))
    return tasks
