"""Matrices of few elements, and arrays of few rows, by compiled loops.

Sums and products of two are made in one pass, without any sorting; products with dense ones, and rows that are picked,
without places that are written down first.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..runtime.loader import CompiledModule

LEAST = 1 << 12  # elements; fewer are not worth loading a compiler
CALL = 1 << 12  # elements that are picked in the time of a call

_code = CompiledModule("sparse.merge_kernels", after=1 << 22)

Parts = tuple[Tensor, Tensor, Tensor]  # elements, their columns, and where rows begin
Rows = tuple[Tensor, Tensor]  # rows, and which they are


# of two elements a and b: a + sign b, or a b where the sign is 0
SIGNS = {"elemwise_add": 1, "_grad_add": 1, "elemwise_sub": -1, "elemwise_mul": 0}


def _kernels(data: Tensor, more: Tensor) -> Any:
    """The kernels for these elements: many are worth loading them."""
    if any(t.dtype is not torch.float32 or not t.is_cpu for t in (data, more)):
        return None
    return _code.get(wait=False) if data.numel() + more.numel() >= LEAST else _code.loaded()


def merged(one: Parts, other: Parts, name: str) -> Parts | None:
    """The operator on two matrices, without zeros; None: there is no kernel for that, or not yet."""
    most, sign = len(one[0]) + len(other[0]), SIGNS.get(name)
    even = len(one[2]) == len(other[2]) and all(len(p[0]) == len(p[1]) for p in (one, other))
    kernel = _kernels(one[0], other[0]) if sign is not None and even else None
    if kernel is None:
        return None
    sums, columns, starts = one[0].new_empty(most), one[1].new_empty(most), torch.empty_like(one[2])
    number = kernel.merge(*_arrays(one), *_arrays(other), sign, *_arrays((sums, columns, starts)))
    return None if number < 0 else (sums.resize_(number), columns.resize_(number), starts)


def merged_rows(one: Rows, other: Rows, name: str) -> Rows | None:
    """The same on arrays that keep some rows, of which none goes; those of one pattern need no merging."""
    most, sign = len(one[0]) + len(other[0]), SIGNS.get(name)
    even = all(len(p[0]) == len(p[1]) for p in (one, other)) and not torch.equal(one[1], other[1])
    kernel = _kernels(one[0], other[0]) if sign is not None and even and most else None
    if kernel is None:
        return None
    sums, rows = one[0].new_empty(most, *one[0].shape[1:]), one[1].new_empty(most)
    flat = [(data.reshape(len(data), -1 if len(data) else sums[0].numel()), at) for data, at in (one, other)]
    number = kernel.merge_rows(*_arrays(flat[0]), *_arrays(flat[1]), sign, *_arrays((sums.view(most, -1), rows)))
    return None if number < 0 else (sums.resize_(number, *sums.shape[1:]), rows.resize_(number))


def _arrays(tensors: Sequence[Tensor]) -> list[Any]:
    return [t.detach().contiguous().numpy() for t in tensors]


def weighed(parts: Parts, dense: Tensor, shape: Sequence[int], divide: bool = False) -> Tensor | None:
    """A matrix's elements times (or by) those of a dense one, broadcast to its shape; None: there is no kernel yet."""
    data, number = parts[0], parts[0].numel()
    if not data.is_cpu or data.dtype is not torch.float32 or dense.dtype is not torch.float32 or not number:
        return None
    if (code := _code.earned(CALL + number)) is None:
        return None
    held, result = [t.contiguous() for t in (*parts, dense)], torch.empty(number)
    sizes = (1,) * (2 - dense.dim()) + tuple(dense.shape)
    down, across = sizes[1] if sizes[0] > 1 else 0, int(sizes[1] > 1)
    places = [t.data_ptr() for t in (*held, result)]
    return result if code.weigh(*places, divide, number, *shape, down, across) else None


def retained(parts: Rows, asked: Tensor) -> Tensor | None:
    """The rows that are asked for, each one greater than the last, or zeros; None: there is no kernel for that."""
    data, rows = parts
    count, number = rows.numel(), asked.numel()
    code = _code.earned(CALL + data.numel()) if data.is_cpu and count else None
    if code is None:
        return None
    held, result = [t.contiguous() for t in (data, rows, asked)], data.new_empty(number, *data.shape[1:])
    places = [t.data_ptr() for t in (*held, result)]
    return result if code.retain(*places, count, number, data.nbytes // count) else None
