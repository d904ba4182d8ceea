"""Casts in graphs: every node gets its inputs in the precision its operator wants."""

from ..._graph.node import Entry, auxiliary, call, copy, walk
from ..._ops.registry import find

HIGH = "float32"
NUMBERS = {"float32": "0", "float16": "2", "bfloat16": "12"}  # MXNet's numbers for them in attributes


class Rules:
    """Which operators want which precision."""

    def __init__(self, dtype, low, high, conditional, widest, excluded=()):
        self.dtype, self.low, self.high, self.widest = dtype, set(low), set(high), set(widest)
        self.conditional, self.excluded = [(n, a, set(v)) for n, a, v in conditional], set(excluded)

    def wanted(self, node):
        """`dtype`, float32, "widest", or None when the operator takes what it gets."""
        names = set(node.op.names)
        if node.name in self.excluded:
            return HIGH
        if names & self.low:
            return self.dtype
        attrs = node.op.full(node.parsed)
        if names & self.high or any(n in names and str(attrs.get(a)) in v for n, a, v in self.conditional):
            return HIGH
        return "widest" if names & self.widest else None


def cast_inputs(node, wanted, types, cast):
    """Give the node its inputs as `wanted`; `types` knows what entries are, `cast(entry, dtype)` makes a cast."""
    if wanted is None and node.op.dtype == "any":
        return  # such operators take parameters of single precision with data of half
    changed = node.mutated()
    floats = [i for i in range(len(node.inputs)) if i not in changed]
    if wanted in (None, "widest"):
        kinds = {types(node.inputs[i]) for i in floats}
        if len(kinds) < 2:
            return
        wanted = HIGH
    for i in floats:
        if types(node.inputs[i]) != wanted:
            node.inputs[i] = cast(node.inputs[i], wanted)


class Converter:
    """A copy of a graph with casts; each value is cast to a type once."""

    def __init__(self, heads, rules, parameters=(), cast_parameters=False):
        self.rules, self.kinds, self.casts = rules, {}, {}
        heads = copy(heads)
        nodes = walk(heads)
        if cast_parameters:
            self._store_low(nodes, parameters)
        for node in nodes:
            if node.op is not None:
                wanted = rules.wanted(node)
                cast_inputs(node, wanted, self.type_of, self.cast)
                self.kinds[id(node)] = self._result(node, wanted)
        self.heads = [e if self.type_of(e) == HIGH else self.cast(e, HIGH) for e in heads]

    def type_of(self, entry):
        return self.kinds.get(id(entry.node), HIGH)

    def _result(self, node, wanted):
        if wanted in (self.rules.dtype, HIGH):
            return wanted
        return self.type_of(node.inputs[0]) if node.inputs else HIGH

    def cast(self, entry, dtype):
        key = (id(entry.node), entry.index, dtype)
        if key not in self.casts:
            node = entry.node
            name = node.name if node.op is None else f"{node.name}_{node.output_names()[entry.index]}"
            made = call(find("amp_cast"), f"{name}_amp_cast_{dtype}", {"dtype": dtype}, [entry], {})
            self.kinds[id(made)] = dtype
            self.casts[key] = Entry(made)
        return self.casts[key]

    def _read_as(self, reader):
        """The precision in which a node reads; casts that are there already say it."""
        return reader.parsed["dtype"] if reader.op.name == "amp_cast" else self.rules.wanted(reader)

    def _store_low(self, nodes, parameters):
        """Parameters that only low-precision operators read are themselves of that precision."""
        readers = {}
        for node in nodes:
            for entry in node.inputs:
                readers.setdefault(id(entry.node), []).append(node)
        states = auxiliary(nodes)
        for node in nodes:
            if node.op is None and node.name in parameters and id(node) not in states:
                wanted = {self._read_as(reader) for reader in readers.get(id(node), ())}
                if wanted == {self.rules.dtype}:
                    self.kinds[id(node)] = self.rules.dtype
                    node.attrs["__dtype__"] = NUMBERS[self.rules.dtype]
