"""Rows chosen or replaced by index or mask, and arrays of indices."""

import math

import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..._device import late
from ..array.creation import ramp
from ..registry.gradient import without_gradient
from ..registry.registry import op


@op("_contrib_arange_like")
def arange_like(
    data,
    *,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str = "",
    axis: int | None = None,
):
    """A range in the shape of `data`, or as long as its `axis`; every value comes `repeat` times."""
    if axis is not None and not -data.dim() <= axis < data.dim():
        raise MXNetError(f"Input axis {axis} out of range: data has {data.dim()} axes")
    shape = data.shape if axis is None else (data.shape[axis],)

    def fill(like: Tensor) -> Tensor:
        place = torch.arange(math.prod(shape), device=like.device)
        return ramp(start, step, place if repeat == 1 else place // repeat, like.dtype).reshape(shape)

    return without_gradient(fill, data)


@op("_contrib_index_array", dtype="any", differentiable=False)
def index_array(data, *, axes: tuple | None = None):
    """For every element its own index, along the new last axis; `axes` selects and orders the coordinates."""
    if not data.dim() or axes == ():  # an index without coordinates
        return torch.empty((*data.shape, 0), dtype=torch.int64, device=data.device)
    ranges = [torch.arange(n, device=data.device) for n in data.shape]
    grids = torch.meshgrid(*ranges, indexing="ij")
    chosen = range(data.dim()) if axes is None else axes
    return torch.stack([grids[axis] for axis in chosen], -1)


@op("_contrib_index_copy", dtype="any")
def index_copy(old_tensor, index_vector, new_tensor):
    """A copy of `old_tensor` whose rows `index_vector` are those of `new_tensor`."""
    if index_vector.dim() != 1 or index_vector.shape[0] != new_tensor.shape[0]:
        raise MXNetError(
            f"index_copy needs one index a new row: {tuple(index_vector.shape)} for {tuple(new_tensor.shape)}"
        )
    if new_tensor.shape[1:] != old_tensor.shape[1:] or len(new_tensor) > len(old_tensor):
        raise MXNetError(
            f"index_copy puts rows into an array of the same row shape, at most as many as it has: "
            f"{tuple(new_tensor.shape)} into {tuple(old_tensor.shape)}"
        )
    rows = late.bounded(index_vector.long(), len(old_tensor), "index_copy")
    return old_tensor.index_copy(0, rows, new_tensor)


@op("_contrib_backward_index_copy", outputs=3, dtype="any", differentiable=False)
def backward_index_copy(ograd, old_tensor, index_vector, new_tensor):
    """Gradients of `index_copy`: of the old rows, of the indices (zero), of the new rows."""
    rows = late.bounded(index_vector.long(), len(old_tensor), "index_copy")
    return ograd.index_fill(0, rows, 0), torch.zeros_like(index_vector), ograd.index_select(0, rows)


@op("_contrib_boolean_mask", dtype="any", shape=lambda attrs, shapes: [shapes[0] and (0, *shapes[0][1:])])
def boolean_mask(data, index, *, axis: int = 0):
    """The rows of `data` where `index` is not zero; how many is known only when it runs."""
    if axis != 0:
        raise MXNetError(f"Check failed: axis == 0 ({axis} vs. 0) : Not supported yet")
    if index.dim() != 1 or index.shape[0] != data.shape[0]:
        raise MXNetError(f"boolean_mask needs one number a row: data {tuple(data.shape)}, index {tuple(index.shape)}")
    return data.index_select(0, torch.nonzero(index.detach()).squeeze(1))


@op("_contrib_getnnz", dtype="any", differentiable=False)
def getnnz(data, *, axis: int | None = None):
    """How many elements are not zero: in all, or in each row (`axis=1`)."""
    if axis == 0:
        raise MXNetError("getnnz with axis = 0 is not supported yet")
    if axis not in (None, 1):
        raise MXNetError(f"Unexpected value for axis({axis}). Candidates are None, 0, and 1")
    return torch.count_nonzero(data, axis).reshape(-1)
