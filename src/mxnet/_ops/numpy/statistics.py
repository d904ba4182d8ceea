"""NumPy-semantics statistics: averages, percentiles, the different elements of an array."""

import math
from typing import Any, Literal

import torch

from ..._core.errors import MXNetError
from ..._device import late
from ..array.sorting import sort_values
from ..registry.registry import op
from ..registry.shape_rules import real_axis
from .reduce import reduced_axes, refuse_truth


def _weighted(attrs: dict[str, Any]) -> tuple[str, ...]:
    return ("a", "weights") if attrs["weighted"] else ("a",)


@op("_npi_average", inputs=_weighted, outputs=2, visible=lambda attrs: 1 + attrs["returned"], dtype="any")
def average(a, weights=None, *, axis: tuple | None = None, returned: bool = False, weighted: bool = True):
    """The mean over axes, with weights the weighted mean; and the sum of the weights."""
    refuse_truth(a, "average")
    axes = reduced_axes(a, axis)
    if weights is None:
        total = torch.full((), math.prod(a.shape[i] for i in axes), dtype=a.dtype, device=a.device)
        return _divided(torch.sum(a, axes, dtype=a.dtype) if axes else a, total), total
    if weights.shape == a.shape:
        total = torch.sum(weights, axes, dtype=weights.dtype)
    else:
        weights, total = _along(weights, a, axis), torch.sum(weights, dtype=weights.dtype)
    mean = _divided(torch.sum(a * weights, axes, dtype=a.dtype), total)
    return mean, total.detach()  # the sum has no gradient in MXNet


def _divided(total, count):
    """The quotient in the dtype of the sum."""
    return torch.true_divide(total, count).to(total.dtype)


def _along(weights, a, axis: tuple[int, ...] | None):
    """Weights for the places along one axis, with the array's number of axes."""
    if axis is None or len(axis) != 1 or weights.dim() != 1 or weights.shape[0] != a.shape[axis[0]]:
        raise MXNetError(
            f"average: weights of shape {tuple(weights.shape)} do not fit an array of shape {tuple(a.shape)} along "
            f"axis {axis}"
        )
    shape = [1] * a.dim()
    shape[axis[0]] = -1
    return weights.reshape(shape)


def _ranks(attrs: dict[str, Any]) -> tuple[str, ...]:
    return ("a",) if attrs["q_scalar"] is not None else ("a", "q")


@op("_npi_percentile", inputs=_ranks, dtype="any", differentiable=False)
def percentile(
    a,
    q=None,
    *,
    axis: tuple | None = None,
    interpolation: Literal["higher", "linear", "lower", "midpoint", "nearest"] = "linear",
    keepdims: bool = False,
    q_scalar: float | None = None,
):
    """The elements below which `q` per cent lie, over axes; each of several `q` has a slice of its own in front."""
    if not a.dim():
        raise MXNetError("Check failed: Invalid axis! percentile needs an array with axes; reshape this one to (1,)")
    data = (a if a.dtype is torch.float64 else a.float()).detach()
    axes = tuple(range(a.dim())) if axis is None else tuple(real_axis(i, a.dim(), "percentile axis") for i in axis)
    kept = [i for i in range(a.dim()) if i not in axes]
    rows = data.permute(*kept, *axes).reshape((*(a.shape[i] for i in kept), math.prod(a.shape[i] for i in axes)))
    ranks = _checked_ranks(q, q_scalar, data)
    places = (ranks.reshape(-1) * (rows.shape[-1] - 1) / 100.0).float()
    found = _between(sort_values(rows, -1), places, interpolation, a.dtype if a.is_floating_point() else rows.dtype)
    sizes = [1 if i in axes else s for i, s in enumerate(a.shape)] if keepdims else [a.shape[i] for i in kept]
    return found.movedim(-1, 0).reshape((*ranks.shape, *sizes))


def _checked_ranks(q, number: float | None, like):
    """Percentages in double precision; on a GPU, those out of range are reported later, and count as 0 until then."""
    words = "percentiles must be in the range [0, 100]"
    if number is not None:
        if not 0 <= number <= 100:
            raise MXNetError(words)
        return like.new_full((), number, dtype=torch.float64)
    ranks = q.detach().double()
    if ranks.is_meta:
        return ranks
    inside = (ranks >= 0) & (ranks <= 100)
    late.require(inside.all(), lambda: MXNetError(words))
    return torch.where(inside, ranks, 0.0)


def _between(rows, places, interpolation: str, dtype: torch.dtype):
    """Interpolate between the elements of sorted rows; each neighbour's part is rounded to the input's dtype."""
    if interpolation == "nearest":
        return rows[..., torch.floor(places + 0.5).long()]
    low, high = rows[..., places.floor().long()], rows[..., places.ceil().long()]
    if interpolation in ("lower", "higher"):
        return low if interpolation == "lower" else high
    fraction = places - places.floor()
    fraction = torch.where(fraction > 0, 0.5, 0.0) if interpolation == "midpoint" else fraction
    parts = (low * (1 - fraction)).to(dtype), (high * fraction).to(dtype)
    return parts[0].to(rows.dtype) + parts[1].to(rows.dtype)


def _answers(attrs: dict[str, Any]) -> int:
    return 1 + attrs["return_index"] + attrs["return_inverse"] + attrs["return_counts"]


@op("_npi_unique", outputs=_answers, dtype="any", differentiable=False)
def unique(
    data,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
):
    """The different elements or slices, sorted; where each is first, which one is where, how often each occurs."""
    data = data.detach()
    alone = data.dim() == 0 and axis in (0, -1)
    if axis is None or data.dim() == 1 or alone or not data.numel():  # where there is nothing, MXNet sees a vector
        data, axis = data.reshape(-1), None  # torch compares numbers far quicker than slices of one number
    if axis is None and not return_index and not return_inverse:
        found, counts = torch.unique_consecutive(sort_values(data, 0), return_counts=True)
        return [found, counts] if return_counts else [found]
    found, inverse, counts = torch.unique(data, sorted=True, return_inverse=True, return_counts=True, dim=axis)
    first = torch.full_like(counts, data.shape[axis or 0])
    first.scatter_reduce_(0, inverse, torch.arange(len(inverse), device=data.device), "amin")
    asked = ((True, found), (return_index, first), (return_inverse, inverse), (return_counts, counts))
    return [answer for wanted, answer in asked if wanted]
