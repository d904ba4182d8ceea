"""Batch norm's passes over images, channels last, for the processor's vectors; importing this module asks for numba.

Sums are made for chunks of pixels, which stay in the cache while they are read twice, and have `SUMS` rows of channels
for each chunk.
"""

from typing import Any

from llvmlite import ir

from ..runtime.simd import FLOAT, FLOAT_KIND, INT, WIDE, Lanes, Writer, compiled, numbers, writes

SUMS = 2
_BYTES, LINE = WIDE * FLOAT, 64  # of a vector, and of what memory is read in
_DOUBLE, _INDEX = ir.DoubleType(), ir.IntType(32)
_DOUBLES = ir.VectorType(_DOUBLE, WIDE)
REGISTERS = 16 if WIDE > 8 else 8  # vectors of sums that are made at once: a processor has twice as many


def _sums(
    write: Writer, begin: Any, end: Any, size: Any, count: int, rows: int, body: Any, asked: Any = ()
) -> list[Lanes]:
    """`rows` sums of `count` vectors of pixels, `size` bytes each; `body` gives what is added to them.

    From addresses that are `asked` for, as much is fetched meanwhile.
    """

    def some(place, away, sums):
        made = list(sums)
        for number in range(0, count, LINE // write.bytes):
            for source in asked:
                write.prefetch(_vector(write, source, number, away), 2)
        for number in range(count):
            for row, term in enumerate(body(place, away, number)):
                made[row * count + number] += term
        return write.at(away, size), made

    return write.loop(begin, end, size, size.type(0), [write.zeros()] * (rows * count), some)


def _vector(write: Writer, place: Any, number: int, *distances: Any) -> Any:
    return write.at(place, number * write.bytes, *distances)


@writes(7, floats=1, lanes=WIDE)
def _moments(write: Writer, begin, end, size, vectors, means, squares, ahead, share):
    """Means of some vectors of pixels, and sums of squared distances from them; `share`: of a pixel in the mean.

    What is summed are distances from the first pixel: numbers far from zero have no digits to lose.
    """

    def group(count):
        def sums(body, *asked):
            return _sums(write, begin, end, size, count, 1, body, asked)

        def distance(place, _, number):
            return [write.load(_vector(write, place, number)) - start[number]]

        def square(place, _, number):
            apart = write.load(_vector(write, place, number)) - mean[number]
            return [apart * apart]

        start = [write.load(_vector(write, begin, number)) for number in range(count)]
        total = sums(distance, write.at(begin, ahead))
        mean = [one * write.spread(share) + first for one, first in zip(total, start, strict=True)]
        for place, found in ((means, mean), (squares, sums(square))):
            for number, one in enumerate(found):
                write.store(one, _vector(write, place, number))

    write.choose(vectors, REGISTERS, group)


@compiled(f"void({numbers(7)})")
def moments(data, sums, channels, pixels, chunk, first, last):
    """Of chunks `first` to `last` of so many pixels: means of channels, and sums of squared distances from them."""
    size, group = channels * FLOAT, REGISTERS * _BYTES
    for number in range(first, last):
        begin, end = data + number * chunk * size, data + min((number + 1) * chunk, pixels) * size
        means, share = sums + number * SUMS * size, 1.0 / ((end - begin) // size)
        for away in range(0, size, group):
            vectors, place = min(group, size - away) // _BYTES, means + away
            _moments(begin + away, end, size, vectors, place, place + size, chunk * size, share)


def _wide(write: Writer, lanes: Lanes) -> Lanes:
    """In double precision."""
    return Lanes(write.builder, write.builder.fpext(lanes.value, _DOUBLES))


def _wide_number(write: Writer, number: Any) -> Lanes:
    """A whole number in all lanes, in double precision."""
    builder, nothing = write.builder, ir.Constant(_DOUBLES, ir.Undefined)
    one = builder.insert_element(nothing, builder.sitofp(number, _DOUBLE), _INDEX(0))
    return Lanes(builder, builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INDEX, WIDE), [0] * WIDE)))


def _narrow(write: Writer, lanes: Lanes) -> Lanes:
    return Lanes(write.builder, write.builder.fptrunc(lanes.value, ir.VectorType(FLOAT_KIND, WIDE)))


def _over_chunks(write: Writer, begin: Any, end: Any, size: Any, body: Any, rows: int) -> list[Lanes]:
    """Sums, in double precision, of what `body` makes of each chunk's sums."""
    none = Lanes(write.builder, ir.Constant(_DOUBLES, [0.0] * WIDE))

    def some(place, other, totals):
        return other, [total + term for total, term in zip(totals, body(place), strict=True)]

    return write.loop(begin, end, write.times(size, SUMS), size, [none] * rows, some)


@writes(9, floats=1, lanes=WIDE)
def _finish_moments(write: Writer, begin, end, gamma, beta, found, size, chunk, rest, pixels, eps):
    """Of a vector of channels; the last chunk has `rest` pixels."""

    def own(place, row=0):
        return _wide(write, write.load(write.at(place, write.times(size, row))))

    count, all_pixels = _wide_number(write, chunk), _wide_number(write, pixels)
    missing, last = _wide_number(write, write.builder.sub(rest, chunk)), write.builder.sub(end, write.times(size, SUMS))
    (total,) = _over_chunks(write, begin, end, size, lambda place: [own(place)], 1)
    mean = (total * count + own(last) * missing) / all_pixels

    def squares(place):
        apart = own(place) - mean
        return own(place, 1), apart * apart

    inside, between = _over_chunks(write, begin, end, size, squares, 2)
    apart = own(last) - mean
    variance = (inside + between * count + apart * apart * missing) / all_pixels
    inverse, mean = 1.0 / (_narrow(write, variance) + write.spread(eps)).root(), _narrow(write, mean)
    factor = write.load(gamma) * inverse
    made = mean, inverse, factor, write.load(beta) - mean * factor
    for row, lanes in enumerate(made):
        write.store(lanes, write.at(found, write.times(size, row)))


@compiled(f"void({numbers(8)}, float32, {numbers(2)})")
def finish_moments(sums, gamma, beta, found, channels, chunks, chunk, pixels, eps, first, last):
    """Out of all chunks' moments, for channels `first` to `last`: mean, reciprocal standard deviation, and what data
    are multiplied with, and then moved by, to be normal, scaled and shifted.
    """
    size, rest = channels * FLOAT, pixels - (chunks - 1) * chunk
    for away in range(first * FLOAT, last * FLOAT, _BYTES):
        begin = sums + away
        end = begin + chunks * SUMS * size
        _finish_moments(begin, end, gamma + away, beta + away, found + away, size, chunk, rest, pixels, eps)


def _where(write: Writer, value: Lanes, head: Lanes) -> Lanes:
    """A gradient where relu let its value through; NaN let it through."""
    builder = write.builder
    stopped = builder.fcmp_ordered("<=", value.value, write.zeros().value)
    return Lanes(builder, builder.select(stopped, write.zeros().value, head.value))


def _passing(write: Writer, data: Lanes, factors: Any, shifts: Any, away: Any, head: Lanes) -> Lanes:
    """A gradient where relu let the scaled and shifted data through."""
    value = data * write.load(write.at(factors, away)) + write.load(write.at(shifts, away))
    return _where(write, value, head)


PLAIN, SCALED, GIVEN = range(3)  # where a gradient is stopped: nowhere, by data that are scaled again, by given values


def _sloping(kind: int) -> Any:
    """What sums the gradients of some vectors of pixels, and their products with data beside means."""

    @writes(11, lanes=WIDE)
    def add(write: Writer, head, data, end, value, factors, shifts, means, sums, size, vectors, ahead):
        def group(count):
            def slope(place, away, number):
                one, row = write.load(_vector(write, place, number)), write.load(_vector(write, data, number, away))
                if kind == SCALED:
                    one = _passing(write, row, factors, shifts, INT(number * write.bytes), one)
                elif kind == GIVEN:
                    own = _vector(write, value, number, away)
                    one = _where(write, write.load(own), one)
                    write.store(one, own)
                return one, one * (row - write.load(_vector(write, means, number)))

            asked = [write.at(one, ahead) for one in ((head, data, value) if kind == GIVEN else (head, data))]
            made = _sums(write, head, end, size, count, SUMS, slope, asked)
            for place, found in ((sums, made[:count]), (write.at(sums, size), made[count:])):
                for number, one in enumerate(found):
                    write.store(one, _vector(write, place, number))

        write.choose(vectors, REGISTERS // SUMS, group)

    return add


_slopes, _slopes_where_scaled, _slopes_where_given = (_sloping(kind) for kind in (PLAIN, SCALED, GIVEN))


@compiled(f"void({numbers(12)})")
def slopes(head, data, value, factors, shifts, means, sums, channels, pixels, chunk, first, last):
    """Of chunks `first` to `last`: sums of a gradient, and of its products with the distances of data from means.

    The gradient is stopped where a value is not positive, and then written over that; without values where data times
    factors plus shifts is not positive; without factors nowhere.
    """
    size, group = channels * FLOAT, REGISTERS // SUMS * _BYTES
    for number in range(first, last):
        begin, end = number * chunk * size, head + min((number + 1) * chunk, pixels) * size
        ahead = chunk * size
        for away in range(0, size, group):
            vectors, place = min(group, size - away) // _BYTES, begin + away
            at, there, own = head + place, data + place, value + place
            means_here, total = means + away, sums + number * SUMS * size + away
            if value:
                _slopes_where_given(at, there, end, own, 0, 0, means_here, total, size, vectors, ahead)
            elif factors:
                scale, shift = factors + away, shifts + away
                _slopes_where_scaled(at, there, end, 0, scale, shift, means_here, total, size, vectors, ahead)
            else:
                _slopes(at, there, end, 0, 0, 0, means_here, total, size, vectors, ahead)


@writes(8, floats=2, lanes=WIDE)
def _finish_slopes(write: Writer, begin, end, found, made, mean, variance, size, pixels, eps, share):
    def row(place, number):
        return write.load(write.at(place, write.times(size, number)))

    def own(place):
        return [_wide(write, row(place, number)) for number in range(SUMS)]

    total, product = _over_chunks(write, begin, end, size, own, 2)
    inverse, factor = _wide(write, row(found, 1)), _wide(write, row(found, 2)) / _wide_number(write, pixels)
    results = product * inverse, total, product * inverse * inverse * factor, total * factor
    for number, lanes in enumerate(results):
        write.store(_narrow(write, lanes), write.at(made, write.times(size, number)))
    squares = 1.0 / (row(found, 1) * row(found, 1)) - write.spread(eps)
    for place, statistic in ((mean, row(found, 0)), (variance, squares)):
        before = write.load(place)
        write.store(before + (statistic - before) * write.spread(share), place)


@compiled(f"void({numbers(8)}, float32, float32, {numbers(2)})")
def finish_slopes(sums, found, made, mean, variance, channels, chunks, pixels, eps, share, first, last):
    """Out of all chunks' sums, for channels `first` to `last`: the gradients of gamma and beta, and by how much data's
    gradient falls with the data, and at all. The moving mean and variance take their share of the batch's.
    """
    size = channels * FLOAT
    for away in range(first * FLOAT, last * FLOAT, _BYTES):
        begin = sums + away
        end, moving = begin + chunks * SUMS * size, mean + away
        _finish_slopes(begin, end, found + away, made + away, moving, variance + away, size, pixels, eps, share)


def _spreading(kind: int) -> Any:
    @writes(9, lanes=WIDE)
    def spread(write: Writer, head, data, stop, shifts, means, factors, slopes, result, size):
        def some(away, other, _):
            one, row = write.load(write.at(head, away)), write.load(write.at(data, away))
            if kind == SCALED:
                one = _passing(write, row, stop, shifts, away, one)
            moved, offset = (row - write.load(write.at(means, away))), write.load(write.at(slopes, size, away))
            made = one * write.load(write.at(factors, away)) - offset - moved * write.load(write.at(slopes, away))
            write.store(made, write.at(result, away))
            return other, []

        write.loop(size.type(0), size, write.bytes, size, [], some)

    return spread


_spread_plain, _spread_scaled = _spreading(PLAIN), _spreading(SCALED)


@compiled(f"void({numbers(11)})")
def spread(head, data, stop, shifts, means, factors, slopes, result, channels, first, last):
    """Pixels `first` to `last`: the gradient times factors, less the slopes' second row, less the distance of data from
    means times their first row. Before that it is stopped where data times `stop`, if there is one, plus shifts is not
    positive.
    """
    size = channels * FLOAT
    for place in range(first * size, last * size, size):
        if stop:
            _spread_scaled(head + place, data + place, stop, shifts, means, factors, slopes, result + place, size)
        else:
            _spread_plain(head + place, data + place, stop, shifts, means, factors, slopes, result + place, size)
