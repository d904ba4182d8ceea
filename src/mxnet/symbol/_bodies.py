"""Bodies of loops and branches: Python functions traced to graphs, then cut from the graph around them."""

from .._core.nest import flatten, regroup
from .._graph.ir.node import Entry, Node, entry_name, variable, walk
from .._graph.lower.subgraphs import variables
from .._ops.registry import registry
from ..attribute import AttrScope, scope
from ..name import manager
from . import op
from .register import create
from .symbol import Group, Symbol, var

_MARK = "__subgraph_name__"


def flat(value, what):
    """Symbols out of nested lists, and the form to nest them again."""
    return flatten(value, Symbol, "Symbol", what)


def unique_name(name):
    """A name for a body that no other has; bodies inside bodies carry both names."""
    outer = scope()._attr.get(_MARK, "")
    full = f"{outer}${name}" if outer else name
    AttrScope._subgraph_names[full] += 1
    return f"{full}{AttrScope._subgraph_names[full] - 1}"


def inner_name(outer):
    """What a symbol from outside is called in a body."""
    return f"{outer.name}-{outer._entries[0].index}"


def inner_variables(outer, form):
    """Variables that stand for outer symbols, nested as these are."""
    return regroup([var(inner_name(s)) for s in outer], form)


def _body(outputs, name):
    """The outputs of a body as one group: each must be a node of the body's own, made by copying if need be."""
    inputs = Group(outputs).list_inputs() if outputs else []
    return [o if o.name not in inputs and o.list_attr().get(_MARK, "") == name else op.identity(o) for o in outputs]


def cut(heads, name):
    """Separate a body from the graph around it; returns its heads, and the outer entry behind each of its inputs.

    Outer results and variables enter as variables of their names, which have no attributes.
    """
    sources: dict[str, Entry] = {}
    inner: dict[tuple[int, int], Entry] = {}
    copies: dict[int, Node] = {}

    def outside(entry):
        return entry.node.attrs.get(_MARK, "") != name

    def enter(entry):
        key = (id(entry.node), entry.index)
        if key not in inner:
            name_in = entry_name(entry)
            inner[key] = Entry(variable(name_in, {}))
            sources[name_in] = Entry(entry.node, entry.index)
        return inner[key]

    def moved(entry):
        if id(entry.node) in copies:
            return Entry(copies[id(entry.node)], entry.index, entry.version)
        return enter(entry)

    for node in walk(heads):
        if not outside(Entry(node)):
            if node.op is None:
                sources[node.name] = Entry(_copied(node), 0, node.version)
            copies[id(node)] = node.with_inputs([moved(e) for e in node.inputs])
    return [moved(e) for e in heads], sources


def _copied(node):
    twin = variable(node.name, dict(node.attrs))
    twin.version = node.version
    return twin


class Inputs:
    """The inputs of a node with bodies. What enters two bodies under one key is one input."""

    def __init__(self):
        self.entries, self.places = [], {}

    def place(self, key, entry):
        if key not in self.places:
            self.places[key] = len(self.entries)
            self.entries.append(entry)
        return self.places[key]


def input_names(heads):
    """The names of a body's inputs, in order."""
    names = [n.name for n in variables(heads)]
    assert len(set(names)) == len(names), f"The inputs of the subgraph don't have unique names: {names}"
    return names


def call(name, inputs, bodies, **attrs):
    """A node with bodies."""
    operator = registry.find(name)
    attrs = {**scope().get(None), **attrs, "num_args": len(inputs) + len(bodies)}
    return create(operator, inputs, {}, attrs, manager().get(None, name), bodies)


def outputs_and_states(outputs, states, name):
    """Outputs, then states; a state that is also an output is copied."""
    inputs, names = Group([*outputs, *states]).list_inputs(), {o.name for o in outputs}

    def own(symbol_, taken):
        free = symbol_.name not in inputs and symbol_.name not in taken
        return symbol_ if free and symbol_.list_attr().get(_MARK, "") == name else op.identity(symbol_)

    return [*[own(o, ()) for o in outputs], *[own(s, names) for s in states]]


def loop_body(loop_vars, form, function, name):
    """A body over the loop variables: its heads, where its inputs come from, and what `function` returned."""
    name = unique_name(name)
    with AttrScope(__subgraph_name__=name):
        outputs, states, out_form = function(inner_variables(loop_vars, form))
        heads = [s._entries[0] for s in _body([*outputs, *states], name)]
    heads, sources = cut(heads, name)
    return heads, sources, len(outputs), out_form


def branch_body(function, name):
    """A body without inputs of its own: its heads, where its inputs come from, the form of its outputs."""
    name = unique_name(name)
    with AttrScope(__subgraph_name__=name):
        outputs, form = flat(function(), "cond outputs")
        heads = [s._entries[0] for s in _body(outputs, name)]
    heads, sources = cut(heads, name)
    return heads, sources, form
