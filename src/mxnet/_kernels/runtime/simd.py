"""Vectors of floats for code that numba compiles; importing this module asks for numba.

They are of eight floats, or of `WIDE`, as many as the processor's largest hold, where a kernel asks for it. Addresses
are plain numbers, and so are distances, in bytes. NaN stays NaN.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.polynomial import Chebyshev, Polynomial

from . import code_cache
from .entry_points import entry
from .loader import simd_width

code_cache.install()
LANES, FLOAT = 8, 4
SHORT = 128  # products that are summed one after the other; the error of a sum grows with their number
WIDE = max(LANES, simd_width())
VECTOR_BYTES = LANES * FLOAT
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}
INT, FLOAT_KIND, _INT32 = ir.IntType(64), ir.FloatType(), ir.IntType(32)
FUSED = {"contract"}  # a product and a sum may be rounded once
_FLAGS = tuple(FUSED)


def compiled(signature: str, **more: Any) -> Callable[..., Any]:
    """Compile a function for its arguments' types, and keep the code in the user's cache (see `code_cache`)."""

    def compile_it(function: Callable[..., Any]) -> Any:
        with code_cache.alone(f"{function.__module__}.{function.__qualname__}({signature})"):
            made = _compile(function, signature, more)
            made.entry = entry(made, signature)
        return made

    return compile_it


def _compile(function: Callable[..., Any], signature: str, more: dict[str, Any]) -> Any:
    try:
        made: Any = njit(signature, cache=True, **OPTIONS, **more)(function)
        code_cache.LOG.misses += sum(made.stats.cache_misses.values())
    except (RuntimeError, OSError):  # nowhere to keep it: the next process compiles again
        made = njit(signature, **OPTIONS, **more)(function)
        code_cache.LOG.misses += 1
    return made


def numbers(count: int) -> str:
    """So many integers, in a signature."""
    return ", ".join(["int64"] * count)


def writes(count: int, floats: int = 0, lanes: int = LANES) -> Callable[..., Any]:
    """A function of a writer, `count` numbers and some floats as one that compiled functions can call."""

    def decorate(body: Callable[..., None]) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            body(Writer(builder, lanes), *arguments)
            return context.get_dummy_value()

        names = ", ".join(f"a{i}" for i in range(count + floats))  # numba wants each argument by name
        kinds = [types.int64] * count + [types.float32] * floats
        made: dict[str, Any] = {"answer": (types.void(*kinds), generate)}
        exec(f"def kernel(typing, {names}): return answer", made)
        return intrinsic(made["kernel"])

    return decorate


def _all(kind: Any, value: Any) -> Any:
    """A vector of one value."""
    return ir.Constant(kind, [value] * kind.count)


class Lanes:
    """Some floats of the compiled code, with arithmetic."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    @property
    def kind(self) -> Any:
        return self.value.type

    def _other(self, other: Any) -> Any:
        return other.value if isinstance(other, Lanes) else _all(self.kind, np.float32(other))

    def __add__(self, other: Any) -> "Lanes":
        return Lanes(self.builder, self.builder.fadd(self.value, self._other(other), flags=_FLAGS))

    def __sub__(self, other: Any) -> "Lanes":
        return Lanes(self.builder, self.builder.fsub(self.value, self._other(other), flags=_FLAGS))

    def __rsub__(self, other: Any) -> "Lanes":
        return Lanes(self.builder, self.builder.fsub(self._other(other), self.value, flags=_FLAGS))

    def __mul__(self, other: Any) -> "Lanes":
        return Lanes(self.builder, self.builder.fmul(self.value, self._other(other), flags=_FLAGS))

    def __truediv__(self, other: Any) -> "Lanes":
        return Lanes(self.builder, self.builder.fdiv(self.value, self._other(other)))

    def __rtruediv__(self, other: Any) -> "Lanes":
        return Lanes(self.builder, self.builder.fdiv(self._other(other), self.value))

    __radd__, __rmul__ = __add__, __mul__

    def where(self, comparison: str, bound: float, chosen: Any) -> "Lanes":
        """`chosen` where the comparison with a number holds, which it never does for NaN; else the value."""
        truth = self.builder.fcmp_ordered(comparison, self.value, self._other(bound))
        return Lanes(self.builder, self.builder.select(truth, self._other(chosen), self.value))

    def where_positive(self, yes: "Lanes", no: "Lanes") -> "Lanes":
        """`yes` where this is positive, else `no`."""
        truth = self.builder.fcmp_ordered(">", self.value, self._other(0.0))
        return Lanes(self.builder, self.builder.select(truth, yes.value, no.value))

    def where_below(self, other: "Lanes", bound: float, chosen: float) -> "Lanes":
        """`chosen` where another is below a number, else the value."""
        truth = self.builder.fcmp_ordered("<", other.value, self._other(bound))
        return Lanes(self.builder, self.builder.select(truth, self._other(chosen), self.value))

    def clamp(self, low: "Lanes", high: "Lanes") -> "Lanes":
        """The value cut off at two others; NaN stays."""
        raised = self.builder.select(self.builder.fcmp_ordered("<", self.value, low.value), low.value, self.value)
        cut = self.builder.select(self.builder.fcmp_ordered(">", raised, high.value), high.value, raised)
        return Lanes(self.builder, cut)

    def maximum(self, other: "Lanes") -> "Lanes":
        """The larger of both, or NaN, if one is."""
        builder, value = self.builder, other.value
        is_nan = builder.fcmp_unordered("uno", value, value)
        chosen = builder.or_(builder.fcmp_ordered(">", value, self.value), is_nan)
        return Lanes(builder, builder.select(chosen, value, self.value))

    def sqrt(self) -> "Lanes":
        kind = ir.FunctionType(self.kind, [self.kind])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.sqrt.v{self.kind.count}f32")
        return Lanes(self.builder, self.builder.call(function, [self.value]))

    def bits(self) -> Any:
        return self.builder.bitcast(self.value, ir.VectorType(_INT32, self.kind.count))


class Writer:
    """Writes code for vectors of some lanes."""

    def __init__(self, builder: Any, lanes: int) -> None:
        self.builder, self.lanes, self.bytes = builder, lanes, lanes * FLOAT
        self._kind, self._int32_kind = (ir.VectorType(kind, lanes) for kind in (FLOAT_KIND, _INT32))

    def at(self, address: Any, *distances: Any) -> Any:
        for distance in distances:
            address = self.builder.add(address, distance if isinstance(distance, ir.Value) else INT(distance))
        return address

    def times(self, number: Any, factor: Any) -> Any:
        return self.builder.mul(number, factor if isinstance(factor, ir.Value) else INT(factor))

    def load(self, address: Any) -> Lanes:
        return Lanes(self.builder, self.builder.load(self._pointer(address, self._kind), align=FLOAT))

    def store(self, lanes: Lanes, address: Any) -> None:
        self.builder.store(lanes.value, self._pointer(address, lanes.kind), align=FLOAT)

    def zeros(self) -> Lanes:
        return Lanes(self.builder, _all(self._kind, 0.0))

    def load_broadcast(self, address: Any) -> Lanes:
        """One float in all lanes."""
        return self.broadcast(self.builder.load(self._pointer(address, FLOAT_KIND)))

    def broadcast(self, value: Any) -> Lanes:
        nothing, places = ir.Constant(self._kind, ir.Undefined), _all(self._int32_kind, 0)
        one = self.builder.insert_element(nothing, value, _INT32(0))
        return Lanes(self.builder, self.builder.shuffle_vector(one, nothing, places))

    def reduce(self, lanes: Lanes, combine: Callable[[Lanes, Lanes], Lanes]) -> Any:
        """One float of all lanes, combined pair by pair."""
        step = self.lanes // 2
        while step:
            lanes = combine(lanes, self.shuffle(lanes, lanes, [i ^ step for i in range(self.lanes)]))
            step //= 2
        return self.builder.extract_element(lanes.value, _INT32(0))

    def shuffle(self, one: Lanes, other: Lanes, places: list[int]) -> Lanes:
        """The lanes at some places of two vectors behind one another."""
        which = ir.Constant(ir.VectorType(_INT32, len(places)), places)
        return Lanes(self.builder, self.builder.shuffle_vector(one.value, other.value, which))

    def concat(self, one: Lanes, other: Lanes) -> Lanes:
        """Two vectors of half the lanes."""
        return self.shuffle(one, other, list(range(self.lanes)))

    def transpose(self, rows: list[Lanes]) -> list[Lanes]:
        """As many rows as a vector has lanes, as columns."""
        rows, size, step = list(rows), self.lanes, 1
        while step < size:  # blocks of step x step change places
            firsts = [size + lane - step if lane & step else lane for lane in range(size)]
            seconds = [size + lane if lane & step else lane + step for lane in range(size)]
            for row in range(size):
                if not row & step:
                    pair = rows[row], rows[row + step]
                    rows[row], rows[row + step] = self.shuffle(*pair, firsts), self.shuffle(*pair, seconds)
            step *= 2
        return rows

    def gather(self, places: list[Any], distance: int) -> Lanes:
        """A float from behind each of as many addresses as a vector has lanes."""
        made = ir.Constant(self._kind, ir.Undefined)
        for lane, place in enumerate(places):
            value = self.builder.load(self._pointer(self.at(place, distance), FLOAT_KIND))
            made = self.builder.insert_element(made, value, _INT32(lane))
        return Lanes(self.builder, made)

    def scatter(self, lanes: Lanes, places: list[Any], distance: int) -> None:
        """A float to behind each of as many addresses."""
        for lane, place in enumerate(places):
            self.store_scalar(self.builder.extract_element(lanes.value, _INT32(lane)), self.at(place, distance))

    def blend(self, done: Any, lanes: Lanes, before: Lanes) -> Lanes:
        """The lanes but for the first `done`, which are those of `before`."""
        kind = self._int32_kind
        count = self.builder.insert_element(
            ir.Constant(kind, ir.Undefined), self.builder.trunc(done, _INT32), _INT32(0)
        )
        places = self.builder.shuffle_vector(count, count, _all(kind, 0))
        truth = self.builder.icmp_signed(">=", ir.Constant(kind, list(range(self.lanes))), places)
        return Lanes(self.builder, self.builder.select(truth, lanes.value, before.value))

    def store_scalar(self, value: Any, address: Any) -> None:
        """Store one float."""
        self.builder.store(value, self._pointer(address, FLOAT_KIND))

    def alloca(self, vectors: int) -> Any:
        """The address of memory for some vectors, as long as the function runs."""
        place = cgutils.alloca_once(self.builder, self._kind, size=INT(vectors))
        return self.builder.ptrtoint(place, INT)

    def int64(self, address: Any) -> Any:
        """The integer at an address."""
        return self.builder.load(self._pointer(address, INT))

    def move(self, target: Any, source: Any, size: Any) -> None:
        """Bytes from an address to another, also where both overlap."""
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(1)
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, INT, flag])
        function = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.memmove.p0.p0.i64")
        places = [self.builder.inttoptr(address, pointer) for address in (target, source)]
        self.builder.call(function, [*places, size, flag(0)])

    def prefetch(self, address: Any, level: int = 3) -> None:
        """Ask for the line of memory at an address, to be read soon; level 2: not into the nearest cache."""
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, _INT32, _INT32, _INT32])
        function = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        arguments = [self.builder.inttoptr(address, pointer), _INT32(0), _INT32(level), _INT32(1)]
        self.builder.call(function, arguments)

    def _pointer(self, address: Any, kind: Any) -> Any:
        return self.builder.inttoptr(address, kind.as_pointer())

    def loop(self, begin: Any, end: Any, step: Any, other: Any, lanes: list[Lanes], body: Callable[..., Any]) -> Any:
        """Vectors after `other, lanes = body(address, other, lanes)` for addresses up to `end`, at least once."""
        builder, before = self.builder, self.builder.block
        inside, behind = builder.append_basic_block("loop"), builder.append_basic_block("behind")
        builder.branch(inside)
        builder.position_at_end(inside)
        firsts = [begin, other, *(one.value for one in lanes)]
        address, number, *values = phis = [builder.phi(first.type) for first in firsts]
        number, made = body(address, number, [Lanes(builder, value) for value in values])
        following = self.at(address, step)
        for phi, first, later in zip(phis, firsts, [following, number, *(m.value for m in made)], strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(later, builder.block)
        builder.cbranch(builder.icmp_signed("<", following, end), inside, behind)
        builder.position_at_end(behind)
        return made

    def short_loops(
        self,
        begin: Any,
        end: Any,
        step: int,
        other: Any,
        apart: int,
        lanes: list[Lanes],
        body: Callable[..., Any],
        most: int = SHORT,
    ) -> list[Lanes]:
        """`loop` for sums: long ones are made of short ones, which lose fewer digits. `other` moves on by `apart`."""
        builder, following = self.builder, self.at(other, most * apart)

        def sums(address: Any, other: Any, starts: list[Lanes]) -> Any:
            stop = self.at(address, most * step)
            stop = builder.select(builder.icmp_signed("<", stop, end), stop, end)
            return self.loop(address, stop, step, other, starts, body)

        def part(address: Any, other: Any, totals: list[Lanes]) -> Any:
            made = sums(address, other, [self.zeros()] * len(totals))
            return self.at(other, most * apart), [one + total for one, total in zip(made, totals, strict=True)]

        first, rest = sums(begin, other, lanes), self.at(begin, most * step)
        before, more, behind = builder.block, builder.append_basic_block("more"), builder.append_basic_block("summed")
        builder.cbranch(builder.icmp_signed("<", rest, end), more, behind)
        builder.position_at_end(more)
        totals = self.loop(rest, end, most * step, following, first, part)
        after = builder.branch(behind).parent
        builder.position_at_end(behind)
        phis = [builder.phi(one.value.type) for one in first]
        for phi, one, total in zip(phis, first, totals, strict=True):
            phi.add_incoming(one.value, before)
            phi.add_incoming(total.value, after)
        return [Lanes(builder, phi) for phi in phis]

    def choose(self, number: Any, most: int, body: Callable[[int], None]) -> None:
        """`body(number)`, written once for each number from 1 to `most`."""
        builder, done = self.builder, self.builder.append_basic_block("done")
        choice = builder.switch(number, done)
        for case in range(1, most + 1):
            block = builder.append_basic_block(f"case{case}")
            choice.add_case(INT(case), block)
            builder.position_at_end(block)
            body(case)
            builder.branch(done)
        builder.position_at_end(done)


# Functions of vectors: polynomials through Chebyshev's points, exact to about one unit in the last place

_ROUNDS = 1.5 * 2**23  # added to a small number, no bits are left for a fraction
_LN2 = (0.693359375, math.log(2) - 0.693359375)  # the first has few digits: its small multiples are exact
_SMALL = 0.625


def _coefficients(function: Callable[..., Any], degree: int, low: float, high: float) -> list[float]:
    return list(Chebyshev.interpolate(function, degree, [low, high]).convert(kind=Polynomial).coef)


def _expm1_over(x: Any) -> Any:
    return (np.expm1(x) / x - 1) / x  # exp(x) = 1 + x + x² of this


def _tanh_over(square: Any) -> Any:
    x = np.sqrt(square)
    return (np.tanh(x) / x - 1) / square  # tanh(x) = x + x³ of this


def _log1p_over(square: Any) -> Any:
    s = np.sqrt(square)
    return (np.log((1 + s) / (1 - s)) / s - 2) / square  # log((1 + s) / (1 - s)) = 2 s + s³ of this


_EXP = _coefficients(_expm1_over, 5, -math.log(2) / 2, math.log(2) / 2)
_TANH = _coefficients(_tanh_over, 4, 0.0, _SMALL**2)
_LOG1P = _coefficients(_log1p_over, 4, 0.0, 1 / 9)


def _polynomial(x: Lanes, coefficients: list[float]) -> Lanes:
    total = x * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        total = total * x + coefficient
    return total


def _parts(x: Lanes) -> tuple[Lanes, Callable[[Lanes], Lanes]]:
    """exp(x) in two: exp(r) - 1 of what is left of x beside a power of two, and what multiplies by that power."""
    x = x.where(">", 88.0, 88.0).where("<", -87.0, -87.0)
    rounded = x * (1 / math.log(2)) + _ROUNDS
    integer = rounded - _ROUNDS
    rest = x - integer * _LN2[0] - integer * _LN2[1]
    builder, bits = x.builder, rounded.bits()
    power = builder.shl(bits, _all(bits.type, 23))  # added to the float's exponent

    def scaled(value: Lanes) -> Lanes:
        return Lanes(builder, builder.bitcast(builder.add(value.bits(), power), value.kind))

    return (_polynomial(rest, _EXP) * rest + 1.0) * rest, scaled


def exp(x: Lanes) -> Lanes:
    """Powers of e, for exponents cut off at -87 and 88, short of where floats end."""
    value, scaled = _parts(x)
    return scaled(value + 1.0)


def expm1(x: Lanes) -> Lanes:
    """exp(x) - 1, within the same bounds; close to zero, too, no digits are lost."""
    value, scaled = _parts(x)
    power = scaled(Lanes(x.builder, _all(x.kind, 1.0)))
    return value * power + (power - 1.0)


def log1p(x: Lanes) -> Lanes:
    """log(1 + x) for numbers from zero to one."""
    s = x / (x + 2.0)
    square = s * s
    return s * (_polynomial(square, _LOG1P) * square) + 2.0 * s


def sigmoid(x: Lanes) -> Lanes:
    return 1.0 / (exp(x * -1.0) + 1.0)


def tanh(x: Lanes) -> Lanes:
    """From exp, but for small numbers, where that would lose digits."""
    square = x * x
    small = _polynomial(square, _TANH) * square * x + x
    large = 1.0 - 2.0 / (exp(x * 2.0) + 1.0)
    builder = x.builder
    is_small = builder.fcmp_ordered("<", square.value, _all(square.kind, _SMALL**2))
    return Lanes(builder, builder.select(is_small, small.value, large.value))
