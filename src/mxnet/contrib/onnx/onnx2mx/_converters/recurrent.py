"""Recurrent layers: ONNX's matrices packed into the one vector of MXNet's fused operator."""

import numpy as np

from ..... import symbol as sym
from .._node import converts
from .steps import DEFAULTS, reversed_in_time, stepwise

# Where each of MXNet's gates stands in ONNX's order.
GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}


@converts("LSTM", "GRU", "RNN")
def _recurrent(node):
    mode = _mode(node)
    return _fused(node, mode) if mode else stepwise(node)


def _mode(node):
    """What the fused operator calls the node's formula; None if it has another one."""
    both = 2 if node.attr("direction", "forward") == "bidirectional" else 1
    given = [name.capitalize() for name in node.attr("activations") or DEFAULTS[node.op] * both]
    if node.op == "RNN" and given == ["Relu"] * both and not node.attr("clip"):
        return "rnn_relu"
    usual = given == DEFAULTS[node.op] * both and not node.attr("clip") and not node.attr("input_forget", 0)
    if node.op == "GRU":
        usual = usual and node.attr("linear_before_reset", 0)
    if node.op == "LSTM" and node.has(7):
        usual = usual and node.known(7) and not np.any(node.const(7))
    if not usual or not node.known(1) or not node.known(2) or (node.has(3) and not node.known(3)):
        return None
    return "rnn_tanh" if node.op == "RNN" else node.op.lower()


def _fused(node, mode):
    size, direction = node.attr("hidden_size"), node.attr("direction", "forward")
    both = 2 if direction == "bidirectional" else 1
    x = node.sym()
    if node.attr("layout", 0):
        x = sym.swapaxes(x, dim1=0, dim2=1)
    lengths = [node.sym(4)] if node.has(4) else []
    if direction == "reverse":
        x = reversed_in_time(x, lengths)
    states = [_state(node, i, both, size) for i in ((5, 6) if node.op == "LSTM" else (5,))]
    result = sym.RNN(
        x, _parameters(node, size, both), *states, *lengths, state_size=size, num_layers=1, bidirectional=both == 2,
        mode=mode, state_outputs=True, use_sequence_length=bool(lengths), name=node.name,
    )  # fmt: skip
    outputs, finals = result[0], [result[i] for i in range(1, len(states) + 1)]
    if direction == "reverse":
        outputs = reversed_in_time(outputs, lengths)
    outputs = sym.reshape(outputs, shape=(0, 0, -4, both, size))
    if node.attr("layout", 0):
        return [sym.swapaxes(outputs, dim1=0, dim2=1), *(sym.swapaxes(s, dim1=0, dim2=1) for s in finals)]
    return [sym.transpose(outputs, axes=(0, 2, 1, 3)), *finals]


def _state(node, index, both, size):
    if not node.has(index):
        return sym.zeros(shape=(both, 0, size), name=f"{node.name}_begin{index}")
    state = node.sym(index)
    return sym.swapaxes(state, dim1=0, dim2=1) if node.attr("layout", 0) else state


def _parameters(node, size, both):
    """All weights, then all biases, direction by direction, as a parameter of its own."""
    weights, recurrent = node.const(1), node.const(2)
    count = len(GATES[node.op])
    node.claim(both, 2 * count * size)
    biases = node.const(3, np.zeros((both, 2 * count * size), weights.dtype)).reshape(both, 2, -1)

    def ordered(matrix):
        return np.concatenate([matrix[g * size : (g + 1) * size].ravel() for g in GATES[node.op]])

    parts = [ordered(m) for d in range(both) for m in (weights[d], recurrent[d])]
    parts += [ordered(b) for d in range(both) for b in biases[d]]
    return node.parameter("parameters", np.concatenate(parts), learned=True)
