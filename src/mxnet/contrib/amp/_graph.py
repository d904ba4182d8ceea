"""Casts in graphs: every node gets its inputs in the precision its operator wants, as MXNet's pass gives them."""

from ..._core.dtypes import FLAGS
from ..._graph.infer.fixpoint import infer_node_types, type_facts
from ..._graph.ir.node import Entry, call_node, invalidate_graph_caches, walk
from ..._ops.registry.registry import find
from .._output_names import output_name

HIGH = "float32"
CASTS = ("amp_cast", "amp_multicast")


class Rules:
    """Which operators want which precision."""

    def __init__(self, dtype, low, high, conditional, widest, excluded=()):
        self.dtype, self.low, self.high, self.widest = dtype, set(low), set(high), set(widest)
        self.conditional, self.excluded = [(n, a, set(v)) for n, a, v in conditional], set(excluded)

    def wanted(self, node):
        """`dtype`, float32, "widest", or None when the operator takes what it gets."""
        if node.name in self.excluded or node.op.name in self.high:
            return HIGH
        if node.op.name in self.low:
            return self.dtype
        if node.op.name in self.widest:
            return "widest"
        return HIGH if self.condition(node) else None

    def condition(self, node):
        """Does an attribute that was written down have a value that asks for single precision?"""
        free = node.name not in self.excluded and node.op.name not in self.high
        return free and any(n == node.op.name and node.attrs.get(a) in values for n, a, values in self.conditional)


class Converter:
    """A copy of a graph with casts; each value is cast to a type once.

    `versions` holds, for each of the two precisions, the values that are known to be there in it: what an operator
    of that precision gives, what a cast gave, and what operators without a wish make of such values.
    """

    def __init__(self, heads, rules, parameters=(), cast_parameters=False):
        self.rules = rules
        self.stored = parameters if cast_parameters else ()
        self.versions = {rules.dtype: {}, HIGH: {}}
        self.new = {}
        for node in walk(heads):
            self._convert(node)
        self.heads = [self._version(e, HIGH) for e in heads]

    def _convert(self, node):
        twin = node.with_inputs()
        self.new[id(node)] = twin
        for i, kind in enumerate(self._variable(node) if node.op is None else self._operator(node, twin)):
            if kind in self.versions:
                self.versions[kind][id(node), i, 0] = Entry(twin, i)

    def _variable(self, node):
        return [HIGH] if node.name in self.rules.excluded else []

    def _operator(self, node, twin):
        """Give the node its inputs; returns what its outputs are."""
        wanted = self.rules.wanted(node)
        if wanted == "widest":
            wanted, twin.inputs = self._widest(node)
        elif wanted is None:
            twin.inputs = [self._plain(e) for e in node.inputs]
            return self._told(node)
        else:
            types, outs = self._types(node, wanted)
            twin.inputs = self._inputs(node, wanted, types)
            if wanted != HIGH:
                return outs
        return [wanted] * node.outputs()

    def _inputs(self, node, wanted, types):
        """The inputs in the precision that the operator's list says, but those of which the operator says otherwise."""
        return [
            self._read(e, wanted, node) if kind == wanted or wanted == HIGH else self._plain(e)
            for e, kind in zip(node.inputs, types, strict=True)
        ]

    def _read(self, entry, wanted, node):
        """The value in a precision; variables may do without a cast: parameters stored so, and single ones in MXNet."""
        variable = entry.node.op is None and not self._has(entry, wanted)
        if variable and wanted == HIGH and not self.rules.condition(node):
            return self._plain(entry)
        if variable and wanted != HIGH and entry.node.name in self.stored:
            self.versions[wanted][self._key(entry)] = self._plain(entry)
        return self._version(entry, wanted)

    def _told(self, node):
        """What the outputs of an operator in no list are, as far as its first input tells."""
        for kind in self.versions:
            if node.inputs and self._has(node.inputs[0], kind):
                ins, outs = self._types(node, kind)
                return outs if all(ins) and all(outs) else []
        return []

    @staticmethod
    def _types(node, kind):
        return infer_node_types(node, [kind, *[None] * len(node.inputs)][: len(node.inputs)], [None] * node.outputs())

    def _widest(self, node):
        """All inputs in the widest of their precisions; only where one of these is unknown is that left to the run."""
        low, high = ([self._has(e, kind) for e in node.inputs] for kind in (self.rules.dtype, HIGH))
        if all(low) and not any(high):
            return self.rules.dtype, [self._version(e, self.rules.dtype) for e in node.inputs]
        if all(a or b for a, b in zip(low, high, strict=True)):
            return HIGH, [self._version(e, HIGH) for e in node.inputs]
        return None, self._multicast(node.inputs)

    def _multicast(self, entries):
        attrs = {"num_outputs": str(len(entries))}
        name = f"{self._label(entries[0])}_amp_multicast"
        made = call_node(find("amp_multicast"), name, attrs, [self._plain(e) for e in entries], {})
        return [Entry(made, i, e.version) for i, e in enumerate(entries)]

    def _plain(self, entry):
        return Entry(self.new[id(entry.node)], entry.index, entry.version)

    def _has(self, entry, kind):
        return self._key(entry) in self.versions[kind]

    def _version(self, entry, kind):
        """The value in a precision, cast if it must be."""
        known, key = self.versions[kind], self._key(entry)
        if key not in known:
            name = f"{self._label(entry)}_amp_cast_{kind}"
            made = call_node(find("amp_cast"), name, {"dtype": kind}, [self._plain(entry)], {})
            known[key] = Entry(made, 0, entry.version)
        return known[key]

    @staticmethod
    def _key(entry):
        return id(entry.node), entry.index, entry.version

    @staticmethod
    def _label(entry):
        node = entry.node
        return node.name if node.op is None else f"{node.name}_{output_name(node, entry.index)}"


def store(heads, data, parameters, rules, cast_parameters):
    """Write the precision in which each parameter is stored on its variable, as far as types can be told."""
    nodes = walk(heads)
    for node in nodes:
        if node.op is None and node.name in parameters:
            node.attrs.pop("__dtype__", None)
    invalidate_graph_caches()
    facts = type_facts(heads, dict.fromkeys(data, HIGH))
    types = {n.name: facts.first(n) for n in nodes if n.op is None}
    if cast_parameters:
        types |= _read_as(nodes, types, rules.dtype)
    for node in nodes:
        if node.op is None and (node.name in parameters if parameters else "__dtype__" in node.attrs):
            node.attrs["__dtype__"] = str(FLAGS[types[node.name] or HIGH])
    invalidate_graph_caches()


def _read_as(nodes, types, dtype):
    """Variables of unknown type are stored in the type to which all casts that read them, and only variables, cast."""
    wishes = {}
    for node in nodes:
        names = [e.node.name for e in node.inputs if e.node.op is None]
        if node.op is not None and node.op.name in CASTS and len(names) == len(node.inputs):
            for name in names:
                if types[name] is None:
                    wishes.setdefault(name, set()).add(node.parsed.get("dtype", dtype))
    return {name: kinds.pop() if len(kinds) == 1 else None for name, kinds in wishes.items()}
