"""Cross entropy of labels in few calls: what graphs call where they find logarithms, a choice and a sign."""

import torch

from ..array.indexing import pick, within
from ..registry.registry import find
from .softmax import log_softmax

scaled, mean = find("_mul_scalar").fn, find("mean").fn
_cross_entropy = getattr(torch._C, "_nn").cross_entropy_loss  # noqa: B009 - type checkers do not know it
_DTYPES = frozenset([torch.float32, torch.float64])


def label_entropy(pred: torch.Tensor, label: torch.Tensor, *, axes: tuple[int, int], samples: bool) -> torch.Tensor:
    """Minus the logarithm of the label's share along `axes`, the softmax's and the choice's, which is kept.

    `samples`: averaged over all axes but the first.
    """
    if _suits(pred, label, axes):
        loss = _cross_entropy(pred, within(label, pred.shape[1], "clip"), None, 0, -100, 0.0)
        if not samples:
            return loss.unsqueeze(1)
        loss.data.abs_()  # an average is never -0.0, nor is this below zero; the gradient does not need the value
        return loss
    chosen = pick(log_softmax(pred, axis=axes[0]), label, axis=axes[1], keepdims=True)
    loss = scaled(chosen, scalar=-1.0)
    return mean(loss, axis=(0,), exclude=True) if samples else loss


def _suits(pred: torch.Tensor, label: torch.Tensor, axes: tuple[int, int]) -> bool:
    """One row of shares, and one label, for each sample."""
    if pred.dim() != 2 or label.shape != pred.shape[:1] or pred.dtype not in _DTYPES or not pred.numel():
        return False
    return axes[0] in (-1, 1) and axes[1] in (-1, 1)
