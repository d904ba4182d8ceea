"""Products of large matrices on processors whose vectors the library does not use: MKL's are of eight floats on AMD's.

There kernels (see gemm_kernels) take a tenth less time where they pack what they multiply, as MKL does.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..runtime.autograd import with_gradient
from ..runtime.buffers import room
from ..runtime.loader import CompiledModule, beats_mkl
from ..runtime.task import Task

Tensor = torch.Tensor

PANEL, PAIR = 16, 2  # columns of a panel, and panels that are worth a thread's while
FLOAT = 4  # bytes
MANY = 256  # rows or columns that need not be whole panels
NARROW = 1024  # columns of a transposed left that lie together closely enough as they are
FEWEST, LEAST_WORK = 32, 1 << 22  # rows, columns and depth, and multiplications: with less nothing is gained
LEAST_ALONE = 1 << 26  # multiplications of what torch would record by itself, in less time than a function of ours
BEFORE = 1 << 34  # multiplications by the library first: always as many, so that two runs compute the same
WORTH_A_THREAD = 1 << 20

_code = CompiledModule("matmul.gemm_kernels", beats_mkl, after=BEFORE)


def _ready(work: int) -> bool:
    """Are there kernels to multiply so much? Everybody waits for them, once much was multiplied."""
    return _code.earned(work, wait=True) is not None


def _plain(tensor: Tensor) -> bool:
    return tensor.__class__ is Tensor and tensor.dtype is torch.float32 and tensor.is_cpu


def _fits(rows: int, depth: int, width: int) -> bool:
    """Are matrices (rows, depth) and (depth, width) large, and do the columns fill panels, but for a few of many?"""
    return min(rows, depth, width) >= FEWEST and rows * depth * width >= LEAST_WORK and _in_panels(width)


def _in_panels(count: int) -> bool:
    return count % PANEL == 0 or count >= MANY


def _rows(tensor: Tensor) -> Tensor:
    """All but the last axis as rows, each of which lies together."""
    rows = tensor.reshape(-1, tensor.shape[-1])
    return rows if rows.stride(1) == 1 and rows.stride(0) >= rows.shape[1] else rows.contiguous()


def _places(*tensors: Tensor) -> list[int]:
    """Address and distance between rows, in bytes, of each."""
    return [number for t in tensors for number in (t.data_ptr(), t.stride(0) * t.itemsize)]


def _times(left: Tensor, right: Tensor, turned: bool, start: Tensor | None, result: Tensor) -> Tensor:
    """result = start + left · right, or left · rightᵀ if `turned`; a start of one axis is one row for all.

    Columns behind the last whole panel are the library's.
    """
    (rows, depth), width = left.shape, result.shape[1]
    begin = result.new_zeros(width) if start is None else start
    if whole := width % PANEL and width // PANEL * PANEL:
        columns = right[whole:].t() if turned else right[:, whole:]
        torch.addmm(begin[..., whole:], left, columns, out=result[:, whole:])
    first = [begin.data_ptr(), begin.stride(0) * begin.itemsize if begin.dim() > 1 else 0]
    given = rows, depth, *_places(left, right), int(turned), *first, *_places(result)
    code, most = _code.get(wait=True), rows * depth * width // WORTH_A_THREAD
    held = left, right, begin, result
    Task(code.by_rows, given, (0, width // PANEL), most, PAIR, scratch=code.SCRATCH, held=held).run()
    return result


def _turned_times(left: Tensor, rights: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    """leftᵀ · right for each of some matrices of one shape; a wide left is packed, once."""
    (depth, rows), width, code = left.shape, rights[0].shape[1], _code.get(wait=True)
    for right, result in zip(rights, results, strict=True):  # rows and columns behind the last whole panels
        if whole := rows % PANEL and rows // PANEL * PANEL:
            torch.mm(left[:, whole:].t(), right, out=result[whole:])
        if whole := width % PANEL and width // PANEL * PANEL:
            torch.mm(left.t(), right[:, whole:], out=result[:, whole:])
    rows -= rows % PANEL
    begin, most = left.new_zeros(width), rows * depth * width // WORTH_A_THREAD
    first, apart, following = left, left.stride(0), PANEL
    if rows > NARROW:
        first, apart, following = room("left", rows // PANEL, depth, PANEL), PANEL, PANEL * depth
        Task(code.pack, (first.data_ptr(), *_places(left), depth), (0, rows // PANEL), most, held=(first, left)).run()
    for right, result in zip(rights, results, strict=True):
        places = first.data_ptr(), apart * FLOAT, following * FLOAT, *_places(right)
        given, held = (rows, depth, *places, begin.data_ptr(), 0, *_places(result)), (first, right, begin, result)
        Task(code.across, given, (0, width // PANEL), most, PAIR, scratch=code.SCRATCH, held=held).run()


def turned_products(left: Tensor, rights: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    """leftᵀ · right into a result, for each of some matrices of one shape."""
    (depth, rows), width = left.shape, rights[0].shape[1]
    fits = _fits(rows, depth, width) and _in_panels(rows) and all(map(_plain, (left, *rights, *results)))
    if fits and _ready(rows * depth * width * len(rights)):
        _turned_times(left, rights, results)
        return
    for right, result in zip(rights, results, strict=True):
        torch.mm(left.t(), right, out=result)


def product(left: Tensor, right: Tensor) -> Tensor:
    """left · right for matrices of float32, each of which may be a transposed one."""
    (rows, depth), width = left.shape, right.shape[1]
    across = left.stride(0) == 1 == right.stride(1) and _in_panels(rows)
    fits = _plain(left) and _plain(right) and _fits(rows, depth, width)
    if not (fits and _ready(rows * depth * width)):
        return torch.mm(left, right)
    result = left.new_empty(rows, width)
    if across:
        _turned_times(left.t(), [right], [result])
        return result
    turned = right.stride(0) == 1 != right.stride(1)
    return _times(_rows(left), right.t() if turned else _rows(right), turned, None, result)


def times(left: Tensor, right: Tensor) -> Tensor:
    """left · right, with its gradients, for any two tensors of two axes."""
    if left.numel() < FEWEST * FEWEST or torch.compiler.is_compiling() or not (_plain(left) and _plain(right)):
        return torch.mm(left, right)
    if left.shape[0] * left.shape[1] * right.shape[1] < LEAST_ALONE or left.shape[1] != right.shape[0]:
        return torch.mm(left, right)

    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        (left, right), head = inputs, heads[0]
        multiply = times if torch.is_grad_enabled() else product
        return (
            multiply(head, right.t()) if left.requires_grad else None,
            multiply(left.t(), head) if right.requires_grad else None,
        )

    return with_gradient(product, backward, left, right)


def gains(rows: int, weight: Tensor) -> bool:
    """Are products of so many rows with a weight (width, depth), and those of their gradients, faster by kernels?"""
    width, depth = weight.shape[:2]
    sizes = _fits(rows, depth, width) and _fits(rows, width, depth) and _plain(weight)
    return sizes and not torch.compiler.is_compiling() and _ready(3 * rows * depth * width)


def affine(rows: Tensor, weight: Tensor, bias: Tensor | None, result: Tensor) -> None:
    """result = rows · weightᵀ + bias, for matrices of which the last axis lies together."""
    _times(rows, weight, True, None if bias is None else bias.contiguous(), result)


def dense(data: Tensor, weight: Tensor, bias: Tensor | None, plain: Callable[..., Tensor]) -> Tensor:
    """data · weightᵀ + bias, with its gradients; `plain` computes it where kernels do not."""
    width, depth = weight.shape
    rows = data.numel() // depth if depth else 0
    if rows * depth * width < LEAST_ALONE or not (_fits(rows, depth, width) and _plain(data) and _plain(weight)):
        return plain(data, weight, bias)
    if torch.compiler.is_compiling() or not _ready(rows * depth * width):
        return plain(data, weight, bias)

    def forward(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        result = data.new_empty(*data.shape[:-1], width)
        affine(_rows(data), _rows(weight), bias, _rows(result))
        return result

    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        data, weight, bias = inputs
        if torch.is_grad_enabled():
            asked = [t for t in inputs if t is not None and t.requires_grad]
            found = iter(torch.autograd.grad(plain(*inputs), asked, heads, create_graph=True))
            return [next(found) if t is not None and t.requires_grad else None for t in inputs]
        head = _rows(heads[0])
        return (
            product(head, weight).view_as(data) if data.requires_grad else None,
            product(head.t(), _rows(data)) if weight.requires_grad else None,
            head.sum(0) if bias is not None and bias.requires_grad else None,
        )

    return with_gradient(forward, backward, data, weight, bias)


def added(data: Tensor, weight: Tensor, result: Tensor) -> bool:
    """Add data · weightᵀ to the result, two matrices; False: kernels do not, and nothing is done."""
    rows, (width, depth) = len(data), weight.shape
    if not (_fits(rows, depth, width) and all(map(_plain, (data, weight, result))) and result.is_contiguous()):
        return False
    if not _ready(rows * depth * width):
        return False
    _times(_rows(data), _rows(weight), True, result, result)
    return True
