"""Recurrent layers: ONNX's matrices packed into the one vector of MXNet's fused operator."""

import numpy as np

from ..... import symbol as sym
from .._node import converts

# Where each of MXNet's gates stands in ONNX's order.
GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
DEFAULTS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


@converts("LSTM", "GRU", "RNN")
def _recurrent(node):
    size, direction = node.attr("hidden_size"), node.attr("direction", "forward")
    both = 2 if direction == "bidirectional" else 1
    mode = _mode(node, both)
    x = node.sym()
    if node.attr("layout", 0):
        x = sym.swapaxes(x, dim1=0, dim2=1)
    lengths = [node.sym(4)] if node.has(4) else []
    if direction == "reverse":
        x = _reversed(x, lengths)
    states = [_state(node, i, both, size) for i in ((5, 6) if node.op == "LSTM" else (5,))]
    result = sym.RNN(
        x, _parameters(node, size, both), *states, *lengths, state_size=size, num_layers=1, bidirectional=both == 2,
        mode=mode, state_outputs=True, use_sequence_length=bool(lengths), name=node.name,
    )  # fmt: skip
    outputs, finals = result[0], [result[i] for i in range(1, len(states) + 1)]
    if direction == "reverse":
        outputs = _reversed(outputs, lengths)
    outputs = sym.reshape(outputs, shape=(0, 0, -4, both, size))
    if node.attr("layout", 0):
        return [sym.swapaxes(outputs, dim1=0, dim2=1), *(sym.swapaxes(s, dim1=0, dim2=1) for s in finals)]
    return [sym.transpose(outputs, axes=(0, 2, 1, 3)), *finals]


def _mode(node, both):
    given = [name.capitalize() for name in node.attr("activations") or DEFAULTS[node.op] * both]
    if node.op == "RNN" and given in (["Relu"] * both, ["Tanh"] * both):
        return f"rnn_{given[0].lower()}"
    if given != DEFAULTS[node.op] * both:
        raise node.refuse(f"activations {given} cannot be imported")
    if node.op == "GRU" and not node.attr("linear_before_reset", 0):
        raise node.refuse("only a GRU with linear_before_reset=1 has the formula of MXNet's")
    if node.has(7) and np.any(node.const(7)):
        raise node.refuse("peepholes cannot be imported")
    if node.attr("clip") or node.attr("input_forget", 0):
        raise node.refuse("clip and input_forget cannot be imported")
    return node.op.lower()


def _reversed(x, lengths):
    if lengths:
        return sym.SequenceReverse(x, sym.cast(lengths[0], dtype="float32"), use_sequence_length=True)
    return sym.reverse(x, axis=0)


def _state(node, index, both, size):
    if not node.has(index):
        return sym.zeros(shape=(both, 0, size), name=f"{node.name}_begin{index}")
    state = node.sym(index)
    return sym.swapaxes(state, dim1=0, dim2=1) if node.attr("layout", 0) else state


def _parameters(node, size, both):
    """All weights, then all biases, direction by direction, as a parameter of its own."""
    weights, recurrent = node.const(1), node.const(2)
    count = len(GATES[node.op])
    biases = node.const(3, np.zeros((both, 2 * count * size), weights.dtype)).reshape(both, 2, -1)

    def ordered(matrix):
        return np.concatenate([matrix[g * size : (g + 1) * size].ravel() for g in GATES[node.op]])

    parts = [ordered(m) for d in range(both) for m in (weights[d], recurrent[d])]
    parts += [ordered(b) for d in range(both) for b in biases[d]]
    name = f"{node.name}_parameters"
    node.importer.constants[name] = np.concatenate(parts)
    return node.importer.symbol_of(name, node)
