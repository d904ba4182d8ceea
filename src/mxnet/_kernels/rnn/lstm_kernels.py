"""The recurrent part of LSTM layers by kernels for the processor's vectors; importing this module asks for numba.

Weights are packed (see matrix_kernels): the library's products take a third longer for as few rows as a batch has.
"""

from ..matmul.micro_kernels import multiply
from ..runtime.simd import FLOAT, WIDE, Writer, compiled, sigmoid, tanh, writes


@writes(6, lanes=WIDE)
def _step(write: Writer, gates, apart, bias, cell_before, cell, state):
    """A vector of units: their four sums become gates; cell and state follow."""
    places = _gates(write, gates, apart)
    shifts = [write.load(place) for place in _gates(write, bias, apart)]
    enter, forget, new, leave = (write.load(place) + shift for place, shift in zip(places, shifts, strict=True))
    enter, forget, new, leave = sigmoid(enter), sigmoid(forget), tanh(new), sigmoid(leave)
    value = forget * write.load(cell_before) + enter * new
    write.store(value, cell)
    write.store(leave * tanh(value), state)
    for gate, place in zip((enter, forget, new, leave), places, strict=True):
        write.store(gate, place)


@writes(7, lanes=WIDE)
def _step_back(write: Writer, gates, by_gates, apart, cell_before, cell, by_state, by_cell):
    """The gradients of a vector of units' sums; that of the cell goes on to the step before."""
    enter, forget, new, leave = (write.load(place) for place in _gates(write, gates, apart))
    above, curved = write.load(by_state), tanh(write.load(cell))
    inner = write.load(by_cell) + above * leave * (1.0 - curved * curved)
    found = (
        inner * new * enter * (1.0 - enter),
        inner * write.load(cell_before) * forget * (1.0 - forget),
        inner * enter * (1.0 - new * new),
        above * curved * leave * (1.0 - leave),
    )
    write.store(inner * forget, by_cell)
    for gradient, place in zip(found, _gates(write, by_gates, apart), strict=True):
        write.store(gradient, place)


def _gates(write: Writer, first, apart):
    """Where the values of the four gates are."""
    return [write.at(first, write.times(apart, gate)) for gate in range(4)]


@compiled("void(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)")
def forward(gates, bias, states, cells, panels, steps, batch, hidden, first, last):
    """Rows `first` to `last` of the batch: `gates` (steps, batch, 4 * hidden) hold what the input gives.

    `states` and `cells` (steps + 1, batch, hidden) begin with those before the first step; `panels` are those of the
    recurrent weight transposed.
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
    """The gradients of all sums, from those of the outputs `heads` (steps + 1, batch, hidden), which begin with zeros.

    `by_state` and `by_cell` (batch, hidden) go from the last step, whose head is in them, to the state before the
    first; `panels` are those of the recurrent weight.
    """
    wide, rows = hidden * FLOAT, last - first
    for step in range(steps - 1, -1, -1):
        row = step * batch + first
        for line in range(row, row + rows):
            after, own = line + batch, line - step * batch
            for unit in range(0, wide, WIDE * FLOAT):
                _step_back(gates + line * 4 * wide + unit, by_gates + line * 4 * wide + unit, wide,
                           cells + line * wide + unit, cells + after * wide + unit, by_state + own * wide + unit,
                           by_cell + own * wide + unit)  # fmt: skip
        own = by_state + first * wide
        multiply(rows, 4 * hidden, hidden, by_gates + row * 4 * wide, 4 * wide, panels, heads + row * wide, wide, own,
                 wide)  # fmt: skip
