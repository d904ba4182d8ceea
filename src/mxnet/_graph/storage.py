"""Storage types over a graph: which outputs are sparse, and which matrices need never be made dense."""

from .._ops.storage import result_stype
from .node import Entry, walk

STORED = {"1": "row_sparse", "2": "csr"}


def declared(node) -> str:
    """The storage that a variable was declared with."""
    return STORED.get(node.attrs.get("__storage_type__", ""), "default")


def storages(heads: list[Entry], given: dict[str, str]) -> dict[int, str]:
    """The storage of every node's outputs, by the node's identity; `given` names those of variables."""
    found: dict[int, str] = {}
    for node in walk(heads):
        if node.op is None:
            found[id(node)] = given.get(node.name) or declared(node)
        else:
            found[id(node)] = result_stype(node.op, node.op.full(node.parsed), [found[id(e.node)] for e in node.inputs])
    return found


def factors(heads: list[Entry]) -> set[str]:
    """Variables that are used only as the left side of matrix products."""
    used: dict[str, bool] = {}
    for node in walk(heads):
        for place, entry in enumerate(node.inputs):
            if entry.node.op is None:
                product = node.op is not None and node.op.name == "dot" and place == 0
                plain = not node.parsed.get("transpose_b", False)
                used[entry.node.name] = used.get(entry.node.name, True) and product and plain
    names = {e.node.name for e in heads if e.node.op is None}
    return {name for name, only in used.items() if only and name not in names}
