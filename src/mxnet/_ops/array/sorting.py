"""Sorting: sort, argsort, topk. Equal elements keep their order (stable)."""

from typing import Literal

import torch

from ..._core.errors import MXNetError
from ..._kernels.runtime.concrete import is_concrete
from ..._kernels.sort.topk import topk as topk_kernel
from ..._kernels.sort.values import sort_values as sort_kernel
from ..registry.gradient import without_gradient
from ..registry.registry import Attrs, op
from ..registry.shape_rules import real_axis
from ..registry.torch_dtypes import torch_dtype

Index = Literal["float16", "float32", "float64", "int32", "int64", "uint8"]


def _along(data: torch.Tensor, axis: int | None) -> tuple[torch.Tensor, int]:
    """No axis means the flattened array."""
    return (data.reshape(-1), 0) if axis is None else (data, real_axis(axis, data.dim()))


def sort_values(data: torch.Tensor, axis: int, descending: bool = False) -> torch.Tensor:
    """Sorted along an axis."""
    result = sort_kernel(data, axis, descending)
    if result is None:
        return torch.sort(data, dim=axis, descending=descending, stable=True).values
    return result


@op("sort", "_npi_sort")
def sort(data, *, axis: int | None = -1, is_ascend: bool = True):
    """Elements in order along an axis.

    Parameters
    ----------
    data
        The array to sort, of any shape.
    axis
        The axis to sort along; None sorts the flattened array and returns a vector.
    is_ascend
        Whether the smallest element comes first.
    """
    data, axis = _along(data, axis)
    return sort_values(data, axis, not is_ascend)


@op("argsort", "_npi_argsort")
def argsort(data, *, axis: int | None = -1, is_ascend: bool = True, dtype: Index = "float32"):
    """The indices that sort an axis.

    Parameters
    ----------
    data
        The array to sort, of any shape.
    axis
        The axis to sort along; None sorts the flattened array.
    is_ascend
        Whether the smallest element comes first.
    dtype
        The data type of the indices. The default float32 holds integers up to 2**24 exactly; use int32 or int64 for
        longer axes.
    """

    def order(x: torch.Tensor) -> torch.Tensor:
        x, along = _along(x, axis)
        return torch.sort(x, dim=along, descending=not is_ascend, stable=True).indices.to(torch_dtype(dtype))

    return without_gradient(order, data)


def _topk_outputs(attrs: Attrs) -> int | tuple[str, ...]:
    """MXNet has indices beside the values, even where it does not show them: the values' name tells."""
    return {"both": 2, "value": ("output0",)}.get(attrs["ret_typ"], 1)


def _extremum(data: torch.Tensor, axis: int, ascending: bool) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The maximum or minimum; None where there are NaNs, which count as the largest."""
    if not is_concrete(data) or not data.numel():
        return None
    if not data.is_cpu and ascending and data.is_floating_point():
        return None  # the host would have to wait for the values
    values, indices = (torch.min if ascending else torch.max)(data, axis, keepdim=True)
    if not data.is_cpu:  # a NaN is the largest to `max`, too
        return values, indices
    return None if data.is_floating_point() and bool(values.detach().isnan().any()) else (values, indices)


def _top(data: torch.Tensor, axis: int, k: int, ascending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    size = data.shape[axis]
    k = k if k > 0 else size
    if k > size:
        raise MXNetError(f"k must be smaller than {size}, get k = {k}")
    found = _extremum(data, axis, ascending) if k == 1 else topk_kernel(data, axis, k, not ascending)
    if found is not None:
        return found
    values, indices = torch.sort(data, dim=axis, descending=not ascending, stable=True)
    return (values.narrow(axis, 0, k), indices.narrow(axis, 0, k)) if 0 < k < size else (values, indices)


@op("topk", outputs=_topk_outputs)
def topk(
    data,
    *,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: Literal["both", "indices", "mask", "value"] = "indices",
    is_ascend: bool = False,
    dtype: Index = "float32",
):
    """The `k` largest (or smallest) elements along an axis: their values, their indices, or a mask of them.

    Parameters
    ----------
    data
        The array to search, of any shape.
    axis
        The axis to search along; None means the flattened array.
    k
        How many elements to find; 0 or less means all of the axis.
    ret_typ
        indices: where they are; value: the elements, in order; both: a list of values and indices; mask: an array of
        the shape of `data` with 1 at the elements and 0 elsewhere. Only the values have a gradient.
    is_ascend
        Whether the smallest elements are found, the smallest first; by default the largest, the largest first.
    dtype
        The data type of the indices. The default float32 holds integers up to 2**24 exactly; use int32 or int64 for
        longer axes.
    """
    kind, shape = torch_dtype(dtype), data.shape
    if ret_typ == "mask":
        return without_gradient(lambda x: _mask(*_along(x, axis), k, is_ascend).reshape(shape), data)
    if ret_typ == "indices":
        return without_gradient(lambda x: _top(*_along(x, axis), k, is_ascend)[1].contiguous().to(kind), data)
    values, indices = _top(*_along(data, axis), k, is_ascend)
    return values.contiguous() if ret_typ == "value" else (values.contiguous(), indices.contiguous().to(kind))


def _mask(data: torch.Tensor, axis: int, k: int, ascending: bool) -> torch.Tensor:
    return torch.zeros_like(data).scatter_(axis, _top(data, axis, k, ascending)[1], 1)
