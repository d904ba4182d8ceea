"""Operators on sparse values inside graphs: which of them compute on stored values, and how.

`sparse_function` finds the function for a node. All others get dense copies, as MXNet's storage fallback has it. The
functions take what the operator's own function takes; sparse inputs and results are COO tensors (`tensors.py`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from ..registry.registry import Op
from ..registry.sparse_outputs import CSR, DENSE, ROWS, preserves_zeros, result_stype
from . import parts as _parts
from .tensors import csr_tensor, densified, indices_of, rows_tensor, values_of, with_values

Attrs = dict[str, Any]
Function = Callable[..., torch.Tensor]

# The first stores nothing; the second has a gradient in rows that are not stored.
_NOT_ON_VALUES = frozenset(("zeros_like", "make_loss"))


def sparse_function(
    op: Op, attrs: Attrs, kinds: Sequence[str], differentiable: Sequence[bool]
) -> tuple[Function, str] | None:
    """The function for inputs of these storage types, and the type of its result; None: it needs dense inputs.

    `differentiable` tells which inputs depend on a variable whose gradient is wanted.
    """
    if len(kinds) == 1 and preserves_zeros(op, attrs) and op.name not in _NOT_ON_VALUES:
        if kinds[0] == ROWS and differentiable[0]:  # in general the gradient is not zero where no row is stored
            return (_squares, ROWS) if op.name == "square" else None
        return partial(_on_values, op.fn), kinds[0]
    rule = _RULES.get(op.name)
    return None if rule is None else rule(op, attrs, tuple(kinds), differentiable)


def _on_values(function: Function, data: torch.Tensor, **attrs: Any) -> torch.Tensor:
    return with_values(data, function(values_of(data), **attrs))


def _dense_fallback(function: Function, kind: str, *inputs: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """The operator's own function on dense copies, its result in the storage that the graph expects."""
    result = function(*(densified(x) if x.is_sparse else x for x in inputs), **attrs)
    if kind == DENSE:
        return result
    if kind == ROWS:
        _, rows = _parts.rows_of_dense(result.detach())
        return with_values(rows_tensor((result.detach()[rows], rows), result.shape), result.index_select(0, rows))
    matrix = csr_tensor(_parts.csr_of_dense(result.detach()), result.shape)
    return with_values(matrix, result[tuple(matrix._indices())])


# ---------------------------------------------------------------------- products
def _dot_rule(op: Op, attrs: Attrs, kinds: tuple[str, ...], differentiable: Sequence[bool]) -> Any:
    if attrs.get("forward_stype") is not None or kinds.count(CSR) != 1:
        return None
    if kinds[0] == CSR:
        kind = result_stype(op, attrs, kinds)
        return partial(_csr_times, op.fn, kind), kind
    if kinds[1] == CSR:
        kind = DENSE if attrs.get("transpose_a") or attrs.get("transpose_b") else CSR
        return partial(_times_csr, op.fn, kind), kind
    return None


def _multipliable(matrix: torch.Tensor, other: torch.Tensor, inner: int, axis: int) -> bool:
    """Do shapes and dtypes fit? If not, the dense function computes or says what is wrong."""
    fits = other.dim() == 2 and other.shape[axis] == inner
    return fits and matrix.dtype is other.dtype and matrix.dtype in (torch.float32, torch.float64)


def _csr_times(function: Function, kind: str, lhs: torch.Tensor, rhs: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """lhs · rhs, each transposed or not, with a CSR matrix on the left."""
    transpose_a, transpose_b = attrs.get("transpose_a", False), attrs.get("transpose_b", False)
    if not _multipliable(lhs, rhs, lhs.shape[0 if transpose_a else 1], 1 if transpose_b else 0):
        return _dense_fallback(function, kind, lhs, rhs, **attrs)
    if rhs.is_sparse and (transpose_a or transpose_b):
        rhs = densified(rhs)
    rhs = rhs.t().contiguous() if transpose_b else rhs
    if kind == ROWS:
        values, columns = _product_of_present_columns(lhs, rhs)
        return with_values(rows_tensor((values.detach(), columns), (lhs.shape[1], rhs.shape[1])), values)
    return _multiplied(lhs, rhs, transpose_a)


def _times_csr(function: Function, kind: str, lhs: torch.Tensor, rhs: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """lhs · rhs as the transpose of rhsᵀ · lhsᵀ, with a CSR matrix on the right."""
    transpose_a, transpose_b = attrs.get("transpose_a", False), attrs.get("transpose_b", False)
    lhs = densified(lhs) if lhs.is_sparse else lhs
    if not _multipliable(rhs, lhs, rhs.shape[1 if transpose_b else 0], 0 if transpose_a else 1):
        return _dense_fallback(function, kind, lhs, rhs, **attrs)
    other = lhs if transpose_a else lhs.t().contiguous()
    if kind == DENSE:
        return _multiplied(rhs, other, not transpose_b).t()
    values, columns = _product_of_present_columns(rhs, other)
    values = values.t().contiguous()
    matrix = csr_tensor(_parts.csr_of_columns(values.detach(), columns), (len(values), rhs.shape[1]))
    return with_values(matrix, values.reshape(-1))


def _multiplied(matrix: torch.Tensor, other: torch.Tensor, transposed: bool) -> torch.Tensor:
    columns, starts = indices_of(matrix)
    return Product.apply(values_of(matrix), other, columns, starts, tuple(matrix.shape), transposed)  # type: ignore[return-value]


def _product_of_present_columns(matrix: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """matrixᵀ · other in the rows for columns in which the matrix has elements, and those columns."""
    columns, starts = indices_of(matrix)
    present, renumbered = torch.unique(columns, return_inverse=True)
    sizes = matrix.shape[0], len(present)
    return Product.apply(values_of(matrix), other, renumbered, starts, sizes, True), present  # type: ignore[return-value]


class Product(torch.autograd.Function):
    """A CSR matrix, or its transpose, times a dense or row-sparse one.

    The gradient of a row-sparse factor, and of a dense one whose variable takes it so, is row-sparse; the gradient of
    the matrix is computed at its stored elements.
    """

    @staticmethod
    def forward(ctx: Any, values: Any, other: Any, columns: Any, starts: Any, shape: Any, transposed: bool) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx.matrix = values, columns, starts, shape, transposed
        ctx.other, ctx.sizes = other, tuple(other.shape)
        ctx.by_rows = not transposed and (other.is_sparse or getattr(other, "grad_stype", None) == "row_sparse")
        if not other.is_sparse:
            return _parts.product((values, columns, starts), shape, other, transposed)
        table, (rows,) = other._values().detach(), indices_of(other)
        if not len(rows):
            return table.new_zeros((shape[0], *other.shape[1:]))
        parts = _among_stored_rows(values, columns, rows, shape[1])
        return _parts.product((*parts, starts), (shape[0], len(rows)), table)

    @staticmethod
    def backward(ctx: Any, head: torch.Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        values, columns, starts, shape, transposed = ctx.matrix
        parts, head, found, elements = (values, columns, starts), head.contiguous(), None, None
        if ctx.needs_input_grad[0]:
            other = densified(ctx.other.detach()) if ctx.other.is_sparse else ctx.other
            row = _parts.row_numbers(starts)
            left, right = (columns, row) if transposed else (row, columns)
            elements = (head.index_select(0, left) * other.index_select(0, right)).sum(1)
        if ctx.needs_input_grad[1] and ctx.by_rows:
            rows = _parts.rows_of_transposed_product(parts, shape, head)
            found = _parts.coo_of_rows(rows, ctx.sizes)
        elif ctx.needs_input_grad[1]:
            found = _parts.product(parts, shape, head, not transposed)
        return elements, found, None, None, None, None


def _among_stored_rows(
    values: torch.Tensor, columns: torch.Tensor, rows: torch.Tensor, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """A matrix's elements with columns renumbered to positions among stored rows; a row that is not stored is zero."""
    positions, present = _parts.search_rows(rows, columns, count)
    return values if present is None else values * present, positions


# ---------------------------------------------------------------------- embeddings, sums, factors
def _embedding_rule(op: Op, attrs: Attrs, kinds: tuple[str, ...], differentiable: Sequence[bool]) -> Any:
    by_rows = op.name != "Embedding" or attrs.get("sparse_grad") or not differentiable[1]
    return (partial(_embedding, op.fn), DENSE) if kinds == (DENSE, ROWS) and by_rows else None


def _embedding(function: Function, data: torch.Tensor, weight: torch.Tensor, **attrs: Any) -> torch.Tensor:
    if tuple(weight.shape) != (attrs["input_dim"], attrs["output_dim"]):
        return _dense_fallback(function, DENSE, data, weight, **attrs)
    return _Lookup.apply(data.long().clamp(0, attrs["input_dim"] - 1), weight)  # type: ignore[return-value]


class _Lookup(torch.autograd.Function):
    """Rows of a row-sparse table, zeros for those that it does not store; the gradient is row-sparse."""

    @staticmethod
    def forward(ctx: Any, numbers: Any, weight: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx.numbers, ctx.sizes = numbers.reshape(-1), tuple(weight.shape)
        table, (rows,) = weight._values().detach(), indices_of(weight)
        found = _parts.rows_or_zeros((table, rows), ctx.numbers, weight.shape[0])
        return found.reshape(*numbers.shape, weight.shape[1])

    @staticmethod
    def backward(ctx: Any, head: torch.Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        values = head.reshape(len(ctx.numbers), -1)
        return None, torch.sparse_coo_tensor(ctx.numbers[None], values, ctx.sizes, check_invariants=False)


def _square_sum_rule(op: Op, attrs: Attrs, kinds: tuple[str, ...], differentiable: Sequence[bool]) -> Any:
    return (_square_sum, ROWS) if result_stype(op, attrs, kinds) == ROWS else None


def _square_sum(data: torch.Tensor, **attrs: Any) -> torch.Tensor:
    return _Squares.apply(data, True)  # type: ignore[return-value]


def _squares(data: torch.Tensor, **attrs: Any) -> torch.Tensor:
    return _Squares.apply(data, False)  # type: ignore[return-value]


class _Squares(torch.autograd.Function):
    """The squares of a row-sparse array, or their sum in each row; the gradient has the rows of the head gradient."""

    @staticmethod
    def forward(ctx: Any, data: Any, summed: bool) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx.table, ctx.rows, ctx.sizes = data._values().detach(), data._indices()[0], tuple(data.shape)
        squares = torch.linalg.vecdot(ctx.table, ctx.table)[:, None] if summed else ctx.table * ctx.table
        return _parts.coo_of_rows((squares, ctx.rows), (data.shape[0], *squares.shape[1:]))

    @staticmethod
    def backward(ctx: Any, head: torch.Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        values, rows = _parts.rows_of_coo(head) if head.is_sparse else (head.index_select(0, ctx.rows), ctx.rows)
        table = _parts.rows_or_zeros((ctx.table, ctx.rows), rows, ctx.sizes[0])
        return _parts.coo_of_rows((table * (2 * values), rows), ctx.sizes), None


def _reduction_rule(op: Op, attrs: Attrs, kinds: tuple[str, ...], differentiable: Sequence[bool]) -> Any:
    single = _single(attrs.get("axis")) in (0, 1, -1, -2, None, ())
    return (partial(_reduced, op.fn, op.name == "mean"), DENSE) if kinds == (CSR,) and single else None


def _single(axis: Any) -> Any:
    return axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis


def _reduced(function: Function, mean: bool, data: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """Sums or means of a CSR matrix along one axis or both."""
    if not data.is_floating_point() or attrs.get("exclude"):
        return _dense_fallback(function, DENSE, data, **attrs)
    values, axis = values_of(data), _single(attrs.get("axis"))
    if axis in (None, ()):
        total, count = values.sum().reshape((1, 1) if attrs.get("keepdims") else (1,)), data.shape[0] * data.shape[1]
    else:
        kept = 0 if axis in (1, -1) else 1
        total = values.new_zeros(data.shape[kept]).index_add(0, data._indices()[kept], values)
        total, count = total.unsqueeze(axis) if attrs.get("keepdims") else total, data.shape[axis]
    return total / count if mean else total


def _factor_rule(op: Op, attrs: Attrs, kinds: tuple[str, ...], differentiable: Sequence[bool]) -> Any:
    return (partial(_scaled, op.fn, "div" in op.name), CSR) if kinds == (CSR, DENSE) else None


def _scaled(function: Function, divide: bool, lhs: torch.Tensor, rhs: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """A CSR matrix multiplied or divided by a dense array that broadcasts to its shape."""
    sizes = tuple(rhs.shape)[::-1]
    fits = len(sizes) <= 2 and all(n in (1, size) for n, size in zip(sizes, lhs.shape[::-1], strict=False))
    if not fits or lhs.dtype is not rhs.dtype:
        return _dense_fallback(function, CSR, lhs, rhs, **attrs)
    factor, values = _at_elements(rhs.reshape((1,) * (2 - rhs.dim()) + tuple(rhs.shape)), lhs), values_of(lhs)
    return with_values(lhs, values / factor if divide else values * factor)


def _at_elements(dense: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """The elements of a dense array, broadcast to the matrix's shape, where the matrix stores some."""
    row, column = matrix._indices()
    if dense.shape[0] == 1:
        return dense.reshape(-1) if dense.shape[1] == 1 else dense[0].index_select(0, column)
    if dense.shape[1] == 1:
        return dense[:, 0].index_select(0, row)
    return dense.reshape(-1).index_select(0, row * dense.shape[1] + column)


_RULES: dict[str, Callable[[Op, Attrs, tuple[str, ...], Sequence[bool]], tuple[Function, str] | None]] = {
    "dot": _dot_rule,
    "Embedding": _embedding_rule,
    "_contrib_SparseEmbedding": _embedding_rule,
    "_square_sum": _square_sum_rule,
    "sum": _reduction_rule,
    "mean": _reduction_rule,
    "broadcast_mul": _factor_rule,
    "broadcast_div": _factor_rule,
    "elemwise_mul": _factor_rule,
}
