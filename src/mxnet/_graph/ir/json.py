"""A graph as MXNet 1.x's JSON: written byte for byte as MXNet 1.9.1 writes it, read from files of every version."""

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from typing import Any

from ..._core.errors import MXNetError
from ..._ops.registry.registry import Op, lookup
from ..._ops.registry.shape_rules import open_bracket
from ...util import is_np_shape
from ..infer.fixpoint import declared_shape
from .attributes import HIDDEN
from .node import Entry, Node, entry_of, set_initializers, topological_order, variable, walk

VERSION = 10901
MAX_COUNT = 1 << 16
_COUNTS = {"num_args", "num_arrays", "num_outputs", "num_tensors", "num_weights", "sections"}
_SPECIAL = re.compile(r'[\\"\n\r\t]').search
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


# writing


def _quoted(word: str) -> str:
    return f'"{word.translate(_ESCAPES) if _SPECIAL(word) else word}"'


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


def _node(node: Node, number: dict[Node, int], indent: int) -> str:
    space = "\n" + " " * (indent + 2)
    text = f'{{{space}"op": "{node.op.name if node.op else "null"}", {space}"name": {_quoted(node.name)}, {space}'
    if node.attrs:
        text += f'"attrs": {_attributes(tuple(node.attrs.items()), indent + 2)}, {space}'
    text += f'"inputs": {_flat([_entry(e, number) for e in node.inputs], indent + 2)}'
    if node.subgraphs and "subgraph" not in node.attrs:
        text += f', {space}"subgraphs": {_list([_graph(g, indent + 4) for g in node.subgraphs], indent + 2, True)}'
    return f"{text}{space[:-2]}}}"


@lru_cache(1 << 12)
def _attributes(pairs: tuple[tuple[str, str], ...], indent: int) -> str:
    return _object([(key, _quoted(value)) for key, value in sorted(pairs)], indent, len(pairs) > 1)


def _entry(entry: Entry, number: dict[Node, int]) -> str:
    return f"[{number[entry[0]]}, {entry[1]}, {entry[2]}]"


def _graph(heads: Iterable[Entry], indent: int, attrs: str | None = None) -> str:
    heads = list(heads)
    nodes = walk(heads)
    number = {node: i for i, node in enumerate(nodes)}
    rows = accumulate([0, *[n.outputs() if n.subgraphs else n.call.declared for n in nodes]])
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
    """The graph without the casts of automatic mixed precision. A cast that is an output stays, as in MXNet."""
    heads = list(heads)
    if not {"amp_cast", "amp_multicast"} & {n.op.name for n in topological_order(heads).calls}:  # type: ignore[union-attr]
        return heads

    def skip_casts(entry: Entry) -> Entry:
        while entry.node.op is not None and entry.node.op.name in ("amp_cast", "amp_multicast"):
            entry = entry.node.inputs[entry.index]
        return entry

    outputs = {id(head.node) for head in heads}
    new: dict[int, Node] = {}
    for node in walk(heads):
        if id(node) in outputs or skip_casts(Entry(node)).node is node:
            inputs = [skip_casts(e) for e in node.inputs]
            new[id(node)] = node.with_inputs([Entry(new[id(e.node)], *e[1:]) for e in inputs])
    return [Entry(new[id(e.node)], *e[1:]) for e in heads]


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
        _mark_unknown_sizes(heads)
    return heads


def _mark_unknown_sizes(heads: list[Entry]) -> None:
    """Files without `is_np_shape` write an unknown size as 0; under NumPy semantics, where 0 is a size, it is -1."""
    for node in walk(heads):
        shape = declared_shape(node, 0) if node.op is None else None
        if shape is not None:
            node.attrs["__shape__"] = open_bracket(shape)


def _malformed(message: str) -> MXNetError:
    return MXNetError(f"malformed symbol JSON: {message}")


def _expect(condition: Any, message: str) -> None:
    if not condition:
        raise _malformed(message)


def _version(data: dict[str, Any]) -> int:
    """The number of the MXNet version that wrote the file; 0.8 and before did not write one."""
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
    return [_read_entry(raw, nodes, None) for raw in data["heads"]]


def _operator(op: str, name: str) -> Op:
    found = lookup(op)
    if found is None:
        raise MXNetError(f"Failed loading Op {name} of type {op}: Operator {op} is not registered")
    return found


def _read_node(raw: Any, position: int, earlier: list[Node]) -> Node:
    if not isinstance(raw, dict):
        raise _malformed(f"node {position} must be an object")
    op, name = raw.get("op"), raw.get("name")
    if not isinstance(op, str) or not isinstance(name, str):
        raise _malformed(f'node {position} needs "op" and "name"')
    inputs, subgraphs = raw.get("inputs", []), raw.get("subgraphs", [])
    if not isinstance(inputs, list):
        raise _malformed(f'"inputs" of node {name} must be an array')
    operator = None if op == "null" else _operator(op, name)
    attrs = _read_attrs(raw, name)
    if operator is None and inputs:
        raise _malformed(f"variable {name} must not have inputs")
    node = Node(operator, name, attrs, [_read_entry(e, earlier, name) for e in inputs])
    if not isinstance(subgraphs, list):
        raise _malformed(f'"subgraphs" of node {name} must be an array')
    node.subgraphs = [_read_graph(graph) for graph in subgraphs]
    return node


def _read_attrs(raw: dict[str, Any], name: str) -> dict[str, str]:
    """Attributes under all their historic keys: `param` up to 0.8, `attr` up to 0.12, `attrs` since."""
    attrs: dict[str, str] = {}
    for key in ("param", "attr", "attrs"):
        part = raw.get(key)
        if part is None and key not in raw:
            continue
        if not isinstance(part, dict) or not all(isinstance(value, str) for value in part.values()):
            raise _malformed(f'"{key}" of node {name} must map names to text')
        attrs.update(part)
    return attrs


def _read_entry(raw: Any, nodes: list[Node], user: str | None) -> Entry:
    """What an input of the node `user` points at; a head if there is none."""
    where = "heads" if user is None else f"inputs of node {user}"
    if not isinstance(raw, list) or not 2 <= len(raw) <= 3 or {*map(type, raw)} != {int} or min(raw) < 0:
        raise _malformed(f"{where}: {raw!r} is not [node, output, version]")
    if raw[0] >= len(nodes):
        raise _malformed(f"{where}: node {raw[0]} is not defined before its use")
    return entry_of((nodes[raw[0]], raw[1], raw[2] if len(raw) == 3 else 0))


# upgrading


def upgrade(heads: list[Entry], version: int = VERSION) -> None:
    """Parse all nodes, and convert what older versions wrote differently."""
    nodes = walk(heads)
    for node in nodes:
        _move_hidden_attributes(node)
        node.parse()
        _check_counts(node)
        if version < 900:
            _add_missing_inputs(node)
        if version < 904:
            set_initializers(node)
        if version < 905 and node.op is not None and node.op.name in ("argmax", "argmin"):
            _upgrade_flat_argmax(node)
        for graph in node.subgraphs:
            upgrade(graph)
    _check(nodes, heads)


def _check_counts(node: Node) -> None:
    """Refuse absurd counts of inputs or outputs, which would make huge lists."""
    for key in _COUNTS & node.parsed.keys():
        count = node.parsed[key]
        small = not isinstance(count, int) or count <= MAX_COUNT
        _expect(small, f"node {node.name}: {key}={count} is more than {MAX_COUNT}")


def _move_hidden_attributes(node: Node) -> None:
    """Old files have `lr_mult` and the like, even `weight_lr_mult`, among an operator's own attributes."""
    for key in [k for k in node.attrs if k.endswith(HIDDEN) and not k.startswith("__")]:
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


def _add_missing_inputs(node: Node) -> None:
    """Files from before 0.9 leave auxiliary states out."""
    if node.op is None or node.op.variadic is not None:
        return
    missing = node.input_names()[len(node.inputs) :]
    names = [f"{node.name}_{name}" if node.name else name for name in missing]
    node.inputs = [*node.inputs, *[Entry(variable(name, dict(node.attrs))) for name in names]]


def _upgrade_flat_argmax(node: Node) -> None:
    """Before 0.9.5 an axis of -1 meant the whole array."""
    if node.attrs.get("axis") == "-1":
        del node.attrs["axis"]
        node.parse()


def _check(nodes: Iterable[Node], heads: list[Entry]) -> None:
    """Check that nodes have the right number of inputs, and that every entry is an output of its node."""
    for node in nodes:
        if node.op is not None:
            _check_inputs(node, node.op)
        for i in node.mutated():
            target = node.inputs[i]
            _expect(target.node.op is None, f"node {node.name} changes an input that is not a variable")
            target.node.version = max(target.node.version, target.version)
    for entry in heads:
        _in_range(entry, None)


def _check_inputs(node: Node, op: Op) -> None:
    counted = op.inputs_of is not None or (callable(op.outputs) and op.count not in op.defaults)
    if counted and op.count in op.attrs and op.count not in node.parsed:
        raise _malformed(f"node {node.name} ({op.name}) does not say its {op.count}")
    if node.subgraphs or "_graphs" in op.injected:
        from ..lower.subgraphs import check_subgraphs

        check_subgraphs(node)
    else:
        least, most = node.call.arity(len(node.inputs))
        if not least <= len(node.inputs) <= most:
            raise _malformed(f"node {node.name} ({op.name}) has {len(node.inputs)} inputs, it takes {most}")
    for entry in node.inputs:
        _in_range(entry, node)


def _in_range(entry: Entry, user: Node | None) -> None:
    count = entry.node.outputs()
    if entry.index >= count:
        where = "heads" if user is None else f"inputs of node {user.name}"
        name, index = entry.node.name, entry.index
        raise _malformed(f"{where}: {name} has {count} outputs, number {index} is asked for")
