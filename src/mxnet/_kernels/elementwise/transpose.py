"""Arrays whose axes have changed places, written in their new order by blocks (see turning_kernels).

torch's own copy goes element by element, and takes three to twenty times as long where the axes are long.
"""

from typing import Any

import torch
from torch import Tensor

from ..runtime.loader import CompiledModule
from ..runtime.task import Task

LEAST = 1 << 13  # numbers; fewer are copied in no time
WORTH_A_COMPILER = 1 << 22  # numbers that were turned so far; for fewer no compiler is loaded
WORTH_A_THREAD = 1 << 16
SIZE, SIDE, WIDE = 4, 8, 16  # bytes of a number, numbers of a side of a block, and of what is read at a time

_code = CompiledModule("elementwise.transpose_kernels", after=WORTH_A_COMPILER)

Plan = tuple[int, ...]


def dense(view: Tensor) -> Tensor:
    """A copy of an array, its elements in their order."""
    if view.numel() >= LEAST and not view.is_contiguous() and _may(view):
        plan = _plan(tuple(view.shape), view.stride())
        if plan and _code.earned(view.numel()) is not None:
            return _Dense.apply(view, plan)
    return view.clone(memory_format=torch.contiguous_format)


def turned(matrix: Tensor) -> Tensor:
    """Rows as columns; of a small matrix by one call."""
    return torch.t_copy(matrix) if matrix.numel() < LEAST else dense(matrix.t())


class _Dense(torch.autograd.Function):
    """Nothing is kept for the gradient, which lies in memory as the input did."""

    @staticmethod
    def forward(ctx: Any, view: Tensor, plan: Plan) -> Tensor:
        ctx.order = sorted(range(view.dim()), key=lambda axis: -view.stride(axis))
        return _turned(view, plan)

    @staticmethod
    def backward(ctx: Any, *heads: Tensor) -> Any:
        back = sorted(range(len(ctx.order)), key=ctx.order.__getitem__)
        return dense(heads[0].permute(ctx.order)).permute(back), None


def _may(view: Tensor) -> bool:
    plain = view.__class__ is Tensor and view.is_cpu and view.layout is torch.strided
    return plain and view.element_size() == SIZE and not torch.compiler.is_compiling()


def _plan(shape: tuple[int, ...], stride: tuple[int, ...]) -> Plan | None:
    """What the kernel has to know of an array: `outer` to `column`. None: it is not for it."""
    axes = _joined(shape, stride)
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


def _joined(shape: tuple[int, ...], stride: tuple[int, ...]) -> list[list[int]]:
    """Sizes and steps of the axes; those that lie one within the other are one."""
    axes: list[list[int]] = []
    for size, step in zip(shape, stride, strict=True):
        if axes and axes[-1][1] == size * step:
            axes[-1] = [axes[-1][0] * size, step]
        elif size > 1:
            axes.append([size, step])
    return axes


def _turned(source: Tensor, plan: Plan) -> Tensor:
    target, (outer, inner, columns) = source.new_empty(source.shape), (plan[0], plan[3], plan[7])
    kernel, number = _code.get(wait=True).turn, outer * inner * -(-columns // WIDE)
    given = (source.data_ptr(), target.data_ptr(), *plan)
    Task(kernel, given, (0, number), source.numel() // WORTH_A_THREAD).run()
    return target
