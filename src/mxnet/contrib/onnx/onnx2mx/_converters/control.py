"""Branches and loops: `cond`, `foreach` and `while_loop` with the inner graphs as their bodies."""

import numpy as np

from ..... import symbol as sym
from .._node import converts

MOST = 64  # turns that are written out


@converts("If")
def _if(node):
    """Only the branch that is taken, if that is known."""
    branches = [node.attr("then_branch"), node.attr("else_branch")]
    if node.known(0):
        taken = branches[0] if np.all(node.const(0)) else branches[1]
        return node.importer.adopt(node, node.importer.inside(node.name), taken)

    def branch(graph, name):
        return lambda: node.importer.inside(f"{node.name}_{name}").outputs(graph)

    condition = sym.cast(node.sym(), dtype="float32")
    return sym.contrib.cond(condition, branch(branches[0], "then"), branch(branches[1], "else"), name=node.name)


def _outputs(node, graph, values, shapes):
    """What a body makes of symbols of these shapes (None where they are not known)."""
    inner = node.importer.inside(f"{node.name}_body")
    for info, value, shape in zip(graph.input, values, shapes, strict=True):
        inner.symbols[info.name] = value
        if shape is not None:
            inner.shapes[info.name] = node.importer.root.variables[value.name] = shape
        info.type.tensor_type.ClearField("shape")  # what is known from outside is more
    return inner.outputs(graph)


@converts("Scan")
def _scan(node):
    graph, count = node.attr("body"), node.attr("num_scan_inputs")
    if node.opset < 9:
        raise node.refuse("scans of before version 9 of the operators cannot be imported; convert the model to it")
    states = node.syms()[: len(node.inputs) - count]
    axes, turns = (node.attr(f"scan_input_{n}") or [0] * count for n in ("axes", "directions"))
    data = [_first(x, a, t) for x, a, t in zip(node.syms()[len(states) :], axes, turns, strict=True)]

    shapes = [node.importer.shape_of(name) for name in node.inputs]
    for i, axis in enumerate(axes, len(states)):
        shapes[i] = shapes[i] and [n for a, n in enumerate(shapes[i]) if a != axis % len(shapes[i])]

    def step(slices, states):
        outputs = _outputs(node, graph, [*states, *slices], shapes)
        return outputs[len(states) :], outputs[: len(states)]

    outputs, states = sym.contrib.foreach(step, data, states, name=node.name)
    outputs = _collected(graph, outputs, len(states))
    axes, turns = (node.attr(f"scan_output_{n}") or [0] * len(outputs) for n in ("axes", "directions"))
    return [*states, *(_back(node, x, a, t) for x, a, t in zip(outputs, axes, turns, strict=True))]


def _collected(graph, outputs, skip):
    """Outputs of all turns; numbers without axes, which MXNet has as lists of one, are put in one row."""
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    flat = [_scalar(info) for info in list(graph.output)[skip:]]
    return [sym.reshape(x, shape=(-1,)) if row else x for x, row in zip(outputs, flat, strict=True)]


def _scalar(info):
    tensor = info.type.tensor_type
    return tensor.HasField("shape") and not tensor.shape.dim


def _first(x, axis, turned):
    """The axis to go along in front, from its end if so asked."""
    x = sym.moveaxis(x, source=axis, destination=0) if axis else x
    return sym.reverse(x, axis=0) if turned else x


def _back(node, x, axis, turned):
    x = sym.reverse(x, axis=0) if turned else x
    return sym.moveaxis(x, source=0, destination=axis) if axis else x


@converts("Loop")
def _loop(node):
    """A number of turns that is known; a condition that the body computes may end it sooner."""
    graph, states = node.attr("body"), [node.sym(i) for i in range(2, len(node.inputs))]
    if not node.has(0):
        raise node.refuse("a loop without a largest number of turns cannot be imported")
    turns = int(node.const(0).ravel()[0])
    if turns < 1 or turns > 2**31 - 1:
        raise node.refuse(f"a loop of {turns} turns cannot be imported")
    if _always(node, graph):
        return _for(node, graph, states, turns)
    if len(graph.output) > len(states) + 1:
        raise node.refuse("a loop that collects outputs and may end early cannot be imported")
    return _while(node, graph, states, turns)


def _always(node, graph):
    """Does the body never end the loop? Its condition is a constant, or the one it was given."""
    result, given = graph.output[0].name, graph.input[1].name
    makers = {name: n for n in graph.node for name in n.output}
    while result in makers and makers[result].op_type == "Identity":
        result = makers[result].input[0]
    if node.has(1) and not node.known(1) and (result != given or len(node.inputs) == len(node.outputs) + 2):
        return False
    if node.has(1) and not np.all(node.const(1)):
        return False
    if result == given:
        return True
    known = {t.name: t for t in graph.initializer}
    if result in makers and makers[result].op_type == "Constant":
        known[result] = next(a.t for a in makers[result].attribute if a.name == "value")
    return result in known and bool(np.all(_array(known[result])))


def _array(tensor):
    from onnx.numpy_helper import to_array

    return to_array(tensor)


def _for(node, graph, states, turns):
    number = graph.input[0].name
    if turns <= MOST and any(number in n.input for n in graph.node):
        return _unrolled(node, graph, states, turns)
    node.claim(turns)
    steps = node.parameter("steps", np.arange(turns, dtype=np.int64).reshape(-1, 1))
    true = node.parameter("true", np.ones(1, dtype=bool))
    shapes = [[], [], *(node.importer.shape_of(name) for name in node.inputs[2:])]

    def step(number, states):
        _, *outputs = _outputs(node, graph, [number, true, *states], shapes)
        return outputs[len(states) :], outputs[: len(states)]

    outputs, finals = sym.contrib.foreach(step, steps, states, name=node.name)
    return [*finals, *_collected(graph, outputs, len(states) + 1)]


def _unrolled(node, graph, states, turns):
    """Turn after turn, so that what depends on the turn's number is known; the body's parameters are shared."""
    import onnx

    shared = node.importer.inside(f"{node.name}_body")
    for tensor in graph.initializer:
        shared.know(tensor.name, _array(tensor))
    body, rows = onnx.GraphProto(), []
    body.CopyFrom(graph)
    del body.initializer[:]
    names = [info.name for info in graph.input]
    for turn in range(turns):
        inner = shared.inside(f"{node.name}_turn{turn}")
        inner.know(names[0], np.array(turn, dtype=np.int64))
        inner.know(names[1], np.array(True))
        inner.symbols.update(zip(names[2:], states, strict=True))
        _, *outputs = inner.outputs(body)
        states, row = outputs[: len(states)], outputs[len(states) :]
        rows.append(row)
    collected = [sym.stack(*column, axis=0) for column in zip(*rows, strict=True)]
    return [*states, *(_collected(graph, collected, len(states) + 1) if collected else [])]


def _while(node, graph, states, turns):
    begin = sym.cast(node.sym(1), dtype="float32") if node.has(1) else node.parameter("true", np.ones(1, np.float32))
    number = node.parameter("begin", np.zeros(1, dtype=np.int64))

    def step(number, going, *states):
        going = sym.cast(going, dtype="bool")
        going, *states = _outputs(node, graph, [number, going, *states], [None] * len(graph.input))
        return [], [number + 1, sym.cast(going, dtype="float32"), *states]

    _, finals = sym.contrib.while_loop(
        lambda number, going, *states: going, step, [number, begin, *states], max_iterations=turns, name=node.name
    )
    return finals[2:]
