"""Batch norm folded into the weights of the convolution or dense layer before it, in a symbol and its parameters."""

from .._graph.ir.node import Entry, Node, copy_graph, variable, walk
from .._ops.registry.registry import find

LAYERS = ("Convolution", "FullyConnected")


def fold_norms(heads, arguments, states, excluded=()):
    """(heads, arguments, states) without the batch norms that follow a layer alone; what is given stays as it is."""
    heads, arguments, states = copy_graph(heads), dict(arguments), dict(states)
    users = _users(heads)
    for norm in [n for n in walk(heads) if n.op is not None and n.op.name == "BatchNorm"]:
        layer = norm.inputs[0].node
        if not _foldable(norm, layer, users, arguments, states) or {norm.name, layer.name} & set(excluded):
            continue
        _fold(norm, layer, arguments, states)
        for user in users.get(id(norm), ()):
            user.inputs = [Entry(layer) if e.node is norm else e for e in user.inputs]
        heads = [Entry(layer) if e.node is norm else e for e in heads]
        users = _users(heads)
    return heads, arguments, states


def _users(heads):
    users = {}
    for node in walk(heads):
        for entry in node.inputs:
            users.setdefault(id(entry.node), []).append(node)
    for head in heads:
        users.setdefault(id(head.node), []).append(Node(None, "head", {}))
    return users


def _foldable(norm, layer, users, arguments, states):
    if layer.op is None or layer.op.name not in LAYERS or len(users[id(layer)]) > 1:
        return False
    attrs = norm.op.full(norm.parsed)
    if attrs["axis"] != 1 or attrs["output_mean_var"] or str(layer.parsed.get("layout") or "NC")[:2] != "NC":
        return False
    own = [*layer.inputs[1:], *norm.inputs[1:]]
    alone = all(e.node.op is None and len(users[id(e.node)]) == 1 for e in own)
    return alone and all(e.node.name in arguments or e.node.name in states for e in own)


def _fold(norm, layer, arguments, states):
    attrs = norm.op.full(norm.parsed)
    gamma, beta, mean, variance = ((arguments | states)[e.node.name] for e in norm.inputs[1:])
    scale = (variance + attrs["eps"]) ** -0.5
    scale = scale if attrs["fix_gamma"] else scale * gamma
    name = layer.inputs[1].node.name
    weight = arguments[name]
    arguments[name] = weight * scale.reshape((-1, *[1] * (weight.ndim - 1)))
    shift = beta - mean * scale
    if len(layer.inputs) > 2:
        bias = layer.inputs[2].node.name
        arguments[bias] = shift + arguments[bias] * scale
    else:
        bias = f"{layer.name}_bias"
        layer.inputs = [*layer.inputs, Entry(variable(bias))]
        layer.attrs["no_bias"] = "False"
        layer.parse()
        arguments[bias] = shift
    for entry in norm.inputs[1:]:
        arguments.pop(entry.node.name, None)
        states.pop(entry.node.name, None)


def activated(heads):
    """(layer, rectifier) pairs: a layer whose only user is a rectifier, or clips at zero and somewhere above."""
    users = _users(heads)
    pairs = []
    for node in walk(heads):
        if node.op is not None and (_rectifies(node) or _caps(node)):
            source = node.inputs[0].node
            if source.op is not None and len(users[id(source)]) == 1:
                pairs.append((source, node))
    return pairs


def _rectifies(node):
    return node.op.name == "Activation" and node.parsed.get("act_type") == "relu"


def _caps(node):
    """Is it a rectifier with a top, such as ReLU6, behind a layer?"""
    layer = node.inputs[0].node if node.op.name == "clip" and node.parsed["a_min"] == 0 else None
    return layer is not None and layer.op is not None and layer.op.name in LAYERS


def without_caps(heads, excluded):
    """The graph with plain rectifiers for capped ones: integers of a range that ends at the cap stop there anyway."""
    heads = copy_graph(heads)
    capped = {id(node) for layer, node in activated(heads) if _caps(node) and not {layer.name, node.name} & excluded}
    for node in walk(heads):
        if id(node) in capped:
            node.op, node.attrs = find("Activation"), {"act_type": "relu"}
            node.parse()
    return heads
