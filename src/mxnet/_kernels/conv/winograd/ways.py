"""Winograd tiles among the ways to compute a convolution: when they apply, by kernels and by torch's products."""

from typing import Any

from torch import Tensor

from ... import tuning
from ...matmul.packed import PANEL
from ..problem import EAGER, Problem, Way
from . import f4x4
from .autograd import Winograd
from .tiling import DEFAULT, Tiling


def tiling_of(problem: Problem) -> Tiling | None:
    """The tiles of a convolution that can be computed by them."""
    tall, wide = problem.weight[2:]
    if tall != wide or tall not in tuning.WINOGRAD_CHANNELS or set(problem.stride) != {1}:
        return None
    above, beside = problem.pad
    return Tiling(tall, above) if above == beside < tall and min(problem.output) > 0 else None


def _tiling(problem: Problem) -> Tiling | None:
    return tiling_of(problem) if problem.is_plain and problem.is_float32 else None


def _applies(problem: Problem) -> int:
    """Return the work if there are enough channels and tiles, for a weight that is transformed at each call."""
    tiling, (filters, channels, window, _) = _tiling(problem), problem.weight
    if tiling is None or (problem.mode == EAGER and problem.work < tuning.CONV_COMPILED_WORK):
        return 0
    partial = filters % PANEL or channels % PANEL
    fewest = tuning.WINOGRAD_CHANNELS_PARTIAL if partial else tuning.WINOGRAD_CHANNELS
    tiles = tuning.WINOGRAD_TILES_PARTIAL if partial else tuning.WINOGRAD_TILES
    count = tiling.count(problem.data)
    return problem.work if min(filters, channels) >= fewest[window] and count >= tiles[window] else 0


def _large(problem: Problem) -> bool:
    """Is Winograd faster even without compiled kernels?"""
    large = min(problem.weight[:2]) >= tuning.WINOGRAD_TORCH_CHANNELS
    return large and _tiling(problem) == DEFAULT and DEFAULT.count(problem.data) >= tuning.WINOGRAD_TORCH_TILES


def _torch_applies(problem: Problem) -> int:
    return _applies(problem) if _large(problem) else 0


def _packed_applies(problem: Problem) -> int:
    """The same for a constant 3 x 3 weight, which is transformed once."""
    (filters, channels), count = problem.weight[:2], DEFAULT.count(problem.data)
    if _tiling(problem) != DEFAULT or min(filters, channels) < tuning.WINOGRAD_CHANNELS[3]:
        return 0
    fewest = tuning.WINOGRAD_PACKED_TILES_PARTIAL if filters % PANEL else tuning.WINOGRAD_PACKED_TILES
    return problem.work if count >= fewest else 0


def _packed_torch_applies(problem: Problem) -> int:
    return _packed_applies(problem) if _large(problem) else 0


def _run(compiled: bool) -> Any:
    """Return the function that creates the computation of recorded convolutions."""

    def make(problem: Problem) -> Any:
        tiling, nchw = tiling_of(problem), problem.mode == EAGER

        def compute(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
            return Winograd.apply(data, weight, bias, tiling, nchw, compiled)

        return compute

    return make


_RULE = "3x3 or 5x5 windows of stride 1, with channels and tiles enough for Winograd's F(4x4, 3x3) or F(2x2, 5x5)"
COMPILED = Way("conv.winograd_f4x4", _RULE, _applies, _run(True), f4x4.code)
TORCH = Way("conv.winograd_f4x4_torch", _RULE + ", by torch's matrix products", _torch_applies, _run(False))
_CONSTANT = "3x3 windows of stride 1 and a constant weight, with channels and tiles enough for Winograd's F(4x4, 3x3)"
PACKED = Way("conv.packed_winograd_f4x4", _CONSTANT, _packed_applies, lambda problem: f4x4.PackedWeights, f4x4.code)
PACKED_TORCH = Way(
    "conv.packed_winograd_f4x4_torch",
    _CONSTANT + ", by torch's matrix products",
    _packed_torch_applies,
    lambda problem: f4x4.TorchWeights,
)
