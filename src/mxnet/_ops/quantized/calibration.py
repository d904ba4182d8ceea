"""The threshold at which a histogram is best cut off before it is quantized."""

import numpy as np
import torch

from ..._core.errors import MXNetError
from ..registry.registry import Attrs, op

EPSILON = np.float32(1e-4)


class _Histogram:
    """Counts around zero, with running sums from which every candidate threshold is judged quickly."""

    def __init__(self, counts: np.ndarray, edges: np.ndarray, steps: int) -> None:
        self.counts, self.edges, self.steps = counts.astype(np.float32), edges, steps
        self.zero = len(counts) // 2
        integers = counts.astype(np.int64)
        self.below = np.concatenate([[0], np.cumsum(integers)])
        self.filled = np.concatenate([[0], np.cumsum(integers != 0)])

    def divergence(self, reach: int) -> np.float32:
        """How far the middle `2 * reach + 1` bins, quantized, are from the histogram; what is outside goes to the ends.

        The first bin takes part in the reference only, as in MXNet.
        """
        start, stop = self.zero - reach, self.zero + reach + 1
        reference = self.counts[start:stop].copy()
        reference[0] = np.float32(self.below[start + 1])
        reference[-1] += np.float32(self.below[-1] - self.below[stop])
        merged = len(reference) // self.steps
        cuts = start + merged * np.arange(self.steps + 1)
        cuts[0], cuts[-1] = start + 1, stop  # the first bin is left out; the last step takes what is over
        cuts = np.maximum(cuts, start + 1)
        totals, filled = np.diff(self.below[cuts]), np.diff(self.filled[cuts])
        means = totals.astype(np.float32) / np.maximum(filled, 1).astype(np.float32)
        widths = np.full(self.steps, merged)
        widths[-1] += len(reference) - merged * self.steps
        quantized = np.where(reference != 0, np.repeat(means, widths), np.float32(0))
        return _entropy(_smooth(reference), _smooth(quantized))


def _smooth(values: np.ndarray) -> np.ndarray | None:
    """Zeros become a little more, the others lose as much together; None where that cannot be."""
    empty = values == 0
    zeros = int(empty.sum())
    others = len(values) - zeros
    if not others:
        return None
    taken = EPSILON * np.float32(zeros) / np.float32(others)
    return None if taken >= 1 else values + np.where(empty, EPSILON, -taken)


def _sum(values: np.ndarray) -> np.float32:
    """Added from left to right, so that near ties are decided as MXNet decides them."""
    return np.add.accumulate(values)[-1]


def _entropy(p: np.ndarray | None, q: np.ndarray | None) -> np.float32:
    if p is None or q is None or (p <= 0).any() or (q <= 0).any():
        return np.float32(np.inf)
    p, q = p / _sum(p), q / _sum(q)
    return _sum(p * np.log(p / q))


def _one(attrs: Attrs, shapes: list) -> list:
    return [(1,), (1,)]


@op("_contrib_calibrate_entropy", outputs=("threshold", "divergence"), shape=_one, dtype="any", differentiable=False)
def calibrate_entropy(hist, hist_edges, *, num_quantized_bins: int = 255):
    """The threshold whose quantized histogram diverges least from the given one, and that divergence."""
    if hist.dtype != torch.float32 or hist_edges.dtype != torch.float32:
        raise MXNetError("calibrate_entropy: hist and hist_edges must be of type float32")
    bins = hist.numel()
    if hist_edges.numel() != bins + 1:
        raise MXNetError(f"calibrate_entropy: {bins} bins have {bins + 1} edges, got {hist_edges.numel()}")
    half = num_quantized_bins // 2
    if bins // 2 < half:
        raise MXNetError(f"calibrate_entropy: a histogram of {bins} bins is too short for {num_quantized_bins} steps")
    counts = _Histogram(hist.numpy(force=True).ravel(), hist_edges.numpy(force=True).ravel(), num_quantized_bins)
    reaches = range(half, counts.zero + 1)
    found = np.array([counts.divergence(reach) for reach in reaches], np.float32)
    best = int(found.argmin())
    threshold = counts.edges[counts.zero + reaches[best] + 1]
    return torch.from_numpy(np.array([threshold])).to(hist.device), torch.from_numpy(found[best : best + 1].copy()).to(
        hist.device
    )
