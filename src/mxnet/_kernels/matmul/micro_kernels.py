"""GEMM micro-kernels for the processor's largest vectors; importing this module loads numba and compiles them.

The right matrix is packed in panels: 16 columns, row by row. Six rows and one panel are summed at a time, or eight rows
and two panels, which is what the registers hold: AVX-512 has twice as many as AVX2. The left matrix is row-major, or
transposed (column-major). If the number of columns is not a multiple of 16, the last panel overlaps the one before,
and the common columns are written twice.
"""

from ..runtime.simd import FLOAT, OPTIONS, SHORT, WIDE, Writer, compiled, njit, numbers, writes

PANEL = 16 * FLOAT  # bytes
LARGE = WIDE == 16
ROWS, SEVERAL = (8, 2) if LARGE else (6, 1)  # rows and panels summed at once
FEW = 16 if LARGE else ROWS  # rows that are summed at once with one panel, which then is read but once
SMALL = 1 << 14  # bytes of such rows: of more, they would push each other out of the cache
# Bytes of a panel that are fetched ahead, as the processor itself stops at the end of a page, and into which cache: the
# nearest one can wait for no more than some two dozen lines of memory at a time
AHEAD, LEVEL = (8192, 2) if LARGE else (4096, 3)
SHORTER = 32  # products summed one after the other: Winograd's transforms triple the error of a sum
NEXT = 16  # columns that are prefetched of a transposed left


@writes(11, lanes=WIDE)
def _by_row(write: Writer, panels, rows, depth, left, apart, panel, panel_apart, start, start_apart, result,
            result_apart):  # fmt: skip
    """Some rows of the result: those of `start`, plus those of the left, `apart` from each other, times some panels."""

    def add_rows(several, count):
        away = [write.times(apart, row) for row in range(count)]

        def add(panel, left, sums):
            columns = _columns(write, panel, panel_apart, several)
            for place in columns[:: PANEL // write.bytes]:
                write.prefetch(write.at(place, AHEAD), LEVEL)
            places = [write.at(left, distance) for distance in away]
            return write.at(left, FLOAT), _added(write, places, columns, sums)

        end, zeros = _end_and_zeros(write, count, several, depth, panel)
        sums = write.short_loops(panel, end, PANEL, left, FLOAT, zeros, add, SHORTER)
        _finish(write, sums, count, start, start_apart, result, result_apart)

    def add_some(several):
        write.choose(rows, FEW if several == 1 else ROWS, lambda count: add_rows(several, count))

    write.choose(panels, SEVERAL, add_some)


@writes(11, lanes=WIDE)
def _by_column(write: Writer, panels, rows, depth, left, apart, panel, panel_apart, start, start_apart, result,
            result_apart):  # fmt: skip
    """The same, for a transposed left, whose columns are `apart`."""

    def add_rows(several, count):
        def add(panel, left, sums):
            places = [write.at(left, row * FLOAT) for row in range(count)]
            write.prefetch(write.at(left, write.times(apart, NEXT)))
            return write.at(left, apart), _added(write, places, _columns(write, panel, panel_apart, several), sums)

        end, zeros = _end_and_zeros(write, count, several, depth, panel)
        sums = write.loop(panel, end, PANEL, left, zeros, add)
        _finish(write, sums, count, start, start_apart, result, result_apart)

    def add_some(several):
        write.choose(rows, ROWS, lambda count: add_rows(several, count))

    write.choose(panels, SEVERAL, add_some)


def _columns(write: Writer, panel, apart, panels: int):
    """Return the addresses of the vectors of one row of some panels."""
    firsts = [panel] + [write.at(panel, write.times(apart, number)) for number in range(1, panels)]
    return [write.at(first, away) for first in firsts for away in range(0, PANEL, write.bytes)]


def _added(write: Writer, places, columns, sums):
    """Sums of rows x vectors, plus the floats at `places` times the vectors at `columns`."""
    values = [write.load(column) for column in columns]
    products = [factor * value for factor in map(write.load_broadcast, places) for value in values]
    return [product + total for product, total in zip(products, sums, strict=True)]


def _end_and_zeros(write: Writer, rows: int, panels: int, depth, panel):
    """Where the sums of a panel end, and what the sums of some rows begin with."""
    return write.at(panel, write.times(depth, PANEL)), [write.zeros()] * (rows * panels * PANEL // write.bytes)


def _finish(write: Writer, sums, rows: int, start, start_apart, result, result_apart):
    """Add `start` last, because sums that begin with small values are more accurate, and store the result."""
    wide = len(sums) // rows * write.bytes
    starts, places = (_places(write, rows, wide, *each) for each in ((start, start_apart), (result, result_apart)))
    for total, before, place in zip(sums, starts, places, strict=True):
        write.store(total + write.load(before), place)


def _places(write: Writer, rows: int, wide: int, first, apart):
    starts = [write.at(first, write.times(apart, row)) for row in range(rows)]
    return [write.at(start, away) for start in starts for away in range(0, wide, write.bytes)]


@njit(**OPTIONS)
def _some(rest):
    """Return how many rows to sum next: with only two vectors, each addition waits for the previous one."""
    return 4 if rest == 8 and not LARGE else min(rest, ROWS)


@njit(**OPTIONS)
def multiply(rows, depth, width, left, left_apart, panels, start, start_apart, result, apart):
    """result = start + left · right for matrices (rows, depth) and (depth, width), the latter 16 or more.

    Rows are `apart`; a start whose rows are 0 apart is one row for all. Where the width is no multiple of 16, start and
    result are not the same. Long sums are made of short ones, which lose fewer digits.
    """
    wide, number, few = width * FLOAT, 0, ROWS < rows <= FEW and rows * left_apart <= SMALL
    while number * PANEL < wide:
        several = SEVERAL if (number + SEVERAL) * PANEL <= wide and not few else 1
        panel, column = panels + number * depth * PANEL, min(number * PANEL, wide - PANEL)
        row = 0
        while row < rows:
            some = rows if few else _some(rows - row)
            given, begin = left + row * left_apart, start + row * start_apart + column
            made = result + row * apart + column
            _by_row(several, some, depth, given, left_apart, panel, depth * PANEL, begin, start_apart, made, apart)
            row += some
        number += several


@njit(**OPTIONS)
def multiply_transposed(rows, depth, width, left, left_apart, panels, start, start_apart, result, apart):
    """The same for a left (depth, rows), and widths that are multiples of 16; long sums are made of short ones."""
    whole = width * FLOAT // PANEL
    for begin in range(0, depth, SHORT):
        some_depth = min(SHORT, depth - begin)
        if begin:
            start, start_apart = result, apart
        number = 0
        while number < whole:
            several = SEVERAL if number + SEVERAL <= whole else 1
            panel, column = panels + (number * depth + begin) * PANEL, number * PANEL
            row = 0
            while row < rows:
                some = _some(rows - row)
                given, before = left + begin * left_apart + row * FLOAT, start + row * start_apart + column
                made = result + row * apart + column
                _by_column(several, some, some_depth, given, left_apart, panel, depth * PANEL, before, start_apart,
                           made, apart)  # fmt: skip
                row += some
            number += several


# Panels


@writes(4, lanes=WIDE)
def pack_row(write: Writer, target, source, size, apart):
    """One row of `size` bytes as a row of each panel; panels lie `apart`."""

    def move(place, other, _):
        for part in range(0, PANEL, write.bytes):
            write.store(write.load(write.at(place, part)), write.at(other, part))
        return write.at(other, apart), []

    write.loop(source, write.at(source, size), PANEL, target, [], move)


@writes(4, lanes=WIDE)
def pack_transposed(write: Writer, target, source, apart, size):
    """Rows of `size` bytes, `apart`, as many as a vector has lanes, as columns of a panel.

    Where they are no multiple of a vector, the last vector overlaps the one before.
    """
    builder, last = write.builder, write.at(source, size, -write.bytes)

    def some(place, other, _):
        at = builder.select(builder.icmp_signed("<", place, last), place, last)
        rows = [write.load(write.at(at, write.times(apart, row))) for row in range(write.lanes)]
        here = write.at(target, write.times(builder.sub(at, source), PANEL // FLOAT))
        for number, row in enumerate(write.transpose(rows)):
            write.store(row, write.at(here, number * PANEL))
        return other, []

    write.loop(source, write.at(source, size), write.bytes, target, [], some)


@njit(**OPTIONS)
def pack_rows(target, source, apart, count, size):
    """Rows of `size` bytes, `apart` from each other, as panels of 16 of their columns."""
    for row in range(count):
        pack_row(target + row * PANEL, source + row * apart, size, count * PANEL)


@njit(**OPTIONS)
def pack_rows_transposed(target, source, apart, count, size):
    """Rows of `size` bytes, `apart`, a multiple of 16 of them, transposed: as panels of 16 columns."""
    for row in range(0, count, WIDE):
        panel, place = row * FLOAT // PANEL, row * FLOAT % PANEL
        pack_transposed(target + panel * PANEL * (size // FLOAT) + place, source + row * apart, apart, size)


@compiled(f"void({numbers(13)})")
def products(rows, depth, width, left, next_left, panels, next_panels, zeros, result, next_result, apart, first, last):
    """The products of matrices `first` to `last`, each `next_…` behind the other; rows of results are `apart`."""
    for number in range(first, last):
        multiply(rows, depth, width, left + number * next_left, depth * FLOAT, panels + number * next_panels, zeros, 0,
                 result + number * next_result, apart)  # fmt: skip


@compiled(f"void({numbers(13)})")
def products_transposed(rows, depth, width, left, next_left, panels, next_panels, zeros, result, next_result, apart,
                        first, last):  # fmt: skip
    """The same for transposed lefts, columns `apart`; without zeros (0), products are added to the result."""
    for number in range(first, last):
        own = result + number * next_result
        start, start_apart = (zeros, 0) if zeros else (own, width * FLOAT)
        multiply_transposed(rows, depth, width, left + number * next_left, apart, panels + number * next_panels, start,
                            start_apart, own, width * FLOAT)  # fmt: skip
