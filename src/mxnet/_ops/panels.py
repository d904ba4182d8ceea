"""Products of matrices of single precision on the CPU by compiled kernels, which pass MKL's where there are few rows.

The right matrices are packed: 16 of their columns at a time lie side by side, (panel, row, 16).
"""

from typing import Any

import torch

from .loader import kernels
from .teams import Task

PANEL = 16
WORTH_A_THREAD = 1 << 20  # multiplications, in a part of the work


_loader = kernels("matrix_kernels")


def gains(depth: int, width: int, wait: bool) -> bool:
    """Are there kernels for a right matrix (depth, width)?"""
    return depth % 4 == 0 and width % PANEL == 0 and _loader.get(wait) is not None


def products(left: torch.Tensor, panels: torch.Tensor, result: torch.Tensor) -> None:
    """(number, rows, depth) times (number, width / 16, depth, 16) into (number, rows, width).

    All is contiguous; but the result may be some columns of a larger one.
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
    places = (left.data_ptr(), panels.data_ptr(), 0 if zeros is None else zeros.data_ptr(), result.data_ptr())
    distances = (strided.stride(1) * strided.itemsize, strided.stride(0) * strided.itemsize)
    most = number * rows * depth * width // WORTH_A_THREAD
    given = rows, depth, width, *places, *distances
    return Task(kernel, given, (0, number), most, held=(left, panels, zeros, result))
