"""Matrix products with packed right matrices, by compiled kernels that are faster than MKL for few rows.

Right matrices are packed in panels of 16 columns, (panel, row, 16). If the number of columns is not a multiple of 16,
the last panel holds the last 16 columns and overlaps the panel before it.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from .. import tuning
from ..runtime.loader import CompiledModule
from ..runtime.task import Task

PANEL = LINE = 16  # floats of a panel's rows, and of a cache line

_code = CompiledModule("matmul.micro_kernels")


def number_of_panels(width: int) -> int:
    """How many panels hold so many columns."""
    return -(-width // PANEL)


def columns(width: int) -> Tensor:
    """Which columns the panels hold, one after the other."""
    places = torch.arange(number_of_panels(width) * PANEL)
    return places - (places >= width // PANEL * PANEL) * (-width % PANEL)


def places(width: int) -> Tensor:
    """Where in the panels each column is."""
    columns = torch.arange(width)
    return columns + (columns >= width // PANEL * PANEL) * (-width % PANEL)


def product_task(left: Tensor, panels: Tensor, result: Tensor) -> Task:
    """(number, rows, depth) times (number, width / 16, depth, 16) into (number, rows, width).

    Each matrix is contiguous; but the result may be some columns of a larger one.
    """
    (number, rows, depth), width = left.shape, result.shape[2]
    zeros = result.new_zeros(width)
    addresses = [(each.data_ptr(), each.stride(0) * each.itemsize) for each in (left, panels, result)]
    row = result.stride(1) * result.itemsize
    given = rows, depth, width, *addresses[0], *addresses[1], zeros.data_ptr(), *addresses[2], row
    most = number * rows * depth * width // tuning.MULTIPLICATIONS_PER_THREAD
    return Task(_code.get(wait=True).products, given, (0, number), most, held=(left, panels, zeros, result))


def with_odd_stride(take: Callable[..., Tensor], which: int, number: int, *shape: int) -> Tensor:
    """Return a buffer for (number, *shape) from `take`, whose arrays can all be in the cache.

    Addresses that differ by a large power of two map to the same cache set, so arrays are an odd number of lines apart.
    """
    size = math.prod(shape)
    return take(which, number, odd_stride(size))[:, :size].view(number, *shape)


def odd_stride(floats: int) -> int:
    """The stride between such arrays of so many floats."""
    return (-(-floats // LINE) | 1) * LINE
