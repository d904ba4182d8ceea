"""The graph IR: nodes, and entries, each of which is one output of a node."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from ..._core.errors import MXNetError
from ..._ops.registry.registry import Attrs, Op
from .call import VARIABLE, Call, cached_call, unparsed_call

CACHED_OP = "_CachedOp"  # calls a graph, which it carries as JSON in an attribute
# Operators of MXNet's oneDNN backend: a layer (the value) fused with the operators after it, carried as a subgraph.
ONEDNN_FUSED = {
    "_sg_mkldnn_conv": "Convolution",
    "_sg_mkldnn_fully_connected": "FullyConnected",
    "_sg_mkldnn_selfatt_qk": "_contrib_interleaved_matmul_selfatt_qk",
    "_sg_mkldnn_selfatt_valatt": "_contrib_interleaved_matmul_selfatt_valatt",
}
# Initializers of an operator's input variables, by input position; a user's own `__init__` wins.
_MOVING_STATISTICS = {3: '["zero", {}]', 4: '["one", {}]'}
INITIALIZERS = {
    "BatchNorm": _MOVING_STATISTICS,
    "BatchNorm_v1": _MOVING_STATISTICS,
    "CuDNNBatchNorm": _MOVING_STATISTICS,
    "_contrib_BatchNormWithReLU": _MOVING_STATISTICS,
    "_contrib_SyncBatchNorm": _MOVING_STATISTICS,
    "IdentityAttachKLSparseReg": {1: '["zero", {}]'},
    "UpSampling": {1: '["bilinear", {}]'},
    "LeakyReLU": {1: '["Constant", {"value": 0.25}]'},
}


class Node:
    """A variable (`op` is None) or one call of an operator: its name, attributes as strings, input entries."""

    __slots__ = ("_inputs", "attrs", "call", "name", "op", "subgraphs", "version")

    def __init__(
        self, op: Op | None, name: str, attrs: dict[str, str], inputs: Iterable["Entry"] = (), call: Call | None = None
    ) -> None:
        self.op, self.name, self.attrs = op, name, attrs
        self._inputs: tuple[Entry, ...] = tuple(inputs)
        self.call = call or (VARIABLE if op is None else unparsed_call(op))
        self.subgraphs: list[list[Entry]] = []
        self.version = 0  # of a variable: the number of nodes made so far that write it

    @property
    def inputs(self) -> tuple["Entry", ...]:
        return self._inputs

    @inputs.setter
    def inputs(self, value: Iterable["Entry"]) -> None:
        self._inputs = tuple(value)
        invalidate_graph_caches()

    @property
    def parsed(self) -> Attrs:
        """The parsed attributes. Nodes share the dict: assign a new one instead of changing it."""
        return self.call.parsed

    @parsed.setter
    def parsed(self, value: Attrs) -> None:
        self.call = Call(self.op, value)
        invalidate_graph_caches()

    def parse(self) -> None:
        """Parse the attributes."""
        op = self.op
        if op is None:
            return
        if self.call is not unparsed_call(op):
            invalidate_graph_caches()
        self.call = cached_call(op, self.attrs)
        if op.name == CACHED_OP and "subgraph" in self.attrs:
            from .json import loads

            self.subgraphs = [loads(self.attrs["subgraph"])]

    def with_inputs(self, inputs: Iterable["Entry"] = ()) -> "Node":
        """A copy of the node with other inputs."""
        node = Node(self.op, self.name, self.attrs.copy(), inputs, self.call)
        node.subgraphs, node.version = self.subgraphs, self.version
        return node

    def input_names(self) -> tuple[str, ...]:
        assert self.op is not None
        return self.op.input_names(self.call.parsed, len(self._inputs))

    def output_names(self) -> tuple[str, ...]:
        if self.subgraphs and self.op is not None and self.op.name == CACHED_OP:
            return tuple(entry_name(head) for head in self.subgraphs[0])
        return self.call.output_names

    def outputs(self) -> int:
        """How many outputs there are, hidden ones included."""
        return len(self.output_names())

    def visible(self) -> int:
        """How many outputs a caller sees."""
        return self.outputs() if self.op is not None and self.op.name == CACHED_OP else self.call.visible

    def mutated(self) -> Sequence[int]:
        """Positions of the inputs that the operator writes."""
        if self.subgraphs and self.op is not None and self.op.name in (CACHED_OP, *ONEDNN_FUSED):
            inner = topological_order(self.subgraphs[0])
            return [i for i, n in enumerate(inner.variables) if id(n) in inner.mutated]
        return self.call.mutated(len(self._inputs))

    def __repr__(self) -> str:
        return f"<node {self.name}: {self.op.name if self.op else 'variable'}>"


class Entry(NamedTuple):
    """One output of a node; the version distinguishes the states of a variable that operators write."""

    node: Node
    index: int = 0
    version: int = 0


# Makes an entry from (node, index, version) in half the time of `Entry(...)`.
entry_of: Callable[[tuple[Node, int, int]], Entry] = partial(tuple.__new__, Entry)


def entry_name(entry: Entry) -> str:
    """The name of an entry in `list_outputs()`: a variable's name, or the node's name and the output's."""
    node = entry.node
    if node.op is None:
        return node.name
    name = node.output_names()[entry.index]
    return f"{node.name}_{name}" if node.name else name


def variable(name: str, attrs: dict[str, str] | None = None) -> Node:
    return Node(None, name, attrs if attrs is not None else {})


class TopologicalOrder:
    """A graph's nodes with inputs before their users; also as a set, and split into variables and operator calls."""

    def __init__(self, members: set[Node], nodes: tuple[Node, ...], variables: list[Node]) -> None:
        self.members, self.nodes, self.variables = members, nodes, variables
        self.calls = [n for n in nodes if n.op is not None]

    @cached_property
    def mutated(self) -> set[int]:
        """Ids of the variables that some call writes; the attributes must have been parsed before."""
        return mutated_variables(self.calls)


MAX_ORDERS = 8
_ORDERS: dict[tuple[Node, ...], TopologicalOrder] = {}  # of the graphs used last
GRAPH_CACHES: list[Any] = [_ORDERS]  # all caches that a change of a node invalidates


def invalidate_graph_caches() -> None:
    """Must be called when a node changes that is already part of a graph."""
    for cache in GRAPH_CACHES:
        cache.clear()


def topological_order(heads: Iterable[Entry]) -> TopologicalOrder:
    """The graph below `heads` in topological order; cached for a few graphs."""
    key = tuple([head[0] for head in heads])
    found = _ORDERS.get(key)
    if found is None:
        found = _depth_first_search(key)
        if len(_ORDERS) >= MAX_ORDERS:
            _ORDERS.clear()
        _ORDERS[key] = found
    return found


def walk(heads: Iterable[Entry]) -> tuple[Node, ...]:
    """Every node below `heads`, inputs before users, in MXNet's order (depth first, inputs from left to right)."""
    return topological_order(heads).nodes


def _depth_first_search(heads: Iterable[Node]) -> TopologicalOrder:
    """Post-order depth-first search without recursion: graphs may be deeper than Python's stack."""
    seen: set[Node] = set()
    nodes: list[Node] = []
    leaves: list[Node] = []
    stack: list[tuple[Node, Iterator[Entry]]] = []
    for node in heads:
        if node in seen:
            continue
        seen.add(node)
        if not node._inputs:
            leaves.append(node)
        rest = iter(node._inputs)
        while True:
            for entry in rest:
                below = entry[0]
                if below not in seen:
                    seen.add(below)
                    if below._inputs:
                        stack.append((node, rest))
                        node, rest = below, iter(below._inputs)
                        break
                    nodes.append(below)
                    leaves.append(below)
            else:
                nodes.append(node)
                if not stack:
                    break
                node, rest = stack.pop()
    return TopologicalOrder(seen, tuple(nodes), [n for n in leaves if n.op is None])


def mutated_variables(nodes: Iterable[Node]) -> set[int]:
    """Ids of the variables that some operator writes (auxiliary states)."""
    writers = [n for n in nodes if n.call.mutates_inputs or n.subgraphs]
    return {id(node._inputs[i][0]) for node in writers for i in node.mutated()}


def copy_graph(heads: Iterable[Entry], replace: Callable[[Entry], Entry | None] | None = None) -> list[Entry]:
    """A copy of the graph below `heads`; `replace` may return another entry for an entry, or None to keep it."""
    heads = list(heads)
    new: dict[Node, Node] = {}

    def copied(entry: Entry) -> Entry:
        other = replace(entry) if replace is not None else None
        return other if other is not None else entry_of((new[entry[0]], entry[1], entry[2]))

    for node in walk(heads):
        if replace is None:
            new[node] = node.with_inputs([entry_of((new[e[0]], e[1], e[2])) for e in node.inputs])
        else:
            new[node] = node.with_inputs([copied(e) for e in node.inputs])
    return [copied(entry) for entry in heads]


def assign_versions(node: Node) -> None:
    """Set the versions of the node's variable inputs; those that it writes get a new one."""
    inputs = [Entry(e[0], e[1], e[0].version) if e[0].op is None else e for e in node.inputs]
    for i in node.mutated():
        target = inputs[i].node
        if target.op is not None:
            raise MXNetError(
                f"Mutation target can only be Variable: input {i} of {node.name} ({node.op.name}) is the output of "  # type: ignore[union-attr]
                f"{target.name}"
            )
        target.version += 1
        inputs[i] = Entry(target, 0, target.version)
    node._inputs = tuple(inputs)


def set_initializers(node: Node) -> None:
    """Set `__init__` of the node's variables where the operator prescribes an initializer."""
    initializers: dict[int, str] = INITIALIZERS.get(node.op.name, {}) if node.op is not None else {}
    for i, initializer in initializers.items():
        if i < len(node.inputs) and node.inputs[i].node.op is None:
            node.inputs[i].node.attrs.setdefault("__init__", initializer)


def call_node(
    op: Op, name: str, attrs: dict[str, str], args: list[Entry], named: dict[str, Entry], subgraphs: Any = ()
) -> Node:
    """A node that calls `op`; inputs that were not given become variables named after it."""
    node = Node(op, name, attrs)
    node.subgraphs = list(subgraphs)
    node.parse()
    connect_inputs(node, args, named)
    return node


def connect_inputs(node: Node, args: list[Entry], named: dict[str, Entry]) -> None:
    """Give an unconnected node its inputs: by position, by name, and the rest as new variables."""
    assert node.op is not None
    names = node.op.input_names(node.parsed, len(args) + len(named))
    if len(args) > len(names):
        raise MXNetError(
            f"Incorrect number of arguments, requires {len(names)}, provided {len(args)}, in operator {node.op.name}"
        )
    inputs, unused = list(args), dict(named)
    for missing in names[len(args) :]:
        entry = unused.pop(missing, None)
        if entry is None:
            if missing in node.op.optional and node.op.inputs_of is None:
                continue
            full = f"{node.name}_{missing}" if node.name else missing
            entry = Entry(variable(full, dict(node.attrs)))
        inputs.append(entry)
    if unused:
        raise MXNetError(unknown_argument_message(unused, names[len(args) :]))
    node._inputs = tuple(inputs)
    assign_versions(node)
    set_initializers(node)


def unknown_argument_message(given: Iterable[str], candidates: Iterable[str]) -> str:
    """MXNet's message for a keyword argument that is not an input."""
    candidates = list(candidates)
    unknown = next(name for name in given if name not in candidates)
    listing = "".join(f"\t[{i}]{name}\n" for i, name in enumerate(candidates))
    return f"Symbol.ComposeKeyword argument name {unknown} not found.\nCandidate arguments:\n{listing}"
