"""Storage type inference over a graph: which outputs and gradients are sparse, which matrices need not be densified."""

from ..._ops import custom
from ..._ops.registry.sparse_outputs import result_stypes
from ..ir.node import Entry, Node, walk

STYPE_CODES = {"1": "row_sparse", "2": "csr"}


def declared_stype(node) -> str:
    """The storage that a variable was declared with."""
    return STYPE_CODES.get(node.attrs.get("__storage_type__", ""), "default")


class StorageTypes:
    """The storage type of every node's outputs; `given` has those of variables by name."""

    def __init__(self, heads: list[Entry], given: dict[str, str]) -> None:
        self._found: dict[int, str | list[str]] = {}
        for node in walk(heads):
            if node.op is None:
                self._found[id(node)] = given.get(node.name) or declared_stype(node)
            else:
                self._found[id(node)] = result_stypes(node.op, node.op.full(node.parsed), self.of_inputs(node))

    def of(self, entry: Entry) -> str:
        """The storage of one value."""
        kinds = self._found[id(entry.node)]
        return kinds if isinstance(kinds, str) else kinds[entry.index]

    def of_inputs(self, node: Node) -> list[str]:
        """The storage of each input of a node."""
        return [self.of(entry) for entry in node.inputs]


def stypes_of_storage_aware_nodes(heads: list[Entry], given: dict[str, str]) -> dict[int, list[str]]:
    """The storage types of the inputs of operators with a `storage` rule, by node id, where not all are dense."""
    nodes = [node for node in walk(heads) if node.op is not None and node.op.storage is not None]
    if not nodes:
        return {}
    found = StorageTypes(heads, given)
    kinds = {id(node): found.of_inputs(node) for node in nodes}
    return {key: kind for key, kind in kinds.items() if set(kind) != {"default"}}


# Elementwise operators whose torch functions return a sparse matrix for a sparse matrix.
ELEMENTWISE = frozenset(["_copy", "abs", "negative", "sign", "sqrt", "square"])


def left_operands_of_dot(heads: list[Entry]) -> set[str]:
    """Variables whose only uses are as left operands of `dot`, directly or after elementwise functions."""
    nodes = walk(heads)
    uses: dict[int, list[bool]] = {id(entry.node): [False] for entry in heads}
    for node in reversed(nodes):
        sides = all(uses.get(id(node), [True]))  # are all uses of it left operands?
        for position, entry in enumerate(node.inputs):
            uses.setdefault(id(entry.node), []).append(
                _is_left_operand(node, position) or (_is_elementwise(node) and sides)
            )
    return {n.name for n in nodes if n.op is None and all(uses.get(id(n), [False]))}


def _is_left_operand(node: Node, position: int) -> bool:
    return node.op is not None and node.op.name == "dot" and position == 0 and not node.parsed.get("transpose_b", False)


def _is_elementwise(node: Node) -> bool:
    return node.op is not None and node.op.name in ELEMENTWISE


def head_stypes(heads: list[Entry], given: dict[str, str]) -> list[str]:
    """The storage of each output of a graph."""
    found = StorageTypes(heads, given)
    return [found.of(entry) for entry in heads]


def gradient_stypes(heads: list[Entry], given: dict[str, str]) -> dict[str, str]:
    """The storage type of each variable's gradient, by name: row_sparse if all its uses give a row_sparse one."""
    found = StorageTypes(heads, given)
    uses: dict[str, list[str]] = {}
    for node in walk(heads):
        for position, entry in enumerate(node.inputs):
            if entry.node.op is None:
                uses.setdefault(entry.node.name, []).append(_gradient(node, position, found))
    return {name: "row_sparse" if all(k == "row_sparse" for k in kinds) else "default" for name, kinds in uses.items()}


def _gradient(node: Node, position: int, found: StorageTypes) -> str:
    assert node.op is not None
    name, stypes = node.op.name, found.of_inputs(node)
    if node.op.storage is not None:
        return _custom_gradient(node, position, found)
    if name == "dot":
        transposed = node.parsed.get("transpose_a", False) or node.parsed.get("transpose_b", False)
        row_sparse = position == 1 and stypes[0] == "csr" and not transposed
    elif name in ("Embedding", "_contrib_SparseEmbedding"):
        row_sparse = position == 1 and (name != "Embedding" or bool(node.parsed.get("sparse_grad")))
    else:
        row_sparse = stypes[position] == "row_sparse"
    return "row_sparse" if row_sparse else "default"


def _custom_gradient(node: Node, position: int, found: StorageTypes) -> str:
    """By the user's class, as if the node's outputs were heads: the operators after it are not considered."""
    attrs, stypes = node.op.full(node.parsed), found.of_inputs(node)  # type: ignore[union-attr]
    arguments = len(stypes) - len(node.op.aux_names(attrs))  # type: ignore[union-attr]
    if position >= arguments:
        return "default"
    outputs = [found.of(Entry(node, i)) for i in range(len(node.op.output_names(attrs)))]  # type: ignore[union-attr]
    unknown = ["undefined"] * arguments
    given = outputs, stypes[:arguments], outputs, unknown, stypes[arguments:]
    return custom.storage_backward(attrs, given)[3][position]
