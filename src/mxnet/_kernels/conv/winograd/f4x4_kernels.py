"""Convolutions by Winograd's tiles (see winograd), all steps of some tiles, or of some filters, by the same thread.

What one step leaves for the next stays in the cache of one processor; between those of two, it takes longer than to
compute it. Images are (image, row, column, channel); addresses and distances are numbers, in bytes. Memory of a thread
holds what is between the steps, 36 values of each tile (or kernel) `_apart` from each other. Importing asks for numba.
"""

import numpy as np
from numba import njit

from ...matmul import micro_kernels as matrix_kernels
from ...matmul.micro_kernels import PANEL, ROWS, SEVERAL
from ...runtime.entry_points import invoking
from ...runtime.simd import FLOAT, OPTIONS, compiled, numbers
from . import transform_kernels as loops
from .transform_kernels import KERNEL

LINE = 64  # bytes
ALL = 36  # values of a tile
WIDE = PANEL // FLOAT  # columns of a panel

# The steps are called by their addresses, which stand in a table: their code is compiled already.
_STEPS = [
    loops.spread, loops.widen, loops.gather, loops.collect, loops.spread_kernels, loops.collect_kernels,
    matrix_kernels.products, matrix_kernels.products_across,
]  # fmt: skip
(
    spread, widen, gather, collect, spread_kernels, collect_kernels, products, products_across,
) = (invoking(step.kinds, place) for place, step in enumerate(_STEPS))  # fmt: skip
_table = np.array([step.address for step in _STEPS])
STEPS = _table.ctypes.data


@njit(**OPTIONS)
def _apart(floats):
    """How far arrays of so many floats are apart: an odd number of lines, so that equal places do not push each other
    out of the cache."""
    return ((floats * FLOAT + LINE - 1) // LINE | 1) * LINE


@compiled(f"void({numbers(20)}, float32, float32)")
def convolve(steps, images, height, width, channels, window, before, matrices, next_matrix, zeros, result, down,
             right, filters, bias, addend, some, scratch, first, last, low, high):  # fmt: skip
    """The tiles `first` to `last`, `some` at a time, as `spread` and `gather` have them; the weight is in panels."""
    spread_apart, made_apart = _apart(some * channels), _apart(some * filters)
    made = scratch + ALL * spread_apart
    for begin in range(first, last, some):
        end = min(begin + some, last)
        spread(steps, images, height, width, channels, scratch, spread_apart, channels * FLOAT, PANEL, window,
               before, begin, begin, end)  # fmt: skip
        products(steps, end - begin, channels, filters, scratch, spread_apart, matrices, next_matrix, zeros, made,
                 made_apart, filters * FLOAT, 0, ALL)  # fmt: skip
        gather(steps, made, made_apart, result, down, right, filters, filters, 7 - window, bias, addend, low, high,
               begin, begin, end)  # fmt: skip


@compiled(f"void({numbers(18)}, float32, float32)")
def convolve_columns(steps, tiles, next_tiles, count, channels, kernels, matrices, next_matrix, zeros, result, down,
                     right, filters, bias, addend, scratch, first, last, low, high):  # fmt: skip
    """The panels `first` to `last` of filters, for all of some tiles of 3 x 3 windows that are transformed already.

    The weight is in panels, or, if there is an address of `kernels`, these are transformed on the way.
    """
    weight_apart, made_apart = _apart(SEVERAL * channels * WIDE), _apart(SEVERAL * count * WIDE)
    made = scratch + (ALL * weight_apart if kernels else 0)
    panel = first
    while panel < last:
        several = min(SEVERAL, last - panel)
        own, next_own, wide = matrices + panel * channels * PANEL, next_matrix, several * WIDE
        if kernels:
            own, next_own, size = scratch, weight_apart, several * channels * WIDE
            spread_kernels(steps, kernels + panel * WIDE * channels * KERNEL, size, channels, 1, channels, WIDE *
                           channels, own, next_own, 0, size)  # fmt: skip
        products(steps, count, channels, wide, tiles, next_tiles, own, next_own, zeros, made, made_apart, wide *
                 FLOAT, 0, ALL)  # fmt: skip
        away = panel * PANEL
        gather(steps, made, made_apart, result + away, down, right, filters, wide, 4, bias + away, addend + away if
               addend else 0, low, high, 0, 0, count)  # fmt: skip
        panel += several


@compiled(f"void({numbers(27)})")
def gradients(steps, images, height, width, channels, window, before, head, down, right, filters, matrices,
              next_matrix, zeros, by_data, totals, next_total, next_part, lines, tiles, strips, step, turn, some,
              scratch, first, last):  # fmt: skip
    """Some strips of all lines of tiles, `some` tiles at a time; each has a total of the weight's gradients of its own.

    In each turn these are the strips `turn`, `turn + step` and so on, so that no two add to the same pixels; totals of
    the first turn are added to in others.

    The gradient of the data is added to what is there. Without an address of totals, or of data, those are not made.
    """
    columns = (channels + WIDE - 1) // WIDE * WIDE
    head_apart, other_apart = _apart(some * filters), _apart(some * columns)
    other = scratch + ALL * head_apart
    for part in range(first, last):
        strip, own = part * step + turn, totals + part * next_part
        start, stop = lines * strip // strips * tiles, lines * (strip + 1) // strips * tiles
        for begin in range(start, stop, some):
            end = min(begin + some, stop)
            count = end - begin
            widen(steps, head, down, right, filters, scratch, head_apart, 7 - window, begin, begin, end)
            if totals:
                spread(steps, images, height, width, channels, other, other_apart, PANEL, count * PANEL, window,
                       before, begin, begin, end)  # fmt: skip
                nothing = zeros if begin == start and turn == 0 else 0
                products_across(steps, filters, count, columns, scratch, head_apart, other, other_apart, nothing,
                                own, next_total, filters * FLOAT, 0, ALL)  # fmt: skip
            if by_data:
                products(steps, count, filters, channels, scratch, head_apart, matrices, next_matrix, zeros, other,
                         other_apart, channels * FLOAT, 0, ALL)  # fmt: skip
                collect(steps, other, other_apart, by_data, height, width, channels, channels, window, before, begin,
                        begin, end)  # fmt: skip


@compiled(f"void({numbers(13)})")
def weight_rows(steps, head, next_head, count, filters, tiles, next_tiles, channels, zeros, by_weight, scratch,
                first, last):  # fmt: skip
    """The gradient of the filters `first` to `last`, from all of some tiles of the head, and of the data, in panels."""
    apart = _apart(ROWS * channels)
    for row in range(first, last, ROWS):
        rows = min(ROWS, last - row)
        products_across(steps, rows, count, channels, head + row * FLOAT, next_head, tiles, next_tiles, zeros,
                        scratch, apart, filters * FLOAT, 0, ALL)  # fmt: skip
        collect_kernels(steps, scratch, apart, rows * channels, by_weight + row * channels * KERNEL, 0, rows * channels)


@compiled(f"void({numbers(14)})")
def data_columns(steps, head, next_head, count, filters, kernels, zeros, by_data, height, width, channels, scratch,
                 first, last):  # fmt: skip
    """The gradient of the panels `first` to `last` of the data's channels, added to what is there, from all tiles.

    Windows are of 3 x 3, with a zero around the images.
    """
    weight_apart, made_apart = _apart(SEVERAL * filters * WIDE), _apart(SEVERAL * count * WIDE)
    made, panel = scratch + ALL * weight_apart, first
    while panel < last:
        several = min(SEVERAL, last - panel)
        wide, size = several * WIDE, several * filters * WIDE
        own = kernels + panel * WIDE * KERNEL
        spread_kernels(steps, own, size, filters, channels, 1, WIDE, scratch, weight_apart, 0, size)
        products(steps, count, filters, wide, head, next_head, scratch, weight_apart, zeros, made, made_apart, wide *
                 FLOAT, 0, ALL)  # fmt: skip
        collect(steps, made, made_apart, by_data + panel * PANEL, height, width, channels, wide, 3, 1, 0, 0, count)
        panel += several
