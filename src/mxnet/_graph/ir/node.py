"""The graph: nodes, and entries that point at one output of a node."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from ..._core.errors import MXNetError
from ..._ops.registry.registry import Attrs, Op
from .call import VARIABLE, Call, bare, call_of

CACHED = "_CachedOp"  # a call of a graph, which it carries as the text of an attribute
# What MXNet's oneDNN backend makes of a layer and the operators behind it, which it carries as a graph.
FUSED = {
    "_sg_mkldnn_conv": "Convolution",
    "_sg_mkldnn_fully_connected": "FullyConnected",
    "_sg_mkldnn_selfatt_qk": "_contrib_interleaved_matmul_selfatt_qk",
    "_sg_mkldnn_selfatt_valatt": "_contrib_interleaved_matmul_selfatt_valatt",
}
# What an operator asks of the variables that feed it, by input position; put there unless the user said otherwise.
_CENTER = {3: '["zero", {}]', 4: '["one", {}]'}
INITIAL = {
    "BatchNorm": _CENTER,
    "BatchNorm_v1": _CENTER,
    "CuDNNBatchNorm": _CENTER,
    "_contrib_BatchNormWithReLU": _CENTER,
    "_contrib_SyncBatchNorm": _CENTER,
    "IdentityAttachKLSparseReg": {1: '["zero", {}]'},
    "UpSampling": {1: '["bilinear", {}]'},
    "LeakyReLU": {1: '["Constant", {"value": 0.25}]'},
}


class Node:
    """A variable (`op` is None) or one call of an operator: its name, attributes as text, where inputs come from."""

    __slots__ = ("_inputs", "attrs", "call", "name", "op", "subgraphs", "version")

    def __init__(
        self, op: Op | None, name: str, attrs: dict[str, str], inputs: Iterable["Entry"] = (), call: Call | None = None
    ) -> None:
        self.op, self.name, self.attrs = op, name, attrs
        self._inputs: tuple[Entry, ...] = tuple(inputs)
        self.call = call or (VARIABLE if op is None else bare(op))
        self.subgraphs: list[list[Entry]] = []
        self.version = 0  # of a variable: how often operators made so far change it

    @property
    def inputs(self) -> tuple["Entry", ...]:
        return self._inputs

    @inputs.setter
    def inputs(self, value: Iterable["Entry"]) -> None:
        self._inputs = tuple(value)
        forget()

    @property
    def parsed(self) -> Attrs:
        """The attributes as values, which nodes share: a change of them is a new dict."""
        return self.call.parsed

    @parsed.setter
    def parsed(self, value: Attrs) -> None:
        self.call = Call(self.op, value)
        forget()

    def parse(self) -> None:
        """Read the text of the attributes into values."""
        op = self.op
        if op is None:
            return
        if self.call is not bare(op):
            forget()
        self.call = call_of(op, self.attrs)
        if op.name == CACHED and "subgraph" in self.attrs:
            from .json import loads

            self.subgraphs = [loads(self.attrs["subgraph"])]

    def twin(self, inputs: Iterable["Entry"] = ()) -> "Node":
        """A node that makes the same call of other inputs, under the same name."""
        twin = Node(self.op, self.name, self.attrs.copy(), inputs, self.call)
        twin.subgraphs, twin.version = self.subgraphs, self.version
        return twin

    def input_names(self) -> tuple[str, ...]:
        assert self.op is not None
        return self.op.input_names(self.call.parsed, len(self._inputs))

    def output_names(self) -> tuple[str, ...]:
        if self.subgraphs and self.op is not None and self.op.name == CACHED:
            return tuple(label(head) for head in self.subgraphs[0])
        return self.call.output_names

    def outputs(self) -> int:
        """How many outputs there are, hidden ones included."""
        return len(self.output_names())

    def visible(self) -> int:
        return self.outputs() if self.op is not None and self.op.name == CACHED else self.call.visible

    def mutated(self) -> Sequence[int]:
        """Positions of the inputs that the operator changes."""
        if self.subgraphs and self.op is not None and self.op.name in (CACHED, *FUSED):
            inner = order(self.subgraphs[0])
            return [i for i, n in enumerate(inner.variables) if id(n) in inner.changed]
        return self.call.mutated(len(self._inputs))

    def __repr__(self) -> str:
        return f"<node {self.name}: {self.op.name if self.op else 'variable'}>"


class Entry(NamedTuple):
    """One output of a node; the version tells apart the states of a variable that operators change."""

    node: Node
    index: int = 0
    version: int = 0


# Makes an entry of (node, index, version), in half the time of `Entry(...)`.
entry_of: Callable[[tuple[Node, int, int]], Entry] = partial(tuple.__new__, Entry)


def label(entry: Entry) -> str:
    """What an entry is called in lists of outputs: a variable's name, or the node's name and the output's."""
    node = entry.node
    if node.op is None:
        return node.name
    name = node.output_names()[entry.index]
    return f"{node.name}_{name}" if node.name else name


def variable(name: str, attrs: dict[str, str] | None = None) -> Node:
    return Node(None, name, attrs if attrs is not None else {})


class Order:
    """A graph's nodes, inputs before users, as a set, too; of these its variables and its calls."""

    def __init__(self, members: set[Node], nodes: tuple[Node, ...], variables: list[Node]) -> None:
        self.members, self.nodes, self.variables = members, nodes, variables
        self.calls = [n for n in nodes if n.op is not None]

    @cached_property
    def changed(self) -> set[int]:
        """Ids of the variables that some call changes; not to be asked before attributes are read."""
        return auxiliary(self.calls)


MOST_ORDERS = 8
_ORDERS: dict[tuple[Node, ...], Order] = {}  # of graphs asked for of late
REMEMBERED: list[Any] = [_ORDERS]  # what is known of graphs as they are


def forget() -> None:
    """Call this when a node changes that others may have seen."""
    for kept in REMEMBERED:
        kept.clear()


def order(heads: Iterable[Entry]) -> Order:
    """The order of the graph below `heads`."""
    key = tuple([head[0] for head in heads])
    found = _ORDERS.get(key)
    if found is None:
        found = _walked(key)
        if len(_ORDERS) >= MOST_ORDERS:
            _ORDERS.clear()
        _ORDERS[key] = found
    return found


def walk(heads: Iterable[Entry]) -> tuple[Node, ...]:
    """Every node below `heads`, inputs before users, in MXNet's order (depth first, inputs from left to right)."""
    return order(heads).nodes


def _walked(heads: Iterable[Node]) -> Order:
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
    return Order(seen, tuple(nodes), [n for n in leaves if n.op is None])


def auxiliary(nodes: Iterable[Node]) -> set[int]:
    """Ids of the variables that some operator changes."""
    changing = [n for n in nodes if n.call.changes or n.subgraphs]
    return {id(node._inputs[i][0]) for node in changing for i in node.mutated()}


def copy(heads: Iterable[Entry], replace: Callable[[Entry], Entry | None] | None = None) -> list[Entry]:
    """A new graph like the one below `heads`; `replace` may put other entries in place of some."""
    heads = list(heads)
    new: dict[Node, Node] = {}

    def moved(entry: Entry) -> Entry:
        other = replace(entry) if replace is not None else None
        return other if other is not None else entry_of((new[entry[0]], entry[1], entry[2]))

    for node in walk(heads):
        if replace is None:
            new[node] = node.twin([entry_of((new[e[0]], e[1], e[2])) for e in node.inputs])
        else:
            new[node] = node.twin([moved(e) for e in node.inputs])
    return [moved(entry) for entry in heads]


def stamp(node: Node) -> None:
    """Give the node's variable inputs their versions; those it changes get a new one."""
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


def initialise(node: Node) -> None:
    """Tell the node's variables how they start, where the operator knows better than a general initializer."""
    wishes: dict[int, str] = INITIAL.get(node.op.name, {}) if node.op is not None else {}
    for i, wish in wishes.items():
        if i < len(node.inputs) and node.inputs[i].node.op is None:
            node.inputs[i].node.attrs.setdefault("__init__", wish)


def call(
    op: Op, name: str, attrs: dict[str, str], args: list[Entry], named: dict[str, Entry], subgraphs: Any = ()
) -> Node:
    """A node that calls `op`; inputs that were not given become variables named after it."""
    node = Node(op, name, attrs)
    node.subgraphs = list(subgraphs)
    node.parse()
    connect(node, args, named)
    return node


def connect(node: Node, args: list[Entry], named: dict[str, Entry]) -> None:
    """Give an unconnected node its inputs: by position, by name, and the rest as new variables."""
    assert node.op is not None
    names = node.op.input_names(node.parsed, len(args) + len(named))
    if len(args) > len(names):
        raise MXNetError(
            f"Incorrect number of arguments, requires {len(names)}, provided {len(args)}, in operator {node.op.name}"
        )
    inputs, left = list(args), dict(named)
    for missing in names[len(args) :]:
        entry = left.pop(missing, None)
        if entry is None:
            if missing in node.op.optional and node.op.inputs_of is None:
                continue
            full = f"{node.name}_{missing}" if node.name else missing
            entry = Entry(variable(full, dict(node.attrs)))
        inputs.append(entry)
    if left:
        raise MXNetError(mismatch(left, names[len(args) :]))
    node._inputs = tuple(inputs)
    stamp(node)
    initialise(node)


def mismatch(given: Iterable[str], candidates: Iterable[str]) -> str:
    candidates = list(candidates)
    unknown = next(name for name in given if name not in candidates)
    listing = "".join(f"\t[{i}]{name}\n" for i, name in enumerate(candidates))
    return f"Symbol.ComposeKeyword argument name {unknown} not found.\nCandidate arguments:\n{listing}"
