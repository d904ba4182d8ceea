"""Shape and dtype inference over a graph: operators are visited forwards and backwards up to a fixpoint."""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple

from ..._core.attrs import literal
from ..._core.dtypes import NAMES
from ..._core.errors import MXNetError
from ..._ops.registry import output_shapes as op_inference
from ..._ops.registry.registry import Attrs
from ..._ops.registry.shape_rules import open_bracket
from ...util import is_np_shape
from ..ir.node import GRAPH_CACHES, Entry, Node, topological_order
from .reverse import reverse
from .types import output_types

Shape = tuple[int, ...]


class Rules(NamedTuple):
    """How one property of a graph's entries (shape or dtype) is inferred."""

    cache_key: str  # under which results are cached in `Call.inferred`
    infer_node: Callable[[Node, list[Any], list[Any]], tuple[list[Any], list[Any]]]  # refines inputs and outputs
    join: Callable[[Node, str, int, Any, Any], Any]  # (node, "input" or "output", position, old, new) -> merged
    known: Callable[[Any], Any]


# What inference of a node found: refined inputs (position and value), the outputs, and whether all of it is known.
Inference = tuple[list[tuple[int, Any]], tuple[Any, ...], bool]


class Facts:
    """What is known about every entry of a graph: one value per entry, refined step by step."""

    def __init__(self, heads: Iterable[Entry], rules: Rules, zero: int = 0) -> None:
        self.heads, self.rules, self.zero = list(heads), rules, zero
        self.graph = topological_order(self.heads)
        self.values: dict[Node, tuple[Any, ...]] = {}
        self.changed = False
        self.unresolved: list[Node] = []  # operators whose rules left something unknown
        self._reused: dict[Node, tuple[Any, ...]] = {}  # values taken over by `start_from`
        self._reused_changed = False

    def start_from(self, part: "Facts") -> None:
        """Start with the results of a subgraph of this graph."""
        self.values, self.unresolved, self._reused = dict(part.values), part.unresolved, part.values

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

    def run_to_fixpoint(self) -> None:
        """Visit the operators in alternating directions until nothing changes; resolved ones are left out.

        `dormant` are unresolved operators of a reused subgraph; they are visited only if one of its values changed.
        """
        pending, dormant = self._first_visit(), self.unresolved
        while True:
            if dormant and self._reused_changed:
                pending, dormant = [*dormant, *pending], []
            if not pending:
                break
            self.changed = False
            pending = [n for n in reversed(pending) if not self._visit(n)]
            if not self.changed:
                break
        self.unresolved = [*dormant, *pending]

    def _first_visit(self) -> list[Node]:
        """Visit all operators that have no values yet; returns those that are not resolved."""
        values, cache_key, pending = self.values, self.rules.cache_key, []
        for node in self.graph.calls:
            if node in values:
                continue
            ins = tuple([values[entry[0]][entry[1]] for entry in node.inputs])
            changes, outs, resolved = node.call.inferred.get((cache_key, ins, None)) or self._infer(node, ins, None)
            for position, value in changes:
                self._refine_input(node, position, ins[position], value)
            values[node] = outs
            if not resolved:
                pending.append(node)
        return pending

    def _visit(self, node: Node) -> bool:
        """Refine the operator's inputs and outputs; returns whether all of them are known now."""
        values = self.values
        ins = tuple([values[entry[0]][entry[1]] for entry in node.inputs])
        outs = values[node]
        cached = node.call.inferred.get((self.rules.cache_key, ins, outs))
        changes, new_outs, resolved = cached or self._infer(node, ins, outs)
        for position, value in changes:
            self._refine_input(node, position, ins[position], value)
        if new_outs != outs:
            self._set(node, new_outs)
        return resolved

    def _set(self, node: Node, values: tuple[Any, ...]) -> None:
        self.values[node] = values
        self.changed = True
        self._reused_changed = self._reused_changed or node in self._reused

    def _infer(self, node: Node, ins: tuple[Any, ...], outs: tuple[Any, ...] | None) -> Inference:
        """Apply the operator's rules; the result is cached for all nodes that make the same call."""
        known = node.call.inferred.again((self.rules.cache_key, ins, outs))
        if known:
            return known
        rules, old = self.rules, outs or (None,) * node.outputs()
        try:
            new_ins, new_outs = rules.infer_node(node, list(ins), list(old))
        except MXNetError as error:
            raise _with_node_name(node, error) from None
        if self.zero and not ins and node.parsed.get("shape"):
            new_outs = [encode_shape(node.parsed["shape"], self.zero)] * len(old)
        merged = [self._merge(node, "input", i, *pair) for i, pair in enumerate(zip(ins, new_ins, strict=True))]
        changes = [(i, value) for i, value in enumerate(merged) if value != ins[i]]
        results = tuple(self._merge(node, "output", i, *pair) for i, pair in enumerate(zip(old, new_outs, strict=True)))
        inference = changes, results, all(map(rules.known, new_ins)) and all(map(rules.known, new_outs))
        if node.call.cacheable and not node.subgraphs:
            node.call.cache_inference((rules.cache_key, ins, outs), inference)
        return inference

    def _merge(self, node: Node, side: str, position: int, old: Any, new: Any) -> Any:
        if new is None or new == old:
            return old
        return new if old is None else self.rules.join(node, side, position, old, new)

    def _refine_input(self, node: Node, position: int, old: Any, value: Any) -> None:
        source, index, _ = node.inputs[position]
        known = self.values[source]
        if known[index] is not old:  # the operator reads one entry twice
            value = self._merge(node, "input", position, known[index], value)
        self._set(source, (*known[:index], value, *known[index + 1 :]))

    def results(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Values of arguments, outputs and auxiliary states."""
        values, mutated, variables = self.values, self.graph.mutated, self.graph.variables
        args = [values[n][0] for n in variables if id(n) not in mutated]
        aux = [values[n][0] for n in variables if id(n) in mutated] if mutated else []
        return args, [self.of(head) for head in self.heads], aux

    def complete(self, done: Callable[[Any], bool]) -> bool:
        """Are all values known (by `done`), including hidden outputs?"""
        nodes = self.graph.nodes if self.unresolved else [head.node for head in self.heads]
        return all(done(value) for node in nodes for value in self.values[node])


def _join_shapes(node: Node, side: str, position: int, old: Shape, new: Shape) -> Shape:
    if len(old) != len(new) or any(a and b and a != b for a, b in zip(old, new, strict=True)):
        names = node.input_names() if side == "input" else ()
        raise MXNetError(
            f"Error in operator {node.name}: Shape inconsistent, Provided = {open_bracket(old)}, "
            f"inferred shape={open_bracket(new)} ({side} {names[position] if position < len(names) else position})"
        )
    return tuple(a or b for a, b in zip(old, new, strict=True))


def _with_node_name(node: Node, error: MXNetError) -> MXNetError:
    text = re.sub(r"(Incompatible attr in node )\S* at", lambda found: f"{found[1]}{node.name} at", str(error))
    return (
        error
        if text.startswith(f"Error in operator {node.name}:")
        else MXNetError(f"Error in operator {node.name}: {text}")
    )


def check_names(variables: list[Node], given: Iterable[str], source: str) -> None:
    """Refuse values for variables that the graph does not have."""
    names = {n.name for n in variables}
    for name in given:
        if name not in names:
            listing = "".join(f"\t[{i}]{n.name}\n" for i, n in enumerate(variables))
            raise MXNetError(f"{source}Keyword argument name {name} not found.\nCandidate arguments:\n{listing}")


def shape_facts(heads: Iterable[Entry], given: dict[str, Shape | None], strict: bool = True, zero: int = 0) -> Facts:
    """Infer all shapes from the given ones and those that variables were declared with.

    A size of 0 is unknown; `zero` is the number that stands for a known size of 0 (see `zero_size.py`).
    """

    def initial(node: Node) -> Shape | None:
        shape = given.get(node.name)
        if shape is None or not (shape or zero):
            return declared_shape(node, zero) if node.attrs else None
        return tuple(shape)

    facts = Facts(heads, _shape_rules(zero), zero)
    if strict:
        check_names(facts.graph.variables, given, "InferShape")
    return _solve(facts, given, initial)


# Programs ask for the shapes of every intermediate value while they build a graph: results of recent graphs are reused.
MIN_CACHED_NODES, MAX_CACHED_GRAPHS = 16, 8
_RECENT: list[tuple[dict[str, Any], Facts]] = []
GRAPH_CACHES.append(_RECENT)


def _solve(facts: Facts, given: dict[str, Any], initial: Callable[[Node], Any]) -> Facts:
    """Infer all values from the initial ones of the variables, reusing the results of a subgraph if there are any."""
    part = _largest_cached_subgraph(facts, given)
    if part is not None:
        facts.start_from(part)
    try:
        for node in facts.graph.variables:
            if node not in facts.values:
                facts.values[node] = (initial(node),)
        facts.run_to_fixpoint()
    except MXNetError:
        if part is None:
            raise
        _RECENT.clear()  # visit the whole graph, so that the first error is the same as without reuse
        return _solve(Facts(facts.heads, facts.rules), given, initial)
    if not facts.zero and len(facts.values) >= MIN_CACHED_NODES:
        _RECENT[:] = [*_RECENT[1 - MAX_CACHED_GRAPHS :], (dict(given), facts)]  # a copy: the caller may change its dict
    return facts


def _largest_cached_subgraph(facts: Facts, given: dict[str, Any]) -> Facts | None:
    """The largest subgraph that was inferred recently from the same given values."""
    members, cache_key = facts.graph.members, facts.rules.cache_key
    parts = [
        part
        for known, part in _RECENT
        if part.rules.cache_key == cache_key and known == given and all(head[0] in members for head in part.heads)
    ]
    return max(parts, key=lambda part: len(part.values), default=None)


@cache
def _shape_rules_of(zero: int, np_shape: bool) -> Rules:
    return Rules(f"shape {zero} {np_shape}", infer_node_shapes, _join_shapes, op_inference.known)


def _shape_rules(zero: int) -> Rules:
    """Rules for the current shape semantics, at which some operators look."""
    return _shape_rules_of(zero, is_np_shape())


def encode_shape(shape: Iterable[int], zero: int) -> Shape:
    """A user's shape as rules read it: negative sizes become 0 (unknown), zeros become `zero`."""
    return tuple(zero if s == 0 else max(int(s), 0) for s in shape)


def declared_shape(node: Node, zero: int) -> Shape | None:
    """The shape that a variable was declared with."""
    text = node.attrs.get("__shape__")
    if text is None:
        return None
    try:
        shape = _parse_shape(text, zero)
    except (TypeError, ValueError):
        raise MXNetError(f"variable {node.name}: its attribute __shape__ is {text[:80]!r}, which is no shape") from None
    return shape if shape or zero else None


@lru_cache(1 << 12)
def _parse_shape(text: str, zero: int) -> Shape:
    value = literal(text)
    return encode_shape(value if isinstance(value, (tuple, list)) else (value,), zero)  # type: ignore[arg-type]


def infer_node_shapes(node: Node, ins: list[Shape | None], outs: list[Shape | None]) -> tuple[list[Any], list[Any]]:
    """Refine one operator's input and output shapes, each from all the others."""
    op = node.op
    assert op is not None
    if node.subgraphs:
        from ..lower.subgraphs import subgraph_shapes

        return subgraph_shapes(node, ins, outs)
    if any(s is not None for s in outs):
        ins = reverse(op.name, node.call.full, op.shape == "same", ins, outs)
    return op_inference.infer_shape(op, attrs_with_count(node), ins)


def attrs_with_count(node: Node) -> Attrs:
    """Parsed attributes, with the number of inputs of a variadic operator."""
    op, parsed = node.op, node.parsed
    assert op is not None
    if op.variadic is not None and op.count in op.attrs and op.count not in parsed:
        return {**parsed, op.count: len(node.inputs)}
    return parsed


# dtypes


def type_facts(heads: Iterable[Entry], given: dict[str, str], strict: bool = True) -> Facts:
    """Infer all dtypes, as names, from the given ones and those that variables were declared with."""
    facts = Facts(heads, _TYPE_RULES)
    if strict:
        check_names(facts.graph.variables, given, "InferType")
    return _solve(facts, given, lambda node: given.get(node.name) or _declared_dtype(node))


def _declared_dtype(node: Node) -> str | None:
    text = node.attrs.get("__dtype__")
    return NAMES.get(int(text)) if text is not None and text.lstrip("-").isdigit() else None


def _dtype_conflict(node: Node, side: str, position: int, old: str, new: str) -> str:
    raise MXNetError(
        f"Error in operator {node.name}: Incompatible attr in node {node.name} at {position}-th input: "
        f"expected {new}, got {old}"
    )


def infer_node_types(node: Node, ins: list[str | None], outs: list[str | None]) -> tuple[list[Any], list[Any]]:
    """Refine one operator's input and output dtypes; if all must be equal, those of outputs give those of inputs."""
    op = node.op
    assert op is not None
    if node.subgraphs:
        from ..lower.subgraphs import subgraph_types

        return subgraph_types(node, ins, outs)
    attrs = attrs_with_count(node)
    full = op.full(attrs)
    backwards = op.dtype == "same" and op.fill_types is None and "dtype" not in op.attrs
    if backwards and ins and not any(ins) and outs and outs[0] is not None:
        ins = [outs[0]] * len(ins)
    if ins:
        ins = op_inference.infer_type(op, attrs, ins)[0]
    new = output_types(op.name, full, ins, len(outs))
    return ins, [a or b for a, b in zip(new, outs, strict=True)]


_TYPE_RULES = Rules("type", infer_node_types, _dtype_conflict, bool)
