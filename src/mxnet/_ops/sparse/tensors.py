"""Sparse values inside graphs: torch's COO tensors, of MXNet's two kinds.

A CSR matrix is a COO tensor with two sparse axes whose rows are in order; it carries its row starts as an attribute. A
row-sparse array is one with a single sparse axis and rows in ascending order. Their gradients are COO tensors too, or
dense ones; both are sums that torch's engine can add.
"""

from typing import Any

import torch

from . import parts as _parts

Parts = tuple[torch.Tensor, ...]


def csr_tensor(parts: Parts, shape: Any) -> torch.Tensor:
    """The tensor of a CSR matrix."""
    tensor = _parts.coo_of_csr(parts, shape)
    tensor.starts = parts[2]  # type: ignore[attr-defined]
    return tensor


def rows_tensor(parts: Parts, shape: Any) -> torch.Tensor:
    """The tensor of a row-sparse array."""
    return _parts.coo_of_rows(parts, shape)


def is_csr(tensor: torch.Tensor) -> bool:
    """Is it a CSR matrix?"""
    return tensor.is_sparse and tensor.sparse_dim() == 2


def indices_of(tensor: torch.Tensor) -> Parts:
    """The parts without the values: (columns, starts) of a matrix, (rows,) of a row-sparse array."""
    indices = tensor._indices()
    if not is_csr(tensor):
        return (indices[0],)
    starts = getattr(tensor, "starts", None)
    return indices[1], _parts.starts_of(indices[0], tensor.shape[0]) if starts is None else starts


def values_of(tensor: torch.Tensor) -> torch.Tensor:
    """The stored values, as part of the graph that the tensor is in."""
    return _Values.apply(tensor) if tensor.requires_grad else tensor._values()  # type: ignore[return-value]


def with_values(tensor: torch.Tensor, values: torch.Tensor, shape: Any = None) -> torch.Tensor:
    """A tensor with other values at the same places, as part of their graph."""
    indices, sizes = tensor._indices(), tuple(tensor.shape if shape is None else shape)
    made: Any = _Stored.apply(values, indices, sizes) if values.requires_grad else _coo(indices, values, sizes)
    if hasattr(tensor, "starts"):
        made.starts = tensor.starts  # type: ignore[attr-defined]
    return made


def densified(tensor: torch.Tensor) -> torch.Tensor:
    """The dense values of a sparse tensor, for operators that have no function on stored values."""
    return _Dense.apply(tensor) if tensor.requires_grad else _dense(tensor)  # type: ignore[return-value]


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    parts = tensor._values(), *indices_of(tensor)
    if is_csr(tensor):
        return _parts.dense_of_csr(parts, tensor.shape)
    has_all_rows = len(parts[0]) == tensor.shape[0]  # nothing writes into values of a graph: no copy is needed
    return parts[0].detach() if has_all_rows else _parts.dense_of_rows(parts, tensor.shape)


def _coo(indices: torch.Tensor, values: torch.Tensor, sizes: Any) -> torch.Tensor:
    return torch.sparse_coo_tensor(indices, values, sizes, check_invariants=False, is_coalesced=True)


def at_rows(gradient: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """A gradient, which is dense or row-sparse, in the given rows."""
    if not gradient.is_sparse:
        return gradient.index_select(0, rows)
    return _parts.rows_or_zeros(_parts.rows_of_coo(gradient), rows, gradient.shape[0])


class _Values(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor) -> torch.Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx.indices, ctx.sizes = tensor._indices(), tuple(tensor.shape)
        return tensor._values().detach()

    @staticmethod
    def backward(ctx: Any, head: torch.Tensor) -> torch.Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _coo(ctx.indices, head, ctx.sizes)


class _Stored(torch.autograd.Function):
    """Values at given places; the gradient is taken from those places."""

    @staticmethod
    def forward(ctx: Any, values: Any, indices: Any, sizes: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx.indices = indices
        return _coo(indices, values.detach(), sizes)

    @staticmethod
    def backward(ctx: Any, head: torch.Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        if len(ctx.indices) == 1:
            return at_rows(head, ctx.indices[0]), None, None
        if head.is_sparse and head._nnz() == ctx.indices.shape[1] and torch.equal(head._indices(), ctx.indices):
            return head._values(), None, None
        dense = head.to_dense() if head.is_sparse else head
        return dense[tuple(ctx.indices)], None, None


class _Dense(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor) -> torch.Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _dense(tensor)

    @staticmethod
    def backward(ctx: Any, head: torch.Tensor) -> torch.Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return head
