"""Sizes that follow the inputs: creation operators whose size the rest of the graph tells, for any input size.

Lowering writes such a size as a number, right for one set of input shapes. Here the shapes of the inputs are moved,
one size at a time, to see which numbers move along; those become expressions of the input's size.
"""

import operator
from collections.abc import Iterable
from typing import Any

from torch import fx

from ..._core.errors import MXNetError
from ..ir.node import Entry
from ..lower.lower import Lowered, Place, lower
from .fixpoint import shape_facts

Shape = tuple[int, ...]
STEP = 5  # added to a size to see what moves


def lower_dynamic(
    heads: Iterable[Entry], train: bool, place: Place, shapes: dict[str, Shape], free: Iterable[str]
) -> Lowered:
    """The graph as code for inputs of any size; `shapes` is an example for all variables, `free` those that vary."""
    heads = list(heads)

    def written(given: dict[str, Shape]) -> Lowered:
        return lower(heads, train, place, shape_facts(heads, given))

    lowered = written(shapes)
    for name in free:
        for axis in range(len(shapes[name])):
            moved = tuple(n + STEP * (i == axis) for i, n in enumerate(shapes[name]))
            try:
                other = written({**shapes, name: moved})
            except MXNetError:
                continue  # the parameters fix this size
            _follow(lowered, other, name, axis, shapes[name][axis])
    lowered.module.rewrite()
    return lowered


def _follow(lowered: Lowered, other: Lowered, name: str, axis: int, size: int) -> None:
    """Where a number differs between the two, put what it is in terms of the size that was moved."""
    source = _placeholder(lowered, name)
    twins = {node.name: node for node in other.module.graph.nodes}
    for node in list(lowered.module.graph.nodes):
        for key in ("shape", "stop"):
            old, new = node.kwargs.get(key), twins[node.name].kwargs.get(key) if node.name in twins else None
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
    factor = (new - old) / STEP
    factor = int(factor) if factor == int(factor) else factor
    shape = graph.call_function(getattr, (source, "shape"))
    value = graph.call_function(operator.getitem, (shape, axis))
    value = graph.call_function(operator.mul, (value, factor)) if factor != 1 else value
    rest = old - factor * size
    return graph.call_function(operator.add, (value, rest)) if rest else value
