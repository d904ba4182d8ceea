"""Products of matrices of single precision on the CPU by compiled kernels, which pass MKL's where there are few rows.

The right matrices are packed: 16 of their columns at a time lie side by side, (panel, row, 16). Where they are no
multiple of 16 the last panel holds the last 16, some of which the one before has, too.
"""

import math
from collections.abc import Callable
from typing import Any

import torch

from .loader import kernels
from .teams import Task

PANEL = LINE = 16  # floats
WORTH_A_THREAD = 1 << 20  # multiplications, in a part of the work


_loader = kernels("matrix_kernels")


def gains(width: int, wait: bool) -> bool:
    """Are there kernels for right matrices of so many columns?"""
    return width >= PANEL and _loader.get(wait) is not None


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
    return _task("products", left.shape[1], left, panels, _zeros(result), result, result)


def products_across(left: torch.Tensor, panels: torch.Tensor, result: torch.Tensor, add: bool) -> None:
    """The same for (number, depth, rows), a part of a larger left perhaps, or such products added to the result."""
    _task("products_across", left.shape[2], left, panels, None if add else _zeros(result), result, left).run()


def _zeros(result: torch.Tensor) -> torch.Tensor:
    return result.new_zeros(result.shape[2])


def _task(name: str, rows: int, left: Any, panels: Any, zeros: torch.Tensor | None, result: Any, strided: Any) -> Task:
    number, depth, width = left.shape[0], panels.shape[2], result.shape[2]
    kernel = getattr(_loader.get(wait=True), name)
    places = [(each.data_ptr(), each.stride(0) * each.itemsize) for each in (left, panels, result)]
    nothing = 0 if zeros is None else zeros.data_ptr()
    given = rows, depth, width, *places[0], *places[1], nothing, *places[2], strided.stride(1) * strided.itemsize
    most = number * rows * depth * width // WORTH_A_THREAD
    return Task(kernel, given, (0, number), most, held=(left, panels, zeros, result))


def side_by_side(take: Callable[..., torch.Tensor], which: int, number: int, *shape: int) -> torch.Tensor:
    """Memory for (number, *shape) from `take`, in which equal places of all arrays are in the cache at once.

    A cache has few places for addresses that differ by a large power of two: arrays are an odd number of lines apart.
    """
    size = math.prod(shape)
    apart = (-(-size // LINE) | 1) * LINE
    return take(which, number, apart)[:, :size].view(number, *shape)
