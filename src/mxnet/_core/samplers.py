"""Distributions out of mt19937 words, by the algorithms of MXNet and of the C++ library it was built with."""

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from .engines import LENGTH, WORD, Bank

_BELOW_ONE = np.float32(1 - 2**-24)
_BELOW_ONE_DOUBLE = 1 - 2**-53
_ACCEPTED = math.pi / 4  # share of points of the square that lie in the circle


def working(dtype: str) -> type:
    """The precision MXNet draws in: half precision is drawn as double."""
    return np.float32 if dtype == "float32" else np.float64


# -- parameters --------------------------------------------------------------------------------------------------------


def expand(parameters: tuple[object, ...], size: int) -> tuple[np.ndarray, ...]:
    """Each parameter repeated over its share of `size` samples; Python floats are float32, as MXNet reads them."""
    arrays = [np.asarray(np.float32(p) if isinstance(p, float) else p) for p in parameters]
    number = max(a.size for a in arrays)
    if number <= 1:
        return tuple(a.reshape(()) for a in arrays)
    share = 1 + (size - 1) // number
    return tuple(np.repeat(a.reshape(-1), share)[:size] if a.size > 1 else a.reshape(()) for a in arrays)


def parameters(given: tuple[object, ...], size: int, dtype: str) -> tuple[np.ndarray, ...]:
    """Parameters in the type C++ computes with: a Python number is a float, integer arrays take the drawn type."""
    arrays = [np.float32(p) if isinstance(p, (int, float)) else np.asarray(p) for p in given]
    kind = working(dtype)
    return expand(tuple(a if a.dtype.kind == "f" else a.astype(kind) for a in arrays), size)


def uniform_parameters(low: object, high: object, size: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """The lower bound and the width; the width is rounded in the parameters' own type."""
    first, last = parameters((low, high), size, dtype)
    return first, last - first


def affine(unit: np.ndarray, factor: np.ndarray, offset: np.ndarray, dtype: str) -> np.ndarray:
    """`unit * factor + offset` rounded step by step as C++ does, in place where the types allow."""
    kind = np.result_type(unit.dtype, factor.dtype)
    if kind == unit.dtype and factor.ndim == 0:
        if factor != 1:
            unit *= factor
        if offset != 0:
            unit += offset
        result = unit
    else:
        result = unit * factor + offset
    return narrow(result, dtype)


def narrow(values: np.ndarray, dtype: str) -> np.ndarray:
    """`values` as `dtype`; MXNet turns double into half by way of float."""
    if dtype == "float16":
        values = values.astype(np.float32, copy=False)
    return values.astype(dtype, copy=False)


# -- uniform and normal: matrices of samples, a row for each engine ----------------------------------------------------


def unit32(words: np.ndarray) -> np.ndarray:
    """One word to a float32 in [0, 1)."""
    unit = words.astype(np.float32)
    unit *= np.float32(2**-32)
    return np.minimum(unit, _BELOW_ONE, out=unit)


def unit64(words: np.ndarray) -> np.ndarray:
    """Two words, the low one first, to a float64 in [0, 1)."""
    unit = words[..., 1::2] * 4294967296.0
    unit += words[..., 0::2]
    unit *= 2.0**-64
    return np.minimum(unit, _BELOW_ONE_DOUBLE, out=unit)


def uniform(bank: Bank, first: int, stop: int, out: np.ndarray) -> None:
    """Fill the rows of `out` with numbers in [0, 1) from the engines `first` to `stop`."""
    if out.dtype == np.float32:
        out[...] = unit32(bank.take(first, stop, out.shape[1]))
    else:
        out[...] = unit64(bank.take(first, stop, 2 * out.shape[1]))


def _points(words: np.ndarray, kind: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of the square [-1, 1)², and the square of their distance from the centre."""
    if kind == np.float32:
        unit = words.astype(np.float32)
        unit *= np.float32(2**-31)
        unit -= np.float32(1)
        np.minimum(unit, np.float32(1 - 2**-23), out=unit)
    else:
        unit = unit64(words) * 2.0 - 1.0
    x, y = unit[:, 0::2], unit[:, 1::2]
    square = x * x
    square += y * y
    return x, y, square


def polar_factor(square: np.ndarray) -> np.ndarray:
    """What turns a point of the circle into a normal number; the logarithm is rounded once, as a good C library's."""
    factor = np.log(square, dtype=np.float64).astype(square.dtype, copy=False)
    factor *= square.dtype.type(-2)
    factor /= square
    return np.sqrt(factor, out=factor)


def normal(bank: Bank, first: int, stop: int, out: np.ndarray) -> None:
    """Fill the rows of `out` by the polar method; MXNet asks a fresh distribution each time, so x is thrown away."""
    number, per_point = out.shape[1], 2 if out.dtype == np.float32 else 4
    spread = 5 * math.sqrt(number * (1 - _ACCEPTED)) / _ACCEPTED
    words = bank.take(first, stop, per_point * (int(number / _ACCEPTED + spread) + 4))
    while True:
        _, y, square = _points(words, out.dtype)
        inside = (square <= 1) & (square != 0)
        count = inside.cumsum(axis=1, dtype=np.int32)
        if not (count[:, -1] < number).any():
            break
        words = np.concatenate([words, bank.take(first, stop, per_point * 64)], axis=1)
    used = (count < number).sum(axis=1) + 1  # points up to the last one that is needed
    inside &= count <= number
    chosen = np.flatnonzero(inside)
    result = polar_factor(square.reshape(-1).take(chosen))
    result *= np.ascontiguousarray(y).reshape(-1).take(chosen)
    out[...] = result.reshape(out.shape)
    for engine, points, row in zip(range(first, stop), used.tolist(), words, strict=True):
        bank.give_back(engine, row[per_point * points :])


def normal_pairs(bank: Bank, size: int) -> np.ndarray:
    """`size` float32 normal numbers of one distribution object, which keeps x for the next call."""
    pairs = np.empty((0, 2), np.float32)
    while len(pairs) * 2 < size:
        words = bank.take(0, 1, 2 * (size - 2 * len(pairs)) + 2)
        x, y, square = _points(words, np.dtype(np.float32))
        inside = np.flatnonzero((square <= 1) & (square != 0))[: (size - 2 * len(pairs) + 1) // 2]
        done = (int(inside[-1]) + 1) * 2 if len(pairs) * 2 + len(inside) * 2 >= size else words.shape[1]
        bank.give_back(0, words[0, done:])
        factor = polar_factor(square[0, inside])
        pairs = np.concatenate([pairs, np.stack([y[0, inside] * factor, x[0, inside] * factor], axis=1)])
    return pairs.reshape(-1)[:size]


# -- rejection: every engine is a little machine of its own, all step together -----------------------------------------


class Draws:
    """A cursor over the words of several engines; what is left goes back to the bank at the end."""

    def __init__(self, bank: Bank, engines: int) -> None:
        self.bank, self.engines = bank, engines
        self.words = bank.take(0, engines, LENGTH)
        self.at = np.zeros(engines, np.int64)

    def word(self, rows: np.ndarray) -> np.ndarray:
        at = self.at[rows]
        if len(at) and at.max() >= self.words.shape[1]:
            self._refill()
            at = self.at[rows]
        self.at[rows] += 1
        return self.words[rows, at]

    def _refill(self) -> None:
        """Drop what every engine has read; append as much for all."""
        self.close()
        self.words = self.bank.take(0, self.engines, LENGTH)
        self.at[:] = 0

    def close(self) -> None:
        for engine, at in enumerate(self.at.tolist()):
            self.bank.give_back(engine, self.words[engine, at:])

    def uniform(self, rows: np.ndarray, kind: type) -> np.ndarray:
        first = self.word(rows)
        if kind is np.float32:
            return unit32(first)
        return unit64(np.stack([first, self.word(rows)], axis=-1))[..., 0]

    def normal(self, rows: np.ndarray, kind: type) -> tuple[np.ndarray, np.ndarray]:
        """One attempt of the polar method: which rows were accepted, and their values."""
        x, y = (self.uniform(rows, kind) * kind(2) - kind(1) for _ in range(2))
        square = x * x + y * y
        inside = np.flatnonzero((square <= 1) & (square != 0))
        return inside, polar_factor(square[inside]) * y[inside]


class Machine(Protocol):
    """A distribution by rejection: `attempt` tries once for the given engines."""

    def attempt(self, rows: np.ndarray, *parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Indices into `rows` of those that got their sample, and the samples."""
        ...


class Gamma:
    """Marsaglia and Tsang's method."""

    def __init__(self, draws: Draws, kind: type = np.float32) -> None:
        self.draws, self.kind = draws, kind

    def attempt(self, rows: np.ndarray, alpha: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kind = self.kind
        got, z = self.draws.normal(rows, kind)
        a, b = alpha[got], beta[got]
        wide = a.astype(np.float64)
        d = np.where(a < 1, wide + 2.0 / 3.0, wide - 1.0 / 3.0).astype(kind)
        k = np.sqrt(9.0 * d.astype(np.float64)).astype(kind)
        good = np.flatnonzero(z > -k)
        got, a, b, d, k, z = got[good], a[good], b[good], d[good], k[good], z[good]
        c = (1.0 / k.astype(np.float64)).astype(kind)
        x = (1.0 + (c * z).astype(np.float64)).astype(kind)
        v = x * x * x
        unit = self.draws.uniform(rows[got], kind).astype(np.float64)
        v_wide = v.astype(np.float64)
        bound = 0.5 * z * z.astype(np.float64) + d * (1.0 - v_wide + np.log(v_wide))
        good = np.flatnonzero(np.log(1.0 - unit) < bound)
        got, a = got[good], a[good]
        sample = (d[good] * v[good] * b[good]).astype(kind)
        return got, self._small(rows, got, a, sample)

    def _small(self, rows: np.ndarray, got: np.ndarray, a: np.ndarray, sample: np.ndarray) -> np.ndarray:
        """Shapes below one are drawn with shape one higher and scaled down."""
        small = np.flatnonzero(a < 1)
        if len(small):
            unit = self.draws.uniform(rows[got[small]], self.kind)
            with np.errstate(divide="ignore"):
                exponent = (1.0 / a[small].astype(np.float64)).astype(self.kind)
            sample[small] *= np.power(unit, exponent, dtype=np.float64).astype(self.kind)
        return sample


_lgamma = np.frompyfunc(math.lgamma, 1, 1)


def _lgamma32(x: np.ndarray) -> np.ndarray:
    return _lgamma(x.astype(np.float32).astype(np.float64)).astype(np.float32)


def _exp32(x: np.ndarray) -> np.ndarray:
    return np.exp(x, dtype=np.float64).astype(np.float32)


class Poisson:
    """Products of uniform numbers for small rates, rejection from a Cauchy distribution for large ones."""

    def __init__(self, draws: Draws) -> None:
        self.draws = draws
        self.product = np.ones(draws.engines, np.float32)
        self.count = np.zeros(draws.engines, np.int64)

    def attempt(self, rows: np.ndarray, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lam = lam.astype(np.float32)
        small = lam < 12
        if small.all():
            return self._small(rows, lam)
        low, high = np.flatnonzero(small), np.flatnonzero(~small)
        got_low, count_low = self._small(rows[low], lam[low])
        got_high, count_high = self._large(rows[high], lam[high])
        return np.concatenate([low[got_low], high[got_high]]), np.concatenate([count_low, count_high])

    def _small(self, rows: np.ndarray, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        product = self.product[rows] * self.draws.uniform(rows, np.float32)
        done = product <= _exp32(-lam)
        count = self.count[rows]
        self.product[rows] = np.where(done, np.float32(1), product)
        self.count[rows] = np.where(done, 0, count + 1)
        got = np.flatnonzero(done)
        return got, count[got]

    def _large(self, rows: np.ndarray, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        root = np.sqrt(2.0 * lam.astype(np.float64)).astype(np.float32)
        log = np.log(lam, dtype=np.float64).astype(np.float32)
        offset = lam * log - _lgamma32(lam.astype(np.float64) + 1.0)
        y = np.tan(np.float32(3.1415926) * self.draws.uniform(rows, np.float32), dtype=np.float64).astype(np.float32)
        count = root * y + lam
        got = np.flatnonzero(~(count < 0))
        y, count = y[got], np.floor(count[got])
        power = count * log[got] - _lgamma32(count.astype(np.float64) + 1.0) - offset[got]
        bound = (0.9 * (1.0 + (y * y).astype(np.float64)) * _exp32(power)).astype(np.float32)
        good = np.flatnonzero(~(self.draws.uniform(rows[got], np.float32) > bound))
        return got[good], count[good].astype(np.int64)


class GammaPoisson:
    """A Poisson count whose rate is a gamma sample, or `fixed` where that is a number (not zero, not NaN)."""

    def __init__(self, draws: Draws) -> None:
        self.gamma, self.poisson = Gamma(draws), Poisson(draws)
        self.rate = np.full(draws.engines, np.nan, np.float32)

    def attempt(self, rows: np.ndarray, alpha: np.ndarray, beta: np.ndarray, fixed: np.ndarray):
        waiting = np.flatnonzero(np.isnan(self.rate[rows]))
        direct = alpha == np.inf
        self.rate[rows[direct]] = fixed[direct]
        waiting = waiting[~direct[waiting]]
        got, rate = self.gamma.attempt(rows[waiting], alpha[waiting], beta[waiting])
        self.rate[rows[waiting[got]]] = rate
        ready = np.flatnonzero(~np.isnan(self.rate[rows]))
        got, count = self.poisson.attempt(rows[ready], self.rate[rows[ready]])
        self.rate[rows[ready[got]]] = np.nan
        return ready[got], count


def run(
    bank: Bank, make: Callable[[Draws], Machine], parameters: tuple[np.ndarray, ...], step: int, out: np.ndarray
) -> None:
    """Fill `out`: engine e makes the samples e*step to (e+1)*step, in order."""
    size = len(out)
    engines = -(-size // step)
    draws = Draws(bank, engines)
    machine = make(draws)
    at = np.arange(engines) * step
    end = np.minimum(at + step, size)
    rows = np.arange(engines)
    with np.errstate(all="ignore"):
        while len(rows):
            here = at[rows]
            given = [p[here] if p.ndim else np.broadcast_to(p, here.shape) for p in parameters]
            got, samples = machine.attempt(rows, *given)
            out[here[got]] = samples
            at[rows[got]] += 1
            rows = rows[at[rows] < end[rows]]
    draws.close()


# -- integers and zipfian ----------------------------------------------------------------------------------------------


def below(bank: Bank, limits: np.ndarray) -> np.ndarray:
    """An integer below each limit by division with rejection, as `std::uniform_int_distribution` does."""
    scale = np.int64(0xFFFFFFFF) // limits
    words = bank.take(0, 1, len(limits))[0].astype(np.int64)
    if (words >= limits * scale).any():  # rare: a rejected word shifts all that follow
        return _below_one_by_one(bank, limits, scale, words)
    return words // scale


def _below_one_by_one(bank: Bank, limits: np.ndarray, scale: np.ndarray, words: np.ndarray) -> np.ndarray:
    bank.give_back(0, words.astype(WORD))
    result = np.empty(len(limits), np.int64)
    for i, (limit, factor) in enumerate(zip(limits.tolist(), scale.tolist(), strict=True)):
        word = int(bank.take(0, 1, 1)[0, 0])
        while word >= limit * factor:
            word = int(bank.take(0, 1, 1)[0, 0])
        result[i] = word // factor
    return result


def zipfian(bank: Bank, engine: int, range_max: int, out: np.ndarray) -> int:
    """Fill `out` with different classes below `range_max`; returns how many had to be drawn."""
    number, log_range = len(out), math.log(range_max)
    words = np.empty(0, WORD)
    while True:
        words = np.concatenate([words, bank.take(engine, engine + 1, 4 * number + 64)[0]])
        drawn = np.exp(unit64(words) * log_range)
        classes = np.floor(drawn + 0.5).astype(np.int64) - 1
        _, seen = np.unique(classes, return_index=True)
        if len(seen) >= number:
            break
    firsts = np.sort(seen)[:number]
    out[:] = classes[firsts]
    tries = int(firsts[-1]) + 1
    bank.give_back(engine, words[2 * tries :])
    return tries
