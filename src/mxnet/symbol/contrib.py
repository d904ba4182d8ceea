"""`sym.contrib`: operators on trial, and control flow whose bodies become graphs inside a node."""

import math

from .._core.attrs import python_number
from .._core.nest import flatten, regroup
from .._graph.control import variables
from .._graph.node import Entry, Node, label, variable, walk
from .._ops import registry
from ..attribute import AttrScope, scope
from ..base import check_call  # noqa: F401 - a name that MXNet's module shows
from ..name import manager
from . import _internal, op, symbol
from ._space import lookup
from .register import create
from .symbol import Group, Symbol, var

_function, __dir__ = lookup(globals(), "contrib")
__all__ = ["cond", "foreach", "rand_zipfian", "while_loop"]
_MARK = "__subgraph_name__"


def __getattr__(name):
    if name != "uniform":  # MXNet's module shows it
        return _function(name)
    from .random import uniform

    return uniform


def rand_zipfian(true_classes, num_sampled, range_max):
    """Classes drawn from a log-uniform distribution, and how often true and drawn classes are expected in a sample."""
    from .random import uniform

    assert isinstance(true_classes, Symbol), f"unexpected type {type(true_classes)}"
    log_range = math.log(range_max + 1)
    drawn = uniform(0, log_range, shape=(num_sampled,), dtype="float64")
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes):
        return ((classes + 2.0) / (classes + 1.0)).log() / log_range * num_sampled

    return sampled, expected(true_classes.astype("float64")), expected(sampled.astype("float64"))


# bodies


def _flat(value, what):
    return flatten(value, Symbol, "Symbol", what)


def _unique_name(name):
    """A name for a body that no other has; bodies inside bodies carry both names."""
    outer = scope()._attr.get(_MARK, "")
    full = f"{outer}${name}" if outer else name
    AttrScope._subgraph_names[full] += 1
    return f"{full}{AttrScope._subgraph_names[full] - 1}"


def _inner_name(outer):
    return f"{outer.name}-{outer._entries[0].index}"


def _inner_variables(outer, form):
    return regroup([var(_inner_name(s)) for s in outer], form)


def _body(outputs, name):
    """The outputs of a body as one group: each must be a node of the body's own, made by copying if need be."""
    inputs = Group(outputs).list_inputs() if outputs else []
    return [o if o.name not in inputs and o.list_attr().get(_MARK, "") == name else op.identity(o) for o in outputs]


def _cut(heads, name):
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
            name_in = label(entry)
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
            twin = Node(node.op, node.name, dict(node.attrs), [moved(e) for e in node.inputs])
            twin.parsed, twin.subgraphs, twin.version = node.parsed, node.subgraphs, node.version
            copies[id(node)] = twin
    return [moved(e) for e in heads], sources


def _copied(node):
    twin = variable(node.name, dict(node.attrs))
    twin.version = node.version
    return twin


class _Inputs:
    """The inputs of a node with bodies. What enters two bodies under one key is one input."""

    def __init__(self):
        self.entries, self.places = [], {}

    def place(self, key, entry):
        if key not in self.places:
            self.places[key] = len(self.entries)
            self.entries.append(entry)
        return self.places[key]


def _names(heads):
    names = [n.name for n in variables(heads)]
    assert len(set(names)) == len(names), f"The inputs of the subgraph don't have unique names: {names}"
    return names


def _call(name, inputs, bodies, **attrs):
    operator = registry.find(name)
    attrs = {**scope().get(None), **attrs, "num_args": len(inputs) + len(bodies)}
    return create(operator, inputs, {}, attrs, manager().get(None, name), bodies)


# loops and branches


def foreach(body, data, init_states, name="foreach"):
    """Call `body(element, states)` for each element of the first axis of `data`; outputs are stacked."""
    arrays, data_form = _flat(data, "foreach input")
    first, state_form = _flat(init_states, "foreach states")
    name = _unique_name(name)
    with AttrScope(__subgraph_name__=name):
        outputs, states = body(_inner_variables(arrays, data_form), _inner_variables(first, state_form))
        outputs, out_form = _flat(outputs, "foreach output")
        states, form = _flat(states, "foreach loop_vars")
        assert form == state_form, "The input and output loop_vars have different format"
        heads = [s._entries[0] for s in _outputs_and_states(outputs, states, name)]
    heads, sources = _cut(heads, name)
    names = _names(heads)
    data_locs = _used(arrays, names, "data")
    state_locs = _used(first, names, "state")
    taken = {*data_locs, *state_locs}
    remain = [i for i in range(len(names)) if i not in taken]
    entries = [s._entries[0] for s in (*arrays, *first)] + [sources[names[i]] for i in remain]
    count = len(outputs) + len(states)
    result = _call(
        "_foreach", entries, [heads], num_outputs=count, num_out_data=len(outputs), in_state_locs=state_locs,
        in_data_locs=data_locs, remain_locs=remain,
    )  # fmt: skip
    parts = [result[i] for i in range(count)]
    return regroup(parts[: len(outputs)], out_form), regroup(parts[len(outputs) :], form)


def _outputs_and_states(outputs, states, name):
    """Outputs, then states; a state that is also an output is copied."""
    inputs, names = Group([*outputs, *states]).list_inputs(), {o.name for o in outputs}

    def own(symbol_, taken):
        free = symbol_.name not in inputs and symbol_.name not in taken
        return symbol_ if free and symbol_.list_attr().get(_MARK, "") == name else op.identity(symbol_)

    return [*[own(o, ()) for o in outputs], *[own(s, names) for s in states]]


def _used(outer, names, kind):
    places = []
    for symbol_ in outer:
        inner = _inner_name(symbol_)
        if inner not in names:
            raise AssertionError(f"the {kind} arrays have to be used in the loop body")
        places.append(names.index(inner))
    return places


def _loop_body(loop_vars, form, function, name):
    """A body over the loop variables: its heads, where its inputs come from, and what `function` returned."""
    name = _unique_name(name)
    with AttrScope(__subgraph_name__=name):
        outputs, states, out_form = function(_inner_variables(loop_vars, form))
        heads = [s._entries[0] for s in _body([*outputs, *states], name)]
    heads, sources = _cut(heads, name)
    return heads, sources, len(outputs), out_form


def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):
    """Call `func` on the loop variables while `cond` of them holds; outputs are stacked, padded to `max_iterations`."""
    if max_iterations is None:
        raise ValueError("max_iterations should be specified")
    limit = python_number(max_iterations, int, "max_iteration")
    first, form = _flat(loop_vars, "while loop_vars")
    if len(loop_vars) == 0:
        raise ValueError("loop_vars should contain at least one element")

    def condition(inner):
        result = cond(*inner)
        if not isinstance(result, Symbol):
            raise ValueError("Return of cond must be a Symbol")
        return [], [result], 0

    def step(inner):
        output, new = func(*inner)
        output, out_form = _flat([] if output is None else output, "while output")
        new, _ = _flat([] if new is None else new, "while loop_vars")
        if len(new) != len(first):
            raise ValueError("The number of loop_vars should be consistent during the loop")
        return output, new, out_form

    cond_heads, cond_sources, _, _ = _loop_body(first, form, condition, f"{name}_cond")
    heads, sources, count, out_form = _loop_body(first, form, step, f"{name}_func")
    inputs, inner = _Inputs(), {_inner_name(s): s._entries[0] for s in first}

    def locate(names, sources, part):
        # a loop variable changes from step to step, so it is no input of another name, even if both start alike
        return [inputs.place(n if n in inner else (part, n), inner.get(n) or sources[n]) for n in names]

    cond_locs = locate(_names(cond_heads), cond_sources, "cond")
    names = _names(heads)
    func_locs = locate(names, sources, "func")
    for i, symbol_ in enumerate(first, 1):
        if _inner_name(symbol_) not in names:
            raise ValueError(f"The {i}-th loop_var doesn't involve into the computation")
    result = _call(
        "_while_loop", inputs.entries, [cond_heads, heads], max_iterations=limit, cond_input_locs=cond_locs,
        func_input_locs=func_locs, func_var_locs=[names.index(_inner_name(s)) for s in first], num_out_data=count,
        num_outputs=count + len(first),
    )  # fmt: skip
    parts = [result[i] for i in range(count + len(first))]
    return regroup(parts[:count], out_form), regroup(parts[count:], form)


def _branch(function, name):
    name = _unique_name(name)
    with AttrScope(__subgraph_name__=name):
        outputs, form = _flat(function(), "cond outputs")
        heads = [s._entries[0] for s in _body(outputs, name)]
    heads, sources = _cut(heads, name)
    return heads, sources, form


def cond(pred, then_func, else_func, name="cond"):
    """What one of two functions returns, as `pred` says when the graph runs."""
    parts = ((lambda: pred, "pred"), (then_func, "then"), (else_func, "else"))
    bodies = [_branch(function, f"{name}_{part}") for function, part in parts]
    if len(bodies[0][0]) != 1:
        raise ValueError("pred should always be a single output")
    if len(bodies[1][0]) != len(bodies[2][0]):
        raise ValueError("Number of outputs differs between then-branch and else-branch")
    inputs = _Inputs()
    locs = [
        [inputs.place(n if sources[n].node.op is None else (part, n), sources[n]) for n in _names(heads)]
        for part, (heads, sources, _) in enumerate(bodies)
    ]
    result = _call(
        "_cond", inputs.entries, [heads for heads, _, _ in bodies], cond_input_locs=locs[0], then_input_locs=locs[1],
        else_input_locs=locs[2], num_outputs=len(bodies[1][0]),
    )  # fmt: skip
    return regroup([result[i] for i in range(len(bodies[1][0]))], bodies[1][2])


# updates whose `rescale_grad` may be a number


def _scale(rescale_grad):
    return rescale_grad if isinstance(rescale_grad, Symbol) else symbol.full(shape=(1,), val=rescale_grad)


def adamw_update(
    weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0, clip_gradient=-1,
    out=None, name=None, **kwargs,
):  # fmt: skip
    """One step of AdamW."""
    return _internal._adamw_update(
        weight=weight, grad=grad, mean=mean, var=var, rescale_grad=_scale(rescale_grad), lr=lr, eta=eta, beta1=beta1,
        beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name, **kwargs,
    )  # fmt: skip


def mp_adamw_update(
    weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0,
    clip_gradient=-1, out=None, name=None, **kwargs,
):  # fmt: skip
    """One step of AdamW on half-precision weights with a single-precision master copy."""
    return _internal._mp_adamw_update(
        weight=weight, grad=grad, mean=mean, var=var, weight32=weight32, rescale_grad=_scale(rescale_grad), lr=lr,
        eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name,
        **kwargs,
    )  # fmt: skip
