"""Shapes and dtypes over a whole graph, forwards and backwards until nothing new is learnt."""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple

from ..._core.attrs import literal
from ..._core.dtypes import NAMES
from ..._core.errors import MXNetError
from ..._ops.registry import output_shapes as single
from ..._ops.registry.registry import Attrs
from ..._ops.registry.shape_rules import open_bracket
from ...util import is_np_shape
from ..ir.node import REMEMBERED, Entry, Node, order
from .reverse import reverse
from .types import output_types

Shape = tuple[int, ...]


class Rules(NamedTuple):
    """How one property of a graph's entries is found."""

    question: str  # what answers are kept under: those to another one differ
    one: Callable[[Node, list[Any], list[Any]], tuple[list[Any], list[Any]]]  # an operator's inputs and outputs
    join: Callable[[Node, str, int, Any, Any], Any]  # (user, "input" or "output", place, old, new) -> both together
    known: Callable[[Any], Any]


# Inputs that are better known than before (place and value), the outputs, and if nothing is open.
Answer = tuple[list[tuple[int, Any]], tuple[Any, ...], bool]


class Facts:
    """What is known about every entry of a graph: one value per entry, made more precise step by step."""

    def __init__(self, heads: Iterable[Entry], rules: Rules, zero: int = 0) -> None:
        self.heads, self.rules, self.zero = list(heads), rules, zero
        self.graph = order(self.heads)
        self.values: dict[Node, tuple[Any, ...]] = {}
        self.changed = False
        self.open: list[Node] = []  # operators whose rules leave something unsaid
        self._before: dict[Node, tuple[Any, ...]] = {}
        self._moved = False  # has a value of those changed?

    def go_on_from(self, part: "Facts") -> None:
        """Start with what is known of a graph that is a part of this one."""
        self.values, self.open, self._before = dict(part.values), part.open, part.values

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.graph.nodes

    def of(self, entry: Entry) -> Any:
        found = self.values.get(entry.node)
        return found[entry.index] if found is not None else None

    def first(self, node: Node) -> Any:
        """The value of a variable, or of an operator's first output."""
        return self.of(Entry(node))

    def outputs(self, node: Node) -> list[Any]:
        return list(self.values[node])

    def settle(self) -> None:
        """Visit the operators forwards and backwards until nothing changes; those that are finished are left out."""
        waiting, settled = self._first_visit(), self.open
        while True:
            if settled and self._moved:
                waiting, settled = [*settled, *waiting], []
            if not waiting:
                break
            self.changed = False
            waiting = [n for n in reversed(waiting) if not self._visit(n)]
            if not self.changed:
                break
        self.open = [*settled, *waiting]

    def _first_visit(self) -> list[Node]:
        """Visit all operators of which nothing is known; those that are not finished."""
        values, question, waiting = self.values, self.rules.question, []
        for node in self.graph.calls:
            if node in values:
                continue
            ins = tuple([values[entry[0]][entry[1]] for entry in node.inputs])
            changes, outs, finished = node.call.answers.get((question, ins, None)) or self._asked(node, ins, None)
            for place, value in changes:
                self._learn(node, place, ins[place], value)
            values[node] = outs
            if not finished:
                waiting.append(node)
        return waiting

    def _visit(self, node: Node) -> bool:
        """Learn what the operator tells of its inputs and outputs; is everything known of it now?"""
        values = self.values
        ins = tuple([values[entry[0]][entry[1]] for entry in node.inputs])
        outs = values[node]
        found = node.call.answers.get((self.rules.question, ins, outs)) or self._asked(node, ins, outs)
        for place, value in found[0]:
            self._learn(node, place, ins[place], value)
        if found[1] != outs:
            self._set(node, found[1])
        return found[2]

    def _set(self, node: Node, values: tuple[Any, ...]) -> None:
        self.values[node] = values
        self.changed = True
        self._moved = self._moved or node in self._before

    def _asked(self, node: Node, ins: tuple[Any, ...], outs: tuple[Any, ...] | None) -> Answer:
        """By the operator's rules; the answer is kept for all nodes that make the same call."""
        known = node.call.answers.again((self.rules.question, ins, outs))
        if known:
            return known
        rules, old = self.rules, outs or (None,) * node.outputs()
        try:
            new_ins, new_outs = rules.one(node, list(ins), list(old))
        except MXNetError as error:
            raise _named(node, error) from error
        if self.zero and not ins and node.parsed.get("shape"):
            new_outs = [encoded(node.parsed["shape"], self.zero)] * len(old)
        better = [self._better(node, "input", i, *pair) for i, pair in enumerate(zip(ins, new_ins, strict=True))]
        changes = [(i, value) for i, value in enumerate(better) if value != ins[i]]
        made = tuple(self._better(node, "output", i, *pair) for i, pair in enumerate(zip(old, new_outs, strict=True)))
        answer = changes, made, all(map(rules.known, new_ins)) and all(map(rules.known, new_outs))
        if node.call.lasting and not node.subgraphs:
            node.call.keep((rules.question, ins, outs), answer)
        return answer

    def _better(self, node: Node, side: str, place: int, old: Any, new: Any) -> Any:
        if new is None or new == old:
            return old
        return new if old is None else self.rules.join(node, side, place, old, new)

    def _learn(self, node: Node, place: int, old: Any, value: Any) -> None:
        source, index, _ = node.inputs[place]
        known = self.values[source]
        if known[index] is not old:  # the operator reads one entry twice
            value = self._better(node, "input", place, known[index], value)
        self._set(source, (*known[:index], value, *known[index + 1 :]))

    def results(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Values of arguments, outputs and auxiliary states."""
        values, changed, variables = self.values, self.graph.changed, self.graph.variables
        args = [values[n][0] for n in variables if id(n) not in changed]
        aux = [values[n][0] for n in variables if id(n) in changed] if changed else []
        return args, [self.of(head) for head in self.heads], aux

    def complete(self, done: Callable[[Any], bool]) -> bool:
        """Is everything known, every output of every node included?"""
        nodes = self.graph.nodes if self.open else [head.node for head in self.heads]
        return all(done(value) for node in nodes for value in self.values[node])


def _joined_shape(node: Node, side: str, place: int, old: Shape, new: Shape) -> Shape:
    if len(old) != len(new) or any(a and b and a != b for a, b in zip(old, new, strict=True)):
        names = node.input_names() if side == "input" else ()
        raise MXNetError(
            f"Error in operator {node.name}: Shape inconsistent, Provided = {open_bracket(old)}, "
            f"inferred shape={open_bracket(new)} ({side} {names[place] if place < len(names) else place})"
        )
    return tuple(a or b for a, b in zip(old, new, strict=True))


def _named(node: Node, error: MXNetError) -> MXNetError:
    text = re.sub(r"(Incompatible attr in node )\S* at", lambda found: f"{found[1]}{node.name} at", str(error))
    return (
        error
        if text.startswith(f"Error in operator {node.name}:")
        else MXNetError(f"Error in operator {node.name}: {text}")
    )


def check_names(variables: list[Node], given: Iterable[str], source: str) -> None:
    """Facts about variables that the graph does not have are a mistake."""
    names = {n.name for n in variables}
    for name in given:
        if name not in names:
            listing = "".join(f"\t[{i}]{n.name}\n" for i, n in enumerate(variables))
            raise MXNetError(f"{source}Keyword argument name {name} not found.\nCandidate arguments:\n{listing}")


def shape_facts(heads: Iterable[Entry], given: dict[str, Shape | None], strict: bool = True, zero: int = 0) -> Facts:
    """All shapes that follow from the given ones and from what variables say of themselves.

    A size of 0 is unknown; `zero` is what stands for a known one (see `zero.py`).
    """

    def told(node: Node) -> Shape | None:
        shape = given.get(node.name)
        if shape is None or not (shape or zero):
            return own_shape(node, zero) if node.attrs else None
        return tuple(shape)

    facts = Facts(heads, _shape_rules(zero), zero)
    if strict:
        check_names(facts.graph.variables, given, "InferShape")
    return _settled(facts, given, told)


# Programs ask for the shape of each value while a graph grows: what was found of its parts.
LEAST_KEPT, MOST_KEPT = 16, 8
_RECENT: list[tuple[dict[str, Any], Facts]] = []
REMEMBERED.append(_RECENT)


def _settled(facts: Facts, given: dict[str, Any], told: Callable[[Node], Any]) -> Facts:
    """Find all that follows from what is told of the variables."""
    part = _known_part(facts, given)
    if part is not None:
        facts.go_on_from(part)
    try:
        for node in facts.graph.variables:
            if node not in facts.values:
                facts.values[node] = (told(node),)
        facts.settle()
    except MXNetError:
        if part is None:
            raise
        _RECENT.clear()  # errors are told in the order in which the whole graph is visited
        return _settled(Facts(facts.heads, facts.rules), given, told)
    if not facts.zero and len(facts.values) >= LEAST_KEPT:
        _RECENT[:] = [*_RECENT[1 - MOST_KEPT :], (dict(given), facts)]  # whose owner may change it
    return facts


def _known_part(facts: Facts, given: dict[str, Any]) -> Facts | None:
    """The largest part of the graph of which all is found already, from the same beginnings."""
    members, question = facts.graph.members, facts.rules.question
    parts = [
        part
        for known, part in _RECENT
        if part.rules.question == question and known == given and all(head[0] in members for head in part.heads)
    ]
    return max(parts, key=lambda part: len(part.values), default=None)


@cache
def _shape_rules_of(zero: int, np_shape: bool) -> Rules:
    return Rules(f"shape {zero} {np_shape}", one_shape, _joined_shape, single.known)


def _shape_rules(zero: int) -> Rules:
    """Some operators look at whether NumPy's semantics hold."""
    return _shape_rules_of(zero, is_np_shape())


def encoded(shape: Iterable[int], zero: int) -> Shape:
    """A user's shape as rules read it: sizes below zero are unknown, zeros are what stands for them."""
    return tuple(zero if s == 0 else max(int(s), 0) for s in shape)


def own_shape(node: Node, zero: int) -> Shape | None:
    """The shape that a variable was declared with."""
    text = node.attrs.get("__shape__")
    if text is None:
        return None
    try:
        shape = _declared(text, zero)
    except (TypeError, ValueError):
        raise MXNetError(f"variable {node.name}: its attribute __shape__ is {text[:80]!r}, which is no shape") from None
    return shape if shape or zero else None


@lru_cache(1 << 12)
def _declared(text: str, zero: int) -> Shape:
    value = literal(text)
    return encoded(value if isinstance(value, (tuple, list)) else (value,), zero)  # type: ignore[arg-type]


def one_shape(node: Node, ins: list[Shape | None], outs: list[Shape | None]) -> tuple[list[Any], list[Any]]:
    """One operator's input and output shapes, each as far as the others tell."""
    op = node.op
    assert op is not None
    if node.subgraphs:
        from ..lower.subgraphs import subgraph_shapes

        return subgraph_shapes(node, ins, outs)
    if any(s is not None for s in outs):
        ins = reverse(op.name, node.call.full, op.shape == "same", ins, outs)
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
    facts = Facts(heads, _TYPE_RULES)
    if strict:
        check_names(facts.graph.variables, given, "InferType")
    return _settled(facts, given, lambda node: given.get(node.name) or _own_dtype(node))


def _own_dtype(node: Node) -> str | None:
    text = node.attrs.get("__dtype__")
    return NAMES.get(int(text)) if text is not None and text.lstrip("-").isdigit() else None


def _refused_type(node: Node, side: str, place: int, old: str, new: str) -> str:
    raise MXNetError(
        f"Error in operator {node.name}: Incompatible attr in node {node.name} at {place}-th input: "
        f"expected {new}, got {old}"
    )


def one_type(node: Node, ins: list[str | None], outs: list[str | None]) -> tuple[list[Any], list[Any]]:
    """One operator's input and output dtypes; where all are one, outputs tell inputs."""
    op = node.op
    assert op is not None
    if node.subgraphs:
        from ..lower.subgraphs import subgraph_types

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


_TYPE_RULES = Rules("type", one_type, _refused_type, bool)
