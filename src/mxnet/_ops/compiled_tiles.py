"""Winograd's transforms of tiles (see winograd) by compiled loops, shared out among torch's number of threads."""

from . import loops  # compiles
from .direct import ends
from .panels import PANEL
from .teams import Task

FEWEST_FLOATS = 1 << 15  # in a part of the work


def spread(images, group, tiles):
    spreading(images, group, tiles).run()


def spreading(images, group, tiles):
    """The tiles of 6 x 6 pixels, four apart, that begin one before the image; transformed.

    Tiles are (36, tile, channel), or panels of 16 channels, (36, panel, tile, 16).
    """
    source, target = (_flat(images), *images.shape[1:], group.begin, tiles.stride(0)), _all(tiles)
    row, apart = (images.shape[3], PANEL) if tiles.dim() == 3 else (PANEL, group.tiles * PANEL)
    return _task(loops.spread, (*source, target, row, apart), group, tiles)


def widen(images, group, tiles):
    """The tiles of 4 x 4 pixels, side by side, as 6 x 6 values."""
    source, target = (_flat(images), *images.shape[1:], group.begin, tiles.stride(0)), _all(tiles)
    _task(loops.widen, (*source, target), group, tiles).run()


def collect(tiles, group, images):
    """The adjoint of `spread`: each tile's 6 x 6 pixels are added to the images."""
    arrays = (_all(tiles), _flat(images), *images.shape[1:], group.begin, tiles.stride(0))
    # Neighbours in an image add to the same pixels: only whole images can be shared out.
    several = group.images.stop - group.images.start
    unit = group.tiles // several
    _task(loops.collect, arrays, group, tiles, unit).run()


def gather(tiles, group, images, bias, addend, bounds):
    gathering(tiles, group, images, bias, addend, bounds).run()


def gathering(tiles, group, images, bias, addend, bounds):
    """The 4 x 4 pixels of each tile; bias and addend are added, bounds applied."""
    arrays = (_all(tiles), _flat(images), *images.shape[1:], group.begin, tiles.stride(0))
    others = (_flat(bias), _flat(images if addend is None else addend), addend is not None, *ends(bounds))
    return _task(loops.gather, (*arrays, *others), group, tiles)


def spread_kernels(weight, matrices):
    """The weight (filters, channels, 3, 3) as 36 matrices (filters, channels)."""
    size = matrices[0].numel()
    _spread_kernels(weight, matrices, -(-size // PANEL), PANEL, 1, 0)


def spread_panels(weight, panels, across, first=0):
    """The same in panels: of 16 filters, (36, panel, channel, 16), or `across` of channels, (36, panel, filter, 16).

    There may be fewer panels than the weight has: those from `first` on.
    """
    filters, channels = weight.shape[:2]
    if across:
        _spread_kernels(weight, panels, filters, channels, 1, PANEL, first)
    else:
        _spread_kernels(weight, panels, channels, 1, channels, PANEL * channels, first)


def _spread_kernels(weight, matrices, depth, down, along, columns, first=0):
    size, most = matrices[0].numel(), matrices.numel() // FEWEST_FLOATS
    kernels = weight.data_ptr() + 9 * columns * first * weight.itemsize
    given = (kernels, size, depth, down, along, columns, matrices.data_ptr(), _stride(matrices))
    Task(loops.spread_kernels, given, (0, size), most, PANEL, held=(weight, matrices)).run()


def collect_kernels(matrices, weight):
    """The adjoint of `spread_kernels`."""
    size, most = matrices[0].numel(), matrices.numel() // FEWEST_FLOATS
    given = (matrices.data_ptr(), _stride(matrices), size, weight.data_ptr())
    Task(loops.collect_kernels, given, (0, size), most, PANEL, held=(matrices, weight)).run()


def _flat(tensor):
    return tensor.detach().view(-1).numpy()


def _all(tiles):
    """The memory of tiles, whose 36 values may lie further apart than they are long."""
    return tiles.detach().as_strided((len(tiles) * tiles.stride(0),), (1,)).numpy()


def _stride(matrices):
    """In bytes."""
    return matrices.stride(0) * matrices.itemsize


def _task(kernel, given, group, tiles, unit=1):
    """What a kernel does to a group of tiles, in the same memory as often as it is wanted; arrays hold their memory."""
    return Task(kernel, given, (group.begin, group.tiles), tiles.numel() // FEWEST_FLOATS, unit)
