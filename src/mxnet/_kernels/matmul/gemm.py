"""Large matrix products (GEMM) for processors with wider vectors than MKL uses; on AMD, MKL uses eight floats.

There our kernels (see gemm_kernels), which pack their operands as MKL does, take a tenth less time. Operators call
`matmul` and `dense`, which return None if MKL should compute the product.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import tuning
from ..registry import Kernel, enabled
from ..runtime.autograd import with_gradient
from ..runtime.buffers import buffer
from ..runtime.loader import CompiledModule, beats_mkl
from ..runtime.task import Task

PANEL, PAIR = 16, 2  # columns of a panel, and panels that are worth a thread's while
FLOAT = 4  # bytes


class _Awaited(CompiledModule):
    """Kernels that all callers wait for after a fixed amount of work by MKL, so that two runs give equal results."""

    def earned(self, work: int, wait: bool = False) -> Any:
        return super().earned(work, True)


code = _Awaited("matmul.gemm_kernels", beats_mkl, after=tuning.GEMM_BEFORE)


def _ready(work: int) -> bool:
    """Are there kernels, for so many multiplications?"""
    return enabled() and code.earned(work, wait=True) is not None


def _plain(tensor: Tensor) -> bool:
    return tensor.__class__ is Tensor and tensor.dtype is torch.float32 and tensor.is_cpu


def _work(rows: int, depth: int, width: int) -> int:
    """The multiplications of (rows, depth) and (depth, width); 0: too few, or columns that fill no panels."""
    work = rows * depth * width
    fits = min(rows, depth, width) >= tuning.GEMM_SIDE and work >= tuning.GEMM_WORK and _fills_panels(width)
    return work if fits else 0


def _fills_panels(count: int) -> bool:
    """Panels but for a few columns of many?"""
    return count % PANEL == 0 or count >= tuning.GEMM_PARTIAL


def layer_work(rows: int, depth: int, width: int) -> int:
    """The work of a layer's product; 0: kernels cannot compute it, or the product of its data's gradient."""
    return _work(rows, depth, width) if _work(rows, width, depth) else 0


def _rows(tensor: Tensor) -> Tensor:
    """All but the last axis as rows, each of which is contiguous."""
    rows = tensor.reshape(-1, tensor.shape[-1])
    return rows if rows.stride(1) == 1 and rows.stride(0) >= rows.shape[1] else rows.contiguous()


def _addresses(*tensors: Tensor) -> list[int]:
    """Address and distance between rows, in bytes, of each."""
    return [number for t in tensors for number in (t.data_ptr(), t.stride(0) * t.itemsize)]


def _product(left: Tensor, right: Tensor, transposed: bool, start: Tensor | None, result: Tensor) -> Tensor:
    """result = start + left · right, or left · rightᵀ if `transposed`; a start of one axis is one row for all.

    MKL computes the columns after the last whole panel.
    """
    (rows, depth), width = left.shape, result.shape[1]
    begin = result.new_zeros(width) if start is None else start
    if whole := width % PANEL and width // PANEL * PANEL:
        columns = right[whole:].t() if transposed else right[:, whole:]
        torch.addmm(begin[..., whole:], left, columns, out=result[:, whole:])
    first = [begin.data_ptr(), begin.stride(0) * begin.itemsize if begin.dim() > 1 else 0]
    given = rows, depth, *_addresses(left, right), int(transposed), *first, *_addresses(result)
    kernels, most = code.get(wait=True), rows * depth * width // tuning.MULTIPLICATIONS_PER_THREAD
    held = left, right, begin, result
    Task(kernels.by_rows, given, (0, width // PANEL), most, PAIR, scratch=kernels.SCRATCH, held=held).run()
    return result


def _transposed_product(left: Tensor, rights: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    """leftᵀ · right for each of some matrices of one shape; a wide left is packed, once."""
    (depth, rows), width, kernels = left.shape, rights[0].shape[1], code.get(wait=True)
    for right, result in zip(rights, results, strict=True):  # rows and columns behind the last whole panels
        if whole := rows % PANEL and rows // PANEL * PANEL:
            torch.mm(left[:, whole:].t(), right, out=result[whole:])
        if whole := width % PANEL and width // PANEL * PANEL:
            torch.mm(left.t(), right[:, whole:], out=result[:, whole:])
    rows -= rows % PANEL
    begin, most = left.new_zeros(width), rows * depth * width // tuning.MULTIPLICATIONS_PER_THREAD
    first, stride, following = left, left.stride(0), PANEL
    if rows > tuning.GEMM_NARROW:
        first, stride, following = buffer("left", rows // PANEL, depth, PANEL), PANEL, PANEL * depth
        given, held = (first.data_ptr(), *_addresses(left), depth), (first, left)
        Task(kernels.pack, given, (0, rows // PANEL), most, held=held).run()
    for right, result in zip(rights, results, strict=True):
        places = first.data_ptr(), stride * FLOAT, following * FLOAT, *_addresses(right)
        given, held = (rows, depth, *places, begin.data_ptr(), 0, *_addresses(result)), (first, right, begin, result)
        span, scratch = (0, width // PANEL), kernels.SCRATCH
        Task(kernels.left_transposed, given, span, most, PAIR, scratch=scratch, held=held).run()


def product(left: Tensor, right: Tensor) -> Tensor:
    """left · right for matrices of float32, each of which may be a transposed one; without gradients."""
    (rows, depth), width = left.shape, right.shape[1]
    work = _work(rows, depth, width) if _plain(left) and _plain(right) else 0
    if not (work and _ready(work)):
        return torch.mm(left, right)
    result = left.new_empty(rows, width)
    if left.stride(0) == 1 == right.stride(1) and _fills_panels(rows):
        _transposed_product(left.t(), [right], [result])
        return result
    transposed = right.stride(0) == 1 != right.stride(1)
    return _product(_rows(left), right.t() if transposed else _rows(right), transposed, None, result)


def affine(rows: Tensor, weight: Tensor, bias: Tensor | None, result: Tensor) -> None:
    """result = rows · weightᵀ + bias, for matrices whose rows are contiguous."""
    _product(rows, weight, True, None if bias is None else bias.contiguous(), result)


def add_product(data: Tensor, weight: Tensor, result: Tensor) -> bool:
    """Add data · weightᵀ to the result, two matrices; False: kernels do not, and nothing is done."""
    rows, (width, depth) = len(data), weight.shape
    work = _work(rows, depth, width) if all(map(_plain, (data, weight, result))) and result.is_contiguous() else 0
    if not (work and _ready(work)):
        return False
    _product(_rows(data), _rows(weight), True, result, result)
    return True


# What operators call: a product that torch would record in less time than we do must be large


def _matmul_applies(left: Tensor, right: Tensor) -> int:
    if not (_plain(left) and _plain(right)) or left.shape[1] != right.shape[0] or torch.compiler.is_compiling():
        return 0
    return left.shape[0] * left.shape[1] * right.shape[1]


def _recorded(left: Tensor, right: Tensor) -> Tensor:
    result = matmul(left, right)
    return torch.mm(left, right) if result is None else result


def _matmul(left: Tensor, right: Tensor) -> Tensor:
    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        (left, right), head = inputs, heads[0]
        multiply = _recorded if torch.is_grad_enabled() else product
        return (
            multiply(head, right.t()) if left.requires_grad else None,
            multiply(left.t(), head) if right.requires_grad else None,
        )

    return with_gradient(product, backward, left, right)


def _dense_applies(data: Tensor, weight: Tensor, bias: Tensor | None) -> int:
    width, depth = weight.shape
    work = data.numel() * width
    if work < tuning.GEMM_RECORDED_WORK:  # most calls return here
        return work
    if not (depth and _plain(data) and _plain(weight)) or torch.compiler.is_compiling():
        return 0
    return _work(data.numel() // depth, depth, width)


def _dense(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    def forward(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        result = data.new_empty(*data.shape[:-1], len(weight))
        affine(_rows(data), _rows(weight), bias, _rows(result))
        return result

    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        data, weight, bias = inputs
        if torch.is_grad_enabled():
            wanted = [t for t in inputs if t is not None and t.requires_grad]
            found = iter(torch.autograd.grad(F.linear(*inputs), wanted, heads, create_graph=True))
            return [next(found) if t is not None and t.requires_grad else None for t in inputs]
        head = _rows(heads[0])
        return (
            product(head, weight).view_as(data) if data.requires_grad else None,
            product(head.t(), _rows(data)) if weight.requires_grad else None,
            head.sum(0) if bias is not None and bias.requires_grad else None,
        )

    return with_gradient(forward, backward, data, weight, bias)


matmul = Kernel("matmul.gemm", _matmul_applies, _matmul, tuning.GEMM_RECORDED_WORK, code)  # (left, right)
dense = Kernel("matmul.dense", _dense_applies, _dense, tuning.GEMM_RECORDED_WORK, code)  # (data, weight, bias)
