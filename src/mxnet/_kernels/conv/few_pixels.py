"""Unrecorded NCHW convolutions with few pixels in the result, as one matrix product with a row for each pixel.

torch multiplies the weight by the im2col matrix of each image. With fewer than 16 columns MKL takes two to eight times
as long for that as for the transposed product, whose long side is the filters.
"""

from math import prod
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import tuning
from .problem import Problem, Way

ONES, ZEROS = (1, 1), (0, 0)


def _rows(data: Tensor, kernel: Any, problem: Problem) -> Tensor:
    """The im2col matrix, with a row for each pixel of the result."""
    down, across = problem.stride
    if kernel == ONES and problem.pad == ZEROS:
        columns = data[:, :, ::down, ::across].flatten(2)
    else:
        columns = F.unfold(data, kernel, problem.dilate, problem.pad, problem.stride)
    return columns.transpose(1, 2).flatten(0, 1)


def _run(problem: Problem) -> Any:
    batch, filters, kernel, size = problem.data[0], problem.weight[0], problem.weight[2:], problem.output

    def compute(data: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        rows, matrix = _rows(data, kernel, problem), weight.reshape(filters, -1).t()
        result = torch.mm(rows, matrix) if bias is None else torch.addmm(bias, rows, matrix)
        return result.view(batch, -1, filters).transpose(1, 2).contiguous().view(batch, filters, *size)

    return compute


def _applies(problem: Problem) -> int:
    if not problem.is_float32 or problem.groups != 1 or min(problem.output) < 1:
        return 0
    pixels = prod(problem.output)
    few = 1 < pixels < tuning.CONV_FEW_PIXELS and problem.data[0] * pixels <= tuning.CONV_FEW_PIXELS_IN_ALL
    return problem.work if few and prod(problem.weight) >= tuning.CONV_FEW_PIXELS_WEIGHT else 0


WAY = Way("conv.few_pixels", "few pixels: one product with the transposed weight", _applies, _run)
