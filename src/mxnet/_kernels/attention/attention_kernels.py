"""Attention by kernels for the processor's vectors; importing this module asks for numba, and compiles.

One head after the other: its rows are copied into the order of the products (see matrix_kernels); where they lie, as
far apart as interleaved projections have them, they would be in each other's way in the cache. Keys are filled up
with zeros to a multiple of 16, and get no share.
"""

import math

from ..matmul.micro_kernels import multiply, multiply_transposed, pack_rows, pack_rows_transposed
from ..runtime.simd import FLOAT, OPTIONS, WIDE, Writer, compiled, exp, njit, numbers, writes

BLOCK = 48  # queries at a time: their products with all keys stay in the cache
UNIT = 16  # columns side by side in a panel


@writes(3, floats=1, lanes=WIDE)
def _copy(write: Writer, target, source, size, factor):
    """Floats times a factor."""
    many = write.spread(factor)

    def move(place, other, _):
        write.store(write.load(place) * many, other)
        return write.at(other, write.bytes), []

    write.loop(source, write.at(source, size), write.bytes, target, [], move)


@writes(1, floats=1)
def _put(write: Writer, target, value):
    """One float."""
    write.keep(value, target)


@njit(**OPTIONS)
def _fill(begin, end, value):
    for place in range(begin, end, FLOAT):
        _put(place, value)


@njit(**OPTIONS)
def _rows(target, source, apart, count, padded, size, factor):
    """Rows that lie `apart` side by side, times a factor, and zeros up to `padded` rows."""
    for row in range(count):
        _copy(target + row * size, source + row * apart, size, factor)
    _fill(target + count * size, target + padded * size, 0.0)


@njit(**OPTIONS)
def _read_panels(target, rows, source, apart, count, padded, size, factor):
    """Rows that lie `apart`, times a factor, side by side at `rows`, and as panels."""
    _rows(rows, source, apart, count, padded, size, factor)
    pack_rows(target, rows, size, padded, size)


@njit(**OPTIONS)
def _read_turned(target, rows, source, apart, count, padded, size):
    """The same, turned."""
    _rows(rows, source, apart, count, padded, size, 1.0)
    pack_rows_transposed(target, rows, size, padded, size)


@writes(4, lanes=WIDE)
def _share(write: Writer, row, size, largest, total):
    """A row's softmax in its place; the largest value and the sum of powers are kept."""
    end = write.at(row, size)

    def compare(place, other, found):
        return other, [found[0].larger(write.load(place))]

    def power(place, other, sums):
        value = exp(write.load(place) - write.spread(most))
        write.store(value, place)
        return other, [sums[0] + value]

    def divide(place, other, _):
        write.store(write.load(place) * factor, place)
        return other, []

    found = write.loop(row, end, write.bytes, row, [write.load(row)], compare)[0]
    most = write.across(found, lambda one, other: one.larger(other))
    sums = write.loop(row, end, write.bytes, row, [write.zeros()], power)[0]
    whole = write.across(sums, lambda one, other: one + other)
    factor = 1.0 / write.spread(whole)
    write.loop(row, end, write.bytes, row, [], divide)
    write.keep(most, largest)
    write.keep(whole, total)


@writes(7, lanes=WIDE)
def _slope(write: Writer, row, slopes, size, norm, head, out, width):
    """A row of products becomes shares; its slopes by shares, slopes by products."""

    def add(place, other, sums):
        return write.at(other, write.bytes), [write.load(place) * write.load(other) + sums[0]]

    def change(place, other, _):
        share = exp(write.load(place) - norms)
        write.store(share, place)
        write.store(share * (write.load(other) - mean), other)
        return write.at(other, write.bytes), []

    sums = write.loop(head, write.at(head, width), write.bytes, out, [write.zeros()], add)[0]
    mean = write.spread(write.across(sums, lambda one, other: one + other))
    norms = write.everywhere(norm)
    write.loop(row, write.at(row, size), write.bytes, slopes, [], change)


@njit(**OPTIONS)
def _scores(rows, keys, padded, size, queries, turned, zeros, scores):
    """Products of some queries and all keys; where no key is, minus infinity."""
    multiply(rows, size // FLOAT, padded, queries, size, turned, zeros, 0, scores, padded * FLOAT)
    for row in range(rows if padded > keys else 0):
        start = scores + row * padded * FLOAT
        _fill(start + keys * FLOAT, start + padded * FLOAT, -math.inf)


@compiled(f"void({numbers(22)}, float32)")
def forward(
    query, key, value, out, largest, totals, heads, length, keys, size, query_batch, query_head, query_row,
    key_batch, key_head, key_row, out_batch, out_head, out_row, scratch, first, last, factor,
):  # fmt: skip
    """Heads `first` to `last` of all batches: softmax(factor · query · key) · value. Distances and `size` in bytes."""
    padded = (keys + UNIT - 1) // UNIT * UNIT
    turned = scratch + padded * size
    panels = turned + padded * size
    queries = panels + padded * size
    scores = queries + BLOCK * size
    zeros = scores + BLOCK * padded * FLOAT
    _fill(zeros, zeros + max(padded * FLOAT, size), 0.0)
    for number in range(first, last):
        batch, head = number // heads, number % heads
        away = batch * key_batch + head * key_head
        _read_turned(turned, scratch, key + away, key_row, keys, padded, size)
        _read_panels(panels, scratch, value + away, key_row, keys, padded, size, 1.0)
        for begin in range(0, length, BLOCK):
            rows = min(BLOCK, length - begin)
            place = query + batch * query_batch + head * query_head + begin * query_row
            _rows(queries, place, query_row, rows, rows, size, factor)
            _scores(rows, keys, padded, size, queries, turned, zeros, scores)
            kept = (number * length + begin) * FLOAT
            for row in range(rows):
                _share(scores + row * padded * FLOAT, padded * FLOAT, largest + kept + row * FLOAT,
                       totals + kept + row * FLOAT)  # fmt: skip
            target = out + batch * out_batch + head * out_head + begin * out_row
            multiply(rows, padded, size // FLOAT, scores, padded * FLOAT, panels, zeros, 0, target, out_row)


@compiled(f"void({numbers(25)}, float32)")
def backward(
    query, key, value, out, by_out, norms, by_query, by_key, by_value, heads, length, keys, size,
    query_batch, query_head, query_row, key_batch, key_head, key_row, out_batch, out_head, out_row, scratch,
    first, last, factor,
):  # fmt: skip
    """Gradients by query, key and value, laid as these are; `norms` are logarithms of the sums of powers."""
    padded = (keys + UNIT - 1) // UNIT * UNIT
    whole, some = padded * size, BLOCK * size
    key_turned = scratch + whole
    value_turned, key_panels = key_turned + whole, key_turned + 2 * whole
    key_sums, value_sums = key_turned + 3 * whole, key_turned + 4 * whole
    queries = key_turned + 5 * whole
    given, query_panels, given_panels = queries + some, queries + 2 * some, queries + 3 * some
    shares = queries + 4 * some
    slopes = shares + BLOCK * padded * FLOAT
    zeros = slopes + BLOCK * padded * FLOAT
    _fill(zeros, zeros + max(padded * FLOAT, size), 0.0)
    depth = size // FLOAT
    for number in range(first, last):
        batch, head = number // heads, number % heads
        away = batch * key_batch + head * key_head
        _read_turned(value_turned, scratch, value + away, key_row, keys, padded, size)
        _read_turned(key_turned, scratch, key + away, key_row, keys, padded, size)
        _read_panels(key_panels, scratch, key + away, key_row, keys, padded, size, factor)
        for begin in range(0, length, BLOCK):
            rows = min(BLOCK, length - begin)
            at = batch * query_batch + head * query_head + begin * query_row
            seen = batch * out_batch + head * out_head + begin * out_row
            _read_panels(query_panels, queries, query + at, query_row, rows, rows, size, factor)
            _read_panels(given_panels, given, by_out + seen, out_row, rows, rows, size, 1.0)
            _scores(rows, keys, padded, size, queries, key_turned, zeros, shares)
            multiply(rows, depth, padded, given, size, value_turned, zeros, 0, slopes, padded * FLOAT)
            for row in range(rows):
                line = row * padded * FLOAT
                _slope(shares + line, slopes + line, padded * FLOAT, norms + (number * length + begin + row) * FLOAT,
                       given + row * size, out + seen + row * out_row, size)  # fmt: skip
            value_start, key_start, apart = (value_sums, key_sums, size) if begin else (zeros, zeros, 0)
            multiply_transposed(padded, rows, depth, shares, padded * FLOAT, given_panels, value_start, apart,
                                value_sums, size)  # fmt: skip
            multiply_transposed(padded, rows, depth, slopes, padded * FLOAT, query_panels, key_start, apart, key_sums,
                                size)  # fmt: skip
            multiply(rows, padded, depth, slopes, padded * FLOAT, key_panels, zeros, 0, by_query + at, query_row)
        for row in range(keys):
            _copy(by_key + away + row * key_row, key_sums + row * size, size, 1.0)
            _copy(by_value + away + row * key_row, value_sums + row * size, size, 1.0)
