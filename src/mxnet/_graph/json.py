"""A graph as MXNet 1.x's JSON: written byte for byte as MXNet 1.9.1 writes it, read from every age."""

import json
from collections.abc import Iterable
from typing import Any

from .._core.errors import MXNetError
from .._ops.registry import Op, lookup
from .._ops.shapes import open_bracket
from ..util import is_np_shape
from .attributes import HIDDEN
from .infer import own_shape
from .node import Entry, Node, initialise, variable, walk
from .outputs import declared

VERSION = 10901
MOST = 1 << 16
_COUNTS = {"num_args", "num_arrays", "num_outputs", "num_tensors", "num_weights", "sections"}
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


# writing


def _quoted(word: str) -> str:
    return f'"{word.translate(_ESCAPES)}"'


def _list(items: list[str], indent: int, spread: bool) -> str:
    """A JSON array, on one line or one item a line."""
    if not spread or not items:
        return f"[{', '.join(items)}]"
    space = "\n" + " " * (indent + 2)
    return "[" + space + f", {space}".join(items) + "\n" + " " * indent + "]"


def _object(fields: list[tuple[str, str]], indent: int, spread: bool = True) -> str:
    items = [f"{_quoted(key)}: {value}" for key, value in fields]
    if not spread:
        return f"{{{', '.join(items)}}}"
    space = "\n" + " " * (indent + 2)
    return "{" + space + f", {space}".join(items) + "\n" + " " * indent + "}"


def _flat(items: list[str], indent: int) -> str:
    return _list(items, indent, len(items) > 10)


def _node(node: Node, number: dict[int, int], indent: int) -> str:
    fields = [("op", _quoted(node.op.name if node.op else "null")), ("name", _quoted(node.name))]
    if node.attrs:
        pairs = [(key, _quoted(value)) for key, value in sorted(node.attrs.items())]
        fields.append(("attrs", _object(pairs, indent + 2, len(pairs) > 1)))
    fields.append(("inputs", _flat([_entry(e, number) for e in node.inputs], indent + 2)))
    if node.subgraphs and "subgraph" not in node.attrs:
        fields.append(("subgraphs", _list([_graph(g, indent + 4) for g in node.subgraphs], indent + 2, True)))
    return _object(fields, indent)


def _entry(entry: Entry, number: dict[int, int]) -> str:
    return f"[{number[id(entry.node)]}, {entry.index}, {entry.version}]"


def _graph(heads: Iterable[Entry], indent: int, attrs: str | None = None) -> str:
    heads = list(heads)
    nodes = walk(heads)
    number = {id(node): i for i, node in enumerate(nodes)}
    rows = [0]
    for node in nodes:
        rows.append(rows[-1] + declared(node))
    fields = [
        ("nodes", _list([_node(n, number, indent + 4) for n in nodes], indent + 2, True)),
        ("arg_nodes", _flat([str(i) for i, n in enumerate(nodes) if n.op is None], indent + 2)),
        ("node_row_ptr", _flat([str(r) for r in rows], indent + 2)),
        ("heads", _flat([_entry(e, number) for e in heads], indent + 2)),
    ]
    if attrs is not None:
        fields.append(("attrs", attrs))
    return _object(fields, indent)


def dumps(heads: Iterable[Entry], np_shape: bool = False) -> str:
    """The JSON text of the graph below `heads`."""
    version = ("mxnet_version", f'["int", {VERSION}]')
    flags = [("is_np_shape", '["int", 1]'), version] if np_shape else [version]
    return _graph(heads, 0, _object(flags, 2, len(flags) > 1))


def without_casts(heads: Iterable[Entry]) -> list[Entry]:
    """The graph without the casts that automatic mixed precision put in."""
    heads = list(heads)
    if not any(n.op is not None and n.op.name in ("amp_cast", "amp_multicast") for n in walk(heads)):
        return heads

    def bare(entry: Entry) -> Entry:
        while entry.node.op is not None and entry.node.op.name in ("amp_cast", "amp_multicast"):
            entry = entry.node.inputs[entry.index]
        return entry

    new: dict[int, Node] = {}
    for node in walk(heads):
        if bare(Entry(node)).node is node:
            inputs = [bare(e) for e in node.inputs]
            twin = Node(node.op, node.name, dict(node.attrs), [Entry(new[id(e.node)], *e[1:]) for e in inputs])
            twin.parsed, twin.subgraphs, twin.version = node.parsed, node.subgraphs, node.version
            new[id(node)] = twin
    return [Entry(new[id(e.node)], *e[1:]) for e in map(bare, heads)]


# reading


def loads(text: str) -> list[Entry]:
    """The heads of the graph that a JSON text describes, brought up to date."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MXNetError(f"the symbol is not valid JSON: {error}") from None
    heads = _read_graph(data)
    version = _version(data)
    upgrade(heads, version)
    if is_np_shape() and "is_np_shape" not in data.get("attrs", {}):
        _tell_unknown(heads)
    return heads


def _tell_unknown(heads: list[Entry]) -> None:
    """Files from before NumPy's shapes write a size that is not known as 0, which is a size to those who have them."""
    for node in walk(heads):
        shape = own_shape(node, 0) if node.op is None else None
        if shape is not None:
            node.attrs["__shape__"] = open_bracket(shape)


def _expect(condition: Any, message: str) -> None:
    if not condition:
        raise MXNetError(f"malformed symbol JSON: {message}")


def _version(data: dict[str, Any]) -> int:
    """MXNet's number of the version that wrote the file; 0.8 did not write one."""
    attrs = data.get("attrs", {})
    _expect(isinstance(attrs, dict), '"attrs" must be an object')
    version = attrs.get("mxnet_version", ["int", 800])
    _expect(
        isinstance(version, list) and len(version) == 2 and isinstance(version[1], int),
        '"mxnet_version" must be ["int", number]',
    )
    return version[1]


def _read_graph(data: Any) -> list[Entry]:
    _expect(isinstance(data, dict), "the text must be one object")
    for key in ("nodes", "heads"):
        _expect(isinstance(data.get(key), list), f'"{key}" must be an array')
    nodes: list[Node] = []
    for i, raw in enumerate(data["nodes"]):
        nodes.append(_read_node(raw, i, nodes))
    _expect(data["heads"], '"heads" must not be empty')
    return [_read_entry(raw, nodes, "heads") for raw in data["heads"]]


def _operator(op: str, name: str) -> Op:
    found = lookup(op)
    if found is None:
        raise MXNetError(f"Failed loading Op {name} of type {op}: Operator {op} is not registered")
    return found


def _read_node(raw: Any, place: int, before: list[Node]) -> Node:
    _expect(isinstance(raw, dict), f"node {place} must be an object")
    op, name = raw.get("op"), raw.get("name")
    _expect(isinstance(op, str) and isinstance(name, str), f'node {place} needs "op" and "name"')
    inputs = raw.get("inputs", [])
    _expect(isinstance(inputs, list), f'"inputs" of node {name} must be an array')
    node = Node(None if op == "null" else _operator(op, name), name, _read_attrs(raw, name))
    _expect(node.op is not None or not inputs, f"variable {name} must not have inputs")
    node.inputs = [_read_entry(e, before, f"inputs of node {name}") for e in inputs]
    subgraphs = raw.get("subgraphs", [])
    _expect(isinstance(subgraphs, list), f'"subgraphs" of node {name} must be an array')
    node.subgraphs = [_read_graph(graph) for graph in subgraphs]
    return node


def _read_attrs(raw: dict[str, Any], name: str) -> dict[str, str]:
    """Attributes under all their historic keys: `param` up to 0.8, `attr` up to 0.12, `attrs` since."""
    attrs: dict[str, str] = {}
    for key in ("param", "attr", "attrs"):
        part = raw.get(key, {})
        fine = isinstance(part, dict) and all(isinstance(value, str) for value in part.values())
        _expect(fine, f'"{key}" of node {name} must map names to text')
        attrs.update(part)
    return attrs


def _read_entry(raw: Any, nodes: list[Node], where: str) -> Entry:
    fine = isinstance(raw, list) and 2 <= len(raw) <= 3 and all(type(n) is int and n >= 0 for n in raw)
    _expect(fine, f"{where}: {raw!r} is not [node, output, version]")
    _expect(raw[0] < len(nodes), f"{where}: node {raw[0]} is not defined before its use")
    return Entry(nodes[raw[0]], raw[1], raw[2] if len(raw) == 3 else 0)


# upgrading


def upgrade(heads: list[Entry], version: int = VERSION) -> None:
    """Parse all nodes, and mend what older versions wrote differently."""
    nodes = walk(heads)
    for node in nodes:
        _hide(node)
        node.parse()
        _bound(node)
        if version < 900:
            _add_missing(node)
        if version < 904:
            initialise(node)
        if version < 905 and node.op is not None and node.op.name in ("argmax", "argmin"):
            _whole_axis(node)
        for graph in node.subgraphs:
            upgrade(graph)
    _check(nodes, heads)


def _bound(node: Node) -> None:
    """Refuse counts of inputs or outputs that no network has: lists of that length are made of them."""
    for key in _COUNTS & node.parsed.keys():
        count = node.parsed[key]
        _expect(not isinstance(count, int) or count <= MOST, f"node {node.name}: {key}={count} is more than {MOST}")


def _hide(node: Node) -> None:
    """Old files keep `lr_mult` and friends, and even `weight_lr_mult`, among an operator's own attributes."""
    for key in [k for k in node.attrs if not k.startswith("__") and k.endswith(HIDDEN)]:
        hidden = next(h for h in HIDDEN if key.endswith(h))
        value = node.attrs.pop(key)
        if key == hidden:
            node.attrs[f"__{hidden}__"] = value
            continue
        node.parse()
        owner = key[: -len(hidden) - 1]
        names = node.input_names() if node.op is not None else ()
        if owner in names and names.index(owner) < len(node.inputs):
            target = node.inputs[names.index(owner)].node
            if target.op is None:
                target.attrs[f"__{hidden}__"] = value
                continue
        node.attrs[key] = value


def _add_missing(node: Node) -> None:
    """Files from before 0.9 leave auxiliary states out."""
    if node.op is None or node.op.variadic is not None:
        return
    for name in node.input_names()[len(node.inputs) :]:
        full = f"{node.name}_{name}" if node.name else name
        node.inputs.append(Entry(variable(full, dict(node.attrs))))


def _whole_axis(node: Node) -> None:
    """Before 0.9.5 an axis of -1 meant the whole array."""
    if node.attrs.get("axis") == "-1":
        del node.attrs["axis"]
        node.parse()


def _check(nodes: list[Node], heads: list[Entry]) -> None:
    """Every input must exist: right number of inputs, outputs within what their nodes give."""
    for node in nodes:
        if node.op is not None:
            _expect(
                node.op.inputs_of is None or node.op.count not in node.op.attrs or node.op.count in node.parsed,
                f"node {node.name} ({node.op.name}) does not say its {node.op.count}",
            )
            wanted = node.op.input_names(node.parsed, len(node.inputs))
            least = len([n for n in wanted if n not in node.op.optional])
            if node.subgraphs or "_graphs" in node.op.injected:
                from .control import check

                check(node)
            else:
                _expect(
                    least <= len(node.inputs) <= len(wanted),
                    f"node {node.name} ({node.op.name}) has {len(node.inputs)} inputs, it takes {len(wanted)}",
                )
        for entry in node.inputs:
            _in_range(entry, f"inputs of node {node.name}")
        for target in [node.inputs[i] for i in node.mutated()]:
            _expect(target.node.op is None, f"node {node.name} changes an input that is not a variable")
            target.node.version = max(target.node.version, target.version)
    for entry in heads:
        _in_range(entry, "heads")


def _in_range(entry: Entry, where: str) -> None:
    count = entry.node.outputs()
    _expect(entry.index < count, f"{where}: {entry.node.name} has {count} outputs, number {entry.index} is asked for")
