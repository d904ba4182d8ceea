"""Kernels for csr matrices (data, column indices, row pointers) and row-sparse arrays (rows, row indices).

Sums and products of two sparse arrays merge their sorted indices in one pass; products with dense arrays gather the
dense elements in the same pass, and so do retained rows.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.loader import CompiledModule

_code = CompiledModule("sparse.merge_kernels", after=tuning.SPARSE_COMPILE)

Csr = tuple[Tensor, Tensor, Tensor]  # data, column indices, row pointers
Rows = tuple[Tensor, Tensor]  # rows, row indices

# of two elements a and b: a + sign b, or a b where the sign is 0
SIGNS = {"elemwise_add": 1, "_grad_add": 1, "elemwise_sub": -1, "elemwise_mul": 0}


def _work(data: Tensor, more: Tensor) -> int:
    """Elements; many load the compiler at the next call."""
    if any(t.dtype is not torch.float32 or not t.is_cpu for t in (data, more)):
        return 0
    number = data.numel() + more.numel()
    return max(number, tuning.SPARSE_COMPILE) if number >= tuning.SPARSE_ELEMENTS else number


def _merge_csr_applies(one: Csr, other: Csr, name: str) -> int:
    even = len(one[2]) == len(other[2]) and all(len(p[0]) == len(p[1]) for p in (one, other))
    return _work(one[0], other[0]) if name in SIGNS and even else 0


def _merge_csr(one: Csr, other: Csr, name: str) -> Csr | None:
    """The operator on two matrices, without explicit zeros; None: column indices are not sorted."""
    most = len(one[0]) + len(other[0])
    data, columns, pointers = one[0].new_empty(most), one[1].new_empty(most), torch.empty_like(one[2])
    out = _arrays((data, columns, pointers))
    number = _code.get(wait=True).merge(*_arrays(one), *_arrays(other), SIGNS[name], *out)
    return None if number < 0 else (data.resize_(number), columns.resize_(number), pointers)


def _merge_rows_applies(one: Rows, other: Rows, name: str) -> int:
    """Arrays of the same rows need no merging."""
    if name not in SIGNS or any(len(p[0]) != len(p[1]) for p in (one, other)) or torch.equal(one[1], other[1]):
        return 0
    return _work(one[0], other[0])


def _merge_rows(one: Rows, other: Rows, name: str) -> Rows | None:
    """The operator on two row-sparse arrays; rows of zeros are kept. None: row indices are not sorted."""
    most = len(one[0]) + len(other[0])
    sums, rows = one[0].new_empty(most, *one[0].shape[1:]), one[1].new_empty(most)
    flat = [(data.reshape(len(data), -1 if len(data) else sums[0].numel()), at) for data, at in (one, other)]
    out = _arrays((sums.view(most, -1), rows))
    number = _code.get(wait=True).merge_rows(*_arrays(flat[0]), *_arrays(flat[1]), SIGNS[name], *out)
    return None if number < 0 else (sums.resize_(number, *sums.shape[1:]), rows.resize_(number))


def _arrays(tensors: Sequence[Tensor]) -> list[Any]:
    return [t.detach().contiguous().numpy() for t in tensors]


def _multiply_dense_applies(parts: Csr, dense: Tensor, shape: Sequence[int], divide: bool) -> int:
    data, number = parts[0], parts[0].numel()
    if not data.is_cpu or data.dtype is not torch.float32 or dense.dtype is not torch.float32 or not number:
        return 0
    return tuning.SPARSE_CALL + number


def _multiply_dense(parts: Csr, dense: Tensor, shape: Sequence[int], divide: bool) -> Tensor | None:
    """A matrix's elements times (or by) those of a dense one, broadcast to its shape; None: indices out of range."""
    number = parts[0].numel()
    held, result = [t.contiguous() for t in (*parts, dense)], torch.empty(number)
    sizes = (1,) * (2 - dense.dim()) + tuple(dense.shape)
    row_stride, column_stride = sizes[1] if sizes[0] > 1 else 0, int(sizes[1] > 1)
    addresses = [t.data_ptr() for t in (*held, result)]
    fine = _code.get(wait=True).multiply_dense(*addresses, divide, number, *shape, row_stride, column_stride)
    return result if fine else None


def _retain_applies(parts: Rows, asked: Tensor) -> int:
    data, rows = parts
    return tuning.SPARSE_CALL + data.numel() if data.is_cpu and rows.numel() else 0


def _retain(parts: Rows, asked: Tensor) -> Tensor | None:
    """The rows that are asked for, in ascending order, zeros where there is none; None: indices are not sorted."""
    data, rows = parts
    count, number = rows.numel(), asked.numel()
    held, result = [t.contiguous() for t in (data, rows, asked)], data.new_empty(number, *data.shape[1:])
    addresses = [t.data_ptr() for t in (*held, result)]
    return result if _code.get(wait=True).retain(*addresses, count, number, data.nbytes // count) else None


merge_csr = Kernel("sparse.merge_csr", _merge_csr_applies, _merge_csr, code=_code)
merge_rows = Kernel("sparse.merge_rows", _merge_rows_applies, _merge_rows, code=_code)
multiply_dense = Kernel("sparse.multiply_dense", _multiply_dense_applies, _multiply_dense, code=_code)
retain_rows = Kernel("sparse.retain_rows", _retain_applies, _retain, code=_code)
