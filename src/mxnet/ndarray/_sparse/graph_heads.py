"""Sparse heads of bound graphs: computed operator by operator on stored parts, so that they have MXNet's rows."""

from ..._core.modes import MODES
from ..._graph.infer.storage import StorageTypes
from ..._graph.ir.node import Entry, walk
from .._dispatch.invoke import invoke

# these leave absent rows absent, where the dense function would compute 0 / 0 or 0 + scalar
_SCATTER_OPERATORS = frozenset(("_scatter_elemwise_div", "_scatter_plus_scalar", "_scatter_minus_scalar"))


def heads_on_parts(heads: list[Entry], given: dict[str, str]) -> list[int]:
    """Indices of the heads to compute on parts: sparse ones, and those after scatter operators."""
    found = StorageTypes(heads, given)
    return [i for i, head in enumerate(heads) if _by_parts(head, found) and _is_pure(head)]


def _by_parts(head: Entry, found: StorageTypes) -> bool:
    if found.of(head) != "default":
        return True
    return any(n.op and n.op.name in _SCATTER_OPERATORS and found.of(Entry(n)) != "default" for n in walk([head]))


def _is_pure(head: Entry) -> bool:
    """Can it be computed a second time: no random numbers, no writes, no user code below it?"""
    return not any(
        n.op and ("_rng" in n.op.injected or "_kept" in n.op.injected or n.mutated() or n.subgraphs)
        for n in walk([head])
    )


def compute_heads(heads: list[Entry], arrays: dict[str, object], ctx, train: bool) -> list:
    """The heads' arrays, by eager calls of the operators on the arrays that variables are bound to."""
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
