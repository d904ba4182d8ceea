"""Shapes and dtypes over a whole graph, forwards and backwards until nothing new is learnt."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from .._core.dtypes import NAMES
from .._core.errors import MXNetError
from .._ops import infer as single
from .._ops.registry import Attrs
from .._ops.shapes import open_bracket
from .node import Entry, Node, auxiliary, walk
from .reverse import reverse
from .types import output_types

Shape = tuple[int, ...]
Slot = tuple[int, int]


class Facts:
    """What is known about every entry of a graph: one value per entry, made more precise step by step."""

    def __init__(self, heads: Iterable[Entry], zero: int = 0) -> None:
        self.heads, self.zero = list(heads), zero
        self.nodes = walk(self.heads)
        self.values: dict[Slot, Any] = {}
        self.changed = False

    def of(self, entry: Entry) -> Any:
        return self.values.get((id(entry.node), entry.index))

    def inputs(self, node: Node) -> list[Any]:
        return [self.of(entry) for entry in node.inputs]

    def outputs(self, node: Node) -> list[Any]:
        return [self.values.get((id(node), i)) for i in range(node.outputs())]

    def learn(self, node: Node, index: int, value: Any, unify: Callable[[Any, Any], Any]) -> None:
        slot = (id(node), index)
        old = self.values.get(slot)
        if value is None or value == old:
            return
        new = unify(old, value) if old is not None else value
        if new != old:
            self.values[slot] = new
            self.changed = True

    def settle(self, step: Callable[[Node], bool]) -> None:
        """Visit the operators forwards and backwards until nothing changes; a step says if its node is finished."""
        waiting = [n for n in self.nodes if n.op is not None]
        while waiting:
            self.changed = False
            waiting = [n for n in waiting if not step(n)]
            waiting = [n for n in reversed(waiting) if not step(n)][::-1]
            if not self.changed:
                return

    def results(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Values of arguments, outputs and auxiliary states."""
        changed = auxiliary(self.nodes)
        variables = [n for n in self.nodes if n.op is None]
        args = [self.values.get((id(n), 0)) for n in variables if id(n) not in changed]
        aux = [self.values.get((id(n), 0)) for n in variables if id(n) in changed]
        return args, [self.of(head) for head in self.heads], aux

    def complete(self, done: Callable[[Any], bool]) -> bool:
        """Is everything known, every output of every node included?"""
        return all(done(self.values.get((id(n), i))) for n in self.nodes for i in range(n.outputs()))


def _unify_shapes(node: Node, what: str) -> Callable[[Shape, Shape], Shape]:
    def unify(old: Shape, new: Shape) -> Shape:
        if len(old) != len(new) or any(a and b and a != b for a, b in zip(old, new, strict=True)):
            raise MXNetError(
                f"Error in operator {node.name}: Shape inconsistent, Provided = {open_bracket(old)}, "
                f"inferred shape={open_bracket(new)} ({what})"
            )
        return tuple(a or b for a, b in zip(old, new, strict=True))

    return unify


def _named(node: Node, error: MXNetError) -> MXNetError:
    text = re.sub(r"(Incompatible attr in node )\S* at", lambda found: f"{found[1]}{node.name} at", str(error))
    return (
        error
        if text.startswith(f"Error in operator {node.name}:")
        else MXNetError(f"Error in operator {node.name}: {text}")
    )


def check_names(nodes: list[Node], given: Iterable[str], source: str) -> None:
    """Facts about variables that the graph does not have are a mistake."""
    names = [n.name for n in nodes if n.op is None]
    for name in given:
        if name not in names:
            listing = "".join(f"\t[{i}]{n}\n" for i, n in enumerate(names))
            raise MXNetError(f"{source}Keyword argument name {name} not found.\nCandidate arguments:\n{listing}")


def shape_facts(heads: Iterable[Entry], given: dict[str, Shape | None], strict: bool = True, zero: int = 0) -> Facts:
    """All shapes that follow from the given ones and from what variables say of themselves.

    A size of 0 is unknown; `zero` is what stands for a known one (see `zero.py`).
    """
    facts = Facts(heads, zero)
    if strict:
        check_names(facts.nodes, given, "InferShape")
    for node in facts.nodes:
        if node.op is None:
            shape = given.get(node.name)
            if shape is None or not (shape or zero):
                shape = own_shape(node, zero)
            if shape is not None:
                facts.values[(id(node), 0)] = tuple(shape)
    facts.settle(lambda node: _shape_step(facts, node))
    return facts


def encoded(shape: Iterable[int], zero: int) -> Shape:
    """A user's shape as rules read it: sizes below zero are unknown, zeros are what stands for them."""
    return tuple(zero if s == 0 else max(int(s), 0) for s in shape)


def own_shape(node: Node, zero: int) -> Shape | None:
    """The shape that a variable was declared with."""
    text = node.attrs.get("__shape__")
    if text is None:
        return None
    from .._core.attrs import literal

    try:
        value = literal(text)
        shape = encoded(value if isinstance(value, (tuple, list)) else (value,), zero)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise MXNetError(f"variable {node.name}: its attribute __shape__ is {text[:80]!r}, which is no shape") from None
    return shape if shape or zero else None


def _shape_step(facts: Facts, node: Node) -> bool:
    ins, outs = facts.inputs(node), facts.outputs(node)
    try:
        ins, outs = one_shape(node, ins, outs)
        if facts.zero and not node.inputs and node.parsed.get("shape"):
            outs = [encoded(node.parsed["shape"], facts.zero)] * len(outs)
    except MXNetError as error:
        raise _named(node, error) from error
    for entry, name, shape in zip(node.inputs, _input_labels(node), ins, strict=True):
        facts.learn(entry.node, entry.index, shape, _unify_shapes(node, f"input {name}"))
    for i, shape in enumerate(outs):
        facts.learn(node, i, shape, _unify_shapes(node, f"output {i}"))
    return all(single.known(s) for s in ins) and all(single.known(s) for s in outs)


def _input_labels(node: Node) -> list[str]:
    names = node.input_names()
    return [names[i] if i < len(names) else str(i) for i in range(len(node.inputs))]


def one_shape(node: Node, ins: list[Shape | None], outs: list[Shape | None]) -> tuple[list[Any], list[Any]]:
    """One operator's input and output shapes, each as far as the others tell."""
    op = node.op
    assert op is not None
    if node.subgraphs:
        from .control import subgraph_shapes

        return subgraph_shapes(node, ins, outs)
    full = op.full(node.parsed)
    if any(s is not None for s in outs):
        ins = reverse(op.name, full, op.shape == "same", ins, outs)
    return single.infer_shape(op, counted(node), ins)


def counted(node: Node) -> Attrs:
    """Parsed attributes, with the number of inputs of a variadic operator."""
    op, parsed = node.op, node.parsed
    assert op is not None
    if op.variadic is not None and op.count in op.attrs and op.count not in parsed:
        return {**parsed, op.count: len(node.inputs)}
    return parsed


# dtypes


def type_facts(heads: Iterable[Entry], given: dict[str, str], strict: bool = True) -> Facts:
    """All dtypes, as names, that follow from the given ones and from what variables say of themselves."""
    facts = Facts(heads)
    if strict:
        check_names(facts.nodes, given, "InferType")
    for node in facts.nodes:
        if node.op is None:
            dtype = given.get(node.name) or _own_dtype(node)
            if dtype:
                facts.values[(id(node), 0)] = dtype
    facts.settle(lambda node: _type_step(facts, node))
    return facts


def _own_dtype(node: Node) -> str | None:
    text = node.attrs.get("__dtype__")
    return NAMES.get(int(text)) if text is not None and text.lstrip("-").isdigit() else None


def _type_step(facts: Facts, node: Node) -> bool:
    ins, outs = facts.inputs(node), facts.outputs(node)
    try:
        ins, outs = one_type(node, ins, outs)
    except MXNetError as error:
        raise _named(node, error) from error
    for i, (entry, dtype) in enumerate(zip(node.inputs, ins, strict=True)):
        facts.learn(entry.node, entry.index, dtype, _unify_types(node, i))
    for i, dtype in enumerate(outs):
        facts.learn(node, i, dtype, _unify_types(node, i))
    return all(ins) and all(outs)


def _unify_types(node: Node, index: int) -> Callable[[str, str], str]:
    def unify(old: str, new: str) -> str:
        raise MXNetError(
            f"Error in operator {node.name}: Incompatible attr in node {node.name} at {index}-th input: "
            f"expected {new}, got {old}"
        )

    return unify


def one_type(node: Node, ins: list[str | None], outs: list[str | None]) -> tuple[list[Any], list[Any]]:
    """One operator's input and output dtypes; where all are one, outputs tell inputs."""
    op = node.op
    assert op is not None
    if node.subgraphs:
        from .control import subgraph_types

        return subgraph_types(node, ins, outs)
    attrs = counted(node)
    full = op.full(attrs)
    backwards = op.dtype == "same" and op.fill_types is None and "dtype" not in op.attrs
    if backwards and ins and not any(ins) and outs and outs[0] is not None:
        ins = [outs[0]] * len(ins)
    if ins:
        ins = single.infer_type(op, attrs, ins)[0]
    new = output_types(op.name, full, ins, len(outs))
    return ins, [a or b for a, b in zip(new, outs, strict=True)]
