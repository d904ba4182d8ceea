"""Winograd's transforms of tiles (see winograd) by compiled loops, shared out among torch's number of threads."""

from ...matmul.packed import PANEL
from ...runtime.task import Task
from ..direct import ends
from . import transform_kernels as loops  # compiles

FEWEST_FLOATS = 1 << 15  # in a part of the work


def spread(images, group, tiles):
    spreading(images, group, tiles).run()


def spreading(images, group, tiles):
    """The tiles of 6 x 6 pixels, as their results are apart, that begin before the image; transformed.

    Tiles are (36, tile, channel), or panels of 16 channels, (36, panel, tile, 16).
    """
    row, apart = (images.shape[3], PANEL) if tiles.dim() == 3 else (PANEL, group.tiles * PANEL)
    order = (row * tiles.itemsize, apart * tiles.itemsize, *group.tiling)
    return _task(loops.spread, (*_images(images), *_tiles(tiles), *order), group, tiles, images)


def widen(images, group, tiles):
    widening(images, group, tiles).run()


def widening(images, group, tiles):
    """The tiles of 4 x 4 or 2 x 2 pixels, side by side, as 6 x 6 values."""
    return _task(loops.widen, (*_images(images), *_tiles(tiles), group.tiling.step), group, tiles, images)


def collect(tiles, group, images):
    """The adjoint of `spread`: each tile's 6 x 6 pixels are added to the images."""
    # Neighbours in an image add to the same pixels: only whole images can be shared out.
    unit = group.tiles // (group.images.stop - group.images.start)
    given = (*_tiles(tiles), *_images(images), images.shape[3], *group.tiling)
    _task(loops.collect, given, group, tiles, images, unit=unit).run()


def gather(tiles, group, images, bias, addend, bounds):
    """The 4 x 4 or 2 x 2 pixels of each tile; bias and addend are added, bounds applied."""
    others = (images.shape[3], group.tiling.step, bias.data_ptr(), 0 if addend is None else addend.data_ptr())
    given = (*_tiles(tiles), *_images(images), *others, *ends(bounds))
    _task(loops.gather, given, group, tiles, images, bias, addend).run()


def spread_kernels(weight, matrices):
    """The weight (filters, channels, 3, 3) as 36 matrices (filters, channels)."""
    size = matrices[0].numel()
    _spread_kernels(weight, matrices, -(-size // PANEL), PANEL, 1, 0)


def spread_panels(weight, panels, across):
    """The same in panels: of 16 filters, (36, panel, channel, 16), or `across` of channels, (36, panel, filter, 16)."""
    filters, channels = weight.shape[:2]
    if across:
        _spread_kernels(weight, panels, filters, channels, 1, PANEL)
    else:
        _spread_kernels(weight, panels, channels, 1, channels, PANEL * channels)


def _spread_kernels(weight, matrices, depth, down, along, columns):
    size, most = matrices[0].numel(), matrices.numel() // FEWEST_FLOATS
    given = (weight.data_ptr(), size, depth, down, along, columns, *_tiles(matrices))
    Task(loops.spread_kernels, given, (0, size), most, PANEL, held=(weight, matrices)).run()


def collect_kernels(matrices, weight):
    """The adjoint of `spread_kernels`."""
    size, most = matrices[0].numel(), matrices.numel() // FEWEST_FLOATS
    given = (*_tiles(matrices), size, weight.data_ptr())
    Task(loops.collect_kernels, given, (0, size), most, PANEL, held=(matrices, weight)).run()


def _images(images):
    assert images.is_contiguous()  # kernels only know the address
    return (images.data_ptr(), *images.shape[1:])


def _tiles(tiles):
    """Where tiles, or kernels, are, and how many bytes their 36 values lie apart."""
    return (tiles.data_ptr(), tiles.stride(0) * tiles.itemsize)


def _task(kernel, given, group, tiles, *held, unit=1):
    """What a kernel does to a group of tiles, in the same memory as often as it is wanted."""
    most, span = tiles.numel() // FEWEST_FLOATS, (group.begin, group.tiles)
    return Task(kernel, (*given, group.begin), span, most, unit, held=(tiles, *held))
