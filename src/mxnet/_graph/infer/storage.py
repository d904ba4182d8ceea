"""Storage types over a graph: which outputs are sparse, and which matrices need never be made dense."""

from ..._ops import custom
from ..._ops.registry.sparse_outputs import result_stypes
from ..ir.node import Entry, Node, walk

STORED = {"1": "row_sparse", "2": "csr"}


def declared(node) -> str:
    """The storage that a variable was declared with."""
    return STORED.get(node.attrs.get("__storage_type__", ""), "default")


class Storages:
    """The storage of every node's outputs; `given` names those of variables."""

    def __init__(self, heads: list[Entry], given: dict[str, str]) -> None:
        self._found: dict[int, str | list[str]] = {}
        for node in walk(heads):
            if node.op is None:
                self._found[id(node)] = given.get(node.name) or declared(node)
            else:
                self._found[id(node)] = result_stypes(node.op, node.op.full(node.parsed), self.of_inputs(node))

    def of(self, entry: Entry) -> str:
        """The storage of one value."""
        kinds = self._found[id(entry.node)]
        return kinds if isinstance(kinds, str) else kinds[entry.index]

    def of_inputs(self, node: Node) -> list[str]:
        """The storage of each input of a node."""
        return [self.of(entry) for entry in node.inputs]


def minding(heads: list[Entry], given: dict[str, str]) -> dict[int, list[str]]:
    """The storage of the inputs of those nodes that mind it, by identity, where it is not all dense."""
    nodes = [node for node in walk(heads) if node.op is not None and node.op.storage is not None]
    if not nodes:
        return {}
    found = Storages(heads, given)
    kinds = {id(node): found.of_inputs(node) for node in nodes}
    return {key: kind for key, kind in kinds.items() if set(kind) != {"default"}}


# Of a sparse matrix these make a sparse matrix, element by element; torch's functions do so, too.
ELEMENTWISE = frozenset(["_copy", "abs", "negative", "sign", "sqrt", "square"])


def factors(heads: list[Entry]) -> set[str]:
    """Variables that are used only as the left side of matrix products, or of which elementwise functions are."""
    nodes = walk(heads)
    uses: dict[int, list[bool]] = {id(entry.node): [False] for entry in heads}
    for node in reversed(nodes):
        sides = all(uses.get(id(node), [True]))  # is all that is made of it such a side?
        for place, entry in enumerate(node.inputs):
            uses.setdefault(id(entry.node), []).append(_is_left_side(node, place) or (_is_elementwise(node) and sides))
    return {n.name for n in nodes if n.op is None and all(uses.get(id(n), [False]))}


def _is_left_side(node: Node, place: int) -> bool:
    return node.op is not None and node.op.name == "dot" and place == 0 and not node.parsed.get("transpose_b", False)


def _is_elementwise(node: Node) -> bool:
    return node.op is not None and node.op.name in ELEMENTWISE


def head_stypes(heads: list[Entry], given: dict[str, str]) -> list[str]:
    """The storage of each output of a graph."""
    found = Storages(heads, given)
    return [found.of(entry) for entry in heads]


def gradient_stypes(heads: list[Entry], given: dict[str, str]) -> dict[str, str]:
    """The storage of each variable's gradient, by name: by rows where all its uses give it so."""
    found = Storages(heads, given)
    uses: dict[str, list[str]] = {}
    for node in walk(heads):
        for place, entry in enumerate(node.inputs):
            if entry.node.op is None:
                uses.setdefault(entry.node.name, []).append(_gradient(node, place, found))
    return {name: "row_sparse" if all(k == "row_sparse" for k in kinds) else "default" for name, kinds in uses.items()}


def _gradient(node: Node, place: int, found: Storages) -> str:
    assert node.op is not None
    name, stypes = node.op.name, found.of_inputs(node)
    if node.op.storage is not None:
        return _custom_gradient(node, place, found)
    if name == "dot":
        turned = node.parsed.get("transpose_a", False) or node.parsed.get("transpose_b", False)
        by_rows = place == 1 and stypes[0] == "csr" and not turned
    elif name in ("Embedding", "_contrib_SparseEmbedding"):
        by_rows = place == 1 and (name != "Embedding" or bool(node.parsed.get("sparse_grad")))
    else:
        by_rows = stypes[place] == "row_sparse"
    return "row_sparse" if by_rows else "default"


def _custom_gradient(node: Node, place: int, found: Storages) -> str:
    """As the user's class says, of heads: what comes after them would say more."""
    attrs, stypes = node.op.full(node.parsed), found.of_inputs(node)  # type: ignore[union-attr]
    arguments = len(stypes) - len(node.op.aux_names(attrs))  # type: ignore[union-attr]
    if place >= arguments:
        return "default"
    outputs = [found.of(Entry(node, i)) for i in range(len(node.op.output_names(attrs)))]  # type: ignore[union-attr]
    unknown = ["undefined"] * arguments
    given = outputs, stypes[:arguments], outputs, unknown, stypes[arguments:]
    return custom.storage_backward(attrs, given)[3][place]
