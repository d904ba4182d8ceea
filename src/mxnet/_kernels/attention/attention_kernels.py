"""Multi-head attention in SIMD vectors, forward and backward (importing this module imports numba).

One head after the other: its rows are packed for the matrix products (see `matmul.micro_kernels`); with the stride of
interleaved projections they would evict each other from the cache. Keys are padded with zeros to a multiple of 16; the
padding has a softmax weight of zero.
"""

import math

from ..matmul.micro_kernels import multiply, multiply_transposed, pack_rows, pack_rows_transposed
from ..runtime.simd import FLOAT, OPTIONS, WIDE, Writer, compiled, exp, njit, numbers, writes

BLOCK = 48  # queries at a time: their scores of all keys stay in the cache
UNIT = 16  # columns of a panel


@writes(3, floats=1, lanes=WIDE)
def _copy(write: Writer, target, source, size, factor):
    """Floats times a factor."""
    many = write.broadcast(factor)

    def move(place, other, _):
        write.store(write.load(place) * many, other)
        return write.at(other, write.bytes), []

    write.loop(source, write.at(source, size), write.bytes, target, [], move)


@writes(1, floats=1)
def _put(write: Writer, target, value):
    """One float."""
    write.store_scalar(value, target)


@njit(**OPTIONS)
def _fill(begin, end, value):
    for place in range(begin, end, FLOAT):
        _put(place, value)


@njit(**OPTIONS)
def _rows(target, source, stride, count, padded, size, factor):
    """Contiguous copies of rows of stride `stride`, times a factor, and zeros up to `padded` rows."""
    for row in range(count):
        _copy(target + row * size, source + row * stride, size, factor)
    _fill(target + count * size, target + padded * size, 0.0)


@njit(**OPTIONS)
def _pack_rows(target, rows, source, stride, count, padded, size, factor):
    """Rows of stride `stride`, times a factor, contiguous at `rows`, and as panels."""
    _rows(rows, source, stride, count, padded, size, factor)
    pack_rows(target, rows, size, padded, size)


@njit(**OPTIONS)
def _pack_transposed(target, rows, source, stride, count, padded, size):
    """The same, transposed."""
    _rows(rows, source, stride, count, padded, size, 1.0)
    pack_rows_transposed(target, rows, size, padded, size)


@writes(4, lanes=WIDE)
def _softmax(write: Writer, row, size, maxima, total):
    """A row's softmax in place; the maximum and the sum of exponentials are stored."""
    end = write.at(row, size)

    def compare(place, other, found):
        return other, [found[0].maximum(write.load(place))]

    def exponentiate(place, other, sums):
        value = exp(write.load(place) - write.broadcast(most))
        write.store(value, place)
        return other, [sums[0] + value]

    def divide(place, other, _):
        write.store(write.load(place) * factor, place)
        return other, []

    found = write.loop(row, end, write.bytes, row, [write.load(row)], compare)[0]
    most = write.reduce(found, lambda one, other: one.maximum(other))
    sums = write.loop(row, end, write.bytes, row, [write.zeros()], exponentiate)[0]
    row_sum = write.reduce(sums, lambda one, other: one + other)
    factor = 1.0 / write.broadcast(row_sum)
    write.loop(row, end, write.bytes, row, [], divide)
    write.store_scalar(most, maxima)
    write.store_scalar(row_sum, total)


@writes(7, lanes=WIDE)
def _softmax_backward(write: Writer, row, gradients, size, norm, head, out, width):
    """A row of scores becomes softmax weights; gradients by weights become gradients by scores."""

    def add(place, other, sums):
        return write.at(other, write.bytes), [write.load(place) * write.load(other) + sums[0]]

    def change(place, other, _):
        weight = exp(write.load(place) - norms)
        write.store(weight, place)
        write.store(weight * (write.load(other) - mean), other)
        return write.at(other, write.bytes), []

    sums = write.loop(head, write.at(head, width), write.bytes, out, [write.zeros()], add)[0]
    mean = write.broadcast(write.reduce(sums, lambda one, other: one + other))
    norms = write.load_broadcast(norm)
    write.loop(row, write.at(row, size), write.bytes, gradients, [], change)


@njit(**OPTIONS)
def _scores(rows, keys, padded, size, queries, transposed, zeros, scores):
    """Products of some queries and all keys; minus infinity for the padding."""
    multiply(rows, size // FLOAT, padded, queries, size, transposed, zeros, 0, scores, padded * FLOAT)
    for row in range(rows if padded > keys else 0):
        start = scores + row * padded * FLOAT
        _fill(start + keys * FLOAT, start + padded * FLOAT, -math.inf)


@compiled(f"void({numbers(22)}, float32)")
def forward(
    query, key, value, out, maxima, totals, heads, length, keys, size, query_batch, query_head, query_row,
    key_batch, key_head, key_row, out_batch, out_head, out_row, scratch, first, last, factor,
):  # fmt: skip
    """Heads `first` to `last` of all batches: softmax(factor · query · key) · value. Strides and `size` in bytes."""
    padded = (keys + UNIT - 1) // UNIT * UNIT
    transposed = scratch + padded * size
    panels = transposed + padded * size
    queries = panels + padded * size
    scores = queries + BLOCK * size
    zeros = scores + BLOCK * padded * FLOAT
    _fill(zeros, zeros + max(padded * FLOAT, size), 0.0)
    for number in range(first, last):
        batch, head = number // heads, number % heads
        away = batch * key_batch + head * key_head
        _pack_transposed(transposed, scratch, key + away, key_row, keys, padded, size)
        _pack_rows(panels, scratch, value + away, key_row, keys, padded, size, 1.0)
        for begin in range(0, length, BLOCK):
            rows = min(BLOCK, length - begin)
            place = query + batch * query_batch + head * query_head + begin * query_row
            _rows(queries, place, query_row, rows, rows, size, factor)
            _scores(rows, keys, padded, size, queries, transposed, zeros, scores)
            kept = (number * length + begin) * FLOAT
            for row in range(rows):
                _softmax(scores + row * padded * FLOAT, padded * FLOAT, maxima + kept + row * FLOAT,
                       totals + kept + row * FLOAT)  # fmt: skip
            target = out + batch * out_batch + head * out_head + begin * out_row
            multiply(rows, padded, size // FLOAT, scores, padded * FLOAT, panels, zeros, 0, target, out_row)


@compiled(f"void({numbers(25)}, float32)")
def backward(
    query, key, value, out, by_out, norms, by_query, by_key, by_value, heads, length, keys, size,
    query_batch, query_head, query_row, key_batch, key_head, key_row, out_batch, out_head, out_row, scratch,
    first, last, factor,
):  # fmt: skip
    """Gradients by query, key and value, with their layout; `norms` are log-sum-exp of the scores."""
    padded = (keys + UNIT - 1) // UNIT * UNIT
    matrix, block = padded * size, BLOCK * size
    key_transposed = scratch + matrix
    value_transposed, key_panels = key_transposed + matrix, key_transposed + 2 * matrix
    key_sums, value_sums = key_transposed + 3 * matrix, key_transposed + 4 * matrix
    queries = key_transposed + 5 * matrix
    given, query_panels, given_panels = queries + block, queries + 2 * block, queries + 3 * block
    weights = queries + 4 * block
    gradients = weights + BLOCK * padded * FLOAT
    zeros = gradients + BLOCK * padded * FLOAT
    _fill(zeros, zeros + max(padded * FLOAT, size), 0.0)
    depth = size // FLOAT
    for number in range(first, last):
        batch, head = number // heads, number % heads
        away = batch * key_batch + head * key_head
        _pack_transposed(value_transposed, scratch, value + away, key_row, keys, padded, size)
        _pack_transposed(key_transposed, scratch, key + away, key_row, keys, padded, size)
        _pack_rows(key_panels, scratch, key + away, key_row, keys, padded, size, factor)
        for begin in range(0, length, BLOCK):
            rows = min(BLOCK, length - begin)
            at = batch * query_batch + head * query_head + begin * query_row
            seen = batch * out_batch + head * out_head + begin * out_row
            _pack_rows(query_panels, queries, query + at, query_row, rows, rows, size, factor)
            _pack_rows(given_panels, given, by_out + seen, out_row, rows, rows, size, 1.0)
            _scores(rows, keys, padded, size, queries, key_transposed, zeros, weights)
            multiply(rows, depth, padded, given, size, value_transposed, zeros, 0, gradients, padded * FLOAT)
            for row in range(rows):
                line = row * padded * FLOAT
                norm = norms + (number * length + begin + row) * FLOAT
                _softmax_backward(weights + line, gradients + line, padded * FLOAT, norm, given + row * size,
                                  out + seen + row * out_row, size)  # fmt: skip
            value_start, key_start, stride = (value_sums, key_sums, size) if begin else (zeros, zeros, 0)
            multiply_transposed(padded, rows, depth, weights, padded * FLOAT, given_panels, value_start, stride,
                                value_sums, size)  # fmt: skip
            multiply_transposed(padded, rows, depth, gradients, padded * FLOAT, query_panels, key_start, stride,
                                key_sums, size)  # fmt: skip
            multiply(rows, padded, depth, gradients, padded * FLOAT, key_panels, zeros, 0, by_query + at, query_row)
        for row in range(keys):
            _copy(by_key + away + row * key_row, key_sums + row * size, size, 1.0)
            _copy(by_value + away + row * key_row, value_sums + row * size, size, 1.0)
