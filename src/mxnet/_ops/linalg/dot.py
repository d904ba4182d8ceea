"""Products of matrices: dot, batch_dot, khatri_rao."""

from typing import Literal

import torch

from ..._core.errors import MXNetError
from ..._device.settings import under
from ..._kernels import tuning
from ..._kernels.matmul.gemm import matmul
from ..registry.registry import Attrs, op
from ..registry.shape_rules import Shapes, bracket

Storage = Literal["csr", "default", "row_sparse"] | None
_SMALL = tuning.GEMM_SIDE**2  # elements


def _matrices(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor | None:
    return _product(lhs, rhs) if lhs.dim() == rhs.dim() == 2 else None


def _product(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    if lhs.is_cuda:
        return under(torch.mm, (lhs, rhs))
    if lhs.numel() < _SMALL:
        return torch.mm(lhs, rhs)
    result = matmul(lhs, rhs)
    return torch.mm(lhs, rhs) if result is None else result


def _product_shape(attrs: Attrs, shapes: Shapes) -> Shapes | None:
    """Of arrays whose common size is known; vectors make one number."""
    left, right = shapes
    transpose_a, transpose_b = attrs["transpose_a"], attrs["transpose_b"]
    if not left or not right or len(left) == len(right) == 1 and (transpose_a or transpose_b):
        return None
    rows, inner = (left[1:], left[0]) if transpose_a else (left[:-1], left[-1])
    columns, same = (right[:-1], right[-1]) if transpose_b else (right[1:], right[0])
    return [(*rows, *columns) or (1,)] if inner and inner == same else None


def _products_shape(attrs: Attrs, shapes: Shapes) -> Shapes | None:
    left, right = shapes
    if not left or not right or len(left) != len(right) or len(left) < 3 or left[:-2] != right[:-2]:
        return None
    rows, inner = left[-2:] if not attrs["transpose_a"] else left[:-3:-1]
    same, columns = right[-2:] if not attrs["transpose_b"] else right[:-3:-1]
    return [(*left[:-2], rows, columns)] if inner and inner == same else None


@op("dot", plain=_matrices, shape=_product_shape)
def dot(lhs, rhs, *, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Storage = None):
    """Matrix product: the sum of products over the last axis of `lhs` and the first axis of `rhs`.

    Parameters
    ----------
    lhs
        The first array; its last axis is summed over. With `transpose_a` it is the first.
    rhs
        The second array; its first axis has the length of the last axis of `lhs`. With `transpose_b` it is the last.
        The result has the remaining axes of `lhs`, then those of `rhs`.
    transpose_a
        Whether the first array is transposed before the product.
    transpose_b
        Whether the second array is transposed before the product.
    forward_stype
        The storage type of the result: default, row_sparse or csr. None chooses it from the inputs.
    """
    left, right = lhs.dim(), rhs.dim()
    if left == right == 2:
        return _product(lhs.t() if transpose_a else lhs, rhs.t() if transpose_b else rhs)
    if left == right == 1:
        if transpose_a or transpose_b:
            raise MXNetError("Cannot transpose vectors")
        return torch.dot(lhs, rhs).reshape(1)
    a, b = 0 if transpose_a else left - 1, right - 1 if transpose_b else 0
    if lhs.shape[a] != rhs.shape[b]:
        raise MXNetError(f"dot shape error: {bracket(lhs.shape)} X {bracket(rhs.shape)}")
    return under(torch.tensordot, (lhs, rhs, ([a], [b])))


@op("batch_dot", shape=_products_shape)
def batch_dot(lhs, rhs, *, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Storage = None):
    """Products of matrices, one for each index of the leading axes.

    Parameters
    ----------
    lhs
        The first matrices, (batch, n, k); (batch, k, n) with `transpose_a`.
    rhs
        The second matrices, (batch, k, m); (batch, m, k) with `transpose_b`. The result is (batch, n, m).
    transpose_a
        Whether the last two axes of `lhs` are exchanged before the product.
    transpose_b
        Whether the last two axes of `rhs` are exchanged before the product.
    forward_stype
        The storage type of the result: default, row_sparse or csr. None chooses it from the inputs.
    """
    if lhs.dim() != rhs.dim() or lhs.dim() < 3 or lhs.shape[:-2] != rhs.shape[:-2]:
        raise MXNetError(
            f"batch_dot currently only support N-D*N-D array (N >= 3){bracket(lhs.shape)} v.s. {bracket(rhs.shape)}"
        )
    sides = lhs.mT if transpose_a else lhs, rhs.mT if transpose_b else rhs
    return torch.matmul(*sides) if lhs.is_cpu else under(torch.matmul, sides)


@op("khatri_rao")
def khatri_rao(*args, num_args: int = 0):
    """Kronecker products of the columns of matrices."""
    if any(m.dim() != 2 or m.shape[1] != args[0].shape[1] for m in args):
        raise MXNetError(f"khatri_rao needs matrices with as many columns: {[bracket(m.shape) for m in args]}")
    result = args[0].clone()
    for matrix in args[1:]:
        result = (result[:, None, :] * matrix[None, :, :]).reshape(-1, matrix.shape[1])
    return result
