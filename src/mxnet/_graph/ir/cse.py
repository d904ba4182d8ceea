"""Common subexpression elimination: equal calls on equal inputs become one node.

If a graph has equal losses, merging decides how often their gradient counts, so it merges exactly what MXNet merges.
"""

from collections.abc import Iterable

from .node import Entry, Node, entry_of, walk

_STATEFUL = {"SVMOutput", "MakeLoss"}  # MXNet never merges operators that it makes a state for; these are losses


def _is_pure(node: Node) -> bool:
    """Is the call pure: does it return the same value throughout a run and write none of its inputs?"""
    op = node.op
    assert op is not None
    changes = op.aux or op.mutates or node.subgraphs or any(name != "_train" for name in op.injected)
    return not changes and op.name not in _STATEFUL


def eliminate_common_subexpressions(heads: Iterable[Entry]) -> list[Entry]:
    """The graph without repeated calls; variables stay the same objects, and a call that is a head stays one."""
    heads = list(heads)
    ends = {id(e.node) for e in heads}
    new: dict[Node, Node] = {}
    seen: dict[object, Node] = {}
    for node in walk(heads):
        new[node] = node if node.op is None else _deduplicated(node, new, seen, id(node) in ends)
    return [Entry(new[e.node], e.index, e.version) for e in heads]


def _deduplicated(node: Node, new: dict[Node, Node], seen: dict[object, Node], is_head: bool) -> Node:
    inputs = [entry_of((new[e[0]], e[1], e[2])) for e in node.inputs]
    key: object = None
    if _is_pure(node) and not is_head:
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
