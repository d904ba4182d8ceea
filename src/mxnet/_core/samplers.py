"""Distributions out of mt19937 words, by the algorithms of MXNet and of the C++ library it was built with."""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from .engines import COMPILED, LENGTH, WORD, Bank
from .log32 import log32, log32_of

_BELOW_ONE = np.float32(1 - 2**-24)
_BELOW_ONE_DOUBLE = 1 - 2**-53
_BEYOND = np.float32(2**31)  # integers of 32 bits
_NUMBERS = (int, float)
HANDFUL = 8  # normal numbers that need no arrays
FEW = 64  # normal numbers of one engine that need no matrix
CALL, EXCHANGE = 1 << 11, 6  # words that are made in the time of a call for few normal numbers, and of an exchange
DROPOUT_CALL = 1 << 14  # and of a call for the factors of a dropout
_ACCEPTED = math.pi / 4  # share of points of the square that lie in the circle


def working(dtype: str) -> type:
    """The precision MXNet draws in: half precision is drawn as double."""
    return np.float32 if dtype == "float32" else np.float64


# -- parameters --------------------------------------------------------------------------------------------------------


def expand(parameters: tuple[object, ...], size: int) -> tuple[np.ndarray, ...]:
    """Each parameter repeated over its share of `size` samples; Python floats are float32, as MXNet reads them."""
    if all(p.__class__ in _NUMBERS for p in parameters):
        return tuple(np.asarray(np.float32(p) if p.__class__ is float else p) for p in parameters)  # type: ignore[arg-type]
    arrays = [np.asarray(np.float32(p) if isinstance(p, float) else p) for p in parameters]
    number = max(a.size for a in arrays)
    if number <= 1:
        return tuple(a.reshape(()) for a in arrays)
    share = 1 + (size - 1) // number
    return tuple(np.repeat(a.reshape(-1), share)[:size] if a.size > 1 else a.reshape(()) for a in arrays)


def parameters(given: tuple[object, ...], size: int, dtype: str) -> tuple[np.ndarray, ...]:
    """Parameters in the type C++ computes with: a Python number is a float, integer arrays take the drawn type."""
    if all(p.__class__ in _NUMBERS for p in given):
        return tuple(np.asarray(np.float32(p)) for p in given)  # type: ignore[arg-type]
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
    if factor.dtype == np.float16:
        result = half(unit * factor) + offset
    elif kind == unit.dtype and factor.ndim == 0:
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


def half(values: np.ndarray) -> np.ndarray:
    """What C++ makes of a number and a half: again a half, by way of float."""
    return narrow(values, "float16")


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


def _last_kept(kept: float, dtype: str, inclusive: bool) -> int:
    """The largest draw, as a whole number, that is at most `kept` as a fraction of float32, or below it; -1: none is.

    Fractions rise with the words they are made of, so comparing those is the same, and takes a third of the time.
    """
    words, limit = (1, 1 << 32) if working(dtype) is np.float32 else (2, 1 << 64)
    low = 0
    while low < limit:
        middle = (low + limit) // 2
        pair = np.array([middle & 0xFFFFFFFF, middle >> 32][:words], WORD)
        unit = np.float32((unit32 if words == 1 else unit64)(pair)[0])
        if unit <= kept if inclusive else unit < kept:
            low = middle + 1
        else:
            limit = middle
    return low - 1


class Factors(NamedTuple):
    """How draws become factors of dropout: `kept` for those up to `last`, else `dropped`."""

    last: int
    kept: float
    dropped: float


@functools.lru_cache
def factors(kept: float, dtype: str, inclusive: bool) -> Factors:
    """1 / `kept` for fractions up to `kept` or, unless `inclusive`, below it, else 0; rounded as MXNet rounds."""
    last = _last_kept(kept, dtype, inclusive)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.float32(1) / np.float32(kept)
        values = narrow(np.array([factor, np.float32(0) * factor]), dtype).tolist()
    return Factors(max(last, 0), values[last < 0], values[1])


def dropout(bank: Bank, first: int, stop: int, rule: Factors, out: np.ndarray) -> None:
    """Fill the rows of `out` with factors from the engines `first` to `stop`."""
    single = out.dtype == np.float32
    words = bank.take(first, stop, out.shape[1] if single else 2 * out.shape[1])
    drawn = words if single else words.view("<u8")
    out[...] = rule.dropped
    np.copyto(out, rule.kept, where=drawn <= drawn.dtype.type(rule.last))


def quick_dropout(bank: Bank, step: int, rule: Factors, out: np.ndarray) -> bool:
    """Fill `out` with factors, `step` from each engine, by compiled code; False: there is none for them."""
    compiled = COMPILED.for_numbers(out.size, DROPOUT_CALL) if out.dtype == np.float32 else None
    if compiled is None:
        return False
    bank.prepare(-(-out.size // step))
    compiled.dropout(bank.states, bank.words, bank.cursors, step, *rule, out)
    return True


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


def log(values: np.ndarray, exact: bool) -> np.ndarray:
    """Logarithms of float64; `exact`: to the C library's last bit, which NumPy's own misses, by version up to 4 ulp."""
    if not exact:
        return np.log(values)
    found = (math.log(value) if value > 0 else -math.inf for value in values.ravel().tolist())
    return np.fromiter(found, np.float64, values.size).reshape(values.shape)


def power(values: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Powers of fractions, in double precision; of float64 to the C library's last bit."""
    if values.dtype != np.float64:
        return np.power(values, exponents, dtype=np.float64)
    pairs = zip(values.tolist(), np.broadcast_to(exponents, values.shape).tolist(), strict=True)
    return np.fromiter((math.pow(value, exponent) for value, exponent in pairs), np.float64, values.size)


def polar_factor(square: np.ndarray) -> np.ndarray:
    """What turns a point of the circle into a normal number; the logarithm is the C library's, to the last bit."""
    factor = log32(square) if square.dtype == np.float32 else log(square, exact=True)
    factor *= square.dtype.type(-2)
    factor /= square
    return np.sqrt(factor, out=factor)


def normal(bank: Bank, first: int, stop: int, out: np.ndarray) -> None:
    """Fill the rows of `out` by the polar method; MXNet asks a fresh distribution each time, so x is thrown away."""
    compiled = COMPILED.for_numbers(out.size, CALL) if out.dtype == np.float32 else None
    if compiled is not None:
        bank.prepare(stop)
        compiled.normals(bank.states, bank.words, bank.cursors, first, out)
        return
    number, per_point = out.shape[1], 2 if out.dtype == np.float32 else 4
    if stop == first + 1 and number <= FEW:
        out[0] = _few_normal(bank, first, number, out.dtype)
        return
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


def _few_normal(bank: Bank, engine: int, number: int, kind: np.dtype) -> np.ndarray:
    """The same from one engine, of more points than are likely to be needed."""
    per_point = 2 if kind == np.float32 else 4
    words = bank.take(engine, engine + 1, per_point * (2 * number + 6))
    _, y, square = _points(words, kind)
    inside = np.flatnonzero((square[0] <= 1) & (square[0] != 0))[:number]
    used = int(inside[-1]) + 1 if len(inside) == number else square.shape[1]
    bank.give_back(engine, words[0, per_point * used :])
    found = polar_factor(square[0, inside]) * y[0, inside]
    missing = number - len(inside)
    return np.concatenate([found, _few_normal(bank, engine, missing, kind)]) if missing else found


def normal_pairs(bank: Bank, size: int, kind: str = "float32") -> np.ndarray:
    """`size` normal numbers of one distribution object, which keeps x for the next call."""
    compiled = COMPILED.for_numbers(size, CALL) if kind == "float32" else None
    if compiled is not None:
        bank.prepare(1)
        numbers = np.empty(size, np.float32)
        compiled.pairs(bank.states, bank.words, bank.cursors, numbers)
        return numbers
    if size <= HANDFUL and kind == "float32":
        return np.array(_few_pairs(bank, size), np.float32)
    pairs, per_point = np.empty((0, 2), kind), 2 if kind == "float32" else 4
    while len(pairs) * 2 < size:
        words = bank.take(0, 1, per_point * (size - 2 * len(pairs) + 1))
        x, y, square = _points(words, np.dtype(kind))
        inside = np.flatnonzero((square <= 1) & (square != 0))[: (size - 2 * len(pairs) + 1) // 2]
        done = (int(inside[-1]) + 1) * per_point if len(pairs) * 2 + len(inside) * 2 >= size else words.shape[1]
        bank.give_back(0, words[0, done:])
        factor = polar_factor(square[0, inside])
        pairs = np.concatenate([pairs, np.stack([y[0, inside] * factor, x[0, inside] * factor], axis=1)])
    return pairs.reshape(-1)[:size]


def _few_pairs(bank: Bank, size: int) -> list[np.float32]:
    """The same of a handful, point by point: arrays would take longer."""
    numbers: list[np.float32] = []
    while len(numbers) < size:
        words = bank.take(0, 1, 2 * (size - len(numbers) + 1))
        x, y, square = _points(words, np.dtype(np.float32))
        for place in range(len(square[0])):
            one = square[0, place]
            if one <= 1 and one != 0:
                factor = np.sqrt(log32_of(one) * np.float32(-2) / one)
                numbers += [y[0, place] * factor, x[0, place] * factor]
            if len(numbers) >= size:
                bank.give_back(0, words[0, 2 * (place + 1) :])
                break
    return numbers[:size]


# -- rejection: every engine is a little machine of its own, all step together -----------------------------------------


class Draws:
    """A window on the words of several engines, with a cursor for each; what is left goes back to the bank.

    Whatever depends on a word's place alone is computed for the whole window at once: the uniform number that begins
    there, and where the next point inside the circle begins if the polar method starts there.
    """

    WIDEST = 2 * LENGTH

    def __init__(self, bank: Bank, engines: int, kind: type, points: bool, samples: int) -> None:
        self.bank, self.engines, self.kind, self.points = bank, engines, kind, points
        self.span = 1 if kind is np.float32 else 2  # words of a uniform number
        self.width = min(self.WIDEST, 64 + 4 * samples * self.span)  # what most need: more is looked at in vain
        self.first = np.arange(engines) * self.width
        self.end = self.first + self.width
        self.words = np.empty((engines, 0), WORD)
        self.at = self.first.copy()
        self._fill()

    def close(self) -> None:
        """Return what was not read."""
        if self.words.shape[1]:
            for engine, at in enumerate((self.at - self.first).tolist()):
                self.bank.give_back(engine, self.words[engine, at:])

    def _fill(self) -> None:
        self.close()
        self.words = self.bank.take(0, self.engines, self.width)
        self.at[:] = self.first
        if self.span == 1:
            unit = unit32(self.words)
        else:
            unit = np.zeros(self.words.shape)
            for start in (0, 1):  # a number may begin at any word
                pairs = self.words[:, start : self.width - start]
                unit[:, start : self.width - start : 2] = unit64(pairs)
        self.unit = unit.reshape(-1)
        if self.points:
            self._find_points(unit)

    def _find_points(self, unit: np.ndarray) -> None:
        signed = unit * self.kind(2) - self.kind(1)
        square = np.full_like(signed, 2)
        length = self.width - 2 * self.span + 1
        x, y = signed[:, :length], signed[:, self.span : self.span + length]
        square[:, :length] = x * x + y * y
        place = np.arange(self.engines * self.width).reshape(self.engines, -1, 2 * self.span)
        inside = ((square <= 1) & (square != 0)).reshape(place.shape)
        place[~inside] = self.engines * self.width
        self.next = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1].reshape(-1)
        self.signed, self.square = signed.reshape(-1), square.reshape(-1)

    def ahead(self, rows: np.ndarray, number: int) -> np.ndarray:
        """Cursors with `number` words before the end of the window; it moves on if one has fewer."""
        at = self.at[rows]
        if (at + number > self.end[rows]).any():
            self._fill()
            at = self.at[rows]
        return at

    def uniform(self, rows: np.ndarray) -> np.ndarray:
        at = self.ahead(rows, self.span)
        self.at[rows] = at + self.span
        return self.unit.take(at)

    def normal(self, rows: np.ndarray, more: int) -> np.ndarray:
        """A normal number for each row; at least `more` words follow it in the window."""
        while True:
            point = self.next.take(np.minimum(self.at[rows], len(self.next) - 1))
            if not (point + 2 * self.span + more > self.end[rows]).any():
                break
            self._skip(rows)
            self._fill()
        self.at[rows] = point + 2 * self.span
        return polar_factor(self.square.take(point)) * self.signed.take(point + self.span)

    def _skip(self, rows: np.ndarray) -> None:
        """Where the rest of the window holds no point, the whole pairs in it are read in vain."""
        at, pair = self.at[rows], 2 * self.span
        empty = self.next.take(np.minimum(at, len(self.next) - 1)) >= self.end[rows]
        at[empty] += (self.end[rows] - at)[empty] // pair * pair
        self.at[rows] = at


def pick(values: np.ndarray, here: np.ndarray) -> np.ndarray:
    """The parameter of each sample, or the one that all share."""
    return values[here] if values.ndim else values


class Machine(Protocol):
    """A distribution by rejection: `attempt` tries once for the engines `rows`, which are at the samples `here`."""

    def attempt(self, rows: np.ndarray, here: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Indices into `rows` of those that got their sample, and the samples."""
        ...


def gamma_terms(alpha: np.ndarray, kind: type) -> tuple[np.ndarray, ...]:
    """Is the shape below one? And the numbers that Marsaglia and Tsang call d, 1/c and c; then one over the shape."""
    wide, small = alpha.astype(np.float64), np.asarray(alpha < 1)
    rounded = half if alpha.dtype == np.float16 else np.asarray
    d = np.asarray(rounded(np.where(small, wide + 2.0 / 3.0, wide - 1.0 / 3.0)).astype(kind))
    k = np.asarray(np.sqrt(9.0 * d.astype(np.float64)).astype(kind))
    c = np.asarray((1.0 / k.astype(np.float64)).astype(kind))
    return small, d, k, c, np.asarray(rounded(1.0 / wide).astype(kind))


class Gamma:
    """Marsaglia and Tsang's method."""

    def __init__(self, draws: Draws, alpha: np.ndarray, beta: np.ndarray) -> None:
        self.draws, self.kind, self.beta = draws, draws.kind, beta
        self.small, self.d, self.k, self.c, self.exponent = gamma_terms(alpha, draws.kind)
        self.any_small = bool(self.small.any())
        self.halves = alpha.dtype == np.float16

    def attempt(self, rows: np.ndarray, here: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        draws, kind = self.draws, self.kind
        d = pick(self.d, here)
        z = draws.normal(rows, 2 * draws.span)
        high = z > -pick(self.k, here)
        x = (1.0 + (pick(self.c, here) * z).astype(np.float64)).astype(kind)
        v = x * x * x
        at = draws.at[rows]
        unit = draws.unit.take(at)
        draws.at[rows] = at + draws.span * high
        wide = v.astype(np.float64)
        bound = 0.5 * z * z.astype(np.float64) + d.astype(np.float64) * (1.0 - wide + np.log(wide))
        got = np.flatnonzero((np.log(1.0 - unit.astype(np.float64)) < bound) & high)
        sample = (d * v).take(got) * pick(self.beta, here[got])
        sample = (half(sample) if self.halves else sample).astype(kind, copy=False)
        return got, self._scaled(rows, here, got, sample) if self.any_small else sample

    def _scaled(self, rows: np.ndarray, here: np.ndarray, got: np.ndarray, sample: np.ndarray) -> np.ndarray:
        """Shapes below one are drawn with shape one higher and scaled down."""
        small = np.flatnonzero(np.broadcast_to(pick(self.small, here[got]), got.shape))
        unit = self.draws.uniform(rows[got[small]])
        exponent = pick(self.exponent, here[got[small]])
        sample[small] = (sample[small] * power(unit, exponent)).astype(self.kind, copy=False)  # rounded once
        return sample


_lgamma = np.frompyfunc(math.lgamma, 1, 1)


def _lgamma32(x: np.ndarray) -> np.ndarray:
    return np.asarray(_lgamma(x.astype(np.float32).astype(np.float64))).astype(np.float32)


def _exp32(x: np.ndarray) -> np.ndarray:
    return np.exp(x, dtype=np.float64).astype(np.float32)


class Rate:
    """Poisson rates, one for each row or one for all, and what the algorithms derive from them."""

    def __init__(self, lam: np.ndarray) -> None:
        self.lam = lam
        self.small = lam < 12
        self.all_small, self.any_small = bool(self.small.all()), bool(self.small.any())

    def __getitem__(self, rows: np.ndarray) -> "Rate":
        return Rate(self.lam[rows])

    @functools.cached_property
    def threshold(self) -> np.ndarray:
        return _exp32(-self.lam)

    @functools.cached_property
    def cauchy(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Width, logarithm, and the logarithm of the largest probability."""
        wide = self.lam.astype(np.float64)
        log = np.log(wide).astype(np.float32)
        return np.sqrt(2.0 * wide).astype(np.float32), log, self.lam * log - _lgamma32(wide + 1.0)


LOG_FACTORIALS = _lgamma32(np.arange(1.0, 4097.0))


def _log_factorial(count: np.ndarray) -> np.ndarray:
    """The logarithm of count! in single precision."""
    if not len(count) or count.max() < len(LOG_FACTORIALS):
        return LOG_FACTORIALS.take(count.astype(np.int64))
    return _lgamma32(count.astype(np.float64) + 1.0)


def _as_int32(count: np.ndarray) -> np.ndarray:
    """Counts as MXNet's processor converts them to 32 bits: the lowest number stands for all that do not fit."""
    return np.where(count < _BEYOND, count, -_BEYOND).astype(np.int64)


class Poisson:
    """Products of uniform numbers for small rates, rejection from a Cauchy distribution for large ones."""

    def __init__(self, draws: Draws, lam: np.ndarray | None = None) -> None:
        self.draws = draws
        self.lam = None if lam is None else np.asarray(lam, np.float32)
        self.shared = Rate(self.lam) if self.lam is not None and self.lam.ndim == 0 else None
        self.product = np.ones(draws.engines, np.float32)
        self.count = np.zeros(draws.engines, np.int64)

    def attempt(self, rows: np.ndarray, here: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.at_rate(rows, self.shared or Rate(self.lam[here]))  # type: ignore[index]

    def at_rate(self, rows: np.ndarray, rate: Rate) -> tuple[np.ndarray, np.ndarray]:
        """One try for each row."""
        if rate.all_small:
            return self._small(rows, rate)
        if not rate.any_small:
            return self._large(rows, rate)
        low, high = np.flatnonzero(rate.small), np.flatnonzero(~rate.small)
        got_low, count_low = self._small(rows[low], rate[low])
        got_high, count_high = self._large(rows[high], rate[high])
        return np.concatenate([low[got_low], high[got_high]]), np.concatenate([count_low, count_high])

    def _small(self, rows: np.ndarray, rate: Rate) -> tuple[np.ndarray, np.ndarray]:
        product = self.product[rows] * self.draws.uniform(rows)
        got = np.flatnonzero(product <= rate.threshold)
        count = self.count[rows]
        done = rows[got]
        self.product[rows] = product
        self.count[rows] = count + 1
        self.product[done] = 1
        self.count[done] = 0
        return got, count[got]

    def _large(self, rows: np.ndarray, rate: Rate) -> tuple[np.ndarray, np.ndarray]:
        root, log, offset = rate.cauchy
        y = np.tan(np.float32(3.1415926) * self.draws.uniform(rows), dtype=np.float64).astype(np.float32)
        count = root * y + rate.lam
        got = np.flatnonzero(~(count < 0))
        y, count = y[got], np.floor(count[got])
        power = count * pick(log, got) - _log_factorial(count) - pick(offset, got)
        bound = (0.9 * (1.0 + (y * y).astype(np.float64)) * _exp32(power)).astype(np.float32)
        good = np.flatnonzero(~(self.draws.uniform(rows[got]) > bound))
        return got[good], _as_int32(count[good])


class GammaPoisson:
    """A Poisson count whose rate is a gamma sample, or `fixed` where there is no dispersion (an infinite shape)."""

    def __init__(self, draws: Draws, alpha: np.ndarray, beta: np.ndarray, fixed: np.ndarray) -> None:
        self.direct, self.fixed = np.asarray(np.isinf(alpha)), fixed
        self.gamma, self.poisson = Gamma(draws, alpha, beta), Poisson(draws)
        self.rate, self.waits = np.empty(draws.engines, np.float32), np.ones(draws.engines, bool)

    def attempt(self, rows: np.ndarray, here: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        waiting = self.waits[rows]
        direct = waiting & pick(self.direct, here)
        self._begin(rows[direct], np.broadcast_to(pick(self.fixed, here), rows.shape)[direct])
        waiting = np.flatnonzero(waiting & ~direct)
        if len(waiting):
            got, rate = self.gamma.attempt(rows[waiting], here[waiting])
            self._begin(rows[waiting[got]], rate)
        ready = np.flatnonzero(~self.waits[rows])
        got, count = self.poisson.at_rate(rows[ready], Rate(self.rate[rows[ready]]))
        self.waits[rows[ready[got]]] = True
        return ready[got], count

    def _begin(self, rows: np.ndarray, rate: np.ndarray) -> None:
        """Draw counts at a rate, which may be no number: an infinite scale times nothing."""
        self.rate[rows], self.waits[rows] = rate, False


Runner = Callable[[Bank, tuple[np.ndarray, ...], int, np.ndarray], bool]
QUICK: dict[object, Runner] = {}  # quicker ways for a machine, which others may know; False: not for these numbers


def run(
    bank: Bank,
    machine: Callable[..., Machine],
    parameters: tuple[np.ndarray, ...],
    step: int,
    out: np.ndarray,
    kind: type = np.float32,
) -> None:
    """Fill `out`: engine e makes the samples e*step to (e+1)*step, in order."""
    with np.errstate(all="ignore"):
        if machine in QUICK and QUICK[machine](bank, parameters, step, out):
            return
    engines = -(-len(out) // step)
    draws = Draws(bank, engines, kind, machine is not Poisson, step)
    at = np.arange(engines) * step
    end = np.minimum(at + step, len(out))
    rows = np.arange(engines)
    with np.errstate(all="ignore"):
        made = machine(draws, *parameters)
        while len(rows):
            here = at[rows]
            got, samples = made.attempt(rows, here)
            out[here[got]] = samples
            at[rows[got]] += 1
            if (at[rows] >= end[rows]).any():
                rows = rows[at[rows] < end[rows]]
    draws.close()


# -- integers and zipfian ----------------------------------------------------------------------------------------------


def below(bank: Bank, limits: np.ndarray) -> np.ndarray:
    """An integer below each limit by division with rejection, as `std::uniform_int_distribution` does."""
    scale = np.int64(0xFFFFFFFF) // limits
    words, ends, first = bank.take(0, 1, len(limits))[0].astype(np.int64), limits * scale, 0
    while True:
        refused = words[first:] >= ends[first:]
        if not refused.any():
            return words // scale
        first += int(refused.argmax())  # rare: all that follow move up
        words[first:-1] = words[first + 1 :]
        words[-1] = bank.take(0, 1, 1)[0, 0]


def permutation(bank: Bank, size: int, sweep_up: bool) -> np.ndarray:
    """The order in which exchanges leave `size` items: upwards each with one before it, or downwards."""
    compiled = COMPILED.for_numbers(size, EXCHANGE * size)
    if compiled is not None:
        bank.prepare(1)
        order = np.arange(size)
        compiled.exchange(bank.states, bank.words, bank.cursors, order, sweep_up)
        return order
    limits = np.arange(2, size + 1) if sweep_up else np.arange(size, 1, -1)
    items = list(range(size))
    for i, j in zip((limits - 1).tolist(), below(bank, limits).tolist(), strict=True):
        items[i], items[j] = items[j], items[i]
    return np.array(items, np.int64)


def zipfian(bank: Bank, engine: int, range_max: int, out: np.ndarray) -> int:
    """Fill `out` with different classes below `range_max`; returns how many had to be drawn."""
    number, log_range, start = len(out), math.log(range_max), bank.mark(engine)
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
    bank.go_back(engine, start)
    bank.take(engine, engine + 1, 2 * tries)
    return tries
