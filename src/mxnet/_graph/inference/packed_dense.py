"""A dense layer packed for inference with few rows: weight in the kernels' order, sum and activation fused.

MKL packs a weight at each call, which takes as long as multiplying some dozens of rows. Here a second, packed copy of
the weight is kept. It is made at the first call with few rows.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import fx

from ..._kernels import tuning
from ..._kernels.conv import direct
from ..._kernels.conv.clamp import Clamp
from ..._kernels.matmul import gemm
from ..._kernels.matmul.packed_dense import packed_dense
from ..._kernels.runtime.task import Task
from ..._ops.registry.registry import find
from ..lower.fx_calls import argument, calls, sole_user
from .packed_conv import Workspace, clamped
from .parameter_watch import usable

FULLY, SUM, ACTIVATION = (find(name).fn for name in ("FullyConnected", "elemwise_add", "LeakyReLU"))
ONE_PIXEL = ([0, 0], [1, 1], [1, 1], 1)


class PackedDense:
    """A layer with constant weight; without kernels, or where they are no faster, MKL multiplies."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, clamp: Clamp) -> None:
        self._given: Any = weight, None if bias is None else bias.flatten(), clamp  # until it is packed
        self._kernels: Any = []
        self._size = weight.numel()

    def __call__(self, data: torch.Tensor, filters: int, addend: torch.Tensor | None) -> torch.Tensor | None:
        """The rows of the data times the weight, with bias, addend and clamp; None: not by kernels."""
        if not data.numel():
            return None
        rows = data.reshape(-1, data.shape[-1])
        if not packed_dense.ready(self._size, len(rows), False) or not self._packed():
            return None
        result = data.new_empty(*data.shape[:-1], filters)
        if addend is not None and not _alike(addend, result):
            raise ValueError(f"a layer is to give {tuple(result.shape)}, or is added to something else")
        for task in self._tasks(rows.contiguous(), result, filters, None if addend is None else addend.contiguous()):
            task.run()
        return result

    def behind(self, workspace: Workspace, buffer: int | None, data: torch.Tensor, filters: int) -> torch.Tensor | None:
        """The same for channels-last images of one pixel, which are rows; None: not by kernels."""
        if data.dim() != 4 or data.shape[2:] != (1, 1) or not packed_dense.ready(self._size, len(data), True):
            return None
        if not self._packed():
            return None
        result = workspace.take(buffer, len(data), filters, 1, 1)
        tasks = self._tasks(data.flatten(1), result, filters, None)
        return workspace.compute(self, tasks, result, data)

    def _tasks(self, rows: torch.Tensor, result: torch.Tensor, filters: int, addend: torch.Tensor | None) -> list[Task]:
        """The tasks of the layer, one part of the weight's columns after the other."""
        if filters != self._kernels[0].filters:
            raise ValueError(f"a layer of {self._kernels[0].filters} is to give {tuple(result.shape)}")
        tasks: list[Task] = []
        for kernel, columns in self._shares(rows):
            tasks.append(kernel.rows_task(columns, result, addend))
            addend = result
        return tasks

    def _packed(self) -> bool:
        """Are there kernels, with the weight in their order?"""
        if self._given is not None:
            made = [packed_dense.run(*part) for part in _parts(*self._given)]
            if None not in made:
                self._given, self._kernels = None, made
        return self._given is None

    def _shares(self, rows: torch.Tensor) -> Iterator[tuple[direct.Dense, torch.Tensor]]:
        """Each kernel with its columns of the rows."""
        if rows.shape[1] != sum(kernel.channels for kernel in self._kernels) or not usable(rows):
            raise ValueError(f"a layer is given rows of {rows.shape[1]} x {rows.dtype}")
        begin = 0
        for kernel in self._kernels:
            yield kernel, rows[:, begin : begin + kernel.channels]
            begin += kernel.channels


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype is other.dtype and one.device == other.device


def _parts(weight: torch.Tensor, bias: torch.Tensor | None, clamp: Clamp) -> Iterator[Any]:
    """Split the weight into blocks of columns, so that a panel and the rows multiplied with it stay in the cache."""
    columns = weight[:, :, None, None].tensor_split(-(-weight.shape[1] // tuning.DENSE_COLUMNS) or 1, 1)
    for number, some in enumerate(columns):
        last = number == len(columns) - 1
        yield some, None if number else bias, ONE_PIXEL, clamp if last else (None, None)


def dense(
    layers: Sequence[Any],
    index: int,
    clamp: Clamp,
    data: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    addend: torch.Tensor | None = None,
    **attrs: Any,
) -> torch.Tensor:
    """What the rewritten graph calls in place of a dense layer, a sum and an activation."""
    if attrs.get("flatten", True) and data.dim() != 2:
        data = data.flatten(1)
    result = layers[index](data, attrs["num_hidden"], addend)
    if result is not None:
        return result
    if addend is not None:
        return clamped(_added(data, weight, bias, addend, attrs), clamp)
    return clamped(FULLY(data, weight, bias, **attrs), clamp)


def dense_pixels(
    layers: Sequence[Any],
    workspace: Workspace,
    index: int,
    buffer: int | None,
    clamp: Clamp,
    data: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    **attrs: Any,
) -> torch.Tensor:
    """What the rewritten graph calls in place of a dense layer behind pooling; the rows are images of one pixel."""
    layer = layers[index]
    result = workspace.repeat(layer, data)
    if result is None:
        result = layer.behind(workspace, buffer, data, attrs["num_hidden"])
    return dense(layers, index, clamp, data, weight, bias, **attrs)[:, :, None, None] if result is None else result


def _added(data: Any, weight: Any, bias: Any, addend: torch.Tensor, attrs: dict[str, Any]) -> torch.Tensor:
    """A layer and a sum: the product is added to the addend in place, which saves two passes over memory."""
    if bias is None or addend.shape != (*data.shape[:-1], *bias.shape) or not (usable(data) and usable(addend)):
        return SUM(FULLY(data, weight, bias, **attrs), addend)
    result = addend.new_empty(addend.shape)
    torch.add(addend, bias, out=result)
    rows, made = data.reshape(-1, data.shape[-1]), result.view(-1, len(bias))
    if not gemm.add_product(rows, weight, made):
        made.addmm_(rows, weight.t())
    return result


def gelu_in_place(data: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """What the rewritten graph calls for a dense layer's activation, if nobody else reads the layer's result."""
    return torch.ops.aten.gelu_.default(data) if usable(data) else ACTIVATION(data, **attrs)


def gelu_in_place_of_layers(graph: fx.Graph) -> None:
    """Let activations after dense layers overwrite the results of the layers."""
    for node in graph.nodes:
        if calls(node, ACTIVATION) and node.kwargs.get("act_type") == "gelu":
            layer = argument(node, "data")
            if calls(layer, dense) and sole_user(layer) is node:
                node.target = gelu_in_place
