"""Batch norm's passes over channels-last images by compiled kernels (see batch_norm_kernels).

Data are read twice in the forward pass, and twice in the backward pass: once for statistics or sums, once for the rest.
`relu` needs no additional pass.
"""

import torch
from torch import Tensor

from .. import tuning
from ..registry import enabled
from ..runtime.buffers import buffer
from ..runtime.loader import CompiledModule
from ..runtime.plan_cache import repeated
from ..runtime.task import Task
from . import scale_shift

STATISTICS = 4  # rows for each channel: mean, reciprocal standard deviation, factor and shift of data

code = CompiledModule("norm.batch_norm_kernels")


def applies(data: Tensor, addend: Tensor | None = None) -> bool:
    """Are there kernels for these images, both of one shape and dtype?"""
    kernels = code.earned(data.numel(), wait=True) if recompute_applies(data, addend) else None
    return kernels is not None and data.shape[1] % kernels.WIDE == 0


def recompute_applies(data: Tensor, addend: Tensor | None) -> bool:
    """Is there a kernel that scales and shifts these images, both of one shape and dtype, channels-last?"""
    last = all(i is None or i.is_contiguous(memory_format=torch.channels_last) for i in (data, addend))
    work = scale_shift.applies(data) if last and enabled() else 0
    return work > 0 and scale_shift.code.earned(work, wait=True) is not None


class _Work:
    """Tasks of kernels on images as chunks of pixels, with a buffer for the sums of each."""

    def __init__(self, data: Tensor) -> None:
        batch, self.channels, height, width = data.shape
        self.pixels, self._most = batch * height * width, data.numel() // tuning.CHANNELS_LAST_PER_THREAD
        fewest, most = tuning.NORM_CHUNK_PIXELS
        self.chunk = min(max(tuning.NORM_CHUNK // self.channels, fewest), most)
        self.chunks = -(-self.pixels // self.chunk)
        self.sums = buffer("sums of norms", self.chunks, 2, self.channels)

    def task(self, name: str, tensors: tuple[Tensor | None, ...], numbers: tuple[float, ...], count: int = 0) -> Task:
        """A kernel's work on a `count` of chunks or pixels; 0: on channels, which is little."""
        given = *(0 if t is None else t.data_ptr() for t in tensors), self.channels, *numbers
        span, most = (0, count or self.channels), self._most if count else 1
        return Task(getattr(code.get(wait=True), name), given, span, most, held=tensors)


def forward(data: Tensor, addend: Tensor | None, gamma: Tensor, beta: Tensor, eps: float, relu: bool, out: Tensor):
    """relu(batch norm(data) + addend) into `out`, without relu if so; returns the channels' statistics."""
    statistics = gamma.new_empty(STATISTICS, len(gamma))
    repeated(_forward, (data, addend, gamma, beta, statistics, out), eps, relu)
    return statistics


def _forward(data, addend, gamma, beta, statistics, out, eps, relu):
    work = _Work(data)
    sizes = work.chunks, work.chunk, work.pixels, eps
    return [
        work.task("moments", (data, work.sums), (work.pixels, work.chunk), work.chunks),
        work.task("finish_moments", (work.sums, gamma, beta, statistics), sizes),
        *_scaled(data, addend, statistics, out, relu),
    ]


def _scaled(data, addend, statistics, out, relu):
    return [scale_shift.task(data, statistics[2], statistics[3], (0.0 if relu else None, None), out, addend)]


def recompute(data: Tensor, addend: Tensor | None, statistics: Tensor, relu: bool, out: Tensor) -> Tensor:
    """The result of `forward` again."""
    repeated(_scaled, (data, addend, statistics, out), relu)
    return out


def backward(
    head: Tensor,
    data: Tensor,
    value: Tensor | None,
    statistics: Tensor,
    moving: tuple[Tensor, Tensor],
    options: tuple[bool, float, float],
    out: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of data, written to `out`, of gamma and of beta; moving statistics take their share of the batch's.

    The head gradient is zeroed where the result of `relu`, the `value`, is not positive; `value` becomes the gradient
    of what `relu` was given. Without an addend the data, if there is a relu, tell the same. `options`: is there a relu,
    epsilon, and the share of the batch.
    """
    made = torch.empty_like(statistics)
    repeated(_backward, (head, data, value, statistics, made, *moving, out), *options)
    return out, made[0], made[1]


def _backward(head, data, value, statistics, made, mean, variance, out, relu, eps, share):
    work, factors, shifts = _Work(data), statistics[2], statistics[3]
    relu_factors = factors if relu and value is None else None
    sums = head, data, value, relu_factors, shifts, statistics, work.sums
    rest = head if value is None else value, data, relu_factors, shifts, statistics, factors, made[2:], out
    kept, sizes = (work.sums, statistics, made, mean, variance), (work.chunks, work.pixels, eps, share)
    return [
        work.task("gradient_sums", sums, (work.pixels, work.chunk), work.chunks),
        work.task("finish_gradients", kept, sizes),
        work.task("data_gradient", rest, (), work.pixels),
    ]
