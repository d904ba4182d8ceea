"""MT19937 engines, samplers and permutations (importing this module imports numba).

The arithmetic of `_core.engines` and `_core.samplers`, with the same rounding. An engine is the addresses of its state,
its words and its cursors: reference counts of arrays would take longer than a draw.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.extending import intrinsic

from ..._core.engines import LENGTH, MIDDLE
from ..._core.log32 import CUBE, FACTORS, LINE, LOG_2, LOGS, LOWEST, SQUARE
from ..runtime.entry_points import pointer, read_int64
from ..runtime.simd import OPTIONS, Writer, compiled, writes

_ZERO, _ONE, _TWO, _PI = np.float32(0), np.float32(1), np.float32(2), np.float32(3.1415926)
_SCALE, _BELOW_ONE, _BELOW_ONE_DOUBLE = np.float32(2**-32), np.float32(1 - 2**-24), 1 - 2**-53
_BEYOND = np.float32(2**31)  # integers of 32 bits
_HIGH, _LOW, _MATRIX = np.uint32(0x80000000), np.uint32(0x7FFFFFFF), np.uint32(0x9908B0DF)
_MOST = np.uint32(0xFFFFFFFF)
_INFINITE = np.uint32(0x7F800000)  # as bits; those of negative numbers and of NaN are larger
_MASK_B, _MASK_C, _REACH = np.uint32(0x9D2C5680), np.uint32(0xEFC60000), LENGTH - MIDDLE
_inline = njit(inline="always", **OPTIONS)
_BANK = "uint32[:, ::1], uint32[:, ::1], int64[:, ::1]"


@intrinsic
def _word(typing, address):
    def read(context, builder, signature, arguments):
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(32).as_pointer()))

    return types.uint32(types.int64), read


@writes(2)
def _note(write: Writer, address, number):
    write.builder.store(number, write.builder.inttoptr(address, number.type.as_pointer()))


@_inline
def _twist(state, k, following, source):
    mixed = (state[k] & _HIGH) | (state[following] & _LOW)
    return np.uint32(state[source] ^ (mixed >> np.uint32(1)) ^ ((mixed & np.uint32(1)) * _MATRIX))


@compiled("void(int64, int64)")
def _refill(state_at, words_at):
    """The next words of an engine."""
    state, words = carray(pointer(state_at), (LENGTH,), np.uint32), carray(pointer(words_at), (LENGTH,), np.uint32)
    for k in range(_REACH):
        state[k] = _twist(state, k, k + 1, k + MIDDLE)
    for k in range(_REACH, LENGTH - 1):
        state[k] = _twist(state, k, k + 1, k - _REACH)
    state[LENGTH - 1] = _twist(state, LENGTH - 1, 0, MIDDLE - 1)
    for k in range(LENGTH):
        word = np.uint32(state[k])
        word = np.uint32(word ^ (word >> np.uint32(11)))
        word = np.uint32(word ^ ((word << np.uint32(7)) & _MASK_B))
        word = np.uint32(word ^ ((word << np.uint32(15)) & _MASK_C))
        words[k] = np.uint32(word ^ (word >> np.uint32(18)))


@compiled(f"void({_BANK}, int64, uint32[:, ::1])")
def take(states, words, cursors, first, out):
    """The next words of the engines from `first` on, a row of `out` for each."""
    for row in range(len(out)):
        engine, done = first + row, 0
        while done < out.shape[1]:
            at, end = cursors[engine, 0], cursors[engine, 1]
            if at == end:
                _refill(states[engine].ctypes.data, words[engine].ctypes.data)
                at, end = 0, LENGTH
            more = min(end - at, out.shape[1] - done)
            out[row, done : done + more] = words[engine, at : at + more]
            cursors[engine, 0], cursors[engine, 1], done = at + more, end, done + more


@compiled(f"void({_BANK}, int64, uint32, float32, float32, float32[::1])")
def dropout(states, words, cursors, step, last, kept, dropped, out):
    """`kept` where a word is at most `last`, else `dropped`: `step` words of each engine."""
    done, size = 0, len(out)
    while done < size:
        engine = done // step
        at, end = cursors[engine, 0], cursors[engine, 1]
        if at == end:
            _refill(states[engine].ctypes.data, words[engine].ctypes.data)
            at, end = 0, LENGTH
        more = min(end - at, min((engine + 1) * step, size) - done)
        for i in range(more):
            out[done + i] = kept if words[engine, at + i] <= last else dropped
        cursors[engine, 0], cursors[engine, 1], done = at + more, end, done + more


@_inline
def _engine(states, words, cursors, number):
    return states[number].ctypes.data, words[number].ctypes.data, cursors[number].ctypes.data


@_inline
def _next(engine):
    state, words, cursor = engine
    at = read_int64(cursor)
    if at == read_int64(cursor + 8):
        _refill(state, words)
        at = 0
        _note(cursor + 8, LENGTH)
    _note(cursor, at + 1)
    return _word(words + at * 4)


@intrinsic
def _bits(typing, number):
    def read(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.int32(types.float32), read


@intrinsic
def _float(typing, bits):
    def read(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), read


@_inline
def _log32(number):
    """What `_core.log32` computes."""
    bits = _bits(np.float32(number))
    above = np.int32(bits - np.int32(LOWEST))
    part, power = (above >> 19) & 15, np.int32(above >> 23)
    z = np.float64(_float(np.int32(bits - (power << 23))))
    r = z * FACTORS[part] - 1.0
    square = r * r
    small = CUBE * square + (SQUARE * r + LINE)
    return np.float32(small * square + ((LOGS[part] + np.float64(power) * LOG_2) + r))


@_inline
def _unit(engine):
    return min(np.float32(_next(engine)) * _SCALE, _BELOW_ONE)


@_inline
def _point(engine) -> Any:
    """A point of the unit disc, and the factor that makes two normal samples of it (polar method)."""
    while True:
        x = _unit(engine) * _TWO - _ONE
        y = _unit(engine) * _TWO - _ONE
        square = x * x + y * y
        if square <= _ONE and square != _ZERO:
            return x, y, np.sqrt(_log32(square) * -_TWO / square)


@_inline
def _normal(engine):
    """The second sample of the point is discarded."""
    _, y, factor = _point(engine)
    return factor * y


@compiled(f"void({_BANK}, int64, float32[:, :])")
def normals(states, words, cursors, first, out):
    """A row of normal samples from each of the engines from `first` on."""
    for row in range(len(out)):
        engine = _engine(states, words, cursors, first + row)
        for column in range(out.shape[1]):
            out[row, column] = _normal(engine)


@compiled(f"void({_BANK}, float32[::1])")
def pairs(states, words, cursors, out):
    """Normal samples of the first engine, both of each point."""
    engine = _engine(states, words, cursors, 0)
    for place in range(0, len(out), 2):
        x, y, factor = _point(engine)
        out[place] = y * factor
        if place + 1 < len(out):
            out[place + 1] = x * factor


@_inline
def _gamma(engine, terms):
    """Marsaglia and Tsang's method; shapes below one have an exponent, by which their numbers are scaled down."""
    d, k, c, exponent, beta = terms
    while True:
        z = _normal(engine)
        if not z > -k:
            continue
        x = np.float32(1.0 + np.float64(c * z))
        v, unit = x * x * x, np.float64(_unit(engine))
        bound = 0.5 * np.float64(z) * np.float64(z) + np.float64(d) * (1.0 - np.float64(v) + math.log(np.float64(v)))
        if not math.log(1.0 - unit) < bound:
            continue
        if exponent == _ZERO:
            return d * v * beta
        scale = math.pow(np.float64(_unit(engine)), np.float64(exponent))
        return np.float32(np.float64(d * v * beta) * scale)


@_inline
def _wide_unit(engine):
    low, high = np.float64(_next(engine)), np.float64(_next(engine))
    return min((high * 4294967296.0 + low) * 2.0**-64, _BELOW_ONE_DOUBLE)


@_inline
def _wide_point(engine) -> Any:
    """One half of a point of the circle, and the square of its distance from the centre."""
    while True:
        x = _wide_unit(engine) * 2.0 - 1.0
        y = _wide_unit(engine) * 2.0 - 1.0
        square = x * x + y * y
        if square <= 1.0 and square != 0.0:
            return y, square


@_inline
def _attempt(unit, boost, noise, d, root, width, exponent):
    """What `numpy_random.attempt` finds for one element."""
    x, square = 1.0 + noise / root, noise * noise
    v = x * x * x
    if not v > 0.0:
        return -1.0
    if not unit <= 1.0 - 0.0331 * square * square:
        if not _log32(unit) < 0.5 * square + d * (1.0 - v + _log32(v)):
            return -1.0
    if exponent == 0.0:
        return d * v * width
    return d * v * width * np.float64(np.float32(math.pow(np.float64(np.float32(boost)), exponent)))


@compiled(f"void({_BANK}, float64[:, ::1], float64[:, ::1], float64[::1])")
def rejections(states, words, cursors, terms, unit, out):
    """Gamma numbers of the first engine, which draws for all elements until none is missing.

    A column of `terms`, or the only one, is what `numpy_random.gamma_terms` returns.
    """
    engine, missing = _engine(states, words, cursors, 0), len(out)
    out[:] = -1.0
    while missing:
        for place in range(len(out)):
            unit[place, 0] = _wide_unit(engine)
            unit[place, 1] = _wide_unit(engine)
        for place in range(len(out)):
            y, square = _wide_point(engine)
            if out[place] < 0.0:
                term = terms[:, place if terms.shape[1] > 1 else 0]
                noise = y * np.sqrt(math.log(square) * -2.0 / square)
                found = _attempt(unit[place, 0], unit[place, 1], noise, term[0], term[1], term[2], term[3])
                out[place] = found
                missing -= not found < 0.0


@_inline
def _log_factorial(count, table):
    if count < len(table):
        return table[int(count)]
    return np.float32(math.lgamma(np.float64(np.float32(np.float64(count) + 1.0))))


@_inline
def _rate(lam):
    """Constants of a Poisson rate: the product's bound, or width, logarithm and log of the largest probability."""
    wide = np.float64(lam)
    if lam < 12:
        return np.float32(math.exp(-wide)), _ZERO, _ZERO
    log = np.float32(math.log(wide))
    peak = lam * log - np.float32(math.lgamma(np.float64(np.float32(wide + 1.0))))
    return np.float32(math.sqrt(2.0 * wide)), log, peak


@_inline
def _few(engine, threshold):
    """Poisson sample of a small rate: uniform samples are multiplied until the product is below the threshold."""
    product, count = _unit(engine), 0
    while not product <= threshold:
        product, count = product * _unit(engine), count + 1
    return np.float32(count)


@_inline
def _many(engine, lam, rate, table):
    """Poisson sample of a large rate: rejection from a Cauchy distribution."""
    root, log, peak = rate
    while True:
        y = np.float32(math.tan(np.float64(_PI * _unit(engine))))
        count = root * y + lam
        if count < _ZERO:
            continue
        count = np.floor(count)
        power = np.float32(math.exp(np.float64(count * log - _log_factorial(count, table) - peak)))
        bound = np.float32(0.9 * (1.0 + np.float64(y * y)) * np.float64(power))
        if not _unit(engine) > bound:
            return count if count < _BEYOND else -_BEYOND  # an integer of 32 bits, as the processor converts it


_FLOATS = "float32[::1]"


@compiled(f"void({_BANK}, int64, {_FLOATS}, float32[:, ::1], {_FLOATS}, {_FLOATS})")
def draw(states, words, cursors, step, out, shapes, lams, table):
    """`step` samples from each engine.

    A column of `shapes` has a gamma number's terms, `lams` the rates of counts; the rate is the gamma number where
    there are none, and the sample is where there is no table. One column, or one rate, serves all.
    """
    last, rate, engine = np.float32(-1), _rate(np.float32(0)), (0, 0, 0)
    for place in range(len(out)):
        if place % step == 0:
            engine = _engine(states, words, cursors, place // step)
        if len(lams):
            lam = lams[place if len(lams) > 1 else 0]
        else:
            column = shapes[:, place if shapes.shape[1] > 1 else 0]
            lam = _gamma(engine, (column[0], column[1], column[2], column[3], column[4]))
        if len(table):
            if lam != last:
                last, rate = lam, _rate(lam)
            lam = _few(engine, rate[0]) if lam < 12 else _many(engine, lam, rate, table)
        out[place] = lam


@_inline
def _cumulate(chances, edges):
    """Cumulative sums in float64, stored as float32."""
    total = 0.0
    for i in range(len(chances)):
        total += np.float64(chances[i])
        edges[i] = np.float32(total)


@_inline
def _first_from(edges, number):
    """Binary search of the first edge that is not below a number, without unpredictable branches."""
    low, size = 0, len(edges)
    while size > 1:
        half = size >> 1
        low += half * (edges[low + half - 1] < number)
        size -= half
    return low + (edges[low] < number)


@_inline
def _one(chances, number):
    """Linear search for one number, without stored edges."""
    total = 0.0
    for i in range(len(chances)):
        total += np.float64(chances[i])
        if not np.float32(total) < number:
            return i
    return len(chances)


@compiled(f"boolean({_BANK}, float32[:, ::1], float32[::1], int64[:, ::1])")
def choose(states, words, cursors, chances, edges, classes):
    """Categorical samples by each row's probabilities; False, and nothing is drawn, if one is negative or NaN."""
    most = np.uint32(0)
    for word in chances.reshape(-1).view(np.uint32):
        most = max(most, word)
    if most > _INFINITE or not len(edges):
        return False
    engine = _engine(states, words, cursors, 0)
    for row in range(len(classes)):
        if classes.shape[1] == 1:
            classes[row, 0] = _one(chances[row], _unit(engine))
            continue
        _cumulate(chances[row], edges)
        for i in range(classes.shape[1]):
            classes[row, i] = _first_from(edges, _unit(engine))
    return True


@compiled(f"void({_BANK}, int64[::1], boolean)")
def exchange(states, words, cursors, order, upwards):
    """Fisher-Yates shuffle, upwards or downwards; bounded integers by division with rejection."""
    engine = _engine(states, words, cursors, 0)
    for step in range(len(order) - 1):
        limit = np.uint32(step + 2 if upwards else len(order) - step)
        scale = np.uint32(_MOST // limit)
        word = _next(engine)
        while word >= limit * scale:
            word = _next(engine)
        one, other = np.int64(limit) - 1, np.int64(word // scale)
        order[one], order[other] = order[other], order[one]
