"""Intersection over union (IoU) of boxes, and greedy non-maximum suppression (NMS).

Matrices of pairs are computed in place, by operations that torch vectorizes (`where`, `masked_fill` and comparisons are
not; NumPy's comparisons are).
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..._device.settings import Scope
from ..._kernels.vision.nms import nms

TOGETHER = 10  # boxes that a GPU decides at a time: 1,024 states in a table
DEVICE_ROWS = 50 * TOGETHER  # boxes whose overlaps with all others a GPU computes at a time
BLOCK = 512  # boxes that are compared at a time
PAIRS = 1 << 18  # at a time: they stay in the cache


def intersections(lhs: Tensor, rhs: Tensor) -> Tensor:
    """The intersection area of every corner box of `lhs` (n, 4) with every one of `rhs` (m, 4)."""
    return _intersection(_rows(lhs), _columns(rhs))


def _rows(boxes: Tensor) -> Tensor:
    return boxes.T.contiguous().unsqueeze(2)


def _columns(boxes: Tensor) -> Tensor:
    return boxes.T.contiguous().unsqueeze(1)


def _intersection(lhs: Tensor, rhs: Tensor, margin: float = 0) -> Tensor:
    """The intersection area of pairs of boxes; `margin` is added to sides (1, where coordinates are pixels)."""
    return _overlap(lhs[0:3:2], rhs[0:3:2], margin).mul_(_overlap(lhs[1:4:2], rhs[1:4:2], margin))


def _overlap(lhs: Tensor, rhs: Tensor, margin: float) -> Tensor:
    """The overlap of pairs of intervals (low, high) of one axis."""
    side = torch.minimum(lhs[1], rhs[1]).sub_(torch.maximum(lhs[0], rhs[0]))
    return (side.add_(margin) if margin else side).clamp_min_(0)


def pairwise_iou(lhs: Tensor, rhs: Tensor, areas: tuple[Tensor, Tensor]) -> Tensor:
    """Intersection over union of every box of `lhs` with every one of `rhs`, zero where they do not intersect.

    Areas are not negative, and those of boxes without a pixel are zero: then so is the union of two. A box of `rhs`
    with NaN intersects no other, as in MXNet's comparisons; the result of one of `lhs` is NaN.
    """
    nowhere = rhs.isnan().any(1)
    rhs, areas = rhs.masked_fill(nowhere[:, None], 0), (areas[0], areas[1].masked_fill(nowhere, 0))
    left, right = _rows(lhs), _columns(rhs)
    least = torch.finfo(lhs.dtype).smallest_normal * torch.finfo(lhs.dtype).eps
    result = lhs.new_empty(len(lhs), len(rhs))
    rows = max(1, PAIRS // max(1, len(rhs)))
    for first in range(0, len(lhs), rows):
        some = slice(first, first + rows)
        common = _intersection(left[:, some], right)
        union = (areas[0][some, None] + areas[1]).sub_(common).clamp_min_(least)
        torch.div(common, union, out=result[some])
    return result


def on_device(boxes: Tensor) -> bool:
    """Is it for a GPU to suppress these boxes by itself?"""
    return not boxes.is_cpu and not boxes.is_meta


def survivors(
    boxes: Tensor,
    areas: Tensor,
    valid: Tensor,
    threshold: float,
    classes: Tensor | None = None,
    inclusive: bool = False,
    margin: float = 0,
) -> Tensor:
    """`suppress` of many images at once, (images, n, 4), without reading values: True for the boxes that are kept.

    Only `valid` boxes take part. TOGETHER boxes are decided by one look into a table of all their possible states, so
    that a GPU is given few operations: five for each TOGETHER boxes.
    """
    number = valid.shape[1]
    more = -number % TOGETHER
    boxes, areas, valid = F.pad(boxes, (0, 0, 0, more)), F.pad(areas, (0, more)), F.pad(valid, (0, more))
    classes = classes if classes is None else F.pad(classes, (0, more))
    out = (~valid).float().unsqueeze(1)  # greater than zero: suppressed
    powers = 2 ** torch.arange(TOGETHER, device=boxes.device)
    kept: list[Tensor] = []
    with Scope(boxes.is_cuda):
        for first in range(0, valid.shape[1], DEVICE_ROWS):
            over = _later_overlaps(boxes, areas, classes, first, threshold, inclusive, margin)
            tables, over = _decisions(over), over.float()
            for i in range(tables.shape[1]):
                start, end = first + i * TOGETHER, first + (i + 1) * TOGETHER
                state = torch.where(out[:, :, start:end] > 0, 0, powers).sum(2, keepdim=True)
                keep = tables[:, i].gather(1, state.expand(-1, -1, TOGETHER))
                out[:, :, end:].baddbmm_(keep, over[:, start - first : end - first, end - first :])
                kept.append(keep)
    return torch.cat(kept, 2)[:, 0, :number] > 0


def _later_overlaps(
    boxes: Tensor, areas: Tensor, classes: Tensor | None, first: int, threshold: float, inclusive: bool, margin: float
) -> Tensor:
    """Which boxes behind them would DEVICE_ROWS boxes from `first` on suppress? (images, rows, boxes from `first`)."""
    rows, rest = slice(first, first + DEVICE_ROWS), slice(first, None)
    edges = boxes.movedim(-1, 0)
    common = _intersection(edges[:, :, rows].unsqueeze(3), edges[:, :, rest].unsqueeze(2), margin)
    found = common / ((areas[:, rows, None] + areas[:, None, rest]) - common)
    over = found >= threshold if inclusive else found > threshold
    if classes is not None:
        over &= classes[:, rows, None] == classes[:, None, rest]
    return over.triu(1)


def _decisions(over: Tensor) -> Tensor:
    """(images, groups, states, TOGETHER): which of a group of boxes are kept, for each state of which are still in."""
    images, rows, _ = over.shape
    groups = over[:, :, :rows].unflatten(2, (-1, TOGETHER)).unflatten(1, (-1, TOGETHER))
    groups = groups.diagonal(dim1=1, dim2=3).movedim(3, 1)  # (images, groups, TOGETHER, TOGETHER)
    states = torch.arange(2**TOGETHER, device=over.device)[:, None] >> torch.arange(TOGETHER, device=over.device)
    keep = (states & 1).bool().expand(images, rows // TOGETHER, -1, -1).clone()
    for i in range(TOGETHER - 1):
        keep &= ~(groups[:, :, i].unsqueeze(2) & keep[..., i : i + 1])
    return keep.float()


def suppress(
    boxes: Tensor,
    areas: Tensor,
    threshold: float,
    classes: Tensor | None = None,
    margin: float = 0,
    compare: np.ufunc = np.greater,
    limit: int | None = None,
) -> Tensor:
    """Greedy NMS of corner boxes (n, 4), sorted by score: the indices of those that are kept, `limit` at most.

    A box suppresses later ones (of its class) whose intersection over union with it is greater than `threshold`
    (`compare`). Blocks of boxes are compared with those kept before, then with themselves.
    """
    edges = torch.cat([boxes.T, areas[None]]).cpu()
    class_of = None if classes is None else classes.cpu().numpy()
    wanted = len(boxes) if limit is None else min(limit, len(boxes))
    found = nms(edges, classes, threshold, margin, compare is np.greater_equal, wanted)
    if found is not None:
        return found.to(boxes.device, non_blocking=boxes.is_cuda)
    kept = np.empty(0, dtype=np.int64)

    def covered(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        some, others = (edges.index_select(1, torch.from_numpy(which)) for which in (rows, columns))
        over = compare(_iou(some.unsqueeze(2), others.unsqueeze(1), margin).numpy(), threshold)
        return over if class_of is None else np.logical_and(over, class_of[rows, None] == class_of[columns], out=over)

    for first in range(0, len(boxes), BLOCK):
        block = np.arange(first, min(first + BLOCK, len(boxes)))
        if first:
            block = block[~np.bitwise_or.reduce(covered(kept, block), 0)]
        kept = np.concatenate([kept, block[_greedy(covered(block, block))]])
        if len(kept) >= wanted:
            break
    return torch.from_numpy(kept[:wanted]).to(boxes.device, non_blocking=boxes.is_cuda)


def _iou(rows: Tensor, columns: Tensor, margin: float) -> Tensor:
    """Intersection over union of boxes given as four edges and an area."""
    common = _intersection(rows, columns, margin)
    found = common.div_((rows[4] + columns[4]).sub_(common))
    return found.float() if found.dtype == torch.bfloat16 else found  # NumPy has no such type


def _greedy(block: np.ndarray) -> list[int]:
    """Which boxes of a block are kept, if row i of `block` marks those that box i suppresses."""
    suppressed, kept = 0, []
    bits = np.packbits(block, axis=1, bitorder="little")
    rows, size = bits.tobytes(), bits.shape[1]
    for i in range(len(block)):
        if not suppressed >> i & 1:
            kept.append(i)
            suppressed |= int.from_bytes(rows[i * size : (i + 1) * size], "little")
    return kept
