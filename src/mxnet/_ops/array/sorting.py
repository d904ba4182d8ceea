"""Elements by size: sort, argsort, topk. Equal elements keep their order."""

from typing import Literal

import numpy as np
import torch

from ..._core.errors import MXNetError
from ..._kernels.runtime.concrete import is_concrete
from ..._kernels.runtime.loader import CompiledModule, any_processor
from ..registry.gradient import without_gradient
from ..registry.registry import Attrs, op
from ..registry.shape_rules import real_axis
from ..registry.torch_dtypes import torch_dtype

Index = Literal["float16", "float32", "float64", "int32", "int64", "uint8"]
_BARE = (torch.float32, torch.float64, torch.int32, torch.int64)
FEW = 8  # times as many elements as are wanted: less than that are sorted in no more time
MOST = 1 << 12  # elements of which a heap is kept while a row is read

_code = CompiledModule("sort.topk_kernels", any_processor, after=1 << 22)


def _along(data: torch.Tensor, axis: int | None) -> tuple[torch.Tensor, int]:
    """No axis means the flattened array."""
    return (data.reshape(-1), 0) if axis is None else (data, real_axis(axis, data.dim()))


def in_order(data: torch.Tensor, axis: int, descending: bool = False) -> torch.Tensor:
    """Sorted along an axis. NumPy sorts numbers alone, without their places, in a tenth of torch's time."""
    recorded = data.requires_grad and torch.is_grad_enabled()
    if recorded or data.device.type != "cpu" or data.dtype not in _BARE or not is_concrete(data) or _signed_zeros(data):
        return torch.sort(data, dim=axis, descending=descending, stable=True).values
    result = torch.from_numpy(np.sort(data.detach().numpy(), axis))
    return result.flip(axis) if descending else result


def _signed_zeros(data: torch.Tensor) -> bool:
    """Are there zeros below zero? Of all elements that are equal only they show their order."""
    if not data.is_floating_point():
        return False
    bits = data.detach().view(torch.int32 if data.dtype is torch.float32 else torch.int64)
    return bool((bits == torch.iinfo(bits.dtype).min).any())


@op("sort", "_npi_sort")
def sort(data, *, axis: int | None = -1, is_ascend: bool = True):
    """Elements in order along an axis.

    Parameters
    ----------
    data
        The input.
    axis
        The axis or axes to work along.
    is_ascend
        Whether the smallest element comes first.
    """
    data, axis = _along(data, axis)
    return in_order(data, axis, not is_ascend)


@op("argsort", "_npi_argsort")
def argsort(data, *, axis: int | None = -1, is_ascend: bool = True, dtype: Index = "float32"):
    """The indices that sort an axis.

    Parameters
    ----------
    data
        The input.
    axis
        The axis or axes to work along.
    is_ascend
        Whether the smallest element comes first.
    dtype
        The type of the indices.
    """

    def order(x: torch.Tensor) -> torch.Tensor:
        x, along = _along(x, axis)
        return torch.sort(x, dim=along, descending=not is_ascend, stable=True).indices.to(torch_dtype(dtype))

    return without_gradient(order, data)


def _topk_outputs(attrs: Attrs) -> int | tuple[str, ...]:
    """MXNet has indices beside the values, even where it does not show them: the values' name tells."""
    return {"both": 2, "value": ("output0",)}.get(attrs["ret_typ"], 1)


def _few(data: torch.Tensor, axis: int, k: int, largest: bool) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The first `k` without sorting all; None: their order takes that."""
    if not is_concrete(data) or not data.numel():
        return None
    places = _few_in_one_pass(data.detach().movedim(axis, -1), k, largest)
    if places is not None:
        places = places.movedim(-1, axis)
        return data.gather(axis, places), places
    values, places = torch.topk(data, k + 1, axis, largest)  # with the first that is left out
    before, behind = values.detach().narrow(axis, 0, k), values.detach().narrow(axis, 1, k)
    if bool((before > behind if largest else before < behind).all()):  # NaN is neither
        return values.narrow(axis, 0, k), places.narrow(axis, 0, k)
    places = _few_by_keys(data.detach().movedim(axis, -1), k, largest)
    if places is None:
        return None
    places = places.movedim(-1, axis)
    return data.gather(axis, places), places


def _few_in_one_pass(rows: torch.Tensor, k: int, largest: bool) -> torch.Tensor | None:
    """Places of the first `k` of each row by compiled code; None: it is not for them, or not ready."""
    if k > MOST or rows.element_size() > 4 or not rows.is_cpu or (kernels := _code.earned(rows.numel())) is None:
        return None
    numbers = rows.float().view(torch.int32) if rows.is_floating_point() else rows.int()
    places = torch.empty((*rows.shape[:-1], k), dtype=torch.int64)
    flat = numbers.reshape(-1, rows.shape[-1]).contiguous().numpy()
    kernels.best(flat, places.view(-1, k).numpy(), rows.is_floating_point(), largest)
    return places


def _few_by_keys(rows: torch.Tensor, k: int, largest: bool) -> torch.Tensor | None:
    """Places of the first `k` of each row, by whole numbers of which no two are equal: an element and its place."""
    if rows.element_size() > 4 or not rows.is_cpu:
        return None
    if rows.is_floating_point():
        bits = (rows.float() + 0.0).view(torch.int32)  # there is one zero now
        keys = (bits ^ (bits >> 31 & 0x7FFFFFFF)).masked_fill_(rows.isnan(), 0x7FFFFFFF)
    else:
        keys = rows.int()
    marked = (~keys if largest else keys).numpy().astype(np.int64) << 32
    marked |= np.arange(rows.shape[-1])
    chosen = np.sort(np.partition(marked, k - 1, -1)[..., :k], -1)
    return torch.from_numpy(chosen & 0xFFFFFFFF)


def _first(data: torch.Tensor, axis: int, ascending: bool) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The largest or smallest; None where there are NaNs, which count as the largest."""
    if not is_concrete(data) or not data.numel():
        return None
    values, places = (torch.min if ascending else torch.max)(data, axis, keepdim=True)
    return None if data.is_floating_point() and bool(values.detach().isnan().any()) else (values, places)


def _top(data: torch.Tensor, axis: int, k: int, ascending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    size = data.shape[axis]
    k = k if k > 0 else size
    if k > size:
        raise MXNetError(f"k must be smaller than {size}, get k = {k}")
    few = None
    if FEW * k < size:
        few = _first(data, axis, ascending) if k == 1 else _few(data, axis, k, not ascending)
    if few is not None:
        return few
    values, places = torch.sort(data, dim=axis, descending=not ascending, stable=True)
    return (values.narrow(axis, 0, k), places.narrow(axis, 0, k)) if 0 < k < size else (values, places)


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
        The input.
    axis
        The axis; None means the flattened array.
    k
        How many elements.
    ret_typ
        value, indices, mask, or both values and indices.
    is_ascend
        Whether the smallest elements are taken.
    dtype
        The type of the indices.
    """
    kind, shape = torch_dtype(dtype), data.shape
    if ret_typ == "mask":
        return without_gradient(lambda x: _mask(*_along(x, axis), k, is_ascend).reshape(shape), data)
    if ret_typ == "indices":
        return without_gradient(lambda x: _top(*_along(x, axis), k, is_ascend)[1].contiguous().to(kind), data)
    values, places = _top(*_along(data, axis), k, is_ascend)
    return values.contiguous() if ret_typ == "value" else (values.contiguous(), places.contiguous().to(kind))


def _mask(data: torch.Tensor, axis: int, k: int, ascending: bool) -> torch.Tensor:
    return torch.zeros_like(data).scatter_(axis, _top(data, axis, k, ascending)[1], 1)
