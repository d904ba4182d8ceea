"""Common expressions are computed once: equal calls on equal inputs become one node."""

from collections.abc import Iterable

from .._ops.registry import find
from .node import Entry, Node, walk


def _repeatable(node: Node) -> bool:
    """Does the same call always give the same value, and change nothing?"""
    op = node.op
    assert op is not None
    return not (op.aux or op.mutates or op.injected or node.subgraphs)


def eliminate(heads: Iterable[Entry]) -> list[Entry]:
    """The graph without repeated calls; variables stay the same objects. Equal heads are kept apart by copies."""
    heads = list(heads)
    new: dict[int, Node] = {}
    seen: dict[object, Node] = {}
    for node in walk(heads):
        new[id(node)] = node if node.op is None else _unified(node, new, seen)
    return _apart([Entry(new[id(e.node)], e.index, e.version) for e in heads], heads)


def _unified(node: Node, new: dict[int, Node], seen: dict[object, Node]) -> Node:
    inputs = [Entry(new[id(e.node)], e.index, e.version) for e in node.inputs]
    key: object = None
    if _repeatable(node):
        attrs = tuple(sorted(node.attrs.items()))
        key = (node.op.name, attrs, tuple((id(e.node), e.index, e.version) for e in inputs))  # type: ignore[union-attr]
        if key in seen:
            return seen[key]
        seen[key] = node
    if all(a.node is b.node for a, b in zip(inputs, node.inputs, strict=True)):
        return node
    twin = Node(node.op, node.name, node.attrs, inputs)
    twin.parsed, twin.subgraphs = node.parsed, node.subgraphs
    if key is not None:
        seen[key] = twin
    return twin


def _apart(heads: list[Entry], before: list[Entry]) -> list[Entry]:
    """Two outputs that became one value are still two outputs."""
    taken: set[tuple[int, int]] = set()
    result = []
    for head, old in zip(heads, before, strict=True):
        slot = (id(head.node), head.index)
        if slot in taken and head.node is not old.node:
            head = Entry(Node(find("_copy"), f"{head.node.name}_copy", {}, [head]))
        taken.add(slot)
        result.append(head)
    return result
