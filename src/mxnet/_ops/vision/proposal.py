"""Region proposals: the boxes a region proposal network believes in."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._core.attrs import Floats
from ..._core.errors import MXNetError
from ..._device.copies import constant, uploaded
from ..registry.gradient import without_gradient
from ..registry.registry import op
from .box_overlap import suppress
from .score_ranking import falling


def _base_anchors(stride: int, scales: Floats, ratios: Floats) -> np.ndarray:
    """Boxes of the first cell; sizes are rounded to whole pixels before they are scaled."""
    center = 0.5 * (stride - 1)
    boxes = []
    for ratio in ratios:
        width = np.floor(np.sqrt(np.floor(stride * stride / ratio)) + 0.5)
        height = np.floor(width * ratio + 0.5)
        for scale in scales:
            half = 0.5 * (np.array([width, height]) * scale - 1)
            boxes.append(np.concatenate([center - half, center + half]))
    return np.array(boxes)


def _anchors(height: int, width: int, stride: int, base: Tensor) -> Tensor:
    y, x = torch.arange(height, device=base.device), torch.arange(width, device=base.device)
    shift = torch.stack(torch.meshgrid(y, x, indexing="ij")[::-1], -1) * stride
    return (shift.repeat(1, 1, 2)[:, :, None] + base).reshape(-1, 4)


def _moved(anchors: Tensor, deltas: Tensor, iou_loss: bool) -> Tensor:
    if iou_loss:
        return anchors + deltas
    size = anchors[:, 2:] - anchors[:, :2] + 1
    center = anchors[:, :2] + 0.5 * (size - 1) + deltas[:, :2] * size
    half = 0.5 * (torch.exp(deltas[:, 2:]) * size - 1)
    return torch.cat([center - half, center + half], 1)


def _image(scores: Tensor, deltas: Tensor, info: list[float], base: Tensor, attrs: dict) -> tuple[Tensor, Tensor]:
    """Proposals and scores of one image; padded cells and boxes that are too small come last."""
    number, height, width = scores.shape
    stride, (im_height, im_width, im_scale) = attrs["feature_stride"], info
    real = int(im_height / stride), int(im_width / stride)
    if real[0] > height or real[1] > width:
        raise MXNetError(f"Proposal: an image of {info} does not fit on {height} x {width} cells of {stride} pixels")
    boxes = _moved(
        _anchors(height, width, stride, base),
        deltas.unflatten(0, (number, 4)).permute(2, 3, 0, 1).reshape(-1, 4),
        attrs["iou_loss"],
    )
    edge = constant([im_width - 1, im_height - 1] * 2, boxes.dtype, boxes.device)
    boxes = torch.minimum(boxes, edge).clamp_min(0)
    score = scores.permute(1, 2, 0).clone()
    score[real[0] :], score[:, real[1] :] = -1, -1
    score = score.flatten()
    least = attrs["rpn_min_size"] * im_scale
    small = ((boxes[:, 2:] - boxes[:, :2] + 1) < least).any(1)
    grown = boxes + constant([-least / 2] * 2 + [least / 2] * 2, boxes.dtype, boxes.device)
    return torch.where(small[:, None], grown, boxes), torch.where(small, -1, score)


def _selected(boxes: Tensor, score: Tensor, attrs: dict) -> tuple[Tensor, Tensor]:
    """The best boxes after suppression, repeated in turn until there are as many as asked for."""
    before, after = attrs["rpn_pre_nms_top_n"], attrs["rpn_post_nms_top_n"]
    order = falling(score)[: before if before > 0 else None]
    best = boxes[order]
    size = (best[:, 2] - best[:, 0] + 1) * (best[:, 3] - best[:, 1] + 1)
    kept = suppress(best, size, attrs["threshold"], margin=1, limit=after)
    chosen = order[kept[torch.arange(after, device=kept.device) % len(kept)]]
    return boxes[chosen], score[chosen]


def _propose(cls_prob: Tensor, bbox_pred: Tensor, im_info: Tensor, attrs: dict) -> tuple[Tensor, Tensor]:
    number = cls_prob.shape[1] // 2
    if number != len(attrs["ratios"]) * len(attrs["scales"]) or cls_prob.shape[1] * 2 != bbox_pred.shape[1]:
        raise MXNetError(
            f"Proposal: {len(attrs['ratios'])} ratios and {len(attrs['scales'])} scales need two scores and four "
            f"numbers for each pair, got cls_prob {tuple(cls_prob.shape)} and bbox_pred {tuple(bbox_pred.shape)}"
        )
    shape = _base_anchors(attrs["feature_stride"], attrs["scales"], attrs["ratios"])
    base = uploaded(shape, cls_prob.device, cls_prob.dtype)
    rois, scores = [], []
    for i, info in enumerate(im_info.tolist()):
        boxes, score = _selected(*_image(cls_prob[i, number:], bbox_pred[i], info, base, attrs), attrs)
        rois.append(torch.cat([boxes.new_full((len(boxes), 1), i), boxes], 1))
        scores.append(score[:, None])
    return torch.cat(rois), torch.cat(scores)


def _fill(attrs: dict, shapes: list) -> list:
    data = shapes[0]
    if not data or 0 in data:
        return shapes
    return [data, (data[0], data[1] * 2, *data[2:]), (data[0], 3)]


def _shape(attrs: dict, shapes: list) -> list:
    number = shapes[0][0] * attrs["rpn_post_nms_top_n"]
    return [(number, 5), (number, 1)]


_DECLARED: dict[str, Any] = {
    "outputs": ("output", "score"),
    "visible": lambda attrs: 2 if attrs["output_score"] else 1,
    "fill": _fill,
    "shape": _shape,
}


@op("_contrib_MultiProposal", **_DECLARED)
def multi_proposal(
    cls_prob,
    bbox_pred,
    im_info,
    *,
    rpn_pre_nms_top_n: int = 6000,
    rpn_post_nms_top_n: int = 300,
    threshold: float = 0.7,
    rpn_min_size: int = 16,
    scales: Floats = (4.0, 8.0, 16.0, 32.0),
    ratios: Floats = (0.5, 1.0, 2.0),
    feature_stride: int = 16,
    output_score: bool = False,
    iou_loss: bool = False,
):
    """Proposals [image, left, top, right, bottom] of every image of a batch, and their scores."""
    attrs = {
        "rpn_pre_nms_top_n": rpn_pre_nms_top_n,
        "rpn_post_nms_top_n": rpn_post_nms_top_n,
        "threshold": threshold,
        "rpn_min_size": rpn_min_size,
        "scales": scales,
        "ratios": ratios,
        "feature_stride": feature_stride,
        "iou_loss": iou_loss,
    }
    return without_gradient(lambda *inputs: _propose(*inputs, attrs), cls_prob, bbox_pred, im_info)


@op("_contrib_Proposal", **_DECLARED)
def proposal(
    cls_prob,
    bbox_pred,
    im_info,
    *,
    rpn_pre_nms_top_n: int = 6000,
    rpn_post_nms_top_n: int = 300,
    threshold: float = 0.7,
    rpn_min_size: int = 16,
    scales: Floats = (4.0, 8.0, 16.0, 32.0),
    ratios: Floats = (0.5, 1.0, 2.0),
    feature_stride: int = 16,
    output_score: bool = False,
    iou_loss: bool = False,
):
    """`MultiProposal` for a batch of one image."""
    if cls_prob.shape[0] != 1:
        raise MXNetError("Sorry, multiple images each device is not implemented.")
    return multi_proposal(
        cls_prob,
        bbox_pred,
        im_info,
        rpn_pre_nms_top_n=rpn_pre_nms_top_n,
        rpn_post_nms_top_n=rpn_post_nms_top_n,
        threshold=threshold,
        rpn_min_size=rpn_min_size,
        scales=scales,
        ratios=ratios,
        feature_stride=feature_stride,
        iou_loss=iou_loss,
    )
