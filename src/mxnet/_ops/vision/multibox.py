"""SSD's operators: prior boxes, training targets, detections."""

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._core.attrs import Floats
from ..._core.errors import MXNetError
from ..._device import late
from ..._device.copies import constant
from ..._kernels.runtime.concrete import is_concrete
from ..registry.gradient import without_gradient
from ..registry.registry import op
from .box_overlap import intersections, on_device, suppress, survivors
from .score_ranking import argsort_descending, best_class

MOST_KEPT = 1 << 14  # boxes


@op("_contrib_MultiBoxPrior")
def multibox_prior(
    data,
    *,
    sizes: Floats = (1.0,),
    ratios: Floats = (1.0,),
    clip: bool = False,
    steps: Floats = (-1.0, -1.0),
    offsets: Floats = (0.5, 0.5),
):
    """Boxes around every cell of a feature map: all `sizes` at the first ratio, the first size at other `ratios`."""
    if data.dim() < 4:
        raise MXNetError(f"Input data should be 4D: batch-channel-y-x, got {tuple(data.shape)}")
    if len(steps) != 2 or steps[0] * steps[1] < 0:
        raise MXNetError(f"Step ndim must be 2: (step_y, step_x), both given or neither, got {steps}")
    numbers = map(tuple, (sizes, ratios, steps, offsets))
    given: Any = (*data.shape[2:4], *numbers, clip, data.dtype, data.device)
    count = data.shape[2] * data.shape[3] * (len(sizes) + len(ratios) - 1)
    if count > MOST_KEPT or not is_concrete(data):
        return without_gradient(lambda like: _priors(*given), data)
    return without_gradient(lambda like: _kept_priors(*given).clone(), data)


def _priors(
    height: int,
    width: int,
    sizes: Floats,
    ratios: Floats,
    steps: Floats,
    offsets: Floats,
    clip: bool,
    dtype: torch.dtype,
    device: torch.device,
) -> Tensor:
    step_y, step_x = steps if min(steps) > 0 else (1 / height, 1 / width)
    root = np.sqrt(np.float64(ratios))  # pyright: ignore[reportArgumentType]
    shapes = [(s, root[0]) for s in sizes] + [(sizes[0], r) for r in root[1:]]
    halves = [(s * height / width * r / 2, s / r / 2) for s, r in shapes]
    half = constant(halves, dtype, device)
    ends = torch.stack([-half, half], 1)
    y = ((torch.arange(height, device=device) + offsets[0]) * step_y).to(dtype)
    x = ((torch.arange(width, device=device) + offsets[1]) * step_x).to(dtype)
    across, down = x[:, None, None] + ends[..., 0], y[:, None, None, None] + ends[..., 1]
    boxes = torch.stack(torch.broadcast_tensors(across, down), -1).reshape(1, -1, 4)
    return boxes.clamp(0, 1) if clip else boxes


_kept_priors = lru_cache(maxsize=64)(_priors)  # those of a network are asked for at every step


def _ratios(anchors: Tensor, truth: Tensor) -> Tensor:
    common = intersections(anchors, truth)
    size = [(b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1]) for b in (anchors, truth)]
    union = size[0][:, None] + size[1][None] - common
    return torch.where(union == 0, 0, common / union).float()


def _overlaps(anchors: Tensor, truth: Tensor) -> np.ndarray:
    return _ratios(anchors, truth).cpu().numpy()


def _assign(overlap: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every anchor's best truth, its overlap, and whether the anchor is positive.

    First each truth takes its best anchor, the largest overlaps first; then anchors above `threshold` join in.
    """
    match, best = overlap.argmax(1), overlap.max(1)
    positive = np.zeros(len(overlap), dtype=bool)
    open_pairs = overlap.copy()
    for _ in range(overlap.shape[1]):
        anchor, truth = np.unravel_index(open_pairs.argmax(), overlap.shape)
        if open_pairs[anchor, truth] <= 1e-6:
            break
        match[anchor], best[anchor], positive[anchor] = truth, overlap[anchor, truth], True
        open_pairs[anchor], open_pairs[:, truth] = -1, -1
    if threshold > 0:
        positive |= best > threshold
    return match, best, positive


def _hard_negatives(
    scores: Tensor, best: np.ndarray, positive: np.ndarray, ratio: float, threshold: float
) -> np.ndarray:
    """The anchors most wrongly sure of an object: lowest background probability first."""
    wanted = min(int(positive.sum() * ratio), int((~positive).sum()))
    candidates = np.flatnonzero(~positive & (best < threshold))
    if len(candidates) < wanted:
        raise MXNetError(
            f"MultiBoxTarget: {wanted} negative anchors are wanted, {len(candidates)} are below the threshold"
        )
    background = torch.softmax(scores, 0)[0].cpu().numpy()[candidates]
    return candidates[np.argsort(background, kind="stable")[:wanted]]


def _offsets(anchors: Tensor, truth: Tensor, variances: Floats) -> Tensor:
    """In float32 whatever the input, as MXNet computes them."""
    anchors, truth = anchors.float(), truth.float()
    size, wanted = anchors[:, 2:] - anchors[:, :2], truth[:, 2:] - truth[:, :2]
    shift = ((truth[:, :2] + truth[:, 2:]) * 0.5 - (anchors[:, :2] + anchors[:, 2:]) * 0.5) / size
    return torch.cat([shift, torch.log(wanted / size)], 1) / constant(variances, anchors.dtype, anchors.device)


def _check_target(anchor: Tensor, label: Tensor, cls_pred: Tensor, variances: Floats) -> None:
    if anchor.dim() != 3 or anchor.shape[0] != 1 or anchor.shape[2] != 4:
        raise MXNetError(f"Anchors are shared across batches and must be (1, number, 4), got {tuple(anchor.shape)}")
    if label.dim() != 3 or label.shape[2] < 5:
        raise MXNetError(f"Label should be [batch, num_labels, label_width >= 5] tensor, got {tuple(label.shape)}")
    if cls_pred.dim() != 3 or cls_pred.shape[2] != anchor.shape[1]:
        raise MXNetError(
            f"Number of anchors mismatch: prediction [batch, num_classes, num_anchors] is {tuple(cls_pred.shape)}, "
            f"anchors {tuple(anchor.shape)}"
        )
    if len(variances) != 4:
        raise MXNetError(f"Variance size must be 4, got {len(variances)}")


def _assign_on_device(overlap: Tensor, present: Tensor, threshold: float) -> tuple[Tensor, Tensor, Tensor]:
    """`_assign` of all images at once, (batch, anchors, truths), without a look at values."""
    left = overlap.masked_fill(~present[:, None], -1)
    best, match = left.max(2)
    positive = torch.zeros_like(best, dtype=torch.bool)
    anchors, truths = (torch.arange(n, device=overlap.device) for n in overlap.shape[1:])
    for _ in range(overlap.shape[2]):
        value, place = left.flatten(1).max(1, keepdim=True)
        anchor, truth = place // len(truths), place % len(truths)
        row, column = (anchors == anchor) & (value > 1e-6), (truths == truth) & (value > 1e-6)
        match, best, positive = torch.where(row, truth, match), torch.where(row, value, best), positive | row
        left = left.masked_fill(row[:, :, None] | column[:, None], -1)
    if threshold > 0:
        positive |= best > threshold
    return match, best, positive & present.any(1, keepdim=True)


def _negatives_on_device(scores: Tensor, best: Tensor, positive: Tensor, ratio: float, threshold: float) -> Tensor:
    """`_hard_negatives` of all images at once, as a mask."""
    wanted = torch.minimum((positive.sum(1).double() * ratio).long(), (~positive).sum(1))
    candidates = ~positive & (best < threshold)
    words = "MultiBoxTarget: more negative anchors are wanted than are below the threshold"
    late.require((candidates.sum(1) >= wanted).all(), lambda: MXNetError(words))
    background = torch.softmax(scores, 1)[:, 0].masked_fill(~candidates, torch.inf)
    rank = torch.sort(background, dim=1, stable=True).indices.argsort(1)
    return candidates & (rank < wanted[:, None])


def _targets_on_device(
    anchors: Tensor,
    label: Tensor,
    cls_pred: Tensor,
    threshold: float,
    ignore_label: float,
    mining: tuple[float, float],
    variances: Floats,
) -> tuple[Tensor, ...]:
    """The targets of all images at once, where the host need not wait for any value."""
    (batch, truths), number = label.shape[:2], len(anchors)
    if not truths:
        empty = anchors.new_zeros(batch, number * 4)
        return empty, empty.clone(), anchors.new_full((batch, number), ignore_label)
    present = (label[:, :, 0] != -1).long().cumprod(1).bool()
    overlap = _ratios(anchors, label[:, :, 1:5].reshape(-1, 4)).reshape(number, batch, truths).movedim(0, 1)
    match, best, positive = _assign_on_device(overlap, present, threshold)
    negative = _negatives_on_device(cls_pred, best, positive, *mining) if mining[0] > 0 else ~positive
    matched = label.gather(1, match[..., None].expand(-1, -1, label.shape[2]))
    background = torch.where(negative & present.any(1, keepdim=True), 0.0, ignore_label).to(anchors.dtype)
    classes = torch.where(positive, (matched[..., 0] + 1).to(anchors.dtype), background)
    offsets = _offsets(anchors.expand(batch, -1, -1).reshape(-1, 4), matched[..., 1:5].reshape(-1, 4), variances)
    mask = positive[..., None].expand(-1, -1, 4)
    offsets = torch.where(mask, offsets.reshape(batch, number, 4).to(anchors.dtype), 0)
    return offsets.flatten(1), mask.to(anchors.dtype).flatten(1), classes


@op(
    "_contrib_MultiBoxTarget",
    outputs=("loc_target", "loc_mask", "cls_target"),
    shape=lambda attrs, shapes: [
        (shapes[1][0], shapes[0][1] * 4),
        (shapes[1][0], shapes[0][1] * 4),
        (shapes[1][0], shapes[0][1]),
    ],
)
def multibox_target(
    anchor,
    label,
    cls_pred,
    *,
    overlap_threshold: float = 0.5,
    ignore_label: float = -1.0,
    negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5,
    minimum_negative_samples: int = 0,
    variances: Floats = (0.1, 0.1, 0.2, 0.2),
):
    """What SSD should learn: box offsets, their mask and a class for every anchor (0 is background)."""
    _check_target(anchor, label, cls_pred, variances)

    def targets(anchor: Tensor, label: Tensor, cls_pred: Tensor) -> tuple[Tensor, ...]:
        if not anchor.is_cpu:
            mining = negative_mining_ratio, negative_mining_thresh
            return _targets_on_device(anchor[0], label, cls_pred, overlap_threshold, ignore_label, mining, variances)
        anchors, batch, number = anchor[0], label.shape[0], anchor.shape[1]
        loc_target, loc_mask = anchor.new_zeros(batch, number, 4), anchor.new_zeros(batch, number, 4)
        cls_target = anchor.new_full((batch, number), ignore_label)
        for i in range(batch):
            padding = torch.nonzero(label[i, :, 0] == -1)
            truth = label[i, : int(padding[0]) if len(padding) else None]
            if not len(truth):
                continue
            match, best, positive = _assign(_overlaps(anchors, truth[:, 1:5]), overlap_threshold)
            if negative_mining_ratio > 0:
                negative = _hard_negatives(cls_pred[i], best, positive, negative_mining_ratio, negative_mining_thresh)
            else:
                negative = np.flatnonzero(~positive)
            chosen = torch.from_numpy(np.flatnonzero(positive)).to(anchor.device)
            matched = truth[torch.from_numpy(match).to(anchor.device)[chosen]]
            cls_target[i, torch.from_numpy(negative).to(anchor.device)] = 0
            cls_target[i, chosen] = matched[:, 0] + 1
            loc_mask[i, chosen] = 1
            loc_target[i, chosen] = _offsets(anchors[chosen], matched[:, 1:5], variances).to(anchor.dtype)
        return loc_target.flatten(1), loc_mask.flatten(1), cls_target

    return without_gradient(targets, anchor, label, cls_pred)


def decoded(loc: Tensor, anchors: Tensor, variances: Floats, clip: bool) -> Tensor:
    """Boxes by their corners, out of predicted offsets from the anchors."""
    return torch.stack(_edges(loc, anchors, variances, clip), -1)


def _edges(loc: Tensor, anchors: Tensor, variances: Floats, clip: bool) -> list[Tensor]:
    """Left, top, right and bottom of the boxes."""
    low, high = [], []
    for axis in (0, 1):
        start, end = anchors[:, axis], anchors[:, axis + 2]
        size, center = end - start, (start + end) / 2
        middle = loc[..., axis] * variances[axis] * size + center
        half = torch.exp(loc[..., axis + 2] * variances[axis + 2]) * size / 2
        low.append(middle - half)
        high.append(middle + half)
    return [edge.clamp(0, 1) if clip else edge for edge in low + high]


def _suppressed(columns: Tensor, threshold: float, force: bool, topk: int) -> Tensor:
    """Columns [class, score, box] by descending score; class -1 marks those beyond `topk` and those suppressed."""
    number = columns.shape[1]
    keep = min(topk, number) if topk > 0 else number
    best = columns.index_select(1, argsort_descending(columns[1])[:keep])
    size = (best[4] - best[2]) * (best[5] - best[3])
    left = suppress(best[2:].T, size, threshold, None if force else best[0], compare=np.greater_equal)
    out = columns.clone()
    out[1:, :keep] = best[1:]
    out[0].fill_(-1)[left] = best[0][left]
    return out


def _detected_on_device(columns: Tensor, enough: Tensor, topk: int, threshold: float | None, force: bool) -> Tensor:
    """Detections of all images (batch, 6, n) at once, where the host need not wait for any value."""
    place, count = torch.arange(columns.shape[2], device=columns.device), enough.sum(1, keepdim=True)
    first = torch.sort((~enough).to(torch.int8), dim=1, stable=True).indices  # those with enough score, in their order
    given = columns.gather(2, first[:, None].expand_as(columns))
    if threshold is not None:
        score = torch.where(place < count, given[:, 1], -torch.inf)
        order = torch.sort(score, dim=1, descending=True, stable=True).indices[:, :topk]
        best = given.gather(2, order[:, None].expand(-1, 6, -1))
        ranked = place[:topk] < count
        size = (best[:, 4] - best[:, 2]) * (best[:, 5] - best[:, 3])
        left = survivors(best[:, 2:].mT, size, ranked, threshold, None if force else best[:, 0], inclusive=True)
        given = given.clone()
        given[:, 1:, :topk] = torch.where(ranked[:, None], best[:, 1:], given[:, 1:, :topk])
        given[:, 0] = -1
        given[:, 0, :topk] = torch.where(left, best[:, 0], -1)
    return torch.where((place < count)[:, None], given, -1).mT.contiguous()


@op("_contrib_MultiBoxDetection", shape=lambda attrs, shapes: [(shapes[0][0], shapes[2][1], 6)])
def multibox_detection(
    cls_prob,
    loc_pred,
    anchor,
    *,
    clip: bool = True,
    threshold: float = 0.01,
    background_id: int = 0,
    nms_threshold: float = 0.5,
    force_suppress: bool = False,
    variances: Floats = (0.1, 0.1, 0.2, 0.2),
    nms_topk: int = -1,
):
    """Detections [class, score, left, top, right, bottom] by descending score, suppressed ones with class -1."""
    number = anchor.shape[1] if anchor.dim() == 3 else -1
    if cls_prob.dim() != 3 or cls_prob.shape[2] != number or tuple(loc_pred.shape[1:]) != (number * 4,):
        raise MXNetError(
            f"Number of anchors mismatch: cls_prob (batch, classes, n) is {tuple(cls_prob.shape)}, loc_pred "
            f"(batch, 4n) {tuple(loc_pred.shape)}, anchor (1, n, 4) {tuple(anchor.shape)}"
        )

    def detect(cls_prob: Tensor, loc_pred: Tensor, anchor: Tensor) -> Tensor:
        score, kind = best_class(cls_prob[:, 1:])
        edges = _edges(loc_pred.unflatten(1, (number, 4)), anchor[0], variances, clip)
        columns = torch.stack([kind.to(cls_prob.dtype), score, *edges], 1)
        enough = score >= threshold
        best = min(nms_topk, number) if nms_topk > 0 else number
        suppressed = 0 < nms_threshold <= 1
        if on_device(columns):
            return _detected_on_device(columns, enough, best, nms_threshold if suppressed else None, force_suppress)
        out = columns.new_full((len(columns), number, 6), -1)
        for i, which in enumerate(enough):
            valid = columns[i].index_select(1, torch.nonzero(which)[:, 0])
            if valid.shape[1] and suppressed:
                valid = _suppressed(valid, nms_threshold, force_suppress, nms_topk)
            out[i, : valid.shape[1]] = valid.T
        return out

    return without_gradient(detect, cls_prob, loc_pred, anchor)
