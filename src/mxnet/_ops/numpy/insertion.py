"""NumPy-semantics operators that widen an array, put elements into it or take some out."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch

from ..._core.attrs import Shapes
from ..._core.errors import MXNetError
from ..._device import late
from ..._device.copies import number, uploaded
from ..registry.registry import op
from ..registry.shape_rules import real_axis


# ---------------------------------------------------------------------- padding
@op("_npi_pad", dtype="any")
def pad(
    data,
    *,
    pad_width: Shapes,
    mode: Literal["constant", "edge", "maximum", "minimum", "reflect", "symmetric"] = "constant",
    constant_value: float = 0.0,
    reflect_type: str = "even",
):
    """Wider at both ends of each axis: a constant, or the array's own elements."""
    if reflect_type != "even":
        raise MXNetError(f"pad: reflect_type {reflect_type!r} is not supported, 'even' is")
    if len(pad_width) != data.dim() or any(len(ends) != 2 for ends in pad_width):
        raise MXNetError(f"pad: pad_width {pad_width} needs a pair for each of the {data.dim()} axes")
    for axis, (before, after) in enumerate(pad_width):
        if before or after:
            data = _padded(data, axis, before, after, mode, constant_value)
    return data.clone() if not any(map(any, pad_width)) else data


def _padded(data, axis, before, after, mode, value):
    if mode in ("edge", "reflect", "symmetric"):
        places = _mirrored(data.shape[axis], before, after, mode)
        return torch.index_select(data, axis, uploaded(places, data.device))
    if mode == "constant":
        edge = data.new_full((1,) * data.dim(), value)
    else:
        edge = (torch.amax if mode == "maximum" else torch.amin)(data, axis, keepdim=True)
    ends = [edge.expand(*data.shape[:axis], width, *data.shape[axis + 1 :]) for width in (before, after)]
    return torch.cat([ends[0], data, ends[1]], axis)


def _mirrored(size: int, before: int, after: int, mode: str):
    """Which element each place shows: the edge's, or what a mirror on or beside it shows."""
    places = np.arange(-before, size + after)
    if mode == "edge" or size == 1:
        return places.clip(0, size - 1)
    period = 2 * size if mode == "symmetric" else 2 * size - 2
    places = places % period
    last = 2 * size - 1 if mode == "symmetric" else 2 * size - 2
    return np.where(places < size, places, last - places)


# ---------------------------------------------------------------------- inserting
INSERTION: dict[str, Any] = {"dtype": "any", "differentiable": False}


def _with_values(attrs: dict[str, Any]) -> tuple[str, ...]:
    return ("arr",) if attrs["val"] is not None else ("arr", "values")


def _with_values_at(attrs: dict[str, Any]) -> tuple[str, ...]:
    return ("arr", "obj") if attrs["val"] is not None else ("arr", "values", "obj")


def _filled(arr, values, val):
    """What is to be inserted, in the array's type and with its number of axes at least."""
    if values is None:  # cast as C++ does: -1.5 is 255 as a uint8
        values = number(val, torch.float64, arr.device)
    made = values.to(arr.dtype)
    return made.reshape((1,) * (arr.dim() - made.dim()) + tuple(made.shape))


def _flat(arr, axis: int | None):
    return (arr.reshape(-1), 0) if axis is None else (arr, real_axis(axis, arr.dim(), "insert axis"))


def _unchanged(arr, axis: int | None, values=None):
    """An array without axes stays as it is along any axis; None: it has axes, or is seen as a vector."""
    if arr.dim() or axis is None:
        return None
    if values is not None and values.dim():
        raise MXNetError(f"'arr' is a 0-d array, values of shape {tuple(values.shape)} cannot be assigned to it")
    return arr.clone()


def _block(arr, axis: int, place: int, values):
    """All `values` one after the other before a place."""
    size = arr.shape[axis]
    if not -size <= place <= size:
        raise MXNetError(f"Index should be in the range of [-r, r] where r is the dim size in 'axis', got {place}")
    place += size if place < 0 else 0
    values = values.expand(*arr.shape[:axis], values.shape[axis], *arr.shape[axis + 1 :])
    return torch.cat([arr.narrow(axis, 0, place), values, arr.narrow(axis, place, size - place)], axis)


def _scattered(arr, axis: int, places, values):
    """One of `values` before each place; the places count in the array as it was."""
    size, count = arr.shape[axis], len(places)
    places = torch.where(places < 0, places + size, places)
    order = torch.argsort(places, stable=True)
    places = places.scatter_add(0, order, torch.arange(count, device=places.device))
    kept = torch.ones(size + count, dtype=torch.bool, device=arr.device).index_fill_(0, places, False)
    rest = torch.argsort((~kept).to(torch.int8), stable=True)[:size]
    result = arr.new_empty((*arr.shape[:axis], size + count, *arr.shape[axis + 1 :]))
    values = values.expand(*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    return result.index_copy_(axis, rest, arr).index_copy_(axis, places, values)


def _inserting(name: str, put: Callable[..., Any]) -> None:
    def inserting(
        arr,
        values=None,
        *,
        val: float | None = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        int_ind: int | None = None,
        axis: int | None = None,
    ):
        same = _unchanged(arr, axis, values)
        if same is not None:
            return same
        arr, along = _flat(arr, axis)
        return put(arr, along, _filled(arr, values, val), int_ind, slice(start, stop, step))

    inserting.__doc__ = put.__doc__
    op(name, inputs=_with_values, **INSERTION)(inserting)


def _before_one(arr, axis: int, values, place: int | None, places: slice):
    """Values before one place."""
    if place is None:
        raise MXNetError("insert: the place to insert at, int_ind, is missing")
    return _block(arr, axis, place, values.movedim(0, axis))


def _before_each(arr, axis: int, values, place: int | None, places: slice):
    """Values before each place of a slice."""
    found = range(*places.indices(arr.shape[axis]))
    if len(found) == 1:
        return _block(arr, axis, found[0], values)
    steps = torch.arange(len(found), device=arr.device)  # may be empty
    return _scattered(arr, axis, found.start + found.step * steps, values)


_inserting("_npi_insert_scalar", _before_one)
_inserting("_npi_insert_slice", _before_each)


@op("_npi_insert_tensor", inputs=_with_values_at, **INSERTION)
def insert_tensor(
    arr,
    values=None,
    obj=None,
    *,
    val: float | None = None,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
):
    """Values before each place of an index array; with `val` that array is the second input."""
    places: Any = values if val is not None else obj
    same = _unchanged(arr, axis, None if val is not None else values)
    if same is not None:
        return same
    arr, along = _flat(arr, axis)
    made = _filled(arr, None if val is not None else values, val)
    if places.numel() == 1 and not places.is_meta:
        made = made if places.dim() else made.movedim(0, along)
        if places.is_cpu:
            return _block(arr, along, int(places.item()), made)
        places = places.reshape(1).expand(made.shape[along])
    places = late.bounded(places.reshape(-1).to(torch.int64), arr.shape[along] + 1, "insert", -arr.shape[along])
    return _scattered(arr, along, places, made)


# ---------------------------------------------------------------------- deleting
def _with_places(attrs: dict[str, Any]) -> tuple[str, ...]:
    return ("arr",) if attrs["int_ind"] is not None or attrs["step"] is not None else ("arr", "obj")


@op("_npi_delete", inputs=_with_places, dtype="any", differentiable=False)
def delete(
    arr,
    obj=None,
    *,
    start: int | None = None,
    stop: int | None = None,
    step: int | None = None,
    int_ind: int | None = None,
    axis: int | None = None,
):
    """Without the items at a place, at a slice's places, or at those of an index array, which counts from the front."""
    same = _unchanged(arr, axis)
    if same is not None:
        return same
    arr, along = _flat(arr, axis)
    size = arr.shape[along]
    if obj is not None:
        return torch.index_select(arr, along, (~_marked(obj, size)).nonzero().reshape(-1))
    if int_ind is not None and not -size <= int_ind < size:
        raise MXNetError(f"index {int_ind} is out of bounds for axis {along} with size {size}")
    kept = np.delete(np.arange(size), slice(start, stop, step) if int_ind is None else int_ind)
    return torch.index_select(arr, along, uploaded(kept, arr.device))


def _marked(places, size: int):
    """Which of `size` items a mask or an index array names; indices outside name none."""
    places = places.reshape(-1)
    if places.dtype is torch.bool:
        return places
    outside = (places < 0) | (places >= size)
    marks = torch.zeros(size + 1, dtype=torch.bool, device=places.device)
    return marks.index_fill_(0, places.to(torch.int64).masked_fill(outside, size), True)[:size]


# ---------------------------------------------------------------------- assigning
def _spread(mask, data, start: int):
    """The mask in the array's axes, from `start` on."""
    sizes = tuple(data.shape[start : start + mask.dim()])
    if tuple(mask.shape) != sizes:
        raise MXNetError(
            f"boolean index did not match indexed array: its shape is {tuple(mask.shape)}, from axis {start} on the "
            f"array's is {sizes}"
        )
    return (mask != 0).reshape((1,) * start + sizes + (1,) * (data.dim() - start - mask.dim()))


@op("_npi_boolean_mask_assign_scalar", dtype="any", differentiable=False, shape=lambda attrs, shapes: [shapes[0]])
def boolean_mask_assign_scalar(data, mask, *, value: float | None = None, start_axis: int = 0):
    """One number where the mask holds."""
    if value is None:
        raise MXNetError("value needs be provided, in operator _npi_boolean_mask_assign_scalar")
    return torch.where(_spread(mask, data, start_axis), data.new_full((), value), data)


@op("_npi_boolean_mask_assign_tensor", dtype="any", differentiable=False, shape=lambda attrs, shapes: [shapes[0]])
def boolean_mask_assign_tensor(data, mask, value, *, start_axis: int = 0):
    """The items of `value`, or its only one again and again, where the mask holds."""
    _spread(mask, data, start_axis)
    lead, last = tuple(data.shape[:start_axis]), tuple(data.shape[start_axis + mask.dim() :])
    flat, held = data.reshape(*lead, mask.numel(), *last), (mask != 0).reshape(-1)
    items = value.to(data.dtype)
    if items.numel() == 1:
        items = items.reshape(())
    elif items.dim() == len(lead) + len(last):
        items = items.unsqueeze(start_axis)
    try:
        return mask_filled(flat, held, items, start_axis).reshape(data.shape)
    except RuntimeError:
        raise MXNetError(_unfit(tuple(value.shape), int(held.sum()))) from None


def _unfit(shape: tuple[int, ...], number: int) -> str:
    return (
        f"boolean array indexing assignment cannot assign {shape} input values to the {number} output values where the "
        "mask is true"
    )


def mask_filled(data, mask, items, axis: int = 0):
    """`data` with one item after the other, or the only one, where a mask of one axis holds.

    The host need not know how many places there are: whether items are left over, or missing, a GPU tells later.
    """
    items = items.reshape((1,) * (data.dim() - items.dim()) + tuple(items.shape))
    number = items.shape[axis]
    if number != 1 and not data.is_meta:
        count, shape = mask.sum(), tuple(items.shape)
        late.require(count == number, lambda: MXNetError(_unfit(shape, int(count))))
        turn = (mask.cumsum(0) - 1).clamp(0, max(number - 1, 0))
        items = items.index_select(axis, turn) if number else items.new_zeros(())
    return torch.where(mask.reshape(-1, *(1,) * (data.dim() - axis - 1)), items, data)
