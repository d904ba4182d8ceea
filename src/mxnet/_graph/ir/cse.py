"""Common subexpression elimination: equal calls on equal inputs become one node."""

from collections.abc import Iterable

from ..._ops.registry.registry import find
from .node import Entry, Node, entry_of, walk


def _is_pure(node: Node) -> bool:
    """Is the call pure: does it always return the same value and write none of its inputs?"""
    op = node.op
    assert op is not None
    return not (op.aux or op.mutates or op.injected or node.subgraphs)


def eliminate_common_subexpressions(heads: Iterable[Entry]) -> list[Entry]:
    """The graph without repeated calls; variables stay the same objects. Heads that become equal are copied."""
    heads = list(heads)
    new: dict[Node, Node] = {}
    seen: dict[object, Node] = {}
    for node in walk(heads):
        new[node] = node if node.op is None else _deduplicated(node, new, seen)
    return _copy_repeated_heads([Entry(new[e.node], e.index, e.version) for e in heads], heads)


def _deduplicated(node: Node, new: dict[Node, Node], seen: dict[object, Node]) -> Node:
    inputs = [entry_of((new[e[0]], e[1], e[2])) for e in node.inputs]
    key: object = None
    if _is_pure(node):
        key = (node.op, frozenset(node.attrs.items()), *inputs)
        if key in seen:
            return seen[key]
        seen[key] = node
    if inputs == [*node.inputs]:
        return node
    rewired = node.with_inputs(inputs)
    if key is not None:
        seen[key] = rewired
    return rewired


def _copy_repeated_heads(heads: list[Entry], before: list[Entry]) -> list[Entry]:
    """Two outputs that became one value must remain two arrays: the second one gets a copy node."""
    taken: set[tuple[int, int]] = set()
    result = []
    for head, old in zip(heads, before, strict=True):
        slot = (id(head.node), head.index)
        if slot in taken and head.node is not old.node:
            head = Entry(Node(find("_copy"), f"{head.node.name}_copy", {}, [head]))
        taken.add(slot)
        result.append(head)
    return result
