"""Large matrix products (GEMM) with a right matrix that is packed block by block; importing this module loads numba.

A packed block, and some rows of the left matrix, stay in the second-level cache while all left rows are multiplied.
"""

from ..runtime.simd import FLOAT, OPTIONS, compiled, njit, numbers
from .micro_kernels import multiply, multiply_transposed, pack_rows, pack_rows_transposed

PANEL = 16  # columns
MOST_DEPTH, LEAST_DEPTH = 512, 16  # products summed at a time; the last ones of a long sum may be a few more
PACKED, ROWS = 3 << 15, 3 << 14  # floats of the right, and of the left, that stay in the cache
SCRATCH = PACKED + PANEL * MOST_DEPTH


@njit(**OPTIONS)
def _step(depth):
    """Return the block length, a multiple of four, into which long sums are split."""
    count = (depth + MOST_DEPTH - 1) // MOST_DEPTH
    return ((depth + count - 1) // count + 3) // 4 * 4


@njit(**OPTIONS)
def _length(step, left):
    """Return how many of the remaining products are summed next; at least a vector's number of products must remain."""
    return left if left < step + LEAST_DEPTH else step


@njit(**OPTIONS)
def _pack(panels, right, apart, transposed, column, columns, row, rows):
    """Pack some rows and columns of the right matrix; `transposed`: it is stored transposed."""
    if transposed:
        pack_rows_transposed(panels, right + column * apart + row * FLOAT, apart, columns, rows * FLOAT)
    else:
        pack_rows(panels, right + row * apart + column * FLOAT, apart, rows, columns * FLOAT)


@compiled(f"void({numbers(14)})")
def by_rows(rows, depth, left, left_apart, right, right_apart, transposed, start, start_apart, result, apart, scratch,
            first, last):  # fmt: skip
    """Panels `first` to `last` of columns of start + left · right, or its transposed; depth is a multiple of four."""
    step = _step(depth)
    wide, some = max(1, PACKED // step // PANEL) * PANEL, max(8, ROWS // step // 8 * 8)
    for column in range(first * PANEL, last * PANEL, wide):
        columns = min(wide, last * PANEL - column)
        deep = 0
        while deep < depth:
            there, length = column * FLOAT, _length(step, depth - deep)
            _pack(scratch, right, right_apart, transposed, column, columns, deep, length)
            before, before_apart = (result, apart) if deep else (start, start_apart)
            for row in range(0, rows, some):
                multiply(min(some, rows - row), length, columns, left + row * left_apart + deep * FLOAT, left_apart,
                         scratch, before + row * before_apart + there, before_apart, result + row * apart + there,
                         apart)  # fmt: skip
            deep += length


@compiled(f"void({numbers(6)})")
def pack(panels, matrix, apart, rows, first, last):
    """A matrix in panels of 16 columns, of which those from `first` to `last` are made."""
    begin, size = first * PANEL * FLOAT, (last - first) * PANEL * FLOAT
    pack_rows(panels + begin * rows, matrix + begin, apart, rows, size)


@compiled(f"void({numbers(14)})")
def left_transposed(rows, depth, left, left_apart, next_left, right, right_apart, start, start_apart, result, apart,
                    scratch, first, last):  # fmt: skip
    """The same for a transposed left, whose columns are `left_apart`, and 16 rows `next_left` from the next ones."""
    step = _step(depth)
    wide = max(1, PACKED // step // PANEL) * PANEL
    for column in range(first * PANEL, last * PANEL, wide):
        columns = min(wide, last * PANEL - column)
        deep = 0
        while deep < depth:
            there, length = column * FLOAT, _length(step, depth - deep)
            _pack(scratch, right, right_apart, 0, column, columns, deep, length)
            before, before_apart = (result, apart) if deep else (start, start_apart)
            for row in range(0, rows, PANEL):
                own = left + row // PANEL * next_left + deep * left_apart
                multiply_transposed(PANEL, length, columns, own, left_apart, scratch,
                                before + row * before_apart + there, before_apart, result + row * apart + there,
                                apart)  # fmt: skip
            deep += length
