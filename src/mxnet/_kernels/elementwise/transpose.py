"""Contiguous copies of permuted (transposed) arrays, by blocks of 8 x 8 elements.

torch's own copy works element by element and takes three to twenty times as long for long axes.
"""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.loader import CompiledModule
from ..runtime.task import Task

SIZE, SIDE, LINE = 4, 8, 16  # bytes of an element, elements of a block's side, and of a cache line

code = CompiledModule("elementwise.transpose_kernels", after=tuning.TRANSPOSE_COMPILE)

Plan = tuple[int, ...]


def contiguous_copy(view: Tensor) -> Tensor:
    """A contiguous copy of an array."""
    if view.numel() >= tuning.TRANSPOSE_ELEMENTS:
        result = permuted(view)
        if result is not None:
            return result
    return view.clone(memory_format=torch.contiguous_format)


def transposed_copy(matrix: Tensor) -> Tensor:
    """A contiguous copy of the transposed matrix."""
    return torch.t_copy(matrix) if matrix.numel() < tuning.TRANSPOSE_ELEMENTS else contiguous_copy(matrix.t())


def _applies(view: Tensor) -> int:
    plain = view.__class__ is Tensor and view.is_cpu and view.layout is torch.strided
    if not plain or view.element_size() != SIZE or view.is_contiguous() or torch.compiler.is_compiling():
        return 0
    return view.numel() if _plan(tuple(view.shape), view.stride()) else 0


class _ContiguousCopy(torch.autograd.Function):
    """Nothing is saved for the gradient, which has the memory order of the input."""

    @staticmethod
    def forward(ctx: Any, view: Tensor) -> Tensor:
        ctx.order = sorted(range(view.dim()), key=lambda axis: -view.stride(axis))
        return _copy(view)

    @staticmethod
    def backward(ctx: Any, *heads: Tensor) -> Any:
        back = sorted(range(len(ctx.order)), key=ctx.order.__getitem__)
        return contiguous_copy(heads[0].permute(ctx.order)).permute(back)


@lru_cache(maxsize=1024)
def _plan(shape: tuple[int, ...], stride: tuple[int, ...]) -> Plan | None:
    """The kernel's arguments `outer` to `column` for an array; None: it cannot copy it."""
    axes = _merged_axes(shape, stride)
    if not 2 <= len(axes) <= 4 or axes[-1][1] <= 1:
        return None
    places, away = [], 1
    for size, step in reversed(axes):
        places.append((size, step * SIZE, away * SIZE))
        away *= size
    rows, *others = places  # those of the matrix follow each other in the result
    columns = next((axis for axis in others if axis[1] == SIZE), None)
    if columns is None or min(rows[0], columns[0]) < SIDE:
        return None
    others.remove(columns)
    around = [*others[::-1], (1, 0, 0), (1, 0, 0)][:2]
    return (*around[0], *around[1], rows[0], columns[0], rows[1], columns[2])


def _merged_axes(shape: tuple[int, ...], stride: tuple[int, ...]) -> list[list[int]]:
    """Sizes and strides of the axes; adjacent axes that are contiguous to each other are merged."""
    axes: list[list[int]] = []
    for size, step in zip(shape, stride, strict=True):
        if axes and axes[-1][1] == size * step:
            axes[-1] = [axes[-1][0] * size, step]
        elif size > 1:
            axes.append([size, step])
    return axes


def _copy(source: Tensor) -> Tensor:
    plan = _plan(tuple(source.shape), source.stride())
    assert plan is not None
    target, (outer, inner, columns) = source.new_empty(source.shape), (plan[0], plan[3], plan[7])
    kernel, number = code.get(wait=True).transpose, outer * inner * -(-columns // LINE)
    given = (source.data_ptr(), target.data_ptr(), *plan)
    Task(kernel, given, (0, number), source.numel() // tuning.TRANSPOSE_PER_THREAD).run()
    return target


# (a view of an array with permuted axes)
permuted = Kernel("elementwise.transpose", _applies, _ContiguousCopy.apply, tuning.TRANSPOSE_ELEMENTS, code)
