"""Winograd's minimal filtering F(4x4, 3x3) and F(2x2, 5x5) for convolutions of stride one, channels-last in memory.

A tile of 6 x 6 pixels d and a kernel w give 4 x 4 results by 36 multiplications where the direct sum has 144:
`A' [(G w G') * (B' d B)] A`, summed over channels, which makes 36 matrix products (tiles x channels x filters). The
interpolation points 0, 2/3, -2/3, 3/2, -3/2 and infinity keep the error close to that of the direct sum (1.4e-6 and
0.9e-6 of the largest value; with the textbook's 0, 1, -1, 2, -2 it is 6e-6). Gradients take the adjoints of the same
steps. F(2x2, 5x5) has the same points: 36 multiplications where the direct sum of 5 x 5 windows has 100, and the same
error (0.9e-6).
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ...matmul import packed
from ...matmul.packed import PANEL
from ...runtime.buffers import buffer
from ...runtime.plan_cache import repeated
from ...runtime.task import Task
from ..clamp import Clamp
from . import tasks, torch_products
from .tiling import DEFAULT, Tiling

code = tasks.code


def _nhwc(tensor: Tensor) -> Tensor:
    return tensor.permute(0, 2, 3, 1).contiguous()


def convolve(data: Tensor, weight: Tensor, bias: Tensor | None, tiling: Tiling = DEFAULT) -> Tensor:
    """The convolution with a weight that is transformed for this call; the result is channels-last."""
    (batch, _, height, width), filters, more = data.shape, weight.shape[0], 2 * tiling.pad - tiling.window + 1
    result = torch.empty((batch, filters, height + more, width + more), memory_format=torch.channels_last)
    images, weight, results = _nhwc(data), weight.contiguous(), result.permute(0, 2, 3, 1)
    bias = data.new_zeros(filters) if bias is None else bias
    if tiling.window == 3:
        repeated(tasks.convolve, (images, weight, bias, results), tiling)
    else:
        panels = _panels_5x5(weight)
        repeated(tasks.convolve_packed, (images, panels, bias, None, results), (None, None), tiling, buffer)
    return result


def _panels_5x5(weight: Tensor, transpose: bool = False) -> Tensor:
    """The matrices of a 5 x 5 weight in panels; there is no kernel for its transform, a small part of the work."""
    weight = weight.transpose(0, 1) if transpose else weight
    width, depth = weight.shape[:2]
    panels = tasks.panels_of(width, depth)
    torch_products.weight_transform_packed(weight, panels, packed.columns(width))
    return panels


def gradients(
    data: Tensor, head: Tensor, weight: Tensor, wanted: Sequence[bool], tiling: Tiling = DEFAULT
) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of data and weight, those that are wanted, from that of the result."""
    images, head, weight = _nhwc(data), head.permute(0, 2, 3, 1), weight.contiguous()
    by_data = torch.zeros_like(images) if wanted[0] else None
    by_weight = torch.empty(weight.shape) if wanted[1] else None
    if tasks.few_tiles(images, weight, tiling):
        tensors = images, head.contiguous(), weight, by_data, by_weight
        repeated(tasks.gradients_of_few_tiles, tensors, tiling)
    else:
        for block in tasks.filter_blocks(*weight.shape[:2]):
            own = None if by_weight is None else by_weight[block]
            _add_gradients(images, head[..., block].contiguous(), weight[block], by_data, own, tiling)
    return None if by_data is None else by_data.permute(0, 3, 1, 2), by_weight


def _add_gradients(
    images: Tensor, head: Tensor, weight: Tensor, by_data: Tensor | None, by_weight: Tensor | None, tiling: Tiling
) -> None:
    """A block of filters' part of the gradients: added to that of the data, written to their own."""
    filters, channels = weight.shape[:2]
    parts, columns = tasks.gradient_parts(images, filters, tiling), packed.number_of_panels(channels) * PANEL
    totals = None
    if by_weight is not None:
        totals = packed.with_odd_stride(buffer, 3, parts * 36, filters, columns).unflatten(0, (parts, 36))
    if tiling.window == 3:
        repeated(tasks.gradients, (images, head, weight, by_data, totals), tiling, parts)
    else:
        panels = None if by_data is None else _panels_5x5(weight, transpose=True)
        repeated(tasks.gradients_packed, (images, head, panels, by_data, totals), tiling, parts)
    if by_weight is not None and totals is not None:
        _finish_weight(totals, by_weight, tiling)


def _finish_weight(totals: Tensor, by_weight: Tensor, tiling: Tiling) -> None:
    """The sum of the threads' totals, transformed back."""
    total, channels = totals[0], by_weight.shape[1]
    for other in totals[1:]:
        total += other
    if total.shape[2] > channels:
        total = total[:, :, packed.places(channels)]
    if tiling.window == 3:
        tasks.weight_adjoint(total, by_weight).run()
    else:
        torch_products.weight_adjoint(total, by_weight)


class _Transformed:
    """A constant 3 x 3 weight, transformed once, in double precision; the padding is one."""

    adds = True  # an addend can be added to the result

    def __init__(self, weight: Tensor, bias: Tensor | None, geometry: Any, clamp: Clamp) -> None:
        self.filters, channels = weight.shape[:2]
        exact = torch.mm(torch_products.WEIGHT.double(), weight.detach().double().reshape(-1, 9).t())
        self.matrices = self._packed(exact.to(weight.dtype).view(36, self.filters, channels))
        self.bias = weight.new_zeros(self.filters) if bias is None else bias
        self.clamp = clamp

    def shape(self, data: Tensor) -> tuple[int, ...]:
        """The result's."""
        return data.shape[0], self.filters, *data.shape[2:]

    def _packed(self, matrices: Tensor) -> Tensor:
        return matrices


class PackedWeights(_Transformed):
    """For the kernels: in panels of 16 filters."""

    def _packed(self, matrices: Tensor) -> Tensor:
        panels = matrices[:, packed.columns(self.filters)].unflatten(1, (-1, PANEL)).transpose(2, 3)
        return panels.contiguous()

    def tasks(self, data: Tensor, result: Tensor, addend: Tensor | None, take: tasks.Take) -> list[Task]:
        """The convolution, plus `addend`, clamped; tensors are channels-last, buffers come from `take`."""
        images, results = (t.permute(0, 2, 3, 1) for t in (data, result))
        more = None if addend is None else addend.permute(0, 2, 3, 1)
        return tasks.convolve_packed(images, self.matrices, self.bias, more, results, self.clamp, DEFAULT, take)


class TorchWeights(_Transformed):
    """For torch's matrix products."""

    def run(self, data: Tensor, result: Tensor, addend: Tensor | None) -> None:
        """The convolution, plus `addend`, clamped; tensors are channels-last."""
        torch_products.convolve(data, self.matrices, self.bias, addend, self.clamp, result)
