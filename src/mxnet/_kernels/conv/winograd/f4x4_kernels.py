"""Convolution by Winograd's F(4x4, 3x3) and F(2x2, 5x5), and its gradients (see f4x4); importing loads numba.

One thread computes all steps for a block of tiles, or for a block of filters, so that intermediate values stay in that
processor's cache. Images are NHWC; addresses, strides and offsets are in bytes. Scratch memory of a thread holds
transformed tiles (or weights) as (36, tile, channel) with a stride between the 36 matrices of `_odd_stride`.
"""

import numpy as np
from numba import njit

from ...matmul import micro_kernels
from ...matmul.micro_kernels import PANEL, ROWS, SEVERAL
from ...runtime.entry_points import invoking
from ...runtime.simd import FLOAT, OPTIONS, compiled, numbers
from . import transform_kernels
from .transform_kernels import KERNEL

LINE = 64  # bytes
ALL = 36  # values of a tile
WIDE = PANEL // FLOAT  # columns of a panel

# The steps are compiled already: they are called through a table of their addresses.
_STEPS = [
    transform_kernels.input_transform, transform_kernels.gradient_transform, transform_kernels.output_transform,
    transform_kernels.input_adjoint, transform_kernels.weight_transform, transform_kernels.weight_adjoint,
    micro_kernels.products, micro_kernels.products_transposed,
]  # fmt: skip
(
    input_transform, gradient_transform, output_transform, input_adjoint, weight_transform, weight_adjoint, products,
    products_transposed,
) = (invoking(step.kinds, place) for place, step in enumerate(_STEPS))  # fmt: skip
_table = np.array([step.address for step in _STEPS])
STEPS = _table.ctypes.data


@njit(**OPTIONS)
def _odd_stride(floats):
    """The stride between arrays of so many floats: an odd number of cache lines, or they would evict each other."""
    return ((floats * FLOAT + LINE - 1) // LINE | 1) * LINE


@compiled(f"void({numbers(21)}, float32, float32)")
def convolve(steps, images, height, width, channels, window, pad, matrices, next_matrix, zeros, result, down,
             right, pixel, filters, bias, addend, block, scratch, first, last, low, high):  # fmt: skip
    """Tiles `first` to `last`, `block` at a time; the transformed weight is in panels.

    The filters may be some of the `pixel` channels of the result.
    """
    input_stride, output_stride = _odd_stride(block * channels), _odd_stride(block * filters)
    output = scratch + ALL * input_stride
    for begin in range(first, last, block):
        end = min(begin + block, last)
        input_transform(steps, images, height, width, channels, scratch, input_stride, channels * FLOAT, PANEL, window,
                        pad, begin, begin, end)  # fmt: skip
        products(steps, end - begin, channels, filters, scratch, input_stride, matrices, next_matrix, zeros, output,
                 output_stride, filters * FLOAT, 0, ALL)  # fmt: skip
        output_transform(steps, output, output_stride, result, down, right, pixel, filters, 7 - window, bias, addend,
                         low, high, begin, begin, end)  # fmt: skip


@compiled(f"void({numbers(18)}, float32, float32)")
def convolve_columns(steps, tiles, next_tiles, count, channels, kernels, matrices, next_matrix, zeros, result, down,
                     right, filters, bias, addend, scratch, first, last, low, high):  # fmt: skip
    """Panels `first` to `last` of filters of a 3 x 3 convolution, for all tiles, which are transformed already.

    The transformed weight is in panels; where `kernels` is an address, the weight there is transformed on the way.
    """
    weight_stride, output_stride = _odd_stride(SEVERAL * channels * WIDE), _odd_stride(SEVERAL * count * WIDE)
    output = scratch + (ALL * weight_stride if kernels else 0)
    panel = first
    while panel < last:
        several = min(SEVERAL, last - panel)
        own, next_own, wide = matrices + panel * channels * PANEL, next_matrix, several * WIDE
        if kernels:
            own, next_own, size = scratch, weight_stride, several * channels * WIDE
            weight_transform(steps, kernels + panel * WIDE * channels * KERNEL, size, channels, 1, channels, WIDE *
                             channels, own, next_own, 0, size)  # fmt: skip
        products(steps, count, channels, wide, tiles, next_tiles, own, next_own, zeros, output, output_stride, wide *
                 FLOAT, 0, ALL)  # fmt: skip
        offset = panel * PANEL
        output_transform(steps, output, output_stride, result + offset, down, right, filters, wide, 4, bias + offset,
                         addend + offset if addend else 0, low, high, 0, 0, count)  # fmt: skip
        panel += several


@compiled(f"void({numbers(27)})")
def gradients(steps, images, height, width, channels, window, pad, head, down, right, filters, matrices,
              next_matrix, zeros, by_data, totals, next_total, next_part, lines, tiles, strips, step, turn, block,
              scratch, first, last):  # fmt: skip
    """Both gradients for strips of tile rows, `block` tiles at a time; each strip has its own sum of the weight's.

    In each turn these are the strips `turn`, `turn + step` and so on, so that no two threads add to the same pixels;
    turns after the first add to the sums. The gradient of the data is added to what is there. An address of 0 for
    totals, or for the data, means that gradient is not wanted.
    """
    columns = (channels + WIDE - 1) // WIDE * WIDE
    head_stride, other_stride = _odd_stride(block * filters), _odd_stride(block * columns)
    other = scratch + ALL * head_stride
    for part in range(first, last):
        strip, own = part * step + turn, totals + part * next_part
        start, stop = lines * strip // strips * tiles, lines * (strip + 1) // strips * tiles
        for begin in range(start, stop, block):
            end = min(begin + block, stop)
            count = end - begin
            gradient_transform(steps, head, down, right, filters, scratch, head_stride, 7 - window, begin, begin, end)
            if totals:
                input_transform(steps, images, height, width, channels, other, other_stride, PANEL, count * PANEL,
                                window, pad, begin, begin, end)  # fmt: skip
                nothing = zeros if begin == start and turn == 0 else 0
                products_transposed(steps, filters, count, columns, scratch, head_stride, other, other_stride, nothing,
                                    own, next_total, filters * FLOAT, 0, ALL)  # fmt: skip
            if by_data:
                products(steps, count, filters, channels, scratch, head_stride, matrices, next_matrix, zeros, other,
                         other_stride, channels * FLOAT, 0, ALL)  # fmt: skip
                input_adjoint(steps, other, other_stride, by_data, height, width, channels, channels, window, pad,
                              begin, begin, end)  # fmt: skip


@compiled(f"void({numbers(13)})")
def weight_rows(steps, head, next_head, count, filters, tiles, next_tiles, channels, zeros, by_weight, scratch,
                first, last):  # fmt: skip
    """The weight's gradient for filters `first` to `last`, from transformed tiles of head and, in panels, data."""
    stride = _odd_stride(ROWS * channels)
    for row in range(first, last, ROWS):
        rows = min(ROWS, last - row)
        products_transposed(steps, rows, count, channels, head + row * FLOAT, next_head, tiles, next_tiles, zeros,
                            scratch, stride, filters * FLOAT, 0, ALL)  # fmt: skip
        weight_adjoint(steps, scratch, stride, rows * channels, by_weight + row * channels * KERNEL, 0, rows * channels)


@compiled(f"void({numbers(14)})")
def data_columns(steps, head, next_head, count, filters, kernels, zeros, by_data, height, width, channels, scratch,
                 first, last):  # fmt: skip
    """The data's gradient for panels `first` to `last` of channels, added to what is there, from all tiles.

    Windows are 3 x 3, the padding is one.
    """
    weight_stride, output_stride = _odd_stride(SEVERAL * filters * WIDE), _odd_stride(SEVERAL * count * WIDE)
    output, panel = scratch + ALL * weight_stride, first
    while panel < last:
        several = min(SEVERAL, last - panel)
        wide, size = several * WIDE, several * filters * WIDE
        own = kernels + panel * WIDE * KERNEL
        weight_transform(steps, own, size, filters, channels, 1, WIDE, scratch, weight_stride, 0, size)
        products(steps, count, filters, wide, head, next_head, scratch, weight_stride, zeros, output, output_stride,
                 wide * FLOAT, 0, ALL)  # fmt: skip
        input_adjoint(steps, output, output_stride, by_data + panel * PANEL, height, width, channels, wide, 3, 1, 0, 0,
                      count)  # fmt: skip
        panel += several
