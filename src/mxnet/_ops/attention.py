"""Attention on projections whose heads hold query, key and value side by side (BERT's layout)."""

import torch

from .registry import op


def _heads(data: torch.Tensor, heads: int, parts: int) -> tuple[torch.Tensor, ...]:
    """(length, batch, heads * parts * size) as `parts` tensors (batch * heads, length, size)."""
    length, batch, width = data.shape
    size = width // heads // parts
    split = data.reshape(length, batch * heads, parts, size)
    return tuple(split[:, :, i].transpose(0, 1) for i in range(parts))


def _scores(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    return torch.bmm(queries / queries.shape[-1] ** 0.5, keys.transpose(1, 2))


def _mixed(attention: torch.Tensor, values: torch.Tensor, heads: int) -> torch.Tensor:
    mixed = torch.bmm(attention, values).transpose(0, 1)
    length, _, size = mixed.shape
    return mixed.reshape(length, -1, heads * size)


@op("_contrib_interleaved_matmul_selfatt_qk")
def interleaved_matmul_selfatt_qk(queries_keys_values, *, heads: int):
    """Scaled products of queries and keys, (batch * heads, length, length)."""
    queries, keys, _ = _heads(queries_keys_values, heads, 3)
    return _scores(queries, keys)


@op("_contrib_interleaved_matmul_selfatt_valatt")
def interleaved_matmul_selfatt_valatt(queries_keys_values, attention, *, heads: int):
    """Values weighted by attention, (length, batch, heads * size)."""
    return _mixed(attention, _heads(queries_keys_values, heads, 3)[2], heads)


@op("_contrib_interleaved_matmul_encdec_qk")
def interleaved_matmul_encdec_qk(queries, keys_values, *, heads: int):
    """Scaled products of a decoder's queries and an encoder's keys."""
    return _scores(_heads(queries, heads, 1)[0], _heads(keys_values, heads, 2)[0])


@op("_contrib_interleaved_matmul_encdec_valatt")
def interleaved_matmul_encdec_valatt(keys_values, attention, *, heads: int):
    """An encoder's values weighted by attention."""
    return _mixed(attention, _heads(keys_values, heads, 2)[1], heads)
