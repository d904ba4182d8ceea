"""Products of csr matrices with dense (or row-sparse) ones, without making them dense."""

import torch

from ..._core.modes import MODES
from .._dispatch.invoke import graph_tensor, plain_tensor
from ..ndarray import wrap
from . import parts as _parts
from .array import CLASSES, CSRNDArray, RowSparseNDArray


class _Product(torch.autograd.Function):
    """A sparse matrix (or its transpose) times a dense one; the gradient of the dense one may be kept by rows."""

    @staticmethod
    def forward(ctx, dense, parts, shape, transposed, by_rows):
        ctx.matrix = parts, shape, transposed, by_rows
        return _parts.product(parts, shape, dense, transposed)

    @staticmethod
    def backward(ctx, head):
        parts, shape, transposed, by_rows = ctx.matrix
        if by_rows and not transposed:
            rows = _parts.rows_of_transposed_product(parts, shape, head)
            return _parts.coo_of_rows(rows, (shape[1], head.shape[1])), None, None, None, None
        return _parts.product(parts, shape, head, not transposed), None, None, None, None


def dot(lhs, rhs, parsed, kind):
    """A product of which one factor is a matrix, by its elements; None for what goes the dense way."""
    across, turned = parsed.get("transpose_a", False), parsed.get("transpose_b", False)
    if isinstance(lhs, CSRNDArray):
        return _matrix_first(lhs, rhs, across, turned, kind)
    return _matrix_last(lhs, rhs, across, turned, kind) if isinstance(rhs, CSRNDArray) else None


def _matrix_first(matrix, other, across, turned, kind):
    dense = _factor(matrix, other, across, turned)
    if dense is None:
        return None
    recorded, columns = _recorded(dense), matrix.shape[1]
    if not recorded and kind == "row_sparse" and across:
        parts = _parts.rows_of_transposed_product(matrix._parts, matrix.shape, dense)
        return RowSparseNDArray._made(parts, (columns, dense.shape[1]), matrix._ctx)
    return _stored(_multiplied(matrix, dense, across), kind, matrix._ctx, recorded)


def _matrix_last(other, matrix, across, turned, kind):
    """By the transposed product; MXNet's csr result of matrices as they are has all columns that the matrix has."""
    dense = _factor(matrix, other, not turned, not across)
    if dense is None:
        return None
    recorded = _recorded(dense)
    if kind != "csr" or across or turned:
        return _stored(_multiplied(matrix, dense, not turned).t().contiguous(), kind, matrix._ctx, recorded)
    shape = dense.shape[1], matrix.shape[1]
    if not recorded:
        values, columns = _parts.rows_of_transposed_product(matrix._parts, matrix.shape, dense)
        return CSRNDArray._made(_parts.csr_of_columns(values.t(), columns), shape, matrix._ctx)
    result, columns = _multiplied(matrix, dense, True).t(), torch.unique(matrix._parts[1])
    parts = _parts.csr_of_columns(result.detach().index_select(1, columns), columns)
    return CSRNDArray._made(parts, shape, matrix._ctx, MODES.epoch, result)


def _factor(matrix, other, across, turned):
    """The dense tensor to multiply the matrix (or, across, its transpose) with; None: it does not fit."""
    if other.stype == "csr" or other.ndim != 2:
        return None
    if MODES.recording and matrix._ag is not None and matrix._recorded().requires_grad:
        return None
    dense, data = graph_tensor(other), matrix._parts[0]
    if not _recorded(dense):
        dense = plain_tensor(other)
    if turned:
        dense = dense.t().contiguous()
    fitting = dense.shape[0] == matrix.shape[0 if across else 1]
    return dense if fitting and data.dtype is dense.dtype and data.dtype is not torch.float16 else None


def _recorded(dense):
    return MODES.recording and dense.requires_grad


def _multiplied(matrix, dense, across):
    by_rows = getattr(dense, "grad_stype", None) == "row_sparse"
    return _Product.apply(dense, matrix._parts, matrix.shape, across, by_rows)


def _stored(result, kind, ctx, recorded):
    mark = MODES.epoch if recorded else None
    if kind == "default":
        return wrap(result, ctx, mark)
    cls = CLASSES[kind]
    return cls._made(cls._of_dense(result.detach()), result.shape, ctx.home, mark, result if recorded else None)
