"""Ranking of scores: descending argsort, and the argmax over classes."""

import numpy as np
import torch
from torch import Tensor

from ..._kernels.registry import enabled


def argsort_descending(scores: Tensor) -> Tensor:
    """The indices that sort a row of scores, the highest first, equal ones in their order.

    float32 is sorted by 64-bit integer keys of score and index: NumPy's sort is vectorized, and no two keys are equal.
    """
    if not enabled() or scores.dtype != torch.float32 or scores.device.type != "cpu":
        return torch.sort(scores, descending=True, stable=True).indices
    bits = (scores.detach() + 0.0).numpy().view(np.int32)  # -0.0 becomes 0.0
    rising = bits ^ (bits >> 31 & 0x7FFFFFFF)
    keys = (~rising).astype(np.int64) << 32
    keys |= np.arange(len(keys))
    keys.sort()
    keys &= 0xFFFFFFFF
    return torch.from_numpy(keys)


def best_class(scores: Tensor) -> tuple[Tensor, Tensor]:
    """The highest of (batch, classes, n) probabilities for each of n, and the first class that has it."""
    if scores.device.type != "cpu":
        best, kind = scores.nan_to_num(-1.0, torch.inf, -torch.inf).max(1)  # scores that are NaN take no part
        return best, kind
    best = scores.amax(1)
    if bool(best.isnan().any()):
        return best_class(scores.nan_to_num(-1.0, torch.inf, -torch.inf))
    if not enabled() or scores.dtype not in (torch.float32, torch.float64):
        return best, scores.argmax(1)
    classes = scores.shape[1]
    kind = np.min_scalar_type(-classes - 1)  # the smallest signed type that has `classes`, too
    has = scores.numpy() == best.numpy()[:, None]
    place = has * np.arange(classes, 0, -1, dtype=kind)[:, None]
    return best, torch.from_numpy((classes - place.max(1)).astype(np.int64))
