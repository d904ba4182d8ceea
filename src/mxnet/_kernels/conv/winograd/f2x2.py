"""Winograd's F(2x2, 3x3) for convolutions of few pixels whose weight is kept, where numba is installed.

Larger tiles (see winograd) take fewer multiplications, but a few pixels are too few tiles for their 36 matrices, which
have to come out of memory: here are 16, less than half, for four times as many tiles.
"""

import math
from collections.abc import Callable

import torch

from ...matmul import packed as panels
from ...runtime.loader import CompiledModule
from ...runtime.task import Task
from .. import direct
from ..direct import Bounds, ends

FEWEST_TILES, FEWEST_CHANNELS = 12, 128  # with less, the plain sum is as fast
WORTH_A_THREAD = 1 << 14  # floats, in a part of the work

_code = CompiledModule("conv.winograd.f2x2_kernels")
_KERNEL = torch.tensor([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], dtype=torch.float64)


def pays(data: torch.Tensor, weight: torch.Tensor) -> bool:
    """Is a convolution (3 x 3, with zeros around) of this kind faster by small tiles? Nobody waits for kernels."""
    filters, channels = weight.shape[:2]
    if data.dtype is not torch.float32 or not data.is_cpu or data.shape[1] != channels:
        return False
    if channels % 8 or filters % panels.PANEL:
        return False
    if min(filters, channels) < FEWEST_CHANNELS or math.prod((len(data), *_sides(data))) < FEWEST_TILES:
        return False
    loaded = direct.loaded() and _code.get(wait=False) is not None
    return bool(loaded) and panels.gains(filters, wait=False)


def _sides(data: torch.Tensor) -> tuple[int, int]:
    return -(-data.shape[2] // 2), -(-data.shape[3] // 2)


def weight_matrices(weight: torch.Tensor) -> torch.Tensor:
    """The weight (filters, channels, 3, 3) as 16 matrices in panels of 16 filters."""
    filters, channels = weight.shape[:2]
    exact = torch.mm(torch.kron(_KERNEL, _KERNEL), weight.detach().double().reshape(-1, 9).t())
    rows = exact.to(weight.dtype).view(16, filters // panels.PANEL, panels.PANEL, channels)
    return rows.transpose(2, 3).contiguous()


def jobs(
    data: torch.Tensor,
    matrices: torch.Tensor,
    bias: torch.Tensor | None,
    addend: torch.Tensor | None,
    bounds: Bounds,
    result: torch.Tensor,
    take: Callable[..., torch.Tensor],
) -> list[Task]:
    """What computes, in memory from `take`: the convolution, plus `addend`, cut off at `bounds`.

    Data, addend and result are channels-last.
    """
    (batch, channels, height, width), filters = data.shape, result.shape[1]
    (down, right), made = _sides(data), _code.get(wait=True)
    count = batch * down * right
    spread, gathered = (panels.side_by_side(take, i, 16, count, size) for i, size in enumerate((channels, filters)))
    padded = take(2, batch, 2 * down + 2, 2 * right + 2, channels)
    zeros = data.new_zeros(filters)
    bias = zeros if bias is None else bias
    source = padded.data_ptr(), down, right, channels, spread.data_ptr(), spread.stride(0) * spread.itemsize
    target = result.data_ptr(), 0 if addend is None else addend.data_ptr(), height, width, filters, down, right
    constants = bias.data_ptr(), zeros.data_ptr()

    most, least = spread.numel() // WORTH_A_THREAD, gathered.numel() // WORTH_A_THREAD
    tiles = gathered.data_ptr(), gathered.stride(0) * gathered.itemsize
    given, held = (*tiles, *target, *constants, *ends(bounds)), (bias, zeros, addend, result)
    return [
        direct.enclosing(data.permute(0, 2, 3, 1), padded, (1, 1)),
        Task(made.spread, source, (0, count), most, held=(padded, spread)),
        panels.multiplying(spread, matrices, gathered),
        Task(made.gather, given, (0, count), least, scratch=filters, held=(gathered, *held)),
    ]
