"""Pooling of regions of interest: aligned, rotated, position sensitive, deformable."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ..._core.attrs import Fraction, Sizes
from ..._core.errors import MXNetError
from ..._core.rounding import single
from ..._device import late
from ..._device.copies import constant
from ..._kernels.runtime.concrete import is_concrete
from ..._kernels.vision.roi_bins import Bins, roi_bins
from ..elementwise.rounding import round_away
from ..registry.gradient import with_gradient
from ..registry.registry import op
from .roi_means import points_of_bins, roi_means

_POSITIVE = "every region must have a positive width and height"
_SUMMED = frozenset([torch.float32, torch.float64])  # types of which torch sums rows by shares


def _check(data: Tensor, rois: Tensor, columns: tuple[int, ...], name: str) -> None:
    if data.dim() != 4 or rois.dim() != 2 or rois.shape[1] not in columns:
        wanted = " or ".join(map(str, columns))
        raise MXNetError(
            f"{name}: data should be a 4D tensor, bbox should be a 2D tensor of shape [batch, {wanted}], "
            f"got {tuple(data.shape)} and {tuple(rois.shape)}"
        )


def _columns(rows: Tensor, *which: int) -> Tensor:
    """Some columns of a matrix; a list as index would be copied to the device, and waited for."""
    return torch.stack([rows[:, number] for number in which], 1)


_INT32 = 1 << 31


def _cell(position: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Lower index, upper index and weight of the upper one, for positions inside an axis of that size."""
    position = position.nan_to_num(0.0).clamp(0, size - 1)  # a place that is no number must not become an address
    low = position.floor()
    return low.long(), (low.long() + 1).clamp_max(size - 1), position - low


def _interpolate(planes: Tensor, base: Tensor, y: Tensor, x: Tensor, size: tuple[int, int]) -> Tensor:
    """Bilinear values at (y, x) of flattened planes that start at `base`."""
    (y0, y1, ly), (x0, x1, lx) = _cell(y, size[0]), _cell(x, size[1])
    width = size[1]
    above, below = y0 * width, y1 * width
    corners = torch.stack([above + x0, above + x1, below + x0, below + x1])  # shared by many planes
    weights = torch.stack([(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx])
    if planes.numel() < _INT32:
        base, corners = base.int(), corners.int()
    place = base + corners
    values = planes.flatten().index_select(0, place.flatten())  # `take` and its gradient are twice as slow
    return (values.view(place.shape) * weights).sum(0)


def _rows(features: Tensor, base: Tensor, y: Tensor, x: Tensor, size: tuple[int, int]) -> Tensor:
    """Bilinear values of all channels at once; `features` is (batch * height * width, channels)."""
    (y0, y1, ly), (x0, x1, lx) = _cell(y, size[0]), _cell(x, size[1])
    width = size[1]
    lx, ly = lx[..., None], ly[..., None]

    def at(row: Tensor, column: Tensor) -> Tensor:
        place = base + row * width + column
        return features.index_select(0, place.flatten()).reshape(*place.shape, -1)

    return (at(y0, x0) * (1 - lx) + at(y0, x1) * lx) * (1 - ly) + (at(y1, x0) * (1 - lx) + at(y1, x1) * lx) * ly


def _grids(extent: Tensor, pooled: tuple[int, int], ratio: int) -> list[tuple[tuple[int, int], Tensor]]:
    """Regions grouped by how many points (rows, columns) each of their bins is sampled at."""
    if ratio > 0:
        return [((ratio, ratio), torch.arange(len(extent), device=extent.device))]
    points = points_of_bins(extent, pooled)
    counts = points.long()
    return [
        ((int(pair[0]), int(pair[1])), torch.nonzero((counts == pair).all(1))[:, 0])
        for pair in torch.unique(counts, dim=0)
    ]


def _points(start: Tensor, extent: Tensor, bins: int, samples: int) -> Tensor:
    """Sample positions of each region along an axis, (regions, bins, samples)."""
    step = (extent / bins)[:, None, None]
    index = torch.arange(bins, device=start.device, dtype=start.dtype)[None, :, None]
    inner = (torch.arange(samples, device=start.device, dtype=start.dtype) + 0.5)[None, None]
    return start[:, None, None] + index * step + inner * step / samples


def _inside(y: Tensor, x: Tensor, size: tuple[int, int]) -> Tensor:
    return (y >= -1) & (y <= size[0]) & (x >= -1) & (x <= size[1])


def _position_sensitive(data: Tensor, image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Every bin reads a channel of its own: y and x are (regions, ph, pw, points)."""
    _, ph, pw, _ = y.shape
    batch, channels, height, width = data.shape  # pyright: ignore[reportUnusedVariable]
    channel = torch.arange(channels, device=data.device).reshape(1, -1, ph, pw, 1)
    base = (image.reshape(-1, 1, 1, 1, 1) * channels + channel) * (height * width)
    return _interpolate(data, base, y[:, None], x[:, None], (height, width))


def _pool(data: Tensor, features: Tensor | None, image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """The mean of bilinear samples; points outside count as zeros. y and x are (regions, ph, pw, points).

    `features` are the data, all channels of a pixel in a row; without them every bin reads a channel of its own.
    """
    batch, channels, height, width = data.shape  # pyright: ignore[reportUnusedVariable]
    weight = (_inside(y, x, (height, width)) & (image >= 0).reshape(-1, 1, 1, 1)).to(data.dtype)
    image = image.clamp_min(0)
    if features is None:
        return (_position_sensitive(data, image, y, x) * weight[:, None]).mean(-1)
    base = image.reshape(-1, 1, 1, 1) * (height * width)

    def plain(features: Tensor) -> Tensor:
        return (_rows(features, base, y, x, (height, width)) * weight[..., None]).mean(3)

    if data.dtype not in _SUMMED or not y.numel() or torch.compiler.is_compiling():
        return plain(features).permute(0, 3, 1, 2)
    places, shares = _corners(base, y, x, (height, width))
    shares = shares * (weight / y.shape[3])[..., None]
    sums = _weighted_sums(plain, features, places.flatten(3), shares.flatten(3))
    return sums.permute(0, 3, 1, 2)


def _corners(base: Tensor, y: Tensor, x: Tensor, size: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """The four pixels around each point, and how much of each: (regions, ph, pw, points, 4)."""
    (y0, y1, ly), (x0, x1, lx) = _cell(y, size[0]), _cell(x, size[1])
    upper, lower = base + y0 * size[1], base + y1 * size[1]
    places = torch.stack([upper + x0, upper + x1, lower + x0, lower + x1], -1)
    shares = [(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx]
    return places, torch.stack(shares, -1)


def _weighted_sums(plain: Callable[[Tensor], Tensor], features: Tensor, places: Tensor, shares: Tensor) -> Tensor:
    """Rows of `features` summed by their shares, over the last axis, in one pass; `plain` does it in several."""
    count, each = math.prod(places.shape[:-1]), places.shape[-1]
    flat, parts = places.reshape(count, each), shares.reshape(count, each)

    def forward(features: Tensor) -> Tensor:
        found = torch.nn.functional.embedding_bag(flat, features, mode="sum", per_sample_weights=parts)
        return found.view(*places.shape[:-1], -1)

    def backward(inputs: Sequence[Tensor], outputs: Sequence[Tensor], heads: Sequence[Tensor]) -> Any:
        if torch.is_grad_enabled():  # a gradient to be differentiated again
            return torch.autograd.grad(plain(inputs[0]), inputs[0], heads[0], create_graph=True)
        bags = torch.arange(count, device=flat.device).repeat_interleave(each)
        sizes, none = torch.full_like(bags[:count], each), bags.new_empty(0)
        head = heads[0].reshape(count, -1).contiguous()
        return torch.ops.aten._embedding_bag_dense_backward(
            head, flat.flatten(), bags, sizes, none, len(inputs[0]), False, 0, parts.flatten(), -1
        )

    return with_gradient(forward, backward, features)


def _bins(start: Tensor, extent: Tensor, pooled: tuple[int, int], grid: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """The y and the x of all sample points, each (regions, ph, pw, points)."""
    ys = _points(start[:, 0], extent[:, 0], pooled[0], grid[0])[:, :, None, :, None]
    xs = _points(start[:, 1], extent[:, 1], pooled[1], grid[1])[:, None, :, None, :]
    shape = (len(start), *pooled, *grid)
    return ys.expand(shape).flatten(3), xs.expand(shape).flatten(3)


def _over_groups(data, image, start, extent, pooled, ratio, place, position_sensitive):
    """Pool group by group, then put the regions back into their order."""
    groups = _grids(extent, pooled, ratio)
    features = None if position_sensitive else data.permute(0, 2, 3, 1).reshape(-1, data.shape[1]).contiguous()
    parts = []
    for grid, members in groups:
        y, x = place(*_bins(start[members], extent[members], pooled, grid), members)
        parts.append(_pool(data, features, image[members], y, x))
    if len(parts) < 2:  # one group has all in order
        return parts[0] if parts else None
    order = torch.cat([members for _, members in groups])
    return torch.cat(parts).index_select(0, torch.argsort(order))


def _sensitive_channels(channels: int, pooled: tuple[int, int], position_sensitive: bool) -> int:
    if not position_sensitive:
        return channels
    if channels % math.prod(pooled):
        raise MXNetError(
            f"Input channels should be divided by pooled_size[0]*pooled_size[1] when position_sensitive is true: "
            f"{channels} channels, pooled_size {pooled}"
        )
    return channels // math.prod(pooled)


@op(
    "_contrib_ROIAlign",
    shape=lambda attrs, shapes: [
        (
            shapes[1][0],
            _sensitive_channels(shapes[0][1], attrs["pooled_size"], attrs["position_sensitive"]),
            *attrs["pooled_size"],
        )
    ],
)
def roi_align(
    data,
    rois,
    *,
    pooled_size: Sizes,
    spatial_scale: Fraction,
    sample_ratio: int = -1,
    position_sensitive: bool = False,
    aligned: bool = False,
):
    """Pool regions [image, left, top, right, bottom] by averaging bilinear samples, without rounding."""
    _check(data, rois, (4, 5), "ROIAlign")
    channels = _sensitive_channels(data.shape[1], pooled_size, position_sensitive)
    if data.is_meta:  # how finely a region is sampled depends on its size; the result's shape does not
        return data.new_empty(len(rois), channels, *pooled_size)
    rois = rois.detach()
    image = rois[:, 0].long() if rois.shape[1] == 5 else torch.zeros(len(rois), dtype=torch.long, device=rois.device)
    box = rois[:, -4:] * single(spatial_scale) - (0.5 if aligned else 0)
    start, extent = _columns(box, 1, 0), _columns(box, 3, 2) - _columns(box, 1, 0)
    if aligned:
        positive = ((extent > 0).all(1) | (image < 0)).all()
        late.require(positive, lambda: MXNetError(f"ROIAlign: with aligned=True {_POSITIVE}"))
    extent = extent if aligned else extent.clamp_min(1)
    if sample_ratio <= 0 and not data.is_cpu:
        return roi_means(data, image, start, extent, pooled_size, position_sensitive)
    out = _over_groups(
        data, image, start, extent, pooled_size, sample_ratio, lambda y, x, members: (y, x), position_sensitive
    )
    return data.new_zeros(0, channels, *pooled_size) if out is None else out


@op("_contrib_RROIAlign", shape=lambda attrs, shapes: [(shapes[1][0], shapes[0][1], *attrs["pooled_size"])])
def rroi_align(data, rois, *, pooled_size: Sizes, spatial_scale: Fraction, sampling_ratio: int = -1):
    """`ROIAlign` for rotated regions [image, center x, center y, width, height, degrees]; it has no gradient."""
    _check(data, rois, (6,), "RROIAlign")
    if data.is_meta:
        return data.new_empty(len(rois), data.shape[1], *pooled_size)

    def pool(data: Tensor, rois: Tensor) -> Tensor:
        scale = single(spatial_scale)
        center, extent = _columns(rois, 2, 1) * scale, (_columns(rois, 4, 3) * scale).clamp_min(1)
        angle = rois[:, 5] * (math.pi / 180)

        def place(y: Tensor, x: Tensor, members: Tensor) -> tuple[Tensor, Tensor]:
            cos, sin = (f(angle[members]).reshape(-1, 1, 1, 1) for f in (torch.cos, torch.sin))
            middle = center[members].reshape(-1, 2, 1, 1, 1)
            return y * cos - x * sin + middle[:, 0], x * cos + y * sin + middle[:, 1]

        image = rois[:, 0].long()
        out = _over_groups(data, image, -extent / 2, extent, pooled_size, sampling_ratio, place, False)
        return data.new_zeros(0, data.shape[1], *pooled_size) if out is None else out

    return with_gradient(pool, _refuse, data, rois)


def _refuse(inputs, outputs, heads):
    raise MXNetError("RROIAlign: Backward is not supported.")


# Position sensitive


def _groups(pooled: int, group: int, device: torch.device) -> Tensor:
    """Which of the `group` cells along an axis each pooled cell reads."""
    return (torch.arange(pooled, device=device) * group // pooled).clamp(0, group - 1)


def _planes(data: Tensor, image: Tensor, output_dim: int, pooled: int, group: int) -> Tensor:
    """Index of the plane (image and channel) that every output element reads, (regions, output_dim, ph, pw)."""
    cell = _groups(pooled, group, data.device)
    top = torch.arange(output_dim, device=data.device)[:, None, None] * group
    channel = (top + cell[None, :, None]) * group + cell[None, None, :]
    return image.reshape(-1, 1, 1, 1) * data.shape[1] + channel


def _rounded_regions(rois: Tensor, spatial_scale: float) -> tuple[Tensor, Tensor]:
    """Start and extent (y, x) of regions whose corners are whole pixels of the image."""
    corner = round_away(_columns(rois, 2, 1, 4, 3))
    spatial_scale = single(spatial_scale)
    start = corner[:, :2] * spatial_scale
    return start, ((corner[:, 2:] + 1) * spatial_scale - start).clamp_min(0.1)


def _check_channels(data: Tensor, output_dim: int, group: int, name: str) -> None:
    if data.shape[1] < output_dim * group * group:
        raise MXNetError(
            f"{name}: output_dim {output_dim} and group_size {group} read {output_dim * group * group} channels, "
            f"data has {data.shape[1]}"
        )


@op(
    "_contrib_PSROIPooling",
    shape=lambda attrs, shapes: [(shapes[1][0], attrs["output_dim"], attrs["pooled_size"], attrs["pooled_size"])],
)
def psroi_pooling(data, rois, *, spatial_scale: Fraction, output_dim: int, pooled_size: int, group_size: int = 0):
    """Average pooling of regions where every bin reads a channel of its own."""
    _check(data, rois, (5,), "PSROIPooling")
    group = group_size or pooled_size
    _check_channels(data, output_dim, group, "PSROIPooling")
    rois = rois.detach()
    y, x = _bin_bounds(rois, spatial_scale, pooled_size, data.shape[2:])
    number = rois[:, 0].long()

    def plain(data: Tensor) -> Tensor:
        return _rectangles(data, _planes(data, number, output_dim, pooled_size, group), y, x)

    bins = Bins(number, y, x, output_dim)
    if not is_concrete(number) or roi_bins(data, bins) is None:
        return plain(data)
    return _bin_means(plain, data, bins, _planes(data, number.new_zeros(1), 1, pooled_size, group)[0, 0])


def _bin_means(plain: Callable[[Tensor], Tensor], data: Tensor, bins: Bins, channels: Tensor) -> Tensor:
    """The mean of each bin in its channel, in one pass; `plain` does it in several."""

    def backward(inputs: Sequence[Tensor], outputs: Sequence[Tensor], heads: Sequence[Tensor]) -> Any:
        if torch.is_grad_enabled():  # a gradient to be differentiated again
            return torch.autograd.grad(plain(inputs[0]), inputs[0], heads[0], create_graph=True)
        return bins.average_pool_backward(heads[0], channels, inputs[0].shape)

    return with_gradient(lambda data: bins.average_pool(data, channels), backward, data)


def _rectangles(data: Tensor, plane: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """The means of rectangles, out of one running sum; double, because differences of large sums lose digits."""
    total = torch.nn.functional.pad(data.double(), (1, 0, 1, 0)).cumsum(2).cumsum(3)
    height, width = total.shape[2:]
    corner = y[:, None, :, :, None] * width + x[None, :, :, None, :]
    sums = total.take(plane * (height * width) + corner[:, :, :, None])
    area = (y[1] - y[0])[:, :, None] * (x[1] - x[0])[:, None, :]
    region_sum = sums[1, 1] - sums[0, 1] - sums[1, 0] + sums[0, 0]
    return (region_sum / area[:, None].clamp_min(1)).to(data.dtype)


def _bin_bounds(rois: Tensor, spatial_scale: float, pooled: int, limit: torch.Size) -> tuple[Tensor, Tensor]:
    """First row and row behind the last of every bin, and the same for columns, each (2, regions, bins)."""
    start, extent = _rounded_regions(rois, spatial_scale)
    index = torch.arange(pooled + 1, device=rois.device, dtype=rois.dtype)
    edges = index[None, :, None] * (extent / pooled)[:, None] + start[:, None]
    bounds = torch.stack([edges[:, :-1].floor(), edges[:, 1:].ceil()])
    bounds = torch.fmin(
        torch.fmax(bounds, rois.new_zeros(())), constant(tuple(limit), rois.dtype, rois.device)
    ).long()  # NaN is 0: empty bins
    return bounds[..., 0], bounds[..., 1]


def _shape_deformable(attrs: dict, shapes: list) -> list:
    shape = (shapes[1][0], attrs["output_dim"], attrs["pooled_size"], attrs["pooled_size"])
    return [shape, shape]


@op(
    "_contrib_DeformablePSROIPooling",
    inputs=lambda attrs: ("data", "rois") if attrs["no_trans"] else ("data", "rois", "trans"),
    outputs=("output", "top_count"),
    visible=1,
    shape=_shape_deformable,
)
def deformable_psroi_pooling(
    data,
    rois,
    trans=None,
    *,
    spatial_scale: Fraction,
    output_dim: int,
    group_size: int,
    pooled_size: int,
    part_size: int = 0,
    sample_per_part: int = 1,
    trans_std: Fraction = 0.0,
    no_trans: bool = False,
):
    """`PSROIPooling` by bilinear samples whose bins the learnt `trans` shifts."""
    _check(data, rois, (5,), "DeformablePSROIPooling")
    _check_channels(data, output_dim, group_size, "DeformablePSROIPooling")
    rois = rois.detach()
    height, width = data.shape[2:]
    start, extent = _rounded_regions(rois, spatial_scale)
    start = start - 0.5
    index = torch.arange(pooled_size, device=data.device, dtype=data.dtype)
    corner = index[None, None] * (extent / pooled_size)[..., None] + start[..., None]  # (regions, yx, bins)
    y, x = corner[:, 0, None, :, None, None], corner[:, 1, None, None, :, None]
    if not no_trans:
        shift_y, shift_x = _shifts(trans, output_dim, pooled_size, part_size or pooled_size, trans_std)  # pyright: ignore[reportArgumentType]
        y = y + shift_y * extent[:, 0].reshape(-1, 1, 1, 1, 1)
        x = x + shift_x * extent[:, 1].reshape(-1, 1, 1, 1, 1)
    inner = torch.arange(sample_per_part, device=data.device, dtype=data.dtype)
    step = (extent / pooled_size / sample_per_part).reshape(-1, 2, 1, 1, 1, 1)
    y = y + inner.repeat_interleave(sample_per_part) * step[:, 0]
    x = x + inner.repeat(sample_per_part) * step[:, 1]
    inside = (x >= -0.5) & (x <= width - 0.5) & (y >= -0.5) & (y <= height - 0.5)
    image = rois[:, 0].long()
    if _sampled_alike(data, image, y, x):
        total = _sums_of_rows(data, image, y[:, 0], x[:, 0], inside[:, 0], output_dim, pooled_size, group_size)
    else:
        plane = _planes(data, image, output_dim, pooled_size, group_size)[..., None] * (height * width)
        total = torch.where(inside, _interpolate(data, plane, y, x, (height, width)), 0).sum(-1)
    count = inside.sum(-1).expand(total.shape).to(data.dtype)
    return total / count.clamp_min(1), count.detach().clone()


def _sampled_alike(data: Tensor, image: Tensor, y: Tensor, x: Tensor) -> bool:
    """Are all classes sampled at the same points, nothing is recorded, and all regions lie in images?"""
    recorded = data.requires_grad or y.requires_grad or x.requires_grad
    if recorded or y.shape[1] > 1 or not data.is_cpu or not is_concrete(image) or len(image) == 0:
        return False
    first, last = image.aminmax()
    return bool(first >= 0) and bool(last < len(data))


def _sums_of_rows(
    data: Tensor, image: Tensor, y: Tensor, x: Tensor, inside: Tensor, output_dim: int, pooled: int, group: int
) -> Tensor:
    """Sums of the samples of each bin, of all classes at once, whose values are made to lie side by side in rows."""
    height, width = data.shape[2:]
    cells = group * group * height * width
    rows = data.new_zeros(len(data) * cells + 1, output_dim)  # the last is for samples outside of the image
    read = data[:, : output_dim * group * group].reshape(len(data), output_dim, cells)
    rows[:-1].view(len(data), cells, output_dim).copy_(read.transpose(1, 2))
    cell = _groups(pooled, group, data.device)
    plane = image.reshape(-1, 1, 1, 1) * (group * group) + (cell[:, None] * group + cell)[None, :, :, None]
    (y0, y1, ly), (x0, x1, lx) = _cell(y, height), _cell(x, width)
    above, below = y0 * width, y1 * width
    corners = torch.stack([above + x0, above + x1, below + x0, below + x1], -1)
    weights = torch.stack([(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx], -1)
    place = torch.where(inside[..., None], (plane * (height * width))[..., None] + corners, len(rows) - 1)
    weights = torch.where(inside[..., None], weights, 0).expand(place.shape)
    bins = math.prod(place.shape[:3])
    sums = torch.nn.functional.embedding_bag(
        place.reshape(bins, -1), rows, mode="sum", per_sample_weights=weights.reshape(bins, -1)
    )
    return sums.view(*place.shape[:3], output_dim).permute(0, 3, 1, 2)


def _shifts(trans: Tensor, output_dim: int, pooled: int, part: int, std: float) -> tuple[Tensor, Tensor]:
    """How far every bin of every class moves, (regions, output_dim, ph, pw, 1) in y and in x; 1 class is for all."""
    classes = trans.shape[1] // 2
    cell = torch.arange(pooled, device=trans.device) * part // pooled
    picked = trans.unflatten(1, (classes, 2))
    if classes > 1:
        picked = picked[:, torch.arange(output_dim, device=trans.device) // (output_dim // classes)]
    picked = picked[..., cell[:, None], cell[None]] * std
    return picked[:, :, 1, ..., None], picked[:, :, 0, ..., None]
