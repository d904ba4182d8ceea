"""Region proposals: the boxes a region proposal network believes in."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._core.attrs import Floats
from ..._core.errors import MXNetError
from ..._device import late
from ..._device.copies import uploaded
from ..registry.gradient import without_gradient
from ..registry.registry import op
from .box_overlap import on_device, suppress, survivors
from .score_ranking import argsort_descending


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
    center = anchors[:, :2] + 0.5 * (size - 1) + deltas[..., :2] * size
    half = 0.5 * (torch.exp(deltas[..., 2:]) * size - 1)
    return torch.cat([center - half, center + half], -1)


def _within(shape: tuple[int, int], info: Tensor, stride: int) -> Tensor:
    """Which cells (images, height, width) lie in the images; the others are padding."""
    height, width = shape
    rows, columns = (info[:, :2] / stride).trunc().T[..., None, None]
    words = f"Proposal: an image of im_info does not fit on {height} x {width} cells of {stride} pixels"
    late.require(((rows <= height) & (columns <= width)).all(), lambda: MXNetError(words))
    y, x = torch.arange(height, device=info.device)[:, None], torch.arange(width, device=info.device)
    return (y < rows) & (x < columns)


def _boxes(cls_prob: Tensor, bbox_pred: Tensor, info: Tensor, base: Tensor, attrs: dict) -> tuple[Tensor, Tensor]:
    """Boxes and scores of all images; padded cells and boxes that are too small score -1."""
    images, number, height, width = cls_prob.shape[0], cls_prob.shape[1] // 2, *cls_prob.shape[2:]
    stride, (im_height, im_width, im_scale) = attrs["feature_stride"], info.T[..., None]
    deltas = bbox_pred.unflatten(1, (number, 4)).permute(0, 3, 4, 1, 2).reshape(images, -1, 4)
    boxes = _moved(_anchors(height, width, stride, base), deltas, attrs["iou_loss"])
    edge = torch.stack([im_width, im_height] * 2, -1) - 1
    boxes = torch.minimum(boxes, edge).clamp_min(0)
    score = cls_prob[:, number:].permute(0, 2, 3, 1)
    score = torch.where(_within((height, width), info, stride)[..., None], score, -1).flatten(1)
    least = attrs["rpn_min_size"] * im_scale
    small = ((boxes[..., 2:] - boxes[..., :2] + 1) < least[..., None]).any(-1)
    grown = boxes + torch.stack([-least / 2] * 2 + [least / 2] * 2, -1)
    return torch.where(small[..., None], grown, boxes), torch.where(small, -1, score)


def _pixels(boxes: Tensor) -> Tensor:
    """Areas of boxes whose corners are pixels."""
    return (boxes[..., 2] - boxes[..., 0] + 1) * (boxes[..., 3] - boxes[..., 1] + 1)


def _selected(boxes: Tensor, score: Tensor, attrs: dict) -> Tensor:
    """The best boxes of an image after suppression, repeated in turn until there are as many as asked for."""
    before, after = attrs["rpn_pre_nms_top_n"], attrs["rpn_post_nms_top_n"]
    order = argsort_descending(score)[: before if before > 0 else None]
    best = boxes[order]
    kept = suppress(best, _pixels(best), attrs["threshold"], margin=1, limit=after)
    return order[kept[torch.arange(after) % len(kept)]]


def _selected_on_device(boxes: Tensor, score: Tensor, attrs: dict) -> Tensor:
    """The same of all images, where the host need not wait for any value."""
    before, after = attrs["rpn_pre_nms_top_n"], attrs["rpn_post_nms_top_n"]
    order = torch.sort(score, dim=1, descending=True, stable=True).indices[:, : before if before > 0 else None]
    best = boxes.gather(1, order[..., None].expand(-1, -1, 4))
    left = survivors(best, _pixels(best), torch.ones_like(order, dtype=torch.bool), attrs["threshold"], margin=1)
    first = torch.sort((~left).to(torch.int8), dim=1, stable=True).indices  # those that are kept, in their order
    turn = torch.arange(after, device=boxes.device) % left.sum(1, keepdim=True).clamp_min(1)
    return order.gather(1, first.gather(1, turn))


def _propose(cls_prob: Tensor, bbox_pred: Tensor, im_info: Tensor, attrs: dict) -> tuple[Tensor, Tensor]:
    number = cls_prob.shape[1] // 2
    if number != len(attrs["ratios"]) * len(attrs["scales"]) or cls_prob.shape[1] * 2 != bbox_pred.shape[1]:
        raise MXNetError(
            f"Proposal: {len(attrs['ratios'])} ratios and {len(attrs['scales'])} scales need two scores and four "
            f"numbers for each pair, got cls_prob {tuple(cls_prob.shape)} and bbox_pred {tuple(bbox_pred.shape)}"
        )
    shape = _base_anchors(attrs["feature_stride"], attrs["scales"], attrs["ratios"])
    base = uploaded(shape, cls_prob.device, cls_prob.dtype)
    boxes, scores = _boxes(cls_prob, bbox_pred, im_info, base, attrs)
    if on_device(boxes):
        chosen = _selected_on_device(boxes, scores, attrs)
    else:
        chosen = torch.stack([_selected(*image, attrs) for image in zip(boxes, scores, strict=True)])
    rois = boxes.gather(1, chosen[..., None].expand(-1, -1, 4))
    image = torch.arange(len(boxes), device=boxes.device, dtype=boxes.dtype)[:, None, None].expand(*chosen.shape, 1)
    return torch.cat([image, rois], 2).flatten(0, 1), scores.gather(1, chosen).reshape(-1, 1)


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
