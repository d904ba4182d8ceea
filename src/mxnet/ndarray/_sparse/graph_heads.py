"""Heads of graphs that are sparse: computed on stored parts, an operator at a time, so that they keep MXNet's rows."""

from ..._core.modes import MODES
from ..._graph.infer.storage import StorageTypes
from ..._graph.ir.node import Entry, walk
from .._dispatch.invoke import invoke

# what these have of absent rows (0 / 0, 0 + scalar) is not what dense functions have of zeros
_SCATTERED = frozenset(("_scatter_elemwise_div", "_scatter_plus_scalar", "_scatter_minus_scalar"))


def parted(heads: list[Entry], given: dict[str, str]) -> list[int]:
    """Which heads must be computed on parts: sparse ones, and those behind operators that pass over absent rows."""
    found = StorageTypes(heads, given)
    return [i for i, head in enumerate(heads) if _by_parts(head, found) and _repeatable(head)]


def _by_parts(head: Entry, found: StorageTypes) -> bool:
    if found.of(head) != "default":
        return True
    return any(n.op and n.op.name in _SCATTERED and found.of(Entry(n)) != "default" for n in walk([head]))


def _repeatable(head: Entry) -> bool:
    """Can it be computed beside the graph's own run: nothing is drawn or changed on the way, no user's code runs?"""
    return not any(
        n.op and ("_rng" in n.op.injected or "_kept" in n.op.injected or n.mutated() or n.subgraphs)
        for n in walk([head])
    )


def computed(heads: list[Entry], arrays: dict[str, object], ctx, train: bool) -> list:
    """The heads' arrays, by calls of the operators on the arrays that variables are bound to."""
    before = MODES.recording, MODES.training
    MODES.recording, MODES.training = False, train
    try:
        values: dict[int, list] = {}
        for node in walk(heads):
            if node.op is None:
                values[id(node)] = [arrays[node.name]]
                continue
            result = invoke(node.op, [values[id(e.node)][e.index] for e in node.inputs], node.parsed, ctx=ctx)
            values[id(node)] = result if isinstance(result, list) else [result]
        found = [values[id(e.node)][e.index] for e in heads]
        return [x.copy() if e.node.op is None else x for x, e in zip(found, heads, strict=True)]
    finally:
        MODES.recording, MODES.training = before
