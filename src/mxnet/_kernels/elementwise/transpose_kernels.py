"""Batched matrix transposition by blocks of 8 x 8 elements (importing this module imports numba)."""

from ..runtime.simd import FLOAT, LANES, Writer, compiled, numbers, writes


@writes(4)
def _block(write: Writer, source, row, target, column):
    """Transpose 8 x 8 elements: source rows have a stride of `row` bytes, target rows of `column` bytes."""
    rows = [write.load(write.at(source, write.times(row, i))) for i in range(LANES)]
    for i, lanes in enumerate(write.transpose(rows)):
        write.store(lanes, write.at(target, write.times(column, i)))


@compiled(f"void({numbers(14)})")
def transpose(source, target, outer, source_outer, target_outer, inner, source_inner, target_inner, rows, columns, row,
              column, first, last):  # fmt: skip
    """Transpose `outer` by `inner` matrices of `rows` by `columns`, at least eight each.

    `row` is the stride of a matrix in bytes, `column` that of its transpose. Work is counted in blocks of 16 columns, a
    cache line: all of one matrix, then the next.
    """
    wide = 2 * LANES
    blocks = (columns + wide - 1) // wide
    for number in range(first, last):
        matrix, block = number // blocks, number % blocks
        i, j = matrix // inner, matrix % inner
        begin = source + i * source_outer + j * source_inner
        end = target + i * target_outer + j * target_inner
        left = block * wide
        one = min(left, columns - LANES)
        two = min(left + LANES, columns - LANES)
        for y in range(0, rows, LANES):
            top = min(y, rows - LANES)
            _block(begin + top * row + one * FLOAT, row, end + one * column + top * FLOAT, column)
            if two > one:
                _block(begin + top * row + two * FLOAT, row, end + two * column + top * FLOAT, column)
