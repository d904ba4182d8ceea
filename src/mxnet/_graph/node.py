"""The graph: nodes, and entries that point at one output of a node."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .._core.errors import MXNetError
from .._ops.registry import Attrs, Op
from .outputs import NAMES

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

    __slots__ = ("attrs", "inputs", "name", "op", "parsed", "subgraphs", "version")

    def __init__(self, op: Op | None, name: str, attrs: dict[str, str], inputs: list["Entry"] | None = None) -> None:
        self.op, self.name, self.attrs = op, name, attrs
        self.inputs: list[Entry] = inputs if inputs is not None else []
        self.parsed: Attrs = {}
        self.subgraphs: list[list[Entry]] = []
        self.version = 0  # of a variable: how often operators made so far change it

    def parse(self) -> None:
        """Read the text of the attributes into values; operators that have none accept any text."""
        if self.op is not None and self.op.attrs:
            self.parsed = self.op.parse(self.attrs)
        if self.op is not None and self.op.name == CACHED and "subgraph" in self.attrs:
            from .json import loads

            self.subgraphs = [loads(self.attrs["subgraph"])]

    def input_names(self) -> tuple[str, ...]:
        assert self.op is not None
        return self.op.input_names(self.parsed, len(self.inputs))

    def output_names(self) -> tuple[str, ...]:
        if self.op is None:
            return ("",)
        if self.op.name == CACHED and self.subgraphs:
            return tuple(label(head) for head in self.subgraphs[0])
        names = self.op.output_names(self.parsed)
        return (NAMES[self.op.name],) if len(names) == 1 and self.op.name in NAMES else names

    def outputs(self) -> int:
        """How many outputs there are, hidden ones included."""
        return len(self.output_names())

    def visible(self) -> int:
        if self.op is None or self.op.name == CACHED:
            return self.outputs()
        return self.op.visible_outputs(self.parsed)

    def mutated(self) -> list[int]:
        """Positions of the inputs that the operator changes."""
        op = self.op
        if op is not None and op.name in (CACHED, *FUSED) and self.subgraphs:
            inner = walk(self.subgraphs[0])
            changed = auxiliary(inner)
            return [i for i, n in enumerate(n for n in inner if n.op is None) if id(n) in changed]
        if op is None or not (op.aux or op.mutates):
            return []
        changed = {*op.aux_names(self.parsed), *op.mutates}
        names = self.input_names()[: len(self.inputs)]  # mom_0, mom_1, … if they are updates of many weights
        return [i for i, n in enumerate(names) if n in changed or op.variadic and n.rpartition("_")[0] in changed]

    def __repr__(self) -> str:
        return f"<node {self.name}: {self.op.name if self.op else 'variable'}>"


class Entry(NamedTuple):
    """One output of a node; the version tells apart the states of a variable that operators change."""

    node: Node
    index: int = 0
    version: int = 0


def label(entry: Entry) -> str:
    """What an entry is called in lists of outputs: a variable's name, or the node's name and the output's."""
    node = entry.node
    if node.op is None:
        return node.name
    name = node.output_names()[entry.index]
    return f"{node.name}_{name}" if node.name else name


def variable(name: str, attrs: dict[str, str] | None = None) -> Node:
    return Node(None, name, attrs if attrs is not None else {})


def walk(heads: Iterable[Entry]) -> list[Node]:
    """Every node below `heads`, inputs before users, in MXNet's order (depth first, inputs from left to right)."""
    seen: set[int] = set()
    order: list[Node] = []
    for head in heads:
        if id(head.node) in seen:
            continue
        seen.add(id(head.node))
        stack: list[tuple[Node, Iterator[Entry]]] = [(head.node, iter(head.node.inputs))]
        while stack:
            node, rest = stack[-1]
            for entry in rest:
                if id(entry.node) not in seen:
                    seen.add(id(entry.node))
                    stack.append((entry.node, iter(entry.node.inputs)))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def auxiliary(nodes: Iterable[Node]) -> set[int]:
    """Ids of the variables that some operator changes."""
    return {id(node.inputs[i].node) for node in nodes for i in node.mutated()}


def copy(heads: Iterable[Entry], replace: Callable[[Entry], Entry | None] | None = None) -> list[Entry]:
    """A new graph like the one below `heads`; `replace` may put other entries in place of some."""
    heads = list(heads)
    new: dict[int, Node] = {}

    def moved(entry: Entry) -> Entry:
        other = replace(entry) if replace is not None else None
        return other if other is not None else Entry(new[id(entry.node)], entry.index, entry.version)

    for node in walk(heads):
        twin = Node(node.op, node.name, dict(node.attrs), [moved(e) for e in node.inputs])
        twin.parsed, twin.subgraphs, twin.version = node.parsed, node.subgraphs, node.version
        new[id(node)] = twin
    return [moved(entry) for entry in heads]


def stamp(node: Node) -> None:
    """Give the node's variable inputs their versions; those it changes get a new one."""
    for i, entry in enumerate(node.inputs):
        if entry.node.op is None:
            node.inputs[i] = Entry(entry.node, entry.index, entry.node.version)
    for i in node.mutated():
        target = node.inputs[i].node
        if target.op is not None:
            raise MXNetError(
                f"Mutation target can only be Variable: input {i} of {node.name} ({node.op.name}) is the output of "  # type: ignore[union-attr]
                f"{target.name}"
            )
        target.version += 1
        node.inputs[i] = Entry(target, 0, target.version)


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
    node.inputs = inputs
    stamp(node)
    initialise(node)


def mismatch(given: Iterable[str], candidates: Iterable[str]) -> str:
    candidates = list(candidates)
    unknown = next(name for name in given if name not in candidates)
    listing = "".join(f"\t[{i}]{name}\n" for i, name in enumerate(candidates))
    return f"Symbol.ComposeKeyword argument name {unknown} not found.\nCandidate arguments:\n{listing}"
