"""Greedy non-maximum suppression (NMS) of boxes sorted by score."""

import numpy as np
import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.loader import CompiledModule, any_processor

_code = CompiledModule("vision.nms_kernels", any_processor, after=tuning.NMS_COMPILE)


def _applies(edges: Tensor, classes: Tensor | None, threshold: float, margin: float, or_equal: bool, limit: int) -> int:
    """Pairs of boxes; `edges` are left, top, right, bottom and area, (5, number of boxes)."""
    return edges.shape[1] ** 2 if limit > 0 and edges.is_cpu and edges.dtype is torch.float32 else 0


def _run(edges: Tensor, classes: Tensor | None, threshold: float, margin: float, or_equal: bool, limit: int) -> Tensor:
    kept = np.empty(limit, np.int64)
    number = np.zeros(edges.shape[1], np.float32) if classes is None else classes.cpu().numpy().astype(np.float32)
    count = _code.get(wait=True).nms(edges.contiguous().numpy(), number, threshold, margin, or_equal, kept)
    return torch.from_numpy(kept[:count])


# -> indices of the boxes that are kept, `limit` at most
nms = Kernel("vision.nms", _applies, _run, code=_code)
