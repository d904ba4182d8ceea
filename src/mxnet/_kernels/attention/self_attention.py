"""Attention on projections whose heads hold query, key and value side by side, by compiled kernels, head by head."""

from typing import Any

import torch

from ..runtime.loader import CompiledModule
from ..runtime.task import Task

UNIT = 16  # floats that the kernels take at once: a head's size must be a multiple
MOST_KEYS = 1024  # with more, products with all of them do not stay in the cache, and torch's kernels are as fast
LEAST_WORK = 1 << 22  # multiplications; less is not worth loading a compiler
WORTH_A_THREAD = 1 << 21

Tensors = tuple[torch.Tensor, ...]
_code = CompiledModule("attention.attention_kernels")


def kernels_for(inputs: Tensors, heads: int, parts: tuple[int, ...]) -> "Heads | None":
    """What computes the attention of such inputs, in input i `parts[i]` of query, key and value; None: torch does."""
    if not all(t.__class__ is torch.Tensor and t.dtype is torch.float32 and t.is_cpu for t in inputs):
        return None
    sizes = {t.shape[2] // part // heads for t, part in zip(inputs, parts, strict=True)}
    (length, batch, width), (keys, *_) = inputs[0].shape, inputs[-1].shape
    size = sizes.pop()
    if sizes or size % UNIT or width != heads * parts[0] * size or not 0 < keys <= MOST_KEYS or not length * batch:
        return None
    if batch * heads * length * keys * size < LEAST_WORK or torch.compiler.is_compiling():
        return None
    training = torch.is_grad_enabled() and any(t.requires_grad for t in inputs)
    found = _code.get(wait=training)
    return found and Heads(found, heads, parts, (length, batch, keys, size))


class Heads:
    """Kernels for inputs of some sizes."""

    def __init__(self, made: Any, heads: int, parts: tuple[int, ...], sizes: tuple[int, int, int, int]) -> None:
        self._made, self._heads, self._parts = made, heads, parts
        self._length, self._batch, self._keys, self._size = sizes
        self._padded = -(-self._keys // UNIT) * UNIT

    def forward(self, *tensors: torch.Tensor) -> Tensors:
        """The mixed values (length, batch, heads * size), and the logarithms of the sums of powers."""
        held = [t.contiguous() for t in tensors]
        out = held[0].new_empty(self._length, self._batch, self._heads * self._size)
        largest, totals = held[0].new_empty(2, self._batch, self._heads, self._length)
        addresses = *self._addresses(held), out.data_ptr(), largest.data_ptr(), totals.data_ptr()
        self._share(self._made.forward, addresses, 3, 1, 1)
        return out, totals.log_().add_(largest)

    def backward(self, tensors: Tensors, out: torch.Tensor, norms: torch.Tensor, by_out: torch.Tensor) -> Tensors:
        """The gradients of the inputs."""
        held, by_out = [t.contiguous() for t in tensors], by_out.contiguous()
        grads = tuple(torch.empty_like(t) for t in held)
        given = out.data_ptr(), by_out.data_ptr(), norms.data_ptr()
        self._share(self._made.backward, (*self._addresses(held), *given, *self._addresses(grads)), 6, 4, 2)
        return grads

    def _addresses(self, tensors: Any) -> list[int]:
        """Where the first query, key and value are."""
        found = zip(tensors, self._parts, strict=True)
        return [t.data_ptr() + 4 * self._size * part for t, count in found for part in range(count)]

    def _distances(self, parts: int) -> tuple[int, int, int]:
        """From batch to batch, head to head and row to row, in bytes, where heads hold so many parts."""
        head = 4 * self._size * parts
        return self._heads * head, head, self._batch * self._heads * head

    def _share(self, kernel: Any, addresses: Any, wholes: int, blocks: int, squares: int) -> None:
        """Run a kernel, which needs memory for so many whole heads, and blocks of them and of their products."""
        padded, size, block = self._padded, self._size, self._made.BLOCK
        floats = wholes * padded * size + blocks * block * size + squares * block * padded + max(padded, size)
        counts = self._heads, self._length, self._keys, 4 * size
        distances = [d for parts in (self._parts[0], self._parts[-1], 1) for d in self._distances(parts)]
        number, given = self._batch * self._heads, (*addresses, *counts, *distances, size**-0.5)
        most = number * self._length * self._keys * size // WORTH_A_THREAD
        Task(kernel, given, (0, number), most, scratch=floats).run()
