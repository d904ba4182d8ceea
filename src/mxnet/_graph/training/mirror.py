"""Mirroring (activation checkpointing): a segment's activations are recomputed in the backward pass, not stored.

`MXNET_BACKWARD_DO_MIRROR=1` mirrors the whole graph in segments of about the square root of its length, so that memory
grows with that square root. Otherwise nodes with `force_mirroring` are mirrored; a segment ends at a node with
`mirror_stage`, which memory planners set.
"""

from collections.abc import Callable, Iterable
from math import isqrt
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from ..._core.environment import is_on, means_yes
from ..ir.node import Entry, Node

Slot = tuple[int, int]


def _set(node: Node, key: str) -> bool:
    return means_yes(node.attrs.get(key, ""))


def mirrors_everything() -> bool:
    """Is the whole graph to be mirrored?"""
    return is_on("MXNET_BACKWARD_DO_MIRROR")


def is_wanted(nodes: Iterable[Node]) -> bool:
    """Is anything to be mirrored?"""
    return mirrors_everything() or any(_set(n, "__force_mirroring__") for n in nodes)


def segments(calls: list[Node]) -> list[tuple[bool, list[Node]]]:
    """The calls in order, split into segments, each with whether it is mirrored."""
    mirror_all = mirrors_everything()
    limit = max(isqrt(len(calls)), 1) if mirror_all else len(calls)
    result: list[tuple[bool, list[Node]]] = []
    closed = True
    for node in calls:
        # operators that draw random numbers would draw others when recomputed
        mirrored = (mirror_all or _set(node, "__force_mirroring__")) and "_rng" not in node.op.injected  # type: ignore[union-attr]
        if closed or result[-1][0] != mirrored or len(result[-1][1]) >= limit:
            result.append((mirrored, []))
        result[-1][1].append(node)
        closed = mirrored and _set(node, "__mirror_stage__")
    return result


def call_segments(builder: Any, calls: list[Node], heads: list[Entry]) -> None:
    """Add the calls to `builder`'s graph, mirrored segments as one checkpointed call each."""
    parts = segments(calls)
    for number, (mirrored, nodes) in enumerate(parts):
        if repeated(mirrored, nodes, number == len(parts) - 1):
            _call_segment(builder, nodes, needed(nodes, calls, heads))
        else:
            for node in nodes:
                builder.call(node)


def repeated(mirrored: bool, nodes: list[Node], last: bool) -> bool:
    """Is a segment recomputed? Not the last one: the backward pass starts with its values."""
    return mirrored and not last and len(nodes) > 1


def needed(nodes: list[Node], calls: list[Node], heads: list[Entry]) -> list[Entry]:
    """Values of the segment that something outside it uses."""
    inside = {id(n) for n in nodes}
    users = [e for n in calls if id(n) not in inside for e in n.inputs]
    found: dict[Slot, Entry] = {}
    for entry in (*users, *heads):
        if id(entry.node) in inside:
            found[(id(entry.node), entry.index)] = entry
    return list(found.values())


def _call_segment(builder: Any, nodes: list[Node], results: list[Entry]) -> None:
    inside = {id(n) for n in nodes}
    outer: dict[Slot, Entry] = {}
    for node in nodes:
        for entry in node.inputs:
            if id(entry.node) not in inside:
                outer[(id(entry.node), entry.index)] = entry
    inner = type(builder)(
        builder.train, builder.context_of, builder.shapes, builder.node_states, builder.stypes, builder.trained
    )
    for entry in outer.values():
        inner.input(entry.node, entry.index, f"{entry.node.name}_{entry.index}")
    for node in nodes:
        inner.call(node)
    module = inner.finish([inner.value(e) for e in results], "Segment")
    random = any("_train" in n.op.injected for n in nodes)  # type: ignore[union-attr]
    call = builder.graph.call_function(
        _checkpointed(module.forward, random), tuple(builder.dense(e) for e in outer.values())
    )
    for i, entry in enumerate(results):
        builder.values[(id(entry.node), entry.index)] = builder.graph.call_function(_item, (call, i))
    builder.calls.update(inner.calls)


def _item(values: tuple[torch.Tensor, ...], index: int) -> torch.Tensor:
    return values[index]


def _checkpointed(run: Callable[..., Any], random: bool) -> Callable[..., Any]:
    """`run` under torch's checkpointing: its inner values are recomputed in the backward pass."""

    def segment(*tensors: torch.Tensor) -> Any:
        return checkpoint(run, *tensors, use_reentrant=False, preserve_rng_state=random)

    return segment
