"""Time steps of GRU and vanilla recurrent layers in SIMD vectors (importing this module imports numba).

Weights are packed (see `matmul.micro_kernels`); rows `first` to `last` of the batch are computed.
"""

from ..matmul.micro_kernels import multiply
from ..runtime.simd import FLOAT, WIDE, Writer, compiled, numbers, sigmoid, tanh, writes

_VECTOR = WIDE * FLOAT


def _gates(write: Writer, first, gate_bytes):
    """Addresses of the values of the three gates."""
    return [write.at(first, write.times(gate_bytes, gate)) for gate in range(3)]


@writes(5, lanes=WIDE)
def _gru_step(write: Writer, projected, from_state, gate_bytes, before, after):
    """A vector of units: gates, which overwrite the input projection, and the next state."""
    places = _gates(write, projected, gate_bytes)
    ours, more = [write.load(p) for p in places], [write.load(p) for p in _gates(write, from_state, gate_bytes)]
    reset, update = (sigmoid(one + other) for one, other in zip(ours[:2], more[:2], strict=True))
    new = tanh(ours[2] + reset * more[2])
    write.store(new + update * (write.load(before) - new), after)
    for gate, place in zip((reset, update, new), places, strict=True):
        write.store(gate, place)


@writes(1, lanes=WIDE)
def _tanh(write: Writer, state):
    write.store(tanh(write.load(state)), state)


@writes(1, lanes=WIDE)
def _relu(write: Writer, state):
    write.store(write.zeros().maximum(write.load(state)), state)


@writes(3, lanes=WIDE)
def _multiply(write: Writer, one, other, product):
    write.store(write.load(one) * write.load(other), product)


@writes(3, lanes=WIDE)
def _multiply_add(write: Writer, one, other, total):
    write.store(write.load(total) + write.load(one) * write.load(other), total)


@compiled(f"void({numbers(10)})")
def gru(projected, from_state, states, bias, panels, steps, batch, hidden, first, last):
    """All steps: `projected` (steps, batch, 3 * hidden) is the input projection, `from_state` is a buffer for W h + b.

    `states` (steps + 1, batch, hidden) begin with the initial state; `panels` are those of the transposed recurrent
    weight.
    """
    wide, rows = hidden * FLOAT, last - first
    for step in range(steps):
        row = step * batch + first
        multiply(
            rows, hidden, 3 * hidden, states + row * wide, wide, panels, bias, 0, from_state + row * 3 * wide, 3 * wide
        )
        for line in range(row, row + rows):
            for unit in range(0, wide, _VECTOR):
                _gru_step(projected + line * 3 * wide + unit, from_state + line * 3 * wide + unit, wide,
                          states + line * wide + unit, states + (line + batch) * wide + unit)  # fmt: skip


@compiled(f"void({numbers(9)})")
def vanilla(projected, states, panels, relu, steps, batch, hidden, first, last):
    """The same of layers with one gate, whose activation is ReLU or tanh."""
    wide, rows = hidden * FLOAT, last - first
    for step in range(steps):
        row = step * batch + first
        after = states + (row + batch) * wide
        multiply(rows, hidden, hidden, states + row * wide, wide, panels, projected + row * wide, wide, after, wide)
        for unit in range(after, after + rows * wide, _VECTOR):
            if relu:
                _relu(unit)
            else:
                _tanh(unit)


@compiled(f"void({numbers(11)})")
def backward(derivatives, carry, by_gates, by_states, panels, gates, steps, batch, hidden, first, last):
    """The gradients of states (steps + 1, batch, hidden), which hold those of the outputs, and of the pre-activations.

    A state's gradient times `derivatives` is that of its `gates` pre-activations; times `carry`, if not 0, it is added
    to that of the previous state; `panels` are those of the recurrent weight.
    """
    wide, rows = hidden * FLOAT, last - first
    for step in range(steps - 1, -1, -1):
        row = step * batch + first
        for line in range(row, row + rows):
            after, own = by_states + (line + batch) * wide, line * gates * wide
            for unit in range(0, wide, _VECTOR):
                for gate in range(unit, gates * wide, wide):
                    _multiply(after + unit, derivatives + own + gate, by_gates + own + gate)
                if carry:
                    _multiply_add(after + unit, carry + line * wide + unit, by_states + line * wide + unit)
        before = by_states + row * wide
        multiply(rows, gates * hidden, hidden, by_gates + row * gates * wide, gates * wide, panels, before, wide,
                 before, wide)  # fmt: skip
