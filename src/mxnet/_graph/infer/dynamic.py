"""Lowering for dynamic shapes: creation operators whose size is inferred, for inputs of any size.

Ordinary lowering writes an inferred size as a constant, which is right for one set of input shapes. Here the graph is
lowered again with one input size changed at a time; constants that change become expressions of that input size.
"""

import operator
from collections.abc import Iterable
from typing import Any

from torch import fx

from ..._core.errors import MXNetError
from ..ir.node import Entry
from ..lower.lower import DevicePlacement, Lowered, lower
from .fixpoint import shape_facts

Shape = tuple[int, ...]
SIZE_STEP = 5  # added to an input size to see which constants change


def lower_dynamic(
    heads: Iterable[Entry], train: bool, context_of: DevicePlacement, shapes: dict[str, Shape], free: Iterable[str]
) -> Lowered:
    """The graph as code for inputs of any size; `shapes` are example shapes, `free` the variables that vary."""
    heads = list(heads)

    def lowered_for(given: dict[str, Shape]) -> Lowered:
        return lower(heads, train, context_of, shape_facts(heads, given))

    lowered = lowered_for(shapes)
    for name in free:
        for axis in range(len(shapes[name])):
            changed = tuple(n + SIZE_STEP * (i == axis) for i, n in enumerate(shapes[name]))
            try:
                other = lowered_for({**shapes, name: changed})
            except MXNetError:
                continue  # the parameters fix this size
            _replace_constants(lowered, other, name, axis, shapes[name][axis])
    lowered.module.rewrite()
    return lowered


def _replace_constants(lowered: Lowered, other: Lowered, name: str, axis: int, size: int) -> None:
    """Replace constants that differ between the two graphs by expressions of the input size that was changed."""
    source = _placeholder(lowered, name)
    others = {node.name: node for node in other.module.graph.nodes}
    for node in list(lowered.module.graph.nodes):
        for key in ("shape", "stop"):
            old, new = node.kwargs.get(key), others[node.name].kwargs.get(key) if node.name in others else None
            if old != new and node.op == "call_function":
                with lowered.module.graph.inserting_before(node):
                    value = _expression(lowered.module.graph, source, axis, size, old, new)
                node.kwargs = {**node.kwargs, key: value}


def _placeholder(lowered: Lowered, name: str) -> fx.Node:
    inputs = [n for n in lowered.module.graph.nodes if n.op == "placeholder"]
    return inputs[[v.name for v in lowered.variables].index(name)]


def _expression(graph: fx.Graph, source: fx.Node, axis: int, size: int, old: Any, new: Any) -> Any:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return tuple(_expression(graph, source, axis, size, a, b) for a, b in zip(old, new, strict=True))
    if old == new or isinstance(old, fx.Node):
        return old
    factor = (new - old) / SIZE_STEP
    factor = int(factor) if factor == int(factor) else factor
    shape = graph.call_function(getattr, (source, "shape"))
    value = graph.call_function(operator.getitem, (shape, axis))
    value = graph.call_function(operator.mul, (value, factor)) if factor != 1 else value
    rest = old - factor * size
    return graph.call_function(operator.add, (value, rest)) if rest else value
