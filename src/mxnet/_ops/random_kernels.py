"""Gamma numbers and Poisson counts out of mt19937 words, which numba compiles; importing this module asks for numba.

Step by step the arithmetic of `_core.samplers`, rounded where that rounds. A function that draws returns its number and
the place of the next word, or -1 if there were too few.
"""

import math

import numpy as np
from numba import njit

from .vectors import OPTIONS, compiled

_ZERO, _ONE, _TWO, _PI = np.float32(0), np.float32(1), np.float32(2), np.float32(3.1415926)
_SCALE, _BELOW_ONE = np.float32(2**-32), np.float32(1 - 2**-24)
_inline = njit(inline="always", **OPTIONS)


@_inline
def _unit(words, at):
    return min(np.float32(words[at]) * _SCALE, _BELOW_ONE)


@_inline
def _normal(words, at):
    """The polar method; the point's other half is thrown away."""
    while at + 2 <= len(words):
        x, y = _unit(words, at) * _TWO - _ONE, _unit(words, at + 1) * _TWO - _ONE
        square, at = x * x + y * y, at + 2
        if square <= _ONE and square != _ZERO:
            return np.sqrt(np.float32(math.log(np.float64(square))) * -_TWO / square) * y, at
    return _ZERO, -1


@_inline
def _gamma(words, at, terms):
    """Marsaglia and Tsang's method; shapes below one have an exponent, by which their numbers are scaled down."""
    d, k, c, exponent, beta = terms
    while True:
        z, at = _normal(words, at)
        if at < 0 or at + 2 > len(words):
            return _ZERO, -1
        if not z > -k:
            continue
        x = np.float32(1.0 + np.float64(c * z))
        v, unit, at = x * x * x, np.float64(_unit(words, at)), at + 1
        bound = 0.5 * np.float64(z) * np.float64(z) + np.float64(d) * (1.0 - np.float64(v) + math.log(np.float64(v)))
        if not math.log(1.0 - unit) < bound:
            continue
        if exponent == _ZERO:
            return d * v * beta, at
        scale = np.float32(math.pow(np.float64(_unit(words, at)), np.float64(exponent)))
        return d * v * beta * scale, at + 1


@_inline
def _log_factorial(count, table):
    if count < len(table):
        return table[int(count)]
    return np.float32(math.lgamma(np.float64(np.float32(np.float64(count) + 1.0))))


@_inline
def _rate(lam):
    """What the counts of a rate need: a bound of products, or width, logarithm and that of the largest probability."""
    wide = np.float64(lam)
    if lam < 12:
        return np.float32(math.exp(-wide)), _ZERO, _ZERO
    log = np.float32(math.log(wide))
    peak = lam * log - np.float32(math.lgamma(np.float64(np.float32(wide + 1.0))))
    return np.float32(math.sqrt(2.0 * wide)), log, peak


@_inline
def _few(words, at, threshold):
    """Uniform numbers are multiplied until the product is small."""
    product, count = _ONE, 0
    while at < len(words):
        product, at = product * _unit(words, at), at + 1
        if product <= threshold:
            return np.float32(count), at
        count += 1
    return _ZERO, -1


@_inline
def _many(words, at, lam, rate, table):
    """Rejection from a Cauchy distribution."""
    root, log, peak = rate
    while at + 2 <= len(words):
        y, at = np.float32(math.tan(np.float64(_PI * _unit(words, at)))), at + 1
        count = root * y + lam
        if count < _ZERO:
            continue
        count = np.floor(count)
        power = np.float32(math.exp(np.float64(count * log - _log_factorial(count, table) - peak)))
        bound = np.float32(0.9 * (1.0 + np.float64(y * y)) * np.float64(power))
        unit, at = _unit(words, at), at + 1
        if not unit > bound:
            return count, at
    return _ZERO, -1


_PLACES, _FLOATS = "int64[::1]", "float32[::1]"


@compiled(f"void(uint32[:, ::1], {_PLACES}, {_PLACES}, {_PLACES}, {_FLOATS}, float32[:, ::1], {_FLOATS}, {_FLOATS})")
def draw(words, used, places, ends, out, shapes, lams, table):
    """Each engine's samples, from its place on, as far as its words reach; `used` and `places` move on.

    A column of `shapes` has a gamma number's terms, `lams` the rates of counts; the rate is the gamma number where
    there are none, and the sample is where there is no table. One column, or one rate, serves all.
    """
    last, rate = np.float32(-1), _rate(np.float32(0))
    for engine in range(len(words)):
        row = words[engine]
        while places[engine] < ends[engine]:
            place, at = places[engine], used[engine]
            if len(lams):
                lam = lams[place if len(lams) > 1 else 0]
            else:
                column = shapes[:, place if shapes.shape[1] > 1 else 0]
                lam, at = _gamma(row, at, (column[0], column[1], column[2], column[3], column[4]))
            if at >= 0 and len(table):
                if lam != last:
                    last, rate = lam, _rate(lam)
                lam, at = _few(row, at, rate[0]) if lam < 12 else _many(row, at, lam, rate, table)
            if at < 0:
                break
            out[place] = lam
            places[engine], used[engine] = place + 1, at
