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


def head_stypes(heads: list[Entry], given: dict[str, str]) -> list[str]:
    """The storage of each output of a graph."""
    found = storages(heads, given)
    return [found[id(entry.node)] for entry in heads]


def gradient_stypes(heads: list[Entry], given: dict[str, str]) -> dict[str, str]:
    """The storage of each variable's gradient, by name: by rows where all its uses give it so."""
    found = storages(heads, given)
    uses: dict[str, list[str]] = {}
    for node in walk(heads):
        for place, entry in enumerate(node.inputs):
            if entry.node.op is None:
                stypes = [found[id(e.node)] for e in node.inputs]
                uses.setdefault(entry.node.name, []).append(_gradient(node, place, stypes))
    return {name: "row_sparse" if all(k == "row_sparse" for k in kinds) else "default" for name, kinds in uses.items()}


def _gradient(node, place: int, stypes: list[str]) -> str:
    assert node.op is not None
    name = node.op.name
    if name == "dot":
        turned = node.parsed.get("transpose_a", False) or node.parsed.get("transpose_b", False)
        by_rows = place == 1 and stypes[0] == "csr" and not turned
    elif name in ("Embedding", "_contrib_SparseEmbedding"):
        by_rows = place == 1 and (name != "Embedding" or bool(node.parsed.get("sparse_grad")))
    else:
        by_rows = stypes[place] == "row_sparse"
    return "row_sparse" if by_rows else "default"
