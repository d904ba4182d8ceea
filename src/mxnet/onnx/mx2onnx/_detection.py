"""Detection for export: suppression of boxes in operators that torch can trace, around one that ONNX has itself."""

import torch
from torch import Tensor

from ..._ops.vision.box_overlap import suppress
from ..._ops.vision.boxes import convert_format, corners
from ..._ops.vision.multibox import decoded

LEAST = -3e38  # scores below take no part


@torch.library.custom_op("remx::standing", mutates_args=())
def standing(boxes: Tensor, scores: Tensor, overlap: float, least: float) -> Tensor:
    """Which boxes (images, n, 4), sorted by descending score, are left when better ones push out those they cover."""
    left = torch.zeros_like(scores, dtype=torch.bool)
    for mask, image, score in zip(left, boxes, scores, strict=True):
        chosen = image[score > least]
        size = (chosen[:, 2:] - chosen[:, :2]).clamp_min(0).prod(1)
        mask[suppress(chosen, size, overlap)] = True
    return left


@standing.register_fake
def _(boxes: Tensor, scores: Tensor, overlap: float, least: float) -> Tensor:
    return torch.empty_like(scores, dtype=torch.bool)


def _sorted(rows: Tensor, scores: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Rows and scores by descending score, `most` of them (all if it is not positive)."""
    order = torch.sort(scores, dim=1, descending=True, stable=True).indices
    order = order[:, :most] if 0 < most < rows.shape[1] else order
    return _picked(rows, order), scores.gather(1, order)


def _picked(rows: Tensor, order: Tensor) -> Tensor:
    return rows.gather(1, order[..., None].expand(-1, -1, rows.shape[2]))


def _by_class(boxes: Tensor, kinds: Tensor) -> Tensor:
    """Boxes of different classes far apart, so that none covers another of another class."""
    span = boxes.max() - boxes.min() + 1
    return boxes + (kinds * span)[..., None]


def box_nms(
    data, *, overlap_thresh, valid_thresh, topk, coord_start, score_index, id_index, background_id, force_suppress,
    in_format, out_format,
):  # fmt: skip
    """`contrib.box_nms`: rows that are left come first, by descending score; minus ones fill the rest."""
    if topk == 0:
        return data.clone()
    rows = data.reshape(-1, *data.shape[-2:])
    scores = rows[..., score_index]
    valid = scores > valid_thresh
    if id_index >= 0:
        valid = valid & (rows[..., id_index] != background_id)
    rows, scores = _sorted(rows, torch.where(valid, scores, -torch.inf), topk)
    boxes = corners(rows[..., coord_start : coord_start + 4], in_format)
    if id_index >= 0 and not force_suppress:
        boxes = _by_class(boxes, rows[..., id_index])
    left = standing(boxes, scores, overlap_thresh, LEAST)
    order = torch.sort(left.to(torch.int32), dim=1, descending=True, stable=True).indices
    rows, left = _picked(rows, order), left.gather(1, order)
    if in_format != out_format:
        boxes = convert_format(rows[..., coord_start : coord_start + 4], out_format)
        rows = torch.cat([rows[..., :coord_start], boxes, rows[..., coord_start + 4 :]], -1)
    rows = torch.where(left[..., None], rows, -1)
    missing = data.shape[-2] - rows.shape[1]
    if missing:
        rows = torch.cat([rows, rows.new_full((rows.shape[0], missing, rows.shape[2]), -1)], 1)
    return rows.reshape(data.shape)


def multibox_detection(
    cls_prob, loc_pred, anchor, *, clip, threshold, background_id, nms_threshold, force_suppress, variances, nms_topk
):
    """`contrib.MultiBoxDetection`: detections by descending score; the class of those suppressed is -1."""
    scores, kinds = cls_prob[:, 1:].max(1)
    valid = scores >= threshold
    boxes = decoded(loc_pred.unflatten(1, (anchor.shape[1], 4)), anchor[0], variances, clip)
    rows = torch.cat([kinds.to(cls_prob.dtype)[..., None], scores[..., None], boxes], -1)
    order = torch.sort(valid.to(torch.int32), dim=1, descending=True, stable=True).indices
    valid, scores, rows = valid.gather(1, order), scores.gather(1, order), _picked(rows, order)
    if 0 < nms_threshold <= 1:
        best, scores = _sorted(rows, torch.where(valid, scores, -torch.inf), nms_topk)
        boxes = best[..., 2:] if force_suppress else _by_class(best[..., 2:], best[..., 0])
        left = standing(boxes, scores, nms_threshold, LEAST)
        rows = torch.cat([_of_class(best, left), _of_class(rows[:, best.shape[1] :], False)], 1)
    return torch.where(valid[..., None], rows, -1)


def _of_class(rows: Tensor, left: Tensor | bool) -> Tensor:
    """Rows whose class is -1 where they are not left."""
    kinds = torch.where(left, rows[..., 0], -1) if isinstance(left, Tensor) else torch.full_like(rows[..., 0], -1)
    return torch.cat([kinds[..., None], rows[..., 1:]], -1)


TRACEABLE = {"_contrib_box_nms": box_nms, "_contrib_MultiBoxDetection": multibox_detection}
