"""Batch norm's passes over images, channels last, by compiled kernels (see norm_kernels).

Data are read twice on the way to the result, and twice on the way back: once for statistics or sums, once for the rest.
`relu` costs nothing on either way.
"""

import torch
from torch import Tensor

from ..runtime.buffers import room
from ..runtime.loader import CompiledModule
from ..runtime.plan_cache import repeated
from ..runtime.task import Task
from . import scale_shift as pixelwise

CHUNK = 1 << 14  # floats whose sums are made together
FEWEST, MOST = 16, 128  # pixels of a chunk: longer sums lose digits
FOUND = 4  # rows of what is known of channels: mean, reciprocal deviation, what multiplies data, what moves them then

_code = CompiledModule("norm.batch_norm_kernels")


def suits(data: Tensor, addend: Tensor | None = None) -> bool:
    """Are there kernels for these images, both of one shape and kind?"""
    code = _code.get(wait=True) if suits_again(data, addend) else None
    return code is not None and data.shape[1] % code.WIDE == 0


def suits_again(data: Tensor, addend: Tensor | None) -> bool:
    """Are there kernels that scale these images, both of one shape and kind, with channels last in memory?"""
    last = all(i is None or i.is_contiguous(memory_format=torch.channels_last) for i in (data, addend))
    return last and pixelwise.suits(data, wait=True)


class _Work:
    """Tasks of kernels on images as chunks of pixels, with room for sums of each."""

    def __init__(self, data: Tensor) -> None:
        batch, self.channels, height, width = data.shape
        self.pixels, self._most = batch * height * width, data.numel() // pixelwise.WORTH_A_THREAD
        self.chunk = min(max(CHUNK // self.channels, FEWEST), MOST)
        self.chunks = -(-self.pixels // self.chunk)
        self.sums = room("sums of norms", self.chunks, 2, self.channels)

    def task(self, name: str, tensors: tuple[Tensor | None, ...], numbers: tuple[float, ...], count: int = 0) -> Task:
        """A kernel's work on a `count` of chunks or pixels; 0: on channels, which is little."""
        given = *(0 if t is None else t.data_ptr() for t in tensors), self.channels, *numbers
        span, most = (0, count or self.channels), self._most if count else 1
        return Task(getattr(_code.get(wait=True), name), given, span, most, held=tensors)


def normal(data: Tensor, addend: Tensor | None, gamma: Tensor, beta: Tensor, eps: float, active: bool, out: Tensor):
    """relu(batch norm(data) + addend) into `out`, relu only if `active`; what was found out about the channels."""
    found = gamma.new_empty(FOUND, len(gamma))
    repeated(_normal, (data, addend, gamma, beta, found, out), eps, active)
    return found


def _normal(data, addend, gamma, beta, found, out, eps, active):
    work = _Work(data)
    sizes = work.chunks, work.chunk, work.pixels, eps
    return [
        work.task("moments", (data, work.sums), (work.pixels, work.chunk), work.chunks),
        work.task("finish_moments", (work.sums, gamma, beta, found), sizes),
        *_scaled(data, addend, found, out, active),
    ]


def _scaled(data, addend, found, out, active):
    return [pixelwise.scaling(data, found[2], found[3], (0.0 if active else None, None), out, addend)]


def again(data: Tensor, addend: Tensor | None, found: Tensor, active: bool, out: Tensor) -> Tensor:
    """What `normal` gave."""
    repeated(_scaled, (data, addend, found, out), active)
    return out


def slopes(
    head: Tensor,
    data: Tensor,
    value: Tensor | None,
    found: Tensor,
    moving: tuple[Tensor, Tensor],
    options: tuple[bool, float, float],
    out: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of data, which go to `out`, of gamma and of beta; moving statistics take their share of the batch's.

    Where `relu` had a result, the `value`, that is not positive, the gradient stops; `value` becomes the gradient of
    what `relu` was given. Without an addend the data, if relu is active, tell the same. `options`: is it, epsilon, and
    the share of the batch.
    """
    made = torch.empty_like(found)
    repeated(_slopes, (head, data, value, found, made, *moving, out), *options)
    return out, made[0], made[1]


def _slopes(head, data, value, found, made, mean, variance, out, active, eps, share):
    work, factors, shifts = _Work(data), found[2], found[3]
    stop = factors if active and value is None else None
    sums = head, data, value, stop, shifts, found, work.sums
    rest = head if value is None else value, data, stop, shifts, found, factors, made[2:], out
    kept, sizes = (work.sums, found, made, mean, variance), (work.chunks, work.pixels, eps, share)
    return [
        work.task("slopes", sums, (work.pixels, work.chunk), work.chunks),
        work.task("finish_slopes", kept, sizes),
        work.task("spread", rest, (), work.pixels),
    ]
