"""Elements chosen by an array of indices, and elements written to where such an array says."""

import math
from typing import Literal

import torch
import torch.nn.functional as F

from ..._core.attrs import Count, Dtype
from ..._core.errors import MXNetError, ValueFault
from ..._device import late
from ..._kernels.runtime.concrete import has_values
from ..registry.gradient import with_zero_gradients, without_gradient
from ..registry.registry import Attrs, op
from ..registry.shape_rules import Shape, Shapes, bracket, merge, real_axis
from ..registry.torch_dtypes import number_for, torch_dtype


class IndexOutOfBoundsError(MXNetError, IndexError):
    """What MXNet reports as Python's own IndexError."""


def within(indices: torch.Tensor, size: int, mode: str) -> torch.Tensor:
    """Integer `indices`, clipped or wrapped into [0, size) as `mode` says."""
    integers = indices.long()
    if mode == "clip":
        return integers.clamp(0, size - 1)
    if mode == "wrap":
        return integers.remainder(size)
    if not has_values(integers) or not integers.numel():
        return integers
    words = f"take operator contains indices out of bound: {size} elements have indices 0 to {size - 1}"
    if integers.is_cpu:
        if integers.min() < 0 or integers.max() >= size:
            raise ValueFault(words)
        return integers
    low, high = integers.aminmax()
    late.require((low >= 0) & (high < size), lambda: ValueFault(words))
    return integers.clamp(0, size - 1)  # a GPU that reads elsewhere ends the process


def _rows_quickly(axis, mode):
    """Rows by a vector of indices, as most programs take them."""
    if axis != 0 or mode != "clip":
        return None

    def rows(a, indices):
        size = a.size(0)
        return a.index_select(0, indices.long().clamp(0, size - 1)) if size and indices.dim() == 1 else None

    return rows


def _taken_shape(attrs: Attrs, shapes: Shapes) -> Shapes | None:
    data, indices, axis = *shapes, attrs["axis"]
    if data is None or indices is None or not -len(data) <= axis < len(data):
        return None
    axis %= len(data)
    return [(*data[:axis], *indices, *data[axis + 1 :])]


@op("take", "_npi_take", dtype="any", shape=_taken_shape, quick=_rows_quickly)
def take(a, indices, *, axis: int = 0, mode: Literal["clip", "raise", "wrap"] = "clip"):
    """Slices of `a` along an axis, in the order that `indices` lists them.

    Parameters
    ----------
    a
        The array to take from, of any shape.
    indices
        The positions along `axis`, of any shape and data type; fractions are cut off. Their shape takes the place of
        the axis in the result.
    axis
        The axis to take along; negative axes count from the end.
    mode
        What becomes of positions outside: clip, the nearest valid one, so that negative positions read the first; wrap,
        modulo the length, so that -1 is the last; raise, an error.
    """
    axis = real_axis(axis, a.dim())
    if not a.shape[axis] and indices.numel():
        raise MXNetError(f"cannot take elements of axis {axis}, which is empty")
    place = within(indices, a.shape[axis], mode)
    taken = a.index_select(axis, place.reshape(-1))
    return taken.reshape((*a.shape[:axis], *place.shape, *a.shape[axis + 1 :]))


@op("batch_take", dtype="any")
def batch_take(a, indices):
    """From each row of `a` the element that `indices` names."""
    place = within(indices, a.shape[-1], "clip").reshape(-1, 1)
    return a.reshape(-1, a.shape[-1]).gather(1, place).reshape(indices.shape)


def fill_embedding(attrs: Attrs, shapes: Shapes) -> Shapes:
    """The weight has a row for each of `input_dim` words."""
    return [shapes[0], (attrs["input_dim"], attrs["output_dim"])]


def embedding_types(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    """What is not known has the attribute's type."""
    return [dtypes[0] or attrs["dtype"], dtypes[1] or attrs["dtype"]]


def _embedded_shape(attrs: Attrs, shapes: Shapes) -> Shapes | None:
    return None if shapes[0] is None else [(*shapes[0], attrs["output_dim"])]


@op("Embedding", fill=fill_embedding, fill_types=embedding_types, shape=_embedded_shape, dtype="any")
def embedding(
    data, weight, *, input_dim: Count, output_dim: Count, dtype: Dtype = "float32", sparse_grad: bool = False
):
    """The rows of `weight` that `data` names; indices out of range mean the first or the last row.

    Parameters
    ----------
    data
        The indices of the rows, of any shape and data type. Fractions are cut off.
    weight
        The table, (input_dim, output_dim). It has one row for each word.
    input_dim
        Number of rows of the table. Smaller indices than 0 read row 0, greater ones than input_dim - 1 read the last
        row.
    output_dim
        Length of each row. The result has the shape of `data` with this length as a further axis.
    dtype
        The data type that the weight gets in a graph where its type is not known. The result has the weight's type.
    sparse_grad
        Whether the gradient of the table holds only the rows that were read, if the weight's gradient has storage type
        row_sparse.
    """
    return _embedded(data, weight, input_dim, output_dim, sparse_grad)


@op("_contrib_SparseEmbedding", fill=fill_embedding, fill_types=embedding_types, dtype="any")
def sparse_embedding(
    data,
    weight,
    *,
    input_dim: Count,
    output_dim: Count,
    dtype: Dtype = "float32",
    sparse_grad: bool = False,
    deterministic: bool = False,
):
    """The same as Embedding; the gradient of a weight with a row_sparse gradient always has that storage type."""
    return _embedded(data, weight, input_dim, output_dim, True)


def _embedded(data: torch.Tensor, weight: torch.Tensor, input_dim: int, output_dim: int, sparse_grad: bool):
    if tuple(weight.shape) != (input_dim, output_dim):
        raise MXNetError(f"Embedding weight has shape {bracket(weight.shape)}, expected [{input_dim},{output_dim}]")
    by_rows = sparse_grad and getattr(weight, "grad_stype", None) == "row_sparse"  # so the variable wants it
    return F.embedding(data.long().clamp(0, input_dim - 1), weight, sparse=by_rows)


def _hot_shape(attrs: Attrs, shapes: Shapes) -> Shapes | None:
    return None if shapes[0] is None or attrs["depth"] < 0 else [(*shapes[0], attrs["depth"])]


@op("one_hot", shape=_hot_shape, dtype="any")
def one_hot(indices, *, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: Dtype = "float32"):
    """`on_value` at the place that each index names along a new last axis, `off_value` elsewhere.

    Parameters
    ----------
    indices
        The class numbers, of any shape; fractions are cut off. Numbers outside [0, depth) give a row of `off_value`
        only.
    depth
        Number of classes, the length of the new last axis.
    on_value
        The value at the place of the class.
    off_value
        The value at all other places.
    dtype
        The data type of the result, whatever the type of `indices` is.
    """
    if depth < 0:
        raise MXNetError(f"Dimension size, depth, must be a non-negative integer, got {depth}")
    return without_gradient(lambda x: _one_hot(x, depth, on_value, off_value, torch_dtype(dtype)), indices)


def _one_hot(indices: torch.Tensor, depth: int, on: float, off: float, dtype: torch.dtype) -> torch.Tensor:
    on, off = number_for(on, dtype), number_for(off, dtype)
    result = torch.full((*indices.shape, depth), off, dtype=dtype, device=indices.device)
    if not depth:
        return result
    place = indices.long().unsqueeze(-1)
    inside = (place >= 0) & (place < depth)
    known = torch.full_like(place, off, dtype=dtype).masked_fill(inside, on)
    return result.scatter_(-1, place.clamp(0, depth - 1), known)


@op("_onehot_encode", dtype="any", differentiable=False)
def onehot_encode(lhs, rhs):
    """`lhs` as rows of zeros with a one each, as wide as `rhs`."""
    return _one_hot(lhs, rhs.shape[1], 1, 0, rhs.dtype)


def fill_pick(attrs: Attrs, shapes: Shapes) -> Shapes:
    """One index for each row along the axis."""
    data, index = shapes[0], shapes[1]
    if data and not index and attrs["axis"] is not None:
        axis = real_axis(attrs["axis"], len(data))
        index = (*data[:axis], *((1,) if attrs["keepdims"] else ()), *data[axis + 1 :])
    return [data, index]


def _pick_quickly(axis, keepdims, mode):
    """One element of each row, as losses pick them."""
    if axis not in (-1, 1) or keepdims or mode != "clip":
        return None

    def picked(data, index):
        if data.dim() != 2 or index.dim() != 1 or index.size(0) != data.size(0) or index.requires_grad:
            return None
        return data.gather(1, index.long().clamp(0, data.size(1) - 1).unsqueeze(1)).squeeze_(1)

    return picked


def _picked_shape(attrs: Attrs, shapes: Shapes) -> Shapes | None:
    """Of data and indices that are known and fit."""
    data, index, axis = *shapes, attrs["axis"]
    if data is None or 0 in data or axis is None or not -len(data) <= axis < len(data) or len(data) < 2:
        return None
    axis %= len(data)
    kept, left = (*data[:axis], 1, *data[axis + 1 :]), (*data[:axis], *data[axis + 1 :])
    return ([kept] if attrs["keepdims"] else [left]) if index in (kept, left) else None


@op("pick", "choose_element_0index", dtype="any", fill=fill_pick, shape=_picked_shape, quick=_pick_quickly)
def pick(data, index, *, axis: int | None = -1, keepdims: bool = False, mode: Literal["clip", "wrap"] = "clip"):
    """One element along an axis for each index.

    Parameters
    ----------
    data
        The array to read, with at least one axis.
    index
        The position along `axis` for each of the other positions: the shape of `data` without `axis`, or with length 1
        there; fractions are cut off.
    axis
        The axis along which one element is read; negative axes count from the end. None is not supported.
    keepdims
        Whether `axis` stays in the result with length 1.
    mode
        What becomes of positions outside: clip, the nearest valid one; wrap, modulo the length.
    """
    if axis is None:
        raise MXNetError("axis=None is not supported by pick yet. Must specify an axis.")
    axis = real_axis(axis, data.dim())
    shape = [1 if i == axis else n for i, n in enumerate(data.shape)]
    if index.numel() != math.prod(shape):
        raise MXNetError(
            f"pick along axis {axis} of {bracket(data.shape)} needs {math.prod(shape)} indices, "
            f"not {bracket(index.shape)}"
        )
    picked = data.gather(axis, within(index, data.shape[axis], mode).reshape(shape))
    return with_zero_gradients(picked if keepdims or data.dim() == 1 else picked.squeeze(axis), index)


@op("fill_element_0index", dtype="any")
def fill_element_0index(lhs, mhs, rhs):
    """`lhs` with one element of each row, the one `rhs` names, replaced by the element of `mhs`."""
    return lhs.scatter(1, within(rhs, lhs.shape[1], "clip").reshape(-1, 1), mhs.to(lhs.dtype).reshape(-1, 1))


def coordinates(indices: torch.Tensor, shape: Shape) -> tuple[torch.Tensor, ...]:
    """The rows of `indices` as one index array for each leading axis; negative ones count from the end."""
    rows = indices.long().unbind(0)
    if len(rows) > len(shape):
        raise MXNetError(f"{len(rows)} rows of indices for an array of {len(shape)} axes")
    rows = [_bounded(row, axis, size) for axis, (row, size) in enumerate(zip(rows, shape, strict=False))]
    return tuple(torch.where(row < 0, row + size, row) for row, size in zip(rows, shape, strict=False))


def _bounded(row: torch.Tensor, axis: int, size: int) -> torch.Tensor:
    """Coordinates of one axis, which must be within it; a GPU gets them brought there, and tells later."""
    if not has_values(row) or not row.numel():
        return row

    def failure() -> IndexOutOfBoundsError:
        wrong = int(row[(row < -size) | (row >= size)][0])
        return IndexOutOfBoundsError(f"index {wrong} is out of bounds for axis {axis} with size {size}")

    if row.is_cpu:
        if row.min() < -size or row.max() >= size:
            raise failure()
        return row
    low, high = row.aminmax()
    late.require((low >= -size) & (high < size), failure)
    return row.clamp(-size, size - 1)


@op("gather_nd", dtype="any")
def gather_nd(data, indices):
    """The elements of `data` at the coordinates that the columns of `indices` give.

    Parameters
    ----------
    data
        The array to read, with N axes.
    indices
        The coordinates, (M, …) with M up to N: row i holds those along axis i. Negative ones count from the end; those
        outside are an IndexError. The result has the further axes of `indices`, then axes M to N - 1 of `data`.
    """
    return with_zero_gradients(data[coordinates(indices, tuple(data.shape))], indices)


@op("scatter_nd", dtype="any")
def scatter_nd(data, indices, *, shape: tuple):
    """Zeros of `shape`, with `data` at the coordinates that the columns of `indices` give."""
    place = coordinates(indices, shape)
    result = torch.zeros(shape, dtype=data.dtype, device=data.device).index_put(place, data)
    return with_zero_gradients(result, indices)


@op("_scatter_set_nd", dtype="any")
def scatter_set_nd(lhs, rhs, indices, *, shape: tuple):
    """`lhs` with `rhs` written at the coordinates that the columns of `indices` give."""
    return lhs.index_put(coordinates(indices, tuple(lhs.shape)), rhs)


@op("_ravel_multi_index", "ravel_multi_index")
def ravel_multi_index(data, *, shape: tuple | None = None):
    """Columns of coordinates in an array of `shape` as places in its flat order."""
    return without_gradient(lambda x: _ravel(x, _sizes(shape)), data)


def _sizes(shape: Shape | None) -> Shape:
    if not shape:
        raise MXNetError("the shape of the array that is indexed must be given")
    return shape


def _ravel(data: torch.Tensor, shape: Shape) -> torch.Tensor:
    if data.shape[0] != len(shape):
        raise MXNetError(f"{data.shape[0]} rows of coordinates for a shape of {len(shape)} axes")
    flat = torch.zeros_like(data[0], dtype=torch.int64)
    for row, size in zip(data.long(), shape, strict=True):
        flat = flat * size + row
    return flat.to(data.dtype)


@op("_unravel_index", "unravel_index")
def unravel_index(data, *, shape: tuple | None = None):
    """Places in the flat order of an array of `shape` as columns of coordinates."""
    return without_gradient(lambda x: _unravel(x, _sizes(shape)), data)


def _unravel(data: torch.Tensor, shape: Shape) -> torch.Tensor:
    rest, rows = data.long(), []
    for size in reversed(shape[1:]):
        rows.append(rest % size)
        rest = torch.div(rest, size, rounding_mode="trunc")
    return torch.stack([rest, *reversed(rows)]).to(data.dtype)


def _where_shape(attrs, shapes):
    """MXNet decides only when it knows the whole condition, which may be a vector."""
    condition, x, y = shapes
    return [merge([x, y])] if condition is not None and 0 not in condition else [None]


def _where_fill(attrs, shapes):
    """The two choices have one shape."""
    condition, x, y = shapes
    both = merge([x, y])
    return [condition, both, both]


@op("where", dtype="any", shape=_where_shape, fill=_where_fill)
def where(condition, x, y):
    """Elements of `x` where `condition` is not zero, else those of `y`; a vector chooses whole rows.

    Parameters
    ----------
    condition
        The array that chooses, of any data type: anything but zero takes from `x`. It has the shape of `x`, or is a
        vector with one element for each row of `x`.
    x
        The values where the condition is not zero.
    y
        The values where the condition is zero, of the shape of `x`; the shapes do not broadcast.
    """
    if x.shape != y.shape:
        raise MXNetError(f"where: x {bracket(x.shape)} and y {bracket(y.shape)} need the same shape")
    if condition.shape != x.shape:
        if condition.dim() != 1 or condition.shape[0] != x.shape[0]:
            raise MXNetError(
                f"Operator where inferring shapes failed: condition {bracket(condition.shape)} is neither of the "
                f"shape {bracket(x.shape)} of x nor a vector of its first axis"
            )
        condition = condition.reshape(-1, *[1] * (x.dim() - 1))
    return with_zero_gradients(torch.where(condition != 0, x, y), condition)
