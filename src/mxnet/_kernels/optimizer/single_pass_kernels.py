"""Optimizer steps for the processor's vectors; importing this module imports numba and compiles them.

A step is one pass over memory, including MXNet's rescaling and clipping, which torch's kernels do not support.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ..runtime.entry_points import read_int64
from ..runtime.simd import FLOAT, WIDE, Lanes, Writer, compiled, numbers, writes
from . import formulas

ADDRESS = 8  # bytes
COLUMNS = 5  # of a table: size, and addresses of gradient, weight and up to two states
MOMENTUM, PLAIN, ADAM = range(3)
RATES = 2  # floats for each tensor: learning rate and decay
Formula = Callable[..., Sequence[Lanes]]  # from (gradient, weight, states...) and factors to new weight and states


def _places(write: Writer, row: Any, start: Any, count: int) -> list[Any]:
    """Return the addresses of gradient, weight and states of a tensor, at an offset."""
    return [write.at(write.int64(write.at(row, (1 + i) * ADDRESS)), start) for i in range(count)]


def _factors(write: Writer, rates: Any, common: Any, count: int) -> list[Lanes]:
    """Load the learning rate, the decay, and the numbers that all tensors share."""
    own = [write.load_broadcast(write.at(rates, i * FLOAT)) for i in range(RATES)]
    return own + [write.load_broadcast(write.at(common, i * FLOAT)) for i in range(count)]


def _along(write: Writer, formula: Formula, places: Sequence[Any], size: Any, factors: Sequence[Lanes]) -> None:
    """The formula for every vector of some bytes; the gradient stays as it is."""
    first, away = places[0], [write.builder.sub(place, places[0]) for place in places]

    def learn(address: Any, other: Any, _: Any) -> Any:
        here = [write.at(address, distance) for distance in away]
        made = formula(*map(write.load, here), *factors)
        for value, place in zip(made, here[1:], strict=True):
            write.store(value, place)
        return other, []

    write.loop(first, write.at(first, size), write.bytes, first, [], learn)


def _kernels(formula: Formula, count: int, numbers: int) -> Any:
    """(whole vectors, fewer floats than a vector has) of `count` tensors, with `numbers` common to all."""

    @writes(5, lanes=WIDE)
    def vectors(write: Writer, row: Any, start: Any, size: Any, rates: Any, common: Any) -> None:
        factors = _factors(write, rates, common, numbers)
        _along(write, formula, _places(write, row, start, count), size, factors)

    @writes(5, lanes=WIDE)
    def rest(write: Writer, row: Any, start: Any, size: Any, rates: Any, common: Any) -> None:
        """Compute the remaining floats on a copy with the length of a vector."""
        buffer, places = write.alloca(count), _places(write, row, start, count)
        copies = [write.at(buffer, number * write.bytes) for number in range(count)]
        for copy, place in zip(copies, places, strict=True):
            write.move(copy, place, size)
        _along(write, formula, copies, write.bytes, _factors(write, rates, common, numbers))
        for copy, place in list(zip(copies, places, strict=True))[1:]:
            write.move(place, copy, size)

    return vectors, rest


_momentum_vectors, _momentum_rest = _kernels(formulas.sgd_momentum, 3, 3)
_plain_vectors, _plain_rest = _kernels(formulas.sgd, 2, 2)
_adam_vectors, _adam_rest = _kernels(formulas.adam, 4, 5)


@compiled(f"void({numbers(7)})")
def learn(kind, tensors, count, rates, factors, first, last):
    """One step of a kind for floats `first` to `last` of all tensors, one behind the other.

    Addresses: of a table of so many tensors, of both rates of each, and of what they have in common.
    """
    behind = 0
    for number in range(count):
        row, own = tensors + number * COLUMNS * ADDRESS, rates + number * RATES * FLOAT
        size = read_int64(row)
        start, stop = max(first - behind, 0), min(last - behind, size)
        behind += size
        if stop <= start:
            continue
        middle = stop - (stop - start) % WIDE
        begin, length, edge, few = start * FLOAT, (middle - start) * FLOAT, middle * FLOAT, (stop - middle) * FLOAT
        if length:
            if kind == MOMENTUM:
                _momentum_vectors(row, begin, length, own, factors)
            elif kind == PLAIN:
                _plain_vectors(row, begin, length, own, factors)
            else:
                _adam_vectors(row, begin, length, own, factors)
        if few:
            if kind == MOMENTUM:
                _momentum_rest(row, edge, few, own, factors)
            elif kind == PLAIN:
                _plain_rest(row, edge, few, own, factors)
            else:
                _adam_rest(row, edge, few, own, factors)
