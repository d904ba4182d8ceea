"""Winograd's transforms of tiles (see winograd) by compiled loops, shared out among torch's number of threads."""

from . import loops  # compiles
from .direct import ends
from .panels import PANEL
from .sharing import share

FEWEST_FLOATS = 1 << 17  # per thread; waking one takes as long as so many


def spread(images, group, tiles):
    share(*spreading(images, group, tiles))


def spreading(images, group, tiles):
    """The tiles of 6 x 6 pixels, four apart, that begin one before the image; transformed.

    Tiles are (36, tile, channel), or panels of 16 channels, (36, panel, tile, 16).
    """
    source, target = (_flat(images), *images.shape[1:], group.begin, group.tiles), _flat(tiles)
    row, apart = (images.shape[3], PANEL) if tiles.dim() == 3 else (PANEL, group.tiles * PANEL)
    return _job(lambda *span: loops.spread(*source, *span, target, row, apart), group.begin, group.tiles, tiles)


def widen(images, group, tiles):
    """The tiles of 4 x 4 pixels, side by side, as 6 x 6 values."""
    source, target = (_flat(images), *images.shape[1:], group.begin, group.tiles), _flat(tiles)
    _share(lambda *span: loops.widen(*source, *span, target), group.begin, group.tiles, tiles)


def collect(tiles, group, images):
    """The adjoint of `spread`: each tile's 6 x 6 pixels are added to the images."""
    arrays = (_flat(tiles), _flat(images), *images.shape[1:], group.begin, group.tiles)
    # Neighbours in an image add to the same pixels: only whole images can be shared out.
    several = group.images.stop - group.images.start
    unit = group.tiles // several
    _share(lambda *span: loops.collect(*arrays, *span), group.begin, group.tiles, tiles, unit)


def gather(tiles, group, images, bias, addend, bounds):
    share(*gathering(tiles, group, images, bias, addend, bounds))


def gathering(tiles, group, images, bias, addend, bounds):
    """The 4 x 4 pixels of each tile; bias and addend are added, bounds applied."""
    arrays = (_flat(tiles), _flat(images), *images.shape[1:], group.begin, group.tiles)
    others = (_flat(bias), _flat(images if addend is None else addend), addend is not None, *ends(bounds))
    return _job(lambda *span: loops.gather(*arrays, *span, *others), group.begin, group.tiles, tiles)


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
    kernels, target, size = _flat(weight)[9 * columns * first :], _flat(matrices), matrices[0].numel()
    order = (size, depth, down, along, columns)
    _share(lambda *span: loops.spread_kernels(kernels, *order, *span, target), 0, size, matrices, PANEL)


def collect_kernels(matrices, weight):
    """The adjoint of `spread_kernels`."""
    kernels, source, size = _flat(weight), _flat(matrices), matrices[0].numel()
    _share(lambda *span: loops.collect_kernels(source, size, *span, kernels), 0, size, matrices)


def _flat(tensor):
    return tensor.detach().view(-1).numpy()


def _share(*job):
    share(*_job(*job))


def _job(work, begin, count, values, unit=1):
    """What `share` computes, in the same memory as often as it is wanted."""
    return work, begin, count, values.numel() // FEWEST_FLOATS, unit
