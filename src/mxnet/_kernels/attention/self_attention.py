"""Multi-head attention on interleaved projections (query, key and value of a head side by side), head by head."""

from typing import Any

import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.loader import CompiledModule
from ..runtime.task import Task

UNIT = 16  # floats in the kernels' vectors: a head's size must be a multiple

Tensors = tuple[Tensor, ...]
_code = CompiledModule("attention.attention_kernels")


def _applies(heads: int, parts: tuple[int, ...], *inputs: Tensor) -> int:
    """Multiplications of the scores; input i holds `parts[i]` of query, key and value."""
    if not all(t.__class__ is Tensor and t.dtype is torch.float32 and t.is_cpu for t in inputs):
        return 0
    sizes = {t.shape[2] // part // heads for t, part in zip(inputs, parts, strict=True)}
    (length, batch, width), keys = inputs[0].shape, inputs[-1].shape[0]
    size = sizes.pop()
    if sizes or size % UNIT or width != heads * parts[0] * size or keys > tuning.ATTENTION_KEYS:
        return 0
    return 0 if torch.compiler.is_compiling() else batch * heads * length * keys * size


def _plan(heads: int, parts: tuple[int, ...], *inputs: Tensor) -> "Heads":
    (length, batch, width), keys = inputs[0].shape, inputs[-1].shape[0]
    return Heads(_code.get(wait=True), heads, parts, (length, batch, keys, width // parts[0] // heads))


class Heads:
    """Forward and backward of attention for inputs of some sizes."""

    def __init__(self, code: Any, heads: int, parts: tuple[int, ...], sizes: tuple[int, int, int, int]) -> None:
        self._code, self._heads, self._parts = code, heads, parts
        self._length, self._batch, self._keys, self._size = sizes
        self._padded = -(-self._keys // UNIT) * UNIT

    def forward(self, *tensors: Tensor) -> Tensors:
        """The weighted values (length, batch, heads * size), and the log-sum-exp of the scores."""
        held = [t.contiguous() for t in tensors]
        out = held[0].new_empty(self._length, self._batch, self._heads * self._size)
        maxima, totals = held[0].new_empty(2, self._batch, self._heads, self._length)
        addresses = *self._addresses(held), out.data_ptr(), maxima.data_ptr(), totals.data_ptr()
        self._run(self._code.forward, addresses, 3, 1, 1)
        return out, totals.log_().add_(maxima)

    def backward(self, tensors: Tensors, out: Tensor, norms: Tensor, by_out: Tensor) -> Tensors:
        """The gradients of the inputs."""
        held, by_out = [t.contiguous() for t in tensors], by_out.contiguous()
        grads = tuple(torch.empty_like(t) for t in held)
        given = out.data_ptr(), by_out.data_ptr(), norms.data_ptr()
        self._run(self._code.backward, (*self._addresses(held), *given, *self._addresses(grads)), 6, 4, 2)
        return grads

    def _addresses(self, tensors: Any) -> list[int]:
        """Addresses of the first query, key and value."""
        found = zip(tensors, self._parts, strict=True)
        return [t.data_ptr() + 4 * self._size * part for t, count in found for part in range(count)]

    def _strides(self, parts: int) -> tuple[int, int, int]:
        """Of batch, head and row, in bytes, where heads hold so many parts."""
        head = 4 * self._size * parts
        return self._heads * head, head, self._batch * self._heads * head

    def _run(self, kernel: Any, addresses: Any, matrices: int, blocks: int, score_blocks: int) -> None:
        """Run a kernel, whose workspace holds so many key or value matrices, blocks of queries and blocks of scores."""
        padded, size, block = self._padded, self._size, self._code.BLOCK
        floats = matrices * padded * size + blocks * block * size + score_blocks * block * padded + max(padded, size)
        counts = self._heads, self._length, self._keys, 4 * size
        strides = [d for parts in (self._parts[0], self._parts[-1], 1) for d in self._strides(parts)]
        number, given = self._batch * self._heads, (*addresses, *counts, *strides, size**-0.5)
        threads = number * self._length * self._keys * size // tuning.ATTENTION_PER_THREAD
        Task(kernel, given, (0, number), threads, scratch=floats).run()


# (number of heads, parts of query, key and value in each input, *inputs) -> Heads
plan_attention = Kernel("attention.interleaved", _applies, _plan, tuning.ATTENTION_WORK, _code)
