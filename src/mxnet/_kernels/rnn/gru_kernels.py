"""The steps of GRU and plain recurrent layers by kernels for the processor's vectors; importing it asks for numba.

Weights are packed (see matrix_kernels), and rows of the batch are those from `first` to `last`.
"""

from ..matmul.micro_kernels import multiply
from ..runtime.simd import FLOAT, WIDE, Writer, compiled, numbers, sigmoid, tanh, writes

_VECTOR = WIDE * FLOAT


def _gates(write: Writer, first, apart):
    """Where the values of the three gates are."""
    return [write.at(first, write.times(apart, gate)) for gate in range(3)]


@writes(5, lanes=WIDE)
def _gru_step(write: Writer, given, added, apart, before, after):
    """A vector of units: what data and state gave becomes gates, in the place of the data's, and the next state."""
    places = _gates(write, given, apart)
    ours, more = [write.load(p) for p in places], [write.load(p) for p in _gates(write, added, apart)]
    reset, update = (sigmoid(one + other) for one, other in zip(ours[:2], more[:2], strict=True))
    new = tanh(ours[2] + reset * more[2])
    write.store(new + update * (write.load(before) - new), after)
    for gate, place in zip((reset, update, new), places, strict=True):
        write.store(gate, place)


@writes(1, lanes=WIDE)
def _curve(write: Writer, state):
    write.store(tanh(write.load(state)), state)


@writes(1, lanes=WIDE)
def _cut(write: Writer, state):
    write.store(write.zeros().larger(write.load(state)), state)


@writes(3, lanes=WIDE)
def _times(write: Writer, one, other, product):
    write.store(write.load(one) * write.load(other), product)


@writes(3, lanes=WIDE)
def _add_product(write: Writer, one, other, total):
    write.store(write.load(total) + write.load(one) * write.load(other), total)


@compiled(f"void({numbers(10)})")
def gru(given, added, states, bias, panels, steps, batch, hidden, first, last):
    """All steps: `given` and `added` (steps, batch, 3 * hidden) are what the data gave and room for what states give.

    `states` (steps + 1, batch, hidden) begin with those before the first step; `panels` are those of the recurrent
    weight transposed.
    """
    wide, rows = hidden * FLOAT, last - first
    for step in range(steps):
        row = step * batch + first
        multiply(rows, hidden, 3 * hidden, states + row * wide, wide, panels, bias, 0, added + row * 3 * wide, 3 * wide)
        for line in range(row, row + rows):
            for unit in range(0, wide, _VECTOR):
                _gru_step(given + line * 3 * wide + unit, added + line * 3 * wide + unit, wide,
                          states + line * wide + unit, states + (line + batch) * wide + unit)  # fmt: skip


@compiled(f"void({numbers(9)})")
def plain(given, states, panels, cut, steps, batch, hidden, first, last):
    """The same of layers that bend the sum: negative ones are cut off, or it is a hyperbolic tangent."""
    wide, rows = hidden * FLOAT, last - first
    for step in range(steps):
        row = step * batch + first
        after = states + (row + batch) * wide
        multiply(rows, hidden, hidden, states + row * wide, wide, panels, given + row * wide, wide, after, wide)
        for unit in range(after, after + rows * wide, _VECTOR):
            if cut:
                _cut(unit)
            else:
                _curve(unit)


@compiled(f"void({numbers(11)})")
def back(slopes, stays, by_gates, by_states, panels, gates, steps, batch, hidden, first, last):
    """The gradients of states (steps + 1, batch, hidden), which hold those of the outputs, and of the gates' sums.

    A state's gradient times `slopes` is that of its `gates` sums, and times `stays`, if there are any, is added to
    that of the state before; `panels` are those of the recurrent weight.
    """
    wide, rows = hidden * FLOAT, last - first
    for step in range(steps - 1, -1, -1):
        row = step * batch + first
        for line in range(row, row + rows):
            after, own = by_states + (line + batch) * wide, line * gates * wide
            for unit in range(0, wide, _VECTOR):
                for gate in range(unit, gates * wide, wide):
                    _times(after + unit, slopes + own + gate, by_gates + own + gate)
                if stays:
                    _add_product(after + unit, stays + line * wide + unit, by_states + line * wide + unit)
        before = by_states + row * wide
        multiply(rows, gates * hidden, hidden, by_gates + row * gates * wide, gates * wide, panels, before, wide,
                 before, wide)  # fmt: skip
