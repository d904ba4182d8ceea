"""Histograms: how many elements lie between each two edges."""

from collections.abc import Callable

import torch

from ..._core.attrs import Floats
from ..._core.errors import MXNetError
from ..elementwise.identity import to_dtype
from ..registry.registry import op

_PART = 1 << 16  # elements at a time: what is made of them stays in the cache
_FEW = 1024
Placed = Callable[[torch.Tensor], torch.Tensor]


def _bins(attrs) -> tuple[str, ...]:
    return ("data", "bins") if attrs["bin_cnt"] is None else ("data",)


@op("_histogram", inputs=_bins, outputs=2, dtype="any", differentiable=False)
def histogram(data, bins=None, *, bin_cnt: int | None = None, range: Floats | None = None):
    """How many elements fall between each two edges, and the edges; the last interval includes its upper edge."""
    flat = data.detach().reshape(-1)
    if bin_cnt is not None:
        if range is None or len(range) != 2 or range[0] > range[1]:
            raise MXNetError("_histogram with bin_cnt needs range=(low, high), low first")
        return _equal_bins(flat, bin_cnt, *range)
    edges = bins.to(flat.dtype)  # pyright: ignore[reportOptionalMemberAccess]
    if not flat.is_cpu and not flat.is_meta and edges.numel():
        return _counted_on_device(flat, edges), bins.clone()  # pyright: ignore[reportOptionalMemberAccess]

    def placed(values: torch.Tensor) -> torch.Tensor:
        inside = values[(values >= edges[0]) & (values <= edges[-1])]
        below = torch.searchsorted(edges, inside)  # MXNet subtracts: an infinite element is not above its like
        place = torch.where(torch.isinf(inside), below, torch.searchsorted(edges, inside, right=True))
        return place[place > 0].clamp(max=edges.numel() - 1) - 1

    ends = (0.0, 0.0) if data.device.type == "meta" or not edges.numel() else (float(edges[0]), float(edges[-1]))
    return _counted(flat, edges, *ends, placed), bins.clone()  # pyright: ignore[reportOptionalMemberAccess]


def _equal_bins(flat: torch.Tensor, count: int, low: float, high: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Edges have the data's type, integers for integers, and elements next to one go where that edge says."""
    if low == high:
        low, high = low - 0.5, high + 0.5
    steps = torch.arange(count + 1, dtype=torch.float64, device=flat.device)
    edges = to_dtype((high * steps + (count - steps) * low) / count, flat.dtype)
    if not flat.is_cpu and not flat.is_meta:
        return _equal_on_device(flat, edges, count, low, high), edges

    def placed(values: torch.Tensor) -> torch.Tensor:
        wide = values.double()  # the range is, too: a float32 next to its ends may lie outside
        values = values[(wide >= low) & (wide <= high)]
        place = ((values.double() - low) * count / (high - low)).long().clamp(max=count - 1)
        place = place - (values < edges[place]).long()
        place = place + ((values >= edges[place + 1]) & (place != count - 1)).long()
        return place[place >= 0]

    return _counted(flat, edges, low, high, placed), edges


def _equal_on_device(flat: torch.Tensor, edges: torch.Tensor, count: int, low: float, high: float) -> torch.Tensor:
    """Equal bins where no size may depend on values: elements outside go to a bin behind the last."""
    wide = flat.double()
    inside = (wide >= low) & (wide <= high)
    values, wide = torch.where(inside, flat, edges[0]), torch.where(inside, wide, low)
    place = ((wide - low) * count / (high - low)).long().clamp(0, count - 1)
    place = (place - (values < edges[place]).long()).clamp_min(-1)
    above = (values >= edges[(place + 1).clamp_max(count)]) & (place != count - 1)
    return _summed(place + above.long(), inside, count)


def _counted_on_device(flat: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    """Bins between given edges, in the same way."""
    inside = (flat >= edges[0]) & (flat <= edges[-1])
    values = torch.where(inside, flat, edges[0])
    below = torch.searchsorted(edges, values)
    place = torch.where(torch.isinf(values), below, torch.searchsorted(edges, values, right=True))
    return _summed(place.clamp(max=edges.numel() - 1) - 1, inside & (place > 0), edges.numel() - 1)


def _summed(place: torch.Tensor, inside: torch.Tensor, bins: int) -> torch.Tensor:
    place = torch.where(inside & (place >= 0), place, bins)
    counts = torch.zeros(bins + 1, dtype=torch.int64, device=place.device)
    return counts.scatter_add_(0, place, torch.ones_like(place))[:bins].clone()


def _counted(flat: torch.Tensor, edges: torch.Tensor, low: float, high: float, placed: Placed) -> torch.Tensor:
    """How many elements each bin has; `placed` finds any element's bin, but takes its time."""
    bins, find = edges.numel() - 1, None
    if len(flat) > _FEW and flat.is_floating_point() and flat.device.type == "cpu" and high > low:
        find = _through_cells(edges, low, high, bins) or _through_cells(edges, low, high, 64 * bins)
    if find is None:
        return torch.bincount(placed(flat), minlength=bins)
    counts = torch.zeros(bins + 2, dtype=torch.int64)
    for part in flat.split(_PART):
        counts += torch.bincount(find(part), minlength=bins + 2)
    return counts[1:-1]


def _through_cells(edges: torch.Tensor, low: float, high: float, cells: int) -> Placed | None:
    """Bins by way of even cells, so fine that none has two edges: one comparison decides. None if they are not.

    Bin 0 is all below the first edge and NaN, the last one all above the last edge.
    """
    kind = torch.float64 if edges.dtype is torch.float64 else torch.float32
    bounds, scale = _bounds(edges.to(kind), low, high), cells / (high - low)
    slack = torch.finfo(edges.dtype).eps * (8 * cells + 4 * scale * max(abs(low), abs(high)))
    if not (slack < 0.25 and scale < torch.finfo(kind).max and bool((bounds[1:] >= bounds[:-1]).all())):
        return None
    places = (bounds.double() - low) * scale + 1.5  # even edges lie in the middle of their cells
    starts = torch.arange(cells + 3, dtype=torch.float64)
    lower = torch.searchsorted(places, starts - slack, right=True)
    if bool((torch.searchsorted(places, starts + 1 + slack) > lower + 1).any()):
        return None
    following, lower = torch.cat([bounds, bounds.new_full((1,), torch.nan)])[lower], lower.to(kind)

    def find(values: torch.Tensor) -> torch.Tensor:
        values = values.to(kind)
        cell = (values - low).mul_(scale).add_(1.5).nan_to_num_(0).clamp_(0, cells + 2).int()
        found = torch.ge(values, following.index_select(0, cell), out=torch.empty_like(values))
        return found.add_(lower.index_select(0, cell)).int()

    return find


def _bounds(edges: torch.Tensor, low: float, high: float) -> torch.Tensor:
    """Edges that an element is not below: the first is within the range, the last the first number beyond it."""
    beyond = torch.full_like(edges, torch.inf)
    after, bounds = torch.nextafter(edges, beyond), edges.clone()
    bounds[0] = after[0] if float(edges[0]) < low else edges[0]
    bounds[-1] = edges[-1] if float(edges[-1]) > high else after[-1]
    return bounds
