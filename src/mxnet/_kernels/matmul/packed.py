"""Products of matrices of single precision on the CPU by compiled kernels, which pass MKL's where there are few rows.

The right matrices are packed: 16 of their columns at a time lie side by side, (panel, row, 16). Where they are no
multiple of 16 the last panel holds the last 16, some of which the one before has, too.
"""

import math
from collections.abc import Callable

import torch

from ..runtime.loader import CompiledModule
from ..runtime.task import Task

PANEL = LINE = 16  # floats
WORTH_A_THREAD = 1 << 20  # multiplications, in a part of the work


_code = CompiledModule("matmul.micro_kernels")


def gains(width: int, wait: bool) -> bool:
    """Are there kernels for right matrices of so many columns?"""
    return width >= PANEL and _code.get(wait) is not None


def number(width: int) -> int:
    """How many panels so many columns are."""
    return -(-width // PANEL)


def columns(width: int) -> torch.Tensor:
    """Which columns the panels hold, one after the other."""
    places = torch.arange(number(width) * PANEL)
    return places - (places >= width // PANEL * PANEL) * (-width % PANEL)


def places(width: int) -> torch.Tensor:
    """Where in the panels each column is."""
    columns = torch.arange(width)
    return columns + (columns >= width // PANEL * PANEL) * (-width % PANEL)


def products(left: torch.Tensor, panels: torch.Tensor, result: torch.Tensor) -> None:
    """(number, rows, depth) times (number, width / 16, depth, 16) into (number, rows, width).

    Each matrix is contiguous; but the result may be some columns of a larger one.
    """
    multiplying(left, panels, result).run()


def multiplying(left: torch.Tensor, panels: torch.Tensor, result: torch.Tensor) -> Task:
    """What `products` computes, in the same memory as often as it is wanted."""
    (number, rows, depth), width = left.shape, result.shape[2]
    zeros = result.new_zeros(width)
    places = [(each.data_ptr(), each.stride(0) * each.itemsize) for each in (left, panels, result)]
    apart = result.stride(1) * result.itemsize
    given = rows, depth, width, *places[0], *places[1], zeros.data_ptr(), *places[2], apart
    most = number * rows * depth * width // WORTH_A_THREAD
    return Task(_code.get(wait=True).products, given, (0, number), most, held=(left, panels, zeros, result))


def side_by_side(take: Callable[..., torch.Tensor], which: int, number: int, *shape: int) -> torch.Tensor:
    """Memory for (number, *shape) from `take`, in which equal places of all arrays are in the cache at once.

    A cache has few places for addresses that differ by a large power of two: arrays are an odd number of lines apart.
    """
    size = math.prod(shape)
    return take(which, number, apart(size))[:, :size].view(number, *shape)


def apart(floats: int) -> int:
    """How far such arrays of so many floats lie apart."""
    return (-(-floats // LINE) | 1) * LINE
