"""Storage type inference over a graph: sparse outputs and gradients, operators that compute on stored values."""

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import Any

from ..._ops import custom
from ..._ops.registry.sparse_outputs import result_stypes
from ..._ops.sparse.functions import sparse_function
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
                self._found[id(node)] = result_stypes(node.op, node.call.full, self.of_inputs(node))

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


@dataclass
class SparsePlan:
    """Which values of a graph are sparse tensors while it runs, and the functions that compute on them.

    Every other operator gets dense copies. MXNet's storage types, which `StorageTypes` infers, may be sparse where a
    run has dense values.
    """

    values: set[tuple[int, int]] = field(default_factory=set)  # (node id, output)
    functions: dict[int, Callable[..., Any]] = field(default_factory=dict)  # by node id
    variables: set[str] = field(default_factory=set)

    def of_inputs(self, variables: Iterable[Node]) -> "SparsePlan":
        """The plan for the same inputs where every operator gets dense copies."""
        return SparsePlan({(id(n), 0) for n in variables} & self.values, {}, self.variables)


def sparse_plan(heads: list[Entry], given: dict[str, str], wanted: Set[str]) -> SparsePlan:
    """The plan for variables of these storage types; gradients are `wanted` for those named.

    A CSR matrix whose gradient is wanted is passed as a dense one, as is whatever no function takes as it is.
    """
    plan, kinds, trained = SparsePlan(), dict[int, str](), set[int]()
    nodes = walk(heads)
    for node in nodes:
        kind = _planned(node, plan, kinds, trained) if node.op is not None else given.get(node.name) or "default"
        is_trained = node.name in wanted if node.op is None else any(id(e.node) in trained for e in node.inputs)
        kinds[id(node)] = "default" if node.op is None and kind == "csr" and is_trained else kind
        if is_trained:
            trained.add(id(node))
    users = {id(e.node) for n in nodes if id(n) in plan.functions for e in n.inputs}
    kept = [n for n in nodes if kinds[id(n)] != "default" and (n.op is not None or id(n) in users)]
    plan.values = {(id(n), 0) for n in kept}
    plan.variables = {n.name for n in kept if n.op is None}
    return plan


def _planned(node: Node, plan: SparsePlan, kinds: dict[int, str], trained: set[int]) -> str:
    """The storage type that the node's result has in a run; its function goes into the plan."""
    stypes = [kinds[id(e.node)] for e in node.inputs]
    if set(stypes) <= {"default"} or node.subgraphs:
        return "default"
    differentiable = [id(e.node) in trained for e in node.inputs]
    found = sparse_function(node.op, node.op.full(node.parsed), stypes, differentiable)  # type: ignore[union-attr, arg-type]
    if found is None:
        return "default"
    plan.functions[id(node)], kind = found
    return kind


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
