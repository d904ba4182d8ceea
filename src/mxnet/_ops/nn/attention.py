"""Attention on projections whose heads hold query, key and value side by side (BERT's layout)."""

from collections.abc import Callable
from typing import Any

import torch

from ..._device.settings import under
from ..._kernels.attention.self_attention import plan_attention
from ..registry.gradient import with_gradient
from ..registry.registry import op
from .softmax import softmax

Tensors = tuple[torch.Tensor, ...]
# dtypes for which torch has flash attention on the CPU.
_FUSED_DTYPES = frozenset([torch.float32, torch.float64, torch.bfloat16, torch.float16])
_flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_flash_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def _heads(data: torch.Tensor, heads: int, parts: int) -> Tensors:
    """(length, batch, heads * parts * size) as `parts` tensors (batch * heads, length, size)."""
    length, batch, width = data.shape
    size = width // heads // parts
    split = data.reshape(length, batch * heads, parts, size)
    return tuple(part.transpose(0, 1) for part in split.unbind(2))


def _scores(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    return under(torch.bmm, (queries / queries.shape[-1] ** 0.5, keys.transpose(1, 2)))


def _weighted_values(attention: torch.Tensor, values: torch.Tensor, heads: int) -> torch.Tensor:
    mixed = under(torch.bmm, (attention, values)).transpose(0, 1)
    length, count, size = mixed.shape
    return mixed.reshape(length, count // heads, heads * size)


@op("_contrib_interleaved_matmul_selfatt_qk")
def interleaved_matmul_selfatt_qk(queries_keys_values, *, heads: int):
    """Scaled products of queries and keys, (batch * heads, length, length)."""
    queries, keys, _ = _heads(queries_keys_values, heads, 3)
    return _scores(queries, keys)


@op("_contrib_interleaved_matmul_selfatt_valatt")
def interleaved_matmul_selfatt_valatt(queries_keys_values, attention, *, heads: int):
    """Values weighted by attention, (length, batch, heads * size)."""
    return _weighted_values(attention, _heads(queries_keys_values, heads, 3)[2], heads)


@op("_contrib_interleaved_matmul_encdec_qk")
def interleaved_matmul_encdec_qk(queries, keys_values, *, heads: int):
    """Scaled products of a decoder's queries and an encoder's keys."""
    return _scores(_heads(queries, heads, 1)[0], _heads(keys_values, heads, 2)[0])


@op("_contrib_interleaved_matmul_encdec_valatt")
def interleaved_matmul_encdec_valatt(keys_values, attention, *, heads: int):
    """An encoder's values weighted by attention."""
    return _weighted_values(attention, _heads(keys_values, heads, 2)[1], heads)


# ---- scores, softmax and weighted values in one call: what graphs call where they find the three in sequence ----


def self_attention(queries_keys_values: torch.Tensor, length: torch.Tensor | None = None, *, heads: int) -> Any:
    """Softmax of the scaled products, times the values; positions from `length` on get no weight."""

    def plain(data: torch.Tensor) -> torch.Tensor:
        weights = _softmax(interleaved_matmul_selfatt_qk(data, heads=heads), length)
        return interleaved_matmul_selfatt_valatt(data, weights, heads=heads)

    return _attention(plain, length, heads, (3,), queries_keys_values)


def cross_attention(
    queries: torch.Tensor, keys_values: torch.Tensor, length: torch.Tensor | None = None, *, heads: int
) -> Any:
    """As `self_attention`, of a decoder's queries to an encoder's keys and values."""

    def plain(queries: torch.Tensor, keys_values: torch.Tensor) -> torch.Tensor:
        weights = _softmax(interleaved_matmul_encdec_qk(queries, keys_values, heads=heads), length)
        return interleaved_matmul_encdec_valatt(keys_values, weights, heads=heads)

    return _attention(plain, length, heads, (1, 2), queries, keys_values)


def _softmax(scores: torch.Tensor, length: torch.Tensor | None) -> torch.Tensor:
    return softmax(scores) if length is None else softmax(scores, length, use_length=True)


def _attention(
    plain: Callable[..., torch.Tensor],
    length: torch.Tensor | None,
    heads: int,
    parts: tuple[int, ...],
    *inputs: torch.Tensor,
) -> torch.Tensor:
    """`plain(*inputs)` by one kernel where there is one; input i holds `parts[i]` of query, key and value."""
    first = inputs[0]
    if first.device.type != "cpu" or first.dtype not in _FUSED_DTYPES or any(t.dim() != 3 for t in inputs):
        return plain(*inputs)
    if not all(t.numel() for t in inputs):  # torch's kernel divides by sizes
        return plain(*inputs)
    mask = None if length is None else _mask(inputs, heads, length)
    kernels = None if mask is not None else plan_attention(heads, parts, *inputs)

    def forward(*tensors: torch.Tensor) -> Tensors:
        if kernels is not None:
            return kernels.forward(*tensors)
        mixed, norms = _flash(*_triple(tensors, heads, parts), 0.0, False, attn_mask=mask)
        return mixed.permute(2, 0, 1, 3).flatten(2), norms

    def backward(tensors: Tensors, outputs: Tensors, grads: Tensors) -> Any:
        if torch.is_grad_enabled():  # a gradient to be differentiated again: the kernel's own cannot be
            return torch.autograd.grad(plain(*tensors), tensors, grads[0], create_graph=True)
        if kernels is not None:
            return kernels.backward(tensors, *outputs, grads[0])
        mixed, grad = (_triple((t,), heads, (1,))[0] for t in (outputs[0], grads[0]))
        found = _flash_backward(
            grad, *_triple(tensors, heads, parts), mixed, outputs[1], 0.0, False, attn_mask=mask
        )  # queries, keys, values
        return tuple(_packed(found[sum(parts[:i]) : sum(parts[: i + 1])]) for i in range(len(parts)))

    return with_gradient(forward, backward, *inputs)[0]


def _triple(inputs: Tensors, heads: int, parts: tuple[int, ...]) -> list[torch.Tensor]:
    """Views (batch, heads, length, size) of all parts of the inputs, in order."""
    views = []
    for data, count in zip(inputs, parts, strict=True):
        length, batch, width = data.shape
        split = data.reshape(length, batch, heads, count, width // heads // count)
        views += [part.permute(1, 2, 0, 3) for part in split.unbind(3)]
    return views


def _packed(parts: Tensors) -> torch.Tensor:
    """(batch, heads, length, size) tensors interleaved as one input had them."""
    return torch.stack([part.permute(2, 0, 1, 3) for part in parts], 3).flatten(2)


def _mask(inputs: Tensors, heads: int, length: torch.Tensor) -> torch.Tensor:
    """The additive mask of the scores: minus infinity from `length`, (batch * heads, queries), on."""
    steps, batch = inputs[-1].shape[0], inputs[0].shape[1]
    outside = torch.arange(steps) >= length.view(batch, heads, -1, 1)
    return inputs[0].new_zeros(outside.shape).masked_fill_(outside, -torch.inf)
