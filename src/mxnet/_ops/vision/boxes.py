"""Bounding boxes: overlap, non-maximum suppression, matching, encoding and decoding."""

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..._device.copies import constant
from ..._kernels.vision import boxes as box_kernels
from ..registry.gradient import with_gradient, without_gradient
from ..registry.registry import op
from .box_overlap import on_device, pairwise_iou, suppress, survivors
from .score_ranking import argsort_descending

Format = Literal["center", "corner"]


def corners(boxes: Tensor, layout: str) -> Tensor:
    """Boxes as (left, top, right, bottom)."""
    if layout == "corner":
        return boxes
    half = boxes[..., 2:4] / 2
    return torch.cat([boxes[..., :2] - half, boxes[..., :2] + half], -1)


def areas(boxes: Tensor, layout: str) -> Tensor:
    """Areas; a box whose sides run backwards has none."""
    sides = boxes[..., 2:4] - boxes[..., :2] if layout == "corner" else boxes[..., 2:4]
    return torch.where((sides < 0).any(-1), 0, sides[..., 0] * sides[..., 1])


def _pairs(attrs, shapes):
    lhs, rhs = shapes
    return [lhs[:-1] + rhs[:-1] if lhs and rhs else None]


@op("_contrib_box_iou", shape=_pairs)
def box_iou(lhs, rhs, *, format: Format = "corner"):
    """Intersection over union of every box of `lhs` with every box of `rhs`; it has no gradient."""
    for name, boxes in (("lhs", lhs), ("rhs", rhs)):
        if boxes.dim() < 2 or boxes.shape[-1] != 4:
            raise MXNetError(f"last dimension of {name} must be 4 and dim >= 2, got shape {tuple(boxes.shape)}")

    def overlap(lhs: Tensor, rhs: Tensor) -> Tensor:
        left, right = lhs.reshape(-1, 4), rhs.reshape(-1, 4)
        found = pairwise_iou(corners(left, format), corners(right, format), (areas(left, format), areas(right, format)))
        return found.reshape(*lhs.shape[:-1], *rhs.shape[:-1])

    return without_gradient(overlap, lhs, rhs)


# Non-maximum suppression


def _check_columns(shape: tuple[int, ...], coord_start: int, score_index: int, id_index: int) -> None:
    if len(shape) < 2:
        raise MXNetError(
            f"input must have dim >= 2 the last two dimensions are num_box and box_width {list(shape)} provided"
        )
    width, expected = shape[-1], 6 if id_index >= 0 else 5
    if width < expected:
        raise MXNetError(
            "the last dimension must have at least 5 elements namely (score, coordinates x 4) "
            f"{width} provided, {expected} expected."
        )
    coordinates = range(coord_start, coord_start + 4)
    if coord_start < 0 or coord_start + 4 > width:
        raise MXNetError(f"coordinates: ({coord_start}, {coord_start + 3}) out of range:: (0, {width})")
    used = {"score_index": score_index} | ({"id_index": id_index} if id_index >= 0 else {})
    for name, index in used.items():
        if not 0 <= index < width:
            raise MXNetError(f"{name}: {index} out of range: (0, {width})")
        if index in coordinates:
            raise MXNetError(f"{name}: {index} conflict with coordinates: ({coord_start}, {coord_start + 3}).")
    if id_index == score_index:
        raise MXNetError(f"id_index: {id_index} conflict with score_index: {score_index}")


def _survivors(rows: Tensor, attrs: dict) -> Tensor:
    """Indices of one image's boxes that survive, by descending score."""
    score = rows[:, attrs["score_index"]]
    valid = score > attrs["valid_thresh"]
    if attrs["id_index"] >= 0:
        valid &= rows[:, attrs["id_index"]] != attrs["background_id"]
    candidates = torch.nonzero(valid)[:, 0]
    candidates = candidates[argsort_descending(score[candidates])[: attrs["topk"]]]
    chosen = rows[candidates]
    given = chosen[:, attrs["coord_start"] : attrs["coord_start"] + 4]
    boxes, size = corners(given, attrs["in_format"]), areas(given, attrs["in_format"])
    per_class = attrs["id_index"] >= 0 and not attrs["force_suppress"]
    ids = chosen[:, attrs["id_index"]].to(torch.int32) if per_class else None
    return candidates[suppress(boxes, size, attrs["overlap_thresh"], ids)]


def _nms_on_device(images: Tensor, attrs: dict) -> tuple[Tensor, Tensor]:
    """The rows that survive, by descending score, and where each came from; nothing depends on values but values."""
    batch, number, width = images.shape
    score = images[..., attrs["score_index"]]
    valid = score > attrs["valid_thresh"]
    if attrs["id_index"] >= 0:
        valid &= images[..., attrs["id_index"]] != attrs["background_id"]
    order = torch.sort(torch.where(valid, score, -torch.inf), dim=1, descending=True, stable=True).indices
    order = order[:, : attrs["topk"]]
    chosen = images.gather(1, order[..., None].expand(-1, -1, width))
    given = chosen[..., attrs["coord_start"] : attrs["coord_start"] + 4]
    per_class = attrs["id_index"] >= 0 and not attrs["force_suppress"]
    ids = chosen[..., attrs["id_index"]].to(torch.int32) if per_class else None
    boxes, size = corners(given, attrs["in_format"]), areas(given, attrs["in_format"])
    left = survivors(boxes, size, valid.gather(1, order), attrs["overlap_thresh"], ids)
    place = torch.where(left, left.cumsum(1) - 1, number)  # others go behind the end, which is cut off
    out = images.new_full((batch, number + 1, width), -1)
    out.scatter_(1, place[..., None].expand(-1, -1, width), chosen)
    source = order + torch.arange(batch, device=images.device)[:, None] * number
    record = images.new_full((batch, number + 1), -1).scatter_(1, place, source.to(images.dtype))
    return out[:, :-1].reshape(-1, width), record[:, :-1].reshape(-1, 1)


def convert_format(boxes: Tensor, to: str) -> Tensor:
    """Boxes of the other format in this one, except where the first coordinate is negative (suppressed, says MXNet)."""
    if to == "corner":
        changed = corners(boxes, "center")
    else:
        changed = torch.cat([(boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]], -1)
    return torch.where(boxes[..., :1] < 0, boxes, changed)


def _nms(data: Tensor, attrs: dict) -> tuple[Tensor, Tensor]:
    images = data.reshape(-1, *data.shape[-2:])
    number = images.shape[1]
    flat = images.reshape(-1, images.shape[-1])
    if attrs["topk"] == 0:
        return data.clone(), torch.arange(len(flat), device=data.device).to(data.dtype).reshape(*data.shape[:-1], 1)
    attrs = {**attrs, "topk": min(attrs["topk"], number) if attrs["topk"] > 0 else number}
    if on_device(images):
        out, record = _nms_on_device(images, attrs)
    else:
        out, record = torch.full_like(flat, -1), flat.new_full((len(flat), 1), -1)
        for i, image in enumerate(images):
            kept = _survivors(image, attrs) + i * number
            out[i * number : i * number + len(kept)] = flat[kept]
            record[i * number : i * number + len(kept), 0] = kept.to(data.dtype)
    if attrs["in_format"] != attrs["out_format"]:
        start = attrs["coord_start"]
        out[..., start : start + 4] = convert_format(out[..., start : start + 4], attrs["out_format"])
    return out.reshape(data.shape), record.reshape(*data.shape[:-1], 1)


def _nms_gradient(inputs, outputs, heads):
    """Each kept row's gradient goes back to where the row came from, in whatever format it left."""
    grad = torch.zeros_like(inputs[0]).reshape(-1, inputs[0].shape[-1])
    source = outputs[1].flatten().long()
    kept = source >= 0
    if not grad.is_cpu:
        grad, place = grad.new_zeros(len(grad) + 1, grad.shape[1]), torch.where(kept, source, len(grad))
        grad = grad.index_copy_(0, place, heads[0].reshape(-1, grad.shape[1]))
        return grad[:-1].reshape(inputs[0].shape)
    return grad.index_copy(0, source[kept], heads[0].reshape(grad.shape)[kept]).reshape(inputs[0].shape)


@op(
    "_contrib_box_nms",
    "_contrib_box_non_maximum_suppression",
    outputs=2,
    visible=1,
    shape=lambda attrs, shapes: [shapes[0], shapes[0] and (*shapes[0][:-1], 1)],
)
def box_nms(
    data,
    *,
    overlap_thresh: float = 0.5,
    valid_thresh: float = 0.0,
    topk: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = -1,
    background_id: int = -1,
    force_suppress: bool = False,
    in_format: Format = "corner",
    out_format: Format = "corner",
):
    """Keep boxes by descending score unless a kept one (of the same class) overlaps them; the rest become -1."""
    _check_columns(tuple(data.shape), coord_start, score_index, id_index)
    attrs = {
        "overlap_thresh": overlap_thresh,
        "valid_thresh": valid_thresh,
        "topk": topk,
        "coord_start": coord_start,
        "score_index": score_index,
        "id_index": id_index,
        "background_id": background_id,
        "force_suppress": force_suppress,
        "in_format": in_format,
        "out_format": out_format,
    }
    return with_gradient(lambda boxes: _nms(boxes, attrs), _nms_gradient, data)


# Matching

DEVICE_PAIRS = 1024  # that a GPU finds by itself, one after the other


def _match(scores: Tensor, is_ascend: bool, threshold: float, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Take pairs from best to worst while their row and column are free and the score is good enough."""
    rows, columns = scores.shape
    values, order = torch.sort(scores.flatten(), descending=not is_ascend, stable=True)
    good = (values < threshold if is_ascend else values > threshold).cpu().numpy()
    row, column = np.divmod(order.cpu().numpy(), columns)
    row_match, column_match = np.full(rows, -1), np.full(columns, -1)
    free = np.ones(len(row), dtype=bool)
    for _ in range(min(rows, columns, limit)):
        best = int(np.argmax(free))
        if not free[best] or not good[best]:
            break
        r, c = row[best], column[best]
        row_match[r], column_match[c] = c, r
        free &= (row != r) & (column != c)
    return row_match, column_match


def _match_on_device(scores: Tensor, is_ascend: bool, threshold: float, limit: int) -> tuple[Tensor, Tensor]:
    """The same for all matrices at once; a step a pair, taken or not, so that the host need not look."""
    rows, columns = scores.shape[-2:]
    left = scores.reshape(-1, rows, columns).clone()
    worst = torch.inf if is_ascend else -torch.inf
    row_match = left.new_full(left.shape[:2], -1)
    column_match = left.new_full((len(left), columns), -1)
    numbers = torch.arange(max(rows, columns), device=scores.device)
    for _ in range(min(rows, columns, limit)):
        value, place = left.flatten(1).min(1) if is_ascend else left.flatten(1).max(1)
        good = (value < threshold if is_ascend else value > threshold)[:, None]
        r, c = (place // columns)[:, None], (place % columns)[:, None]
        in_row, in_column = (numbers[:rows] == r) & good, (numbers[:columns] == c) & good
        row_match = torch.where(in_row, c.to(scores.dtype), row_match)
        column_match = torch.where(in_column, r.to(scores.dtype), column_match)
        left.masked_fill_(in_row[:, :, None] | in_column[:, None], worst)
    return row_match.reshape(scores.shape[:-1]), column_match.reshape(*scores.shape[:-2], columns)


@op(
    "_contrib_bipartite_matching",
    outputs=2,
    shape=lambda attrs, shapes: [shapes[0][:-1], (*shapes[0][:-2], shapes[0][-1])],
)
def bipartite_matching(data, *, is_ascend: bool = False, threshold: float, topk: int = -1):
    """Pair rows with columns greedily by score: each row's column and each column's row, -1 where none."""
    if data.dim() < 2:
        raise MXNetError(f"score matrix must have dim >= 2 {data.dim()} provided")
    limit = topk + 1 if topk > 0 else max(data.shape)  # MXNet stops one pair late

    def pair(scores: Tensor) -> tuple[Tensor, Tensor]:
        if on_device(scores) and min(*scores.shape[-2:], limit) <= DEVICE_PAIRS:
            return _match_on_device(scores, is_ascend, threshold, limit)
        found = [_match(s, is_ascend, threshold, limit) for s in scores.reshape(-1, *scores.shape[-2:])]
        shapes = scores.shape[:-1], (*scores.shape[:-2], scores.shape[-1])
        return tuple(  # pyright: ignore[reportReturnType]
            torch.from_numpy(np.stack(side)).to(scores.device, scores.dtype).reshape(shape)
            for side, shape in zip(zip(*found, strict=True), shapes, strict=True)
        )

    return without_gradient(pair, data)


# Encoding


def _centers(boxes: Tensor, axis: int = -1) -> tuple[Tensor, Tensor]:
    low, high = boxes.narrow(axis, 0, 2), boxes.narrow(axis, 2, 2)
    size = high - low
    return low + size * 0.5, size


@op("_contrib_box_encode", outputs=2)
def box_encode(samples, matches, anchors, refs, means, stds):
    """Regression targets from anchors (corner) to their matched references, and the mask of positive samples."""
    if anchors.dim() != 3 or refs.dim() != 3 or anchors.shape[-1] != 4 or refs.shape[-1] != 4:
        raise MXNetError(
            f"box_encode: anchors and refs are (batch, number, 4), got {tuple(anchors.shape)} and {tuple(refs.shape)}"
        )

    def encode(samples, matches, anchors, refs, means, stds):
        """With the coordinates as the first axis: torch does not vectorize rows of four."""
        found = box_kernels.encode(samples, matches, anchors, refs, means, stds)
        if found is not None:
            return found
        index = matches.long().clamp(0, refs.shape[1] - 1).expand(4, -1, -1)
        center, size = _centers(refs.permute(2, 0, 1).gather(2, index), 0)
        base, extent = _centers(anchors.permute(2, 0, 1).contiguous(), 0)
        raw = torch.cat([(center - base) / extent, torch.log(size / extent)])
        found = (raw - means[:, None, None]) / stds[:, None, None]
        valid = (samples > 0.5).expand_as(raw)
        return tuple(t.permute(1, 2, 0).contiguous() for t in (torch.where(valid, found, 0), valid.to(anchors.dtype)))

    return without_gradient(encode, samples, matches, anchors, refs, means, stds)


@op("_contrib_box_decode")
def box_decode(
    data,
    anchors,
    *,
    std0: float = 1.0,
    std1: float = 1.0,
    std2: float = 1.0,
    std3: float = 1.0,
    clip: float = -1.0,
    format: Format = "center",
):
    """Corner boxes out of predicted offsets to `anchors` (one set for the whole batch)."""
    if data.dim() != 3 or data.shape[-1] != 4 or anchors.dim() != 3 or anchors.shape[-1] != 4:
        raise MXNetError(
            f"box_decode: data is (batch, number, 4), anchors (1, number, 4), got {tuple(data.shape)} "
            f"and {tuple(anchors.shape)}"
        )

    def decode(data: Tensor, anchors: Tensor) -> Tensor:
        found = box_kernels.decode(data, anchors, format == "corner", clip, std0, std1, std2, std3)
        if found is not None:
            return found
        base, extent = _centers(anchors) if format == "corner" else (anchors[..., :2], anchors[..., 2:])
        center = data[..., :2] * constant((std0, std1), data.dtype, data.device) * extent + base
        grown = data[..., 2:] * constant((std2, std3), data.dtype, data.device)
        half = torch.exp(grown.clamp_max(clip) if clip > 0 else grown) * extent * 0.5
        return torch.cat([center - half, center + half], -1)

    return without_gradient(decode, data, anchors)
