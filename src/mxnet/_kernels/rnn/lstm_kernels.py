"""The recurrent part of LSTM layers in SIMD vectors (importing this module imports numba).

Weights are packed (see `matmul.micro_kernels`): MKL's products take a third longer for the few rows of a batch.
"""

from ..matmul.micro_kernels import multiply
from ..runtime.simd import FLOAT, WIDE, Writer, compiled, sigmoid, tanh, writes


@writes(6, lanes=WIDE)
def _step(write: Writer, gates, gate_bytes, bias, cell_before, cell, state):
    """A vector of units: the four pre-activations become gates; cell and state follow."""
    places = _gates(write, gates, gate_bytes)
    shifts = [write.load(place) for place in _gates(write, bias, gate_bytes)]
    input_, forget, new, output = (write.load(place) + shift for place, shift in zip(places, shifts, strict=True))
    input_, forget, new, output = sigmoid(input_), sigmoid(forget), tanh(new), sigmoid(output)
    value = forget * write.load(cell_before) + input_ * new
    write.store(value, cell)
    write.store(output * tanh(value), state)
    for gate, place in zip((input_, forget, new, output), places, strict=True):
        write.store(gate, place)


@writes(7, lanes=WIDE)
def _step_backward(write: Writer, gates, by_gates, gate_bytes, cell_before, cell, by_state, by_cell):
    """The gradients of a vector of pre-activations; that of the cell is carried to the previous step."""
    input_, forget, new, output = (write.load(place) for place in _gates(write, gates, gate_bytes))
    by_output_state, cell_tanh = write.load(by_state), tanh(write.load(cell))
    inner = write.load(by_cell) + by_output_state * output * (1.0 - cell_tanh * cell_tanh)
    found = (
        inner * new * input_ * (1.0 - input_),
        inner * write.load(cell_before) * forget * (1.0 - forget),
        inner * input_ * (1.0 - new * new),
        by_output_state * cell_tanh * output * (1.0 - output),
    )
    write.store(inner * forget, by_cell)
    for gradient, place in zip(found, _gates(write, by_gates, gate_bytes), strict=True):
        write.store(gradient, place)


def _gates(write: Writer, first, gate_bytes):
    """Addresses of the values of the four gates."""
    return [write.at(first, write.times(gate_bytes, gate)) for gate in range(4)]


@compiled("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
def forward(gates, bias, states, cells, panels, steps, batch, hidden, first, last):
    """Rows `first` to `last` of the batch: `gates` (steps, batch, 4 * hidden) hold the input projection.

    `states` and `cells` (steps + 1, batch, hidden) begin with the initial ones; `panels` are those of the transposed
    recurrent weight.
    """
    wide, rows = hidden * FLOAT, last - first
    for step in range(steps):
        row = step * batch + first
        sums = gates + row * 4 * wide
        multiply(rows, hidden, 4 * hidden, states + row * wide, wide, panels, sums, 4 * wide, sums, 4 * wide)
        for line in range(row, row + rows):
            after = line + batch
            for unit in range(0, wide, WIDE * FLOAT):
                _step(gates + line * 4 * wide + unit, wide, bias + unit, cells + line * wide + unit,
                      cells + after * wide + unit, states + after * wide + unit)  # fmt: skip


@compiled("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
def backward(heads, gates, cells, by_gates, by_state, by_cell, panels, steps, batch, hidden, first, last):
    """The gradients of all pre-activations, from those of the outputs `heads` (steps + 1, batch, hidden).

    `heads` begin with zeros. `by_state` and `by_cell` (batch, hidden) hold the gradients of the last step, and become
    those of the initial state; `panels` are those of the recurrent weight.
    """
    wide, rows = hidden * FLOAT, last - first
    for step in range(steps - 1, -1, -1):
        row = step * batch + first
        for line in range(row, row + rows):
            after, own = line + batch, line - step * batch
            for unit in range(0, wide, WIDE * FLOAT):
                _step_backward(gates + line * 4 * wide + unit, by_gates + line * 4 * wide + unit, wide,
                           cells + line * wide + unit, cells + after * wide + unit, by_state + own * wide + unit,
                           by_cell + own * wide + unit)  # fmt: skip
        own = by_state + first * wide
        multiply(rows, 4 * hidden, hidden, by_gates + row * 4 * wide, 4 * wide, panels, heads + row * wide, wide, own,
                 wide)  # fmt: skip
