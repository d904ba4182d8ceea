"""Batch norm's passes over NHWC images for the processor's vectors; importing this module loads numba.

Sums are computed for chunks of pixels, which stay in the cache while they are read twice. Each chunk has `SUMS` rows
with one number for each channel. The sums of all chunks are added in double precision.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils

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

    The same amount of memory at the addresses `asked` is prefetched meanwhile.
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

    Distances from the first pixel are summed, so that values far from zero do not lose precision.
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
        mean = [one * write.broadcast(share) + first for one, first in zip(total, start, strict=True)]
        for place, statistics in ((means, mean), (squares, sums(square))):
            for number, one in enumerate(statistics):
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


def _double(write: Writer, lanes: Lanes) -> Lanes:
    """In double precision."""
    return Lanes(write.builder, write.builder.fpext(lanes.value, _DOUBLES))


def _double_number(write: Writer, number: Any) -> Lanes:
    """A whole number in all lanes, in double precision."""
    builder, nothing = write.builder, ir.Constant(_DOUBLES, ir.Undefined)
    one = builder.insert_element(nothing, builder.sitofp(number, _DOUBLE), _INDEX(0))
    return Lanes(builder, builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INDEX, WIDE), [0] * WIDE)))


def _single(write: Writer, lanes: Lanes) -> Lanes:
    return Lanes(write.builder, write.builder.fptrunc(lanes.value, ir.VectorType(FLOAT_KIND, WIDE)))


def _root(write: Writer, lanes: Lanes) -> Lanes:
    """The square root in double precision."""
    kind = ir.FunctionType(_DOUBLES, [_DOUBLES])
    function = cgutils.get_or_insert_function(write.builder.module, kind, f"llvm.sqrt.v{WIDE}f64")
    return Lanes(write.builder, write.builder.call(function, [lanes.value]))


def _over_chunks(write: Writer, begin: Any, end: Any, size: Any, body: Any, rows: int) -> list[Lanes]:
    """Sums, in double precision, of what `body` makes of each chunk's sums."""
    none = Lanes(write.builder, ir.Constant(_DOUBLES, [0.0] * WIDE))

    def some(place, other, totals):
        return other, [total + term for total, term in zip(totals, body(place), strict=True)]

    return write.loop(begin, end, write.times(size, SUMS), size, [none] * rows, some)


@writes(9, floats=1, lanes=WIDE)
def _finish_moments(write: Writer, begin, end, gamma, beta, statistics, size, chunk, rest, pixels, eps):
    """Of a vector of channels; the last chunk has `rest` pixels."""

    def own(place, row=0):
        return _double(write, write.load(write.at(place, write.times(size, row))))

    count, all_pixels = _double_number(write, chunk), _double_number(write, pixels)
    missing, last = (
        _double_number(write, write.builder.sub(rest, chunk)),
        write.builder.sub(end, write.times(size, SUMS)),
    )
    (total,) = _over_chunks(write, begin, end, size, lambda place: [own(place)], 1)
    mean = (total * count + own(last) * missing) / all_pixels

    def squares(place):
        apart = own(place) - mean
        return own(place, 1), apart * apart

    inside, between = _over_chunks(write, begin, end, size, squares, 2)
    apart = own(last) - mean
    variance = (inside + between * count + apart * apart * missing) / all_pixels
    one = Lanes(write.builder, ir.Constant(_DOUBLES, [1.0] * WIDE))
    inverse = one / _root(write, variance + _double(write, write.broadcast(eps)))
    factor = _single(write, own(gamma) * inverse)
    shift = own(beta) - mean * _double(write, factor)  # of the rounded factor: data equal to the mean give beta
    made = _single(write, mean), _single(write, inverse), factor, _single(write, shift)
    for row, lanes in enumerate(made):
        write.store(lanes, write.at(statistics, write.times(size, row)))


@compiled(f"void({numbers(8)}, float32, {numbers(2)})")
def finish_moments(sums, gamma, beta, statistics, channels, chunks, chunk, pixels, eps, first, last):
    """Out of all chunks' moments, for channels `first` to `last`: mean, reciprocal standard deviation, and the factor
    and shift that normalize data and apply gamma and beta.
    """
    size, rest = channels * FLOAT, pixels - (chunks - 1) * chunk
    for away in range(first * FLOAT, last * FLOAT, _BYTES):
        begin = sums + away
        end = begin + chunks * SUMS * size
        _finish_moments(begin, end, gamma + away, beta + away, statistics + away, size, chunk, rest, pixels, eps)


def _through_relu(write: Writer, value: Lanes, head: Lanes) -> Lanes:
    """A gradient where relu let its value through; NaN let it through."""
    builder = write.builder
    blocked = builder.fcmp_ordered("<=", value.value, write.zeros().value)
    return Lanes(builder, builder.select(blocked, write.zeros().value, head.value))


def _through_scaled_relu(write: Writer, data: Lanes, factors: Any, shifts: Any, away: Any, head: Lanes) -> Lanes:
    """A gradient where relu let the scaled and shifted data through."""
    value = data * write.load(write.at(factors, away)) + write.load(write.at(shifts, away))
    return _through_relu(write, value, head)


PLAIN, RECOMPUTED, GIVEN = range(
    3
)  # where a gradient is blocked: nowhere, by data that are scaled again, by given values


def _gradient_sums_kernel(kind: int) -> Any:
    """What sums the gradients of some vectors of pixels, and their products with data beside means."""

    @writes(11, lanes=WIDE)
    def add(write: Writer, head, data, end, value, factors, shifts, means, sums, size, vectors, ahead):
        def group(count):
            def terms(place, away, number):
                one, row = write.load(_vector(write, place, number)), write.load(_vector(write, data, number, away))
                if kind == RECOMPUTED:
                    one = _through_scaled_relu(write, row, factors, shifts, INT(number * write.bytes), one)
                elif kind == GIVEN:
                    own = _vector(write, value, number, away)
                    one = _through_relu(write, write.load(own), one)
                    write.store(one, own)
                return one, one * (row - write.load(_vector(write, means, number)))

            asked = [write.at(one, ahead) for one in ((head, data, value) if kind == GIVEN else (head, data))]
            made = _sums(write, head, end, size, count, SUMS, terms, asked)
            for place, statistics in ((sums, made[:count]), (write.at(sums, size), made[count:])):
                for number, one in enumerate(statistics):
                    write.store(one, _vector(write, place, number))

        write.choose(vectors, REGISTERS // SUMS, group)

    return add


_gradient_sums, _gradient_sums_recomputed, _gradient_sums_given = (
    _gradient_sums_kernel(kind) for kind in (PLAIN, RECOMPUTED, GIVEN)
)


@compiled(f"void({numbers(12)})")
def gradient_sums(head, data, value, factors, shifts, means, sums, channels, pixels, chunk, first, last):
    """Of chunks `first` to `last`: sums of a gradient, and of its products with the distances of data from means.

    The gradient is blocked where a value is not positive, and then written over that; without values where data times
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
                _gradient_sums_given(at, there, end, own, 0, 0, means_here, total, size, vectors, ahead)
            elif factors:
                scale, shift = factors + away, shifts + away
                _gradient_sums_recomputed(at, there, end, 0, scale, shift, means_here, total, size, vectors, ahead)
            else:
                _gradient_sums(at, there, end, 0, 0, 0, means_here, total, size, vectors, ahead)


@writes(8, floats=2, lanes=WIDE)
def _finish_gradients(write: Writer, begin, end, statistics, made, mean, variance, size, pixels, eps, share):
    def row(place, number):
        return write.load(write.at(place, write.times(size, number)))

    def own(place):
        return [_double(write, row(place, number)) for number in range(SUMS)]

    total, product = _over_chunks(write, begin, end, size, own, 2)
    inverse, factor = (
        _double(write, row(statistics, 1)),
        _double(write, row(statistics, 2)) / _double_number(write, pixels),
    )
    results = product * inverse, total, product * inverse * inverse * factor, total * factor
    for number, lanes in enumerate(results):
        write.store(_single(write, lanes), write.at(made, write.times(size, number)))
    squares = 1.0 / (row(statistics, 1) * row(statistics, 1)) - write.broadcast(eps)
    for place, statistic in ((mean, row(statistics, 0)), (variance, squares)):
        before = write.load(place)
        write.store(before + (statistic - before) * write.broadcast(share), place)


@compiled(f"void({numbers(8)}, float32, float32, {numbers(2)})")
def finish_gradients(sums, statistics, made, mean, variance, channels, chunks, pixels, eps, share, first, last):
    """Out of all chunks' sums, for channels `first` to `last`: the gradients of gamma and beta, and by how much data's
    gradient falls with the data, and at all. The moving mean and variance take their share of the batch's.
    """
    size = channels * FLOAT
    for away in range(first * FLOAT, last * FLOAT, _BYTES):
        begin = sums + away
        end, moving = begin + chunks * SUMS * size, mean + away
        _finish_gradients(begin, end, statistics + away, made + away, moving, variance + away, size, pixels, eps, share)


def _data_gradient_kernel(kind: int) -> Any:
    @writes(9, lanes=WIDE)
    def data_gradient(write: Writer, head, data, relu_factors, shifts, means, factors, gradient_sums, result, size):
        def some(away, other, _):
            one, row = write.load(write.at(head, away)), write.load(write.at(data, away))
            if kind == RECOMPUTED:
                one = _through_scaled_relu(write, row, relu_factors, shifts, away, one)
            moved, offset = (row - write.load(write.at(means, away))), write.load(write.at(gradient_sums, size, away))
            made = (
                one * write.load(write.at(factors, away)) - offset - moved * write.load(write.at(gradient_sums, away))
            )
            write.store(made, write.at(result, away))
            return other, []

        write.loop(size.type(0), size, write.bytes, size, [], some)

    return data_gradient


_data_gradient_plain, _data_gradient_recomputed = _data_gradient_kernel(PLAIN), _data_gradient_kernel(RECOMPUTED)


@compiled(f"void({numbers(11)})")
def data_gradient(head, data, relu_factors, shifts, means, factors, gradient_sums, result, channels, first, last):
    """Pixels `first` to `last` of the data's gradient: head times factors, less the second row of `gradient_sums`, less
    (data - means) times their first row. The head is zero where data times `relu_factors`, if there are any, plus
    shifts is not positive.
    """
    size = channels * FLOAT
    for place in range(first * size, last * size, size):
        if relu_factors:
            _data_gradient_recomputed(
                head + place, data + place, relu_factors, shifts, means, factors, gradient_sums, result + place, size
            )
        else:
            _data_gradient_plain(
                head + place, data + place, relu_factors, shifts, means, factors, gradient_sums, result + place, size
            )
