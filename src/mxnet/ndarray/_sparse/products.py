"""Products of CSR matrices with dense or row-sparse ones, without densifying the CSR matrix."""

import torch

from ..._core.modes import MODES
from ..._ops.sparse import parts as _parts
from ..._ops.sparse.functions import Product
from .._dispatch.invoke import graph_tensor, plain_tensor
from ..ndarray import wrap
from .array import CLASSES, CSRNDArray, RowSparseNDArray


def dot(lhs, rhs, parsed, kind):
    """`dot` with a CSR operand, on its stored elements; None if it must be computed densely."""
    transpose_a, transpose_b = parsed.get("transpose_a", False), parsed.get("transpose_b", False)
    if isinstance(lhs, CSRNDArray):
        return _csr_times(lhs, rhs, transpose_a, transpose_b, kind)
    return _times_csr(lhs, rhs, transpose_a, transpose_b, kind) if isinstance(rhs, CSRNDArray) else None


def _csr_times(matrix, other, transpose_matrix, transpose_other, kind):
    """matrix · other, each transposed or not."""
    dense = _dense_operand(matrix, other, transpose_matrix, transpose_other)
    if dense is None:
        return None
    recorded, columns = _recorded(dense), matrix.shape[1]
    if not recorded and kind == "row_sparse" and transpose_matrix:
        parts = _parts.rows_of_transposed_product(matrix._parts, matrix.shape, dense)
        return RowSparseNDArray._made(parts, (columns, dense.shape[1]), matrix._ctx)
    return _stored(_multiplied(matrix, dense, transpose_matrix), kind, matrix._ctx, recorded)


def _times_csr(other, matrix, transpose_other, transpose_matrix, kind):
    """other · matrix, as the transpose of matrixᵀ · otherᵀ.

    Without transposes MXNet's result is csr and stores all columns in which the matrix has elements.
    """
    dense = _dense_operand(matrix, other, not transpose_matrix, not transpose_other)
    if dense is None:
        return None
    recorded = _recorded(dense)
    if kind != "csr" or transpose_other or transpose_matrix:
        return _stored(_multiplied(matrix, dense, not transpose_matrix).t().contiguous(), kind, matrix._ctx, recorded)
    shape = dense.shape[1], matrix.shape[1]
    if not recorded:
        values, columns = _parts.rows_of_transposed_product(matrix._parts, matrix.shape, dense)
        return CSRNDArray._made(_parts.csr_of_columns(values.t(), columns), shape, matrix._ctx)
    result, columns = _multiplied(matrix, dense, True).t(), torch.unique(matrix._parts[1])
    parts = _parts.csr_of_columns(result.detach().index_select(1, columns), columns)
    return CSRNDArray._made(parts, shape, matrix._ctx, MODES.epoch, result)


def _dense_operand(matrix, other, transpose_matrix, transpose_other):
    """The dense tensor by which the matrix, or its transpose, is multiplied; None if shapes or dtypes do not fit."""
    if other.stype == "csr" or other.ndim != 2:
        return None
    if MODES.recording and matrix._ag is not None and matrix._recorded().requires_grad:
        return None
    dense, data = graph_tensor(other), matrix._parts[0]
    if not _recorded(dense):
        dense = plain_tensor(other)
    if transpose_other:
        dense = dense.t().contiguous()
    fitting = dense.shape[0] == matrix.shape[0 if transpose_matrix else 1]
    return dense if fitting and data.dtype is dense.dtype and data.dtype is not torch.float16 else None


def _recorded(dense):
    return MODES.recording and dense.requires_grad


def _multiplied(matrix, dense, transpose_matrix):
    data, columns, starts = matrix._parts
    return Product.apply(data, dense, columns, starts, matrix.shape, transpose_matrix)


def _stored(result, kind, ctx, recorded):
    mark = MODES.epoch if recorded else None
    if kind == "default":
        return wrap(result, ctx, mark)
    cls = CLASSES[kind]
    return cls._made(cls._of_dense(result.detach()), result.shape, ctx.home, mark, result if recorded else None)
