"""How far boxes overlap, and which are left when better ones push out those they cover.

Matrices of pairs are written where others were, by operations that have vectors (torch's `where`, `masked_fill` and
comparisons have none; NumPy compares with them).
"""

import numpy as np
import torch
from torch import Tensor

from ..runtime.loader import CompiledModule, any_processor

DEVICE_BOXES, DEVICE_PAIRS = 1024, 1 << 26  # at most for a device by itself: of an image, and pairs in all
BLOCK = 512  # boxes at a time that may be pushed out
PAIRS = 1 << 18  # at a time: they stay in the cache

_code = CompiledModule("vision.nms_kernels", any_processor, after=1 << 25)


def intersections(lhs: Tensor, rhs: Tensor) -> Tensor:
    """The common area of every corner box of `lhs` (n, 4) with every one of `rhs` (m, 4)."""
    return _common(_rows(lhs), _columns(rhs))


def _rows(boxes: Tensor) -> Tensor:
    return boxes.T.contiguous().unsqueeze(2)


def _columns(boxes: Tensor) -> Tensor:
    return boxes.T.contiguous().unsqueeze(1)


def _common(lhs: Tensor, rhs: Tensor, margin: float = 0) -> Tensor:
    """The common area of pairs of boxes, whose sides are longer than the distance of their ends by `margin`."""
    return _sides(lhs[0:3:2], rhs[0:3:2], margin).mul_(_sides(lhs[1:4:2], rhs[1:4:2], margin))


def _sides(lhs: Tensor, rhs: Tensor, margin: float) -> Tensor:
    """How much of an axis pairs of boxes share, whose ends there are given."""
    side = torch.minimum(lhs[1], rhs[1]).sub_(torch.maximum(lhs[0], rhs[0]))
    return (side.add_(margin) if margin else side).clamp_min_(0)


def shares(lhs: Tensor, rhs: Tensor, areas: tuple[Tensor, Tensor]) -> Tensor:
    """Intersection over union of every box of `lhs` with every one of `rhs`, zero where nothing is common.

    Areas are not negative, and those of boxes without a pixel are zero: then so is the union of two. A box of `rhs`
    with NaN has nothing in common with others, as MXNet's comparisons have it; the overlaps of one of `lhs` are NaN.
    """
    nowhere = rhs.isnan().any(1)
    rhs, areas = rhs.masked_fill(nowhere[:, None], 0), (areas[0], areas[1].masked_fill(nowhere, 0))
    left, right = _rows(lhs), _columns(rhs)
    least = torch.finfo(lhs.dtype).smallest_normal * torch.finfo(lhs.dtype).eps
    result = lhs.new_empty(len(lhs), len(rhs))
    rows = max(1, PAIRS // max(1, len(rhs)))
    for first in range(0, len(lhs), rows):
        some = slice(first, first + rows)
        common = _common(left[:, some], right)
        union = (areas[0][some, None] + areas[1]).sub_(common).clamp_min_(least)
        torch.div(common, union, out=result[some])
    return result


def fits_device(boxes: Tensor, number: int) -> bool:
    """May a GPU suppress the best `number` boxes of each image by itself? Of more, the host has the result sooner."""
    images = boxes.shape[:-2].numel()
    return not boxes.is_cpu and not boxes.is_meta and number <= DEVICE_BOXES and images * number**2 <= DEVICE_PAIRS


def survivors(
    boxes: Tensor, areas: Tensor, valid: Tensor, threshold: float, kinds: Tensor | None = None, inclusive: bool = False
) -> Tensor:
    """`suppress` of many images at once, (images, n, 4), without a look at values: True for those that survive.

    Only `valid` boxes take part. One step a box, of three operations each for all images, keeps the greedy order.
    """
    edges = boxes.movedim(-1, 0)
    common = _common(edges.unsqueeze(3), edges.unsqueeze(2))
    found = common / ((areas[:, :, None] + areas[:, None]) - common)
    over = found >= threshold if inclusive else found > threshold
    if kinds is not None:
        over &= kinds[:, :, None] == kinds[:, None]
    spared, left = ~over.triu(1), valid.clone()
    for i in range(boxes.shape[1] - 1):
        left &= spared[:, i] | ~left[:, i : i + 1]
    return left


def suppress(
    boxes: Tensor,
    areas: Tensor,
    threshold: float,
    kinds: Tensor | None = None,
    margin: float = 0,
    compare: np.ufunc = np.greater,
    limit: int | None = None,
) -> Tensor:
    """Greedy suppression of corner boxes (n, 4), sorted by score: the indices of those that survive, `limit` at most.

    A box pushes out those behind it (of its kind) whose intersection over union with it is greater than `threshold`, or
    whatever `compare` asks. Blocks of boxes are compared with who has survived before, then with themselves.
    """
    edges = torch.cat([boxes.T, areas[None]]).cpu()
    kind = None if kinds is None else kinds.cpu().numpy()
    wanted = len(boxes) if limit is None else min(limit, len(boxes))
    if wanted > 0 and edges.dtype is torch.float32 and (code := _code.earned(len(boxes) ** 2)) is not None:
        kept = np.empty(wanted, np.int64)
        kind = np.zeros(len(boxes), np.float32) if kind is None else kind.astype(np.float32)
        count = code.survivors(edges.numpy(), kind, threshold, margin, compare is np.greater_equal, kept)
        return torch.from_numpy(kept[:count]).to(boxes.device, non_blocking=boxes.is_cuda)
    kept = np.empty(0, dtype=np.int64)

    def covered(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        some, others = (edges.index_select(1, torch.from_numpy(which)) for which in (rows, columns))
        over = compare(_quotients(some.unsqueeze(2), others.unsqueeze(1), margin).numpy(), threshold)
        return over if kind is None else np.logical_and(over, kind[rows, None] == kind[columns], out=over)

    for first in range(0, len(boxes), BLOCK):
        block = np.arange(first, min(first + BLOCK, len(boxes)))
        if first:
            block = block[~np.bitwise_or.reduce(covered(kept, block), 0)]
        kept = np.concatenate([kept, block[_first_of(covered(block, block))]])
        if len(kept) >= wanted:
            break
    return torch.from_numpy(kept[:wanted]).to(boxes.device, non_blocking=boxes.is_cuda)


def _quotients(rows: Tensor, columns: Tensor, margin: float) -> Tensor:
    """Intersection over union of boxes given as four edges and an area."""
    common = _common(rows, columns, margin)
    found = common.div_((rows[4] + columns[4]).sub_(common))
    return found.float() if found.dtype == torch.bfloat16 else found  # NumPy has no such type


def _first_of(block: np.ndarray) -> list[int]:
    """Which boxes of a block stay, if `block` tells whom each would push out."""
    gone, stay = 0, []
    bits = np.packbits(block, axis=1, bitorder="little")
    rows, size = bits.tobytes(), bits.shape[1]
    for i in range(len(block)):
        if not gone >> i & 1:
            stay.append(i)
            gone |= int.from_bytes(rows[i * size : (i + 1) * size], "little")
    return stay
