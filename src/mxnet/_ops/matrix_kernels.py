"""Products of matrices by kernels for vectors of eight floats; importing this module asks for numba, and compiles.

The right matrix is packed: 16 of its columns at a time lie side by side, row by row (a panel). Six rows and 16 columns
are summed at a time, which is what the registers hold. The left lies row by row, or across: column by column.
"""

from .vectors import FLOAT, OPTIONS, VECTOR_BYTES, Writer, compiled, njit, numbers, writes

ROWS, VECTORS, DEPTH = 6, 2, 4  # rows, and vectors of columns, summed at once; products written without a jump
PANEL = VECTORS * VECTOR_BYTES
AHEAD = 2048  # bytes of a panel that are fetched ahead: the processor itself stops at the end of a page
SHORT = 128  # products summed one after the other


@writes(8)
def _add_products(write: Writer, rows, depth, left, panel, start, start_apart, result, result_apart):
    """Some rows of the result: those of `start`, plus those of the left times a panel."""

    def add_rows(count):
        away = [write.times(depth, row * FLOAT) for row in range(count)]

        def add(panel, left, sums):
            for step in range(DEPTH):
                write.prefetch(write.at(panel, AHEAD + step * PANEL))
                places = [write.at(left, distance, step * FLOAT) for distance in away]
                sums = _added(write, places, write.at(panel, step * PANEL), sums)
            return write.at(left, DEPTH * FLOAT), sums

        _sum(write, count, depth, left, panel, DEPTH, add, start, start_apart, result, result_apart)

    write.choose(rows, ROWS, add_rows)


@writes(9)
def _add_products_across(write: Writer, rows, depth, left, apart, panel, start, start_apart, result, result_apart):
    """The same, for a left whose rows lie side by side, and whose columns are `apart`."""

    def add_rows(count):
        def add(panel, left, sums):
            places = [write.at(left, row * FLOAT) for row in range(count)]
            return write.at(left, apart), _added(write, places, panel, sums)

        _sum(write, count, depth, left, panel, 1, add, start, start_apart, result, result_apart)

    write.choose(rows, ROWS, add_rows)


def _added(write: Writer, places, panel, sums):
    """Sums of rows x vectors, plus the floats at `places` times one row of a panel."""
    columns = [write.load(write.at(panel, vector * VECTOR_BYTES)) for vector in range(VECTORS)]
    products = [factor * column for factor in map(write.everywhere, places) for column in columns]
    return [product + total for product, total in zip(products, sums, strict=True)]


def _sum(write: Writer, rows: int, depth, left, panel, step: int, add, start, start_apart, result, result_apart):
    """Rows of the result by `add`, which takes `step` rows of the panel at a time.

    What is there already is added last: sums that begin small lose fewer digits.
    """
    end = write.at(panel, write.times(depth, PANEL))
    sums = write.loop(panel, end, step * PANEL, left, [write.zeros()] * (rows * VECTORS), add)
    starts, places = _places(write, rows, start, start_apart), _places(write, rows, result, result_apart)
    for total, before, place in zip(sums, starts, places, strict=True):
        write.store(total + write.load(before), place)


def _places(write: Writer, rows: int, first, apart):
    starts = [write.at(first, write.times(apart, row)) for row in range(rows)]
    return [write.at(start, vector * VECTOR_BYTES) for start in starts for vector in range(VECTORS)]


@njit(**OPTIONS)
def _some(rest):
    """How many rows to sum next: two alone would wait for their own sums."""
    return 4 if rest == 8 else min(rest, ROWS)


@njit(**OPTIONS)
def multiply(rows, depth, width, left, panels, start, start_apart, result, apart):
    """result = start + left · right for matrices (rows, depth) and (depth, width), multiples of 4 and of 16.

    Rows of the result are `apart`; a start whose rows are 0 apart is one row for all.
    """
    for number in range(width * FLOAT // PANEL):
        panel, column = panels + number * depth * PANEL, number * PANEL
        row = 0
        while row < rows:
            some = _some(rows - row)
            _add_products(some, depth, left + row * depth * FLOAT, panel, start + row * start_apart + column,
                          start_apart, result + row * apart + column, apart)  # fmt: skip
            row += some


@njit(**OPTIONS)
def multiply_across(rows, depth, width, left, left_apart, panels, start, start_apart, result):
    """The same for a left (depth, rows), and any depth; long sums are made of short ones."""
    apart = width * FLOAT
    for begin in range(0, depth, SHORT):
        some_depth = min(SHORT, depth - begin)
        if begin:
            start, start_apart = result, apart
        for number in range(apart // PANEL):
            panel, column = panels + (number * depth + begin) * PANEL, number * PANEL
            row = 0
            while row < rows:
                some = _some(rows - row)
                _add_products_across(some, some_depth, left + begin * left_apart + row * FLOAT, left_apart, panel,
                                     start + row * start_apart + column, start_apart, result + row * apart + column,
                                     apart)  # fmt: skip
                row += some


@compiled(f"void({numbers(13)})")
def products(rows, depth, width, left, next_left, panels, next_panels, zeros, result, next_result, apart, first, last):
    """The products of matrices `first` to `last`, each `next_…` behind the other; rows of results are `apart`."""
    for number in range(first, last):
        multiply(rows, depth, width, left + number * next_left, panels + number * next_panels, zeros, 0,
                 result + number * next_result, apart)  # fmt: skip


@compiled(f"void({numbers(13)})")
def products_across(rows, depth, width, left, next_left, panels, next_panels, zeros, result, next_result, apart,
                    first, last):  # fmt: skip
    """The same for lefts that lie across, columns `apart`; without zeros (0), products are added to the result."""
    for number in range(first, last):
        own = result + number * next_result
        start, start_apart = (zeros, 0) if zeros else (own, width * FLOAT)
        multiply_across(rows, depth, width, left + number * next_left, apart, panels + number * next_panels, start,
                        start_apart, own)  # fmt: skip
