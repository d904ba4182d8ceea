"""Convolutions with constant weights by direct kernels (see direct_kernels): 1 x 1, of few channels, depthwise.

For other convolutions, and on other processors, oneDNN is as fast. Data is channels-last.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import tuning
from ..runtime.loader import CompiledModule
from ..runtime.task import ROUNDS, Task
from .clamp import Clamp, limits
from .problem import Problem, Way

FEW_CHANNELS = 4  # channels for which windows larger than a pixel are one run of memory that is worth packing
LANES = 8  # filters are a multiple of it

Shape = tuple[int, int, int, int]
Geometry = tuple[list[int], list[int], list[int], int]  # padding, stride, dilation, groups


_code = CompiledModule("conv.direct_kernels")


def loaded() -> bool | None:
    """Are there kernels for this processor? None: they are being compiled."""
    return _code.known()


def supported(weight: Sequence[int], geometry: Geometry) -> bool:
    """Is the convolution, of a weight of this shape, of a kind for which there are kernels?"""
    filters, channels, *window = weight
    pad, stride, dilate, groups = geometry
    if filters % LANES or dilate != [1, 1]:
        return False
    if groups == 1:
        stride2 = window == [3, 3] and stride == [2, 2] and pad == [1, 1]  # at stride one, Winograd tiles are faster
        return (window == [1, 1] and pad == [0, 0]) or (channels <= FEW_CHANNELS and min(window) > 1) or stride2
    return _is_depthwise(weight, groups) and pad == [1, 1] and stride in ([1, 1], [2, 2])


def _is_depthwise(weight: Sequence[int], groups: int) -> bool:
    return groups == weight[0] and tuple(weight[1:]) == (1, 3, 3)


def _applies(problem: Problem, depthwise: bool) -> int:
    if problem.threads > tuning.DIRECT_THREADS or _is_depthwise(problem.weight, problem.groups) != depthwise:
        return 0
    geometry = [*problem.pad], [*problem.stride], [*problem.dilate], problem.groups
    return max(1, problem.work) if supported(problem.weight, geometry) else 0


def pack(weight: Tensor, bias: Any, geometry: Geometry, clamp: Clamp) -> "Dense | Depthwise | None":
    """Pack a supported convolution; None if it is not ready, or not available for this processor and thread count."""
    if torch.get_num_threads() > tuning.DIRECT_THREADS or _code.get(wait=False) is None:
        return None
    kind = Depthwise if _is_depthwise(weight.shape, geometry[3]) else Dense
    return kind(weight, bias, geometry, clamp)


def pad_task(images: Tensor, padded: Tensor, pad: Sequence[int]) -> Task:
    """Copies NHWC images into larger ones, at an offset of `pad` rows and columns, with zeros around them."""
    (_, height, width, channels), (batch, tall, wide, _) = images.shape, padded.shape
    zeros = images.new_zeros(wide * channels)
    addresses = [t.data_ptr() for t in (images, zeros, padded)]
    given, most = (*addresses, height, width, channels * 4, *pad, tall, wide), padded.numel() // tuning.COPY_PER_THREAD
    return Task(_code.get(wait=True).pad, given, (0, batch * tall), most, held=(images, zeros, padded))


class _Packed:
    """Common part of the packed convolutions; the kernels themselves only get addresses."""

    adds = True  # can an addend be added to the result?

    def __init__(self, weight: Tensor, bias: Tensor | None, geometry: Geometry, clamp: Clamp) -> None:
        self._pad, self._stride, _, groups = geometry
        self._kernels: Any = _code.get(wait=True)
        self._filters, self._channels, *self._window = weight.shape
        self._bias = weight.new_zeros(self._filters) if bias is None else bias.contiguous()
        self._weight, self._inputs = self._order(weight.detach()), self._channels * groups
        self._limits = limits(clamp)
        self.pads = self._pad != [0, 0] and groups == 1
        self._shapes: tuple[Any, Any] = None, None

    def shape(self, data: Tensor) -> Shape:
        """The result's; kernels, which know addresses only, must not be given other data."""
        if data.dtype is not torch.float32 or not data.is_cpu:
            raise ValueError(f"a kernel is given {data.dtype} on {data.device}")
        return self.output_shape(data.shape)

    def output_shape(self, shape: Sequence[int]) -> Shape:
        """The result's for data of a shape."""
        given, made = self._shapes
        if given != shape:
            batch, channels, *sizes = shape
            axes = zip(sizes, self._pad, self._window, self._stride, strict=True)
            down, right = ((n + 2 * pad - k) // step + 1 for n, pad, k, step in axes)
            if channels != self._inputs or min(down, right) < 1:
                wanted = f"{self._inputs} channels and windows of {self._window}"
                raise ValueError(f"a kernel for {wanted} is given {tuple(shape)}")
            made = batch, self._filters, down, right
            self._shapes = shape, made
        return made

    def task(self, data: Tensor, result: Tensor, addend: Tensor | None) -> Task:
        """The convolution, plus `addend`, clamped, for as long as these tensors live.

        All are channels-last, and `data` are padded with zeros where that is needed.
        """
        return self._task(data, result, 0 if addend is None else addend.data_ptr())

    def padded_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of padded data."""
        (batch, channels, height, width), (above, beside) = shape, self._pad
        return batch, channels, height + 2 * above, width + 2 * beside

    def pad_task(self, data: Tensor, padded: Tensor) -> Task:
        """Pads channels-last data."""
        return pad_task(data.permute(0, 2, 3, 1), padded.permute(0, 2, 3, 1), self._pad)

    def interleave_task(self, shape: Sequence[int], strides: Sequence[int], padded: Tensor) -> Task:
        """Pads data of few channels, whatever their memory format, and makes them channels-last.

        Rows are contiguous; the data's address is given at each run.
        """
        (_, channels, height, width), (_, _, tall, wide) = shape, padded.shape
        zeros = padded.new_zeros(wide * channels)
        places = (0, zeros.data_ptr(), padded.data_ptr())
        given = (*places, *(4 * stride for stride in strides[:3]), channels, height, width, *self._pad, tall, wide)
        most = padded.numel() // tuning.COPY_PER_THREAD
        return Task(self._kernels.pad_interleaved, given, (0, shape[0] * tall), most, held=(zeros, padded))

    def _order(self, weight: Tensor) -> Tensor:
        raise NotImplementedError

    def _task(self, data: Tensor, result: Tensor, addend: int) -> Task:
        raise NotImplementedError


class Dense(_Packed):
    """All channels of a window contribute to every filter's value."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._offsets: tuple[Any, Any] = None, None

    def _order(self, weight: Tensor) -> Tensor:
        rows = weight.permute(0, 2, 3, 1).reshape(self._filters, -1)
        return torch.cat([panel.t().reshape(-1) for panel in rows.split(self._kernels.panels(self._filters))])

    def _task(self, data: Tensor, result: Tensor, addend: int) -> Task:
        batch, _, down, right = result.shape
        offsets, row = self._window_offsets(data, down, right), data.shape[3] * self._channels
        return self._work(data, offsets, row, batch * down * right, self._kernels.ROWS_AT_ONCE, result, addend)

    @property
    def channels(self) -> int:
        return self._channels

    @property
    def filters(self) -> int:
        return self._filters

    def rows_task(self, data: Tensor, result: Tensor, addend: Tensor | None) -> Task:
        """A matrix product: rows, or some columns of them, as windows of one pixel."""
        known, offsets = self._offsets
        if known != (len(data), data.stride(0)):
            offsets = torch.arange(len(data)) * data.stride(0) * 4
            self._offsets = (len(data), data.stride(0)), offsets
        at_once = max(self._kernels.ROWS, min(len(data), tuning.DIRECT_ROWS // (4 * self._channels)))
        more = 0 if addend is None else addend.data_ptr()
        return self._work(data, offsets, 0, len(data), at_once, result, more)

    def _work(
        self, data: Tensor, offsets: Any, row: int, windows: int, at_once: int, result: Tensor, addend: int
    ) -> Task:
        run, height = self._window[1] * self._channels, self._window[0]
        addresses = [t.data_ptr() for t in (data, offsets, self._weight, self._bias, result)]
        fixed = (*addresses, addend, self._filters, height, run, row * 4)
        work = max(windows, self._kernels.ROWS) * self._filters * run * height  # fewer windows wait for memory
        most = work // tuning.MULTIPLICATIONS_PER_THREAD
        held = offsets, data, result, self._weight, self._bias
        if windows < self._filters:  # each part reads all windows; otherwise each part reads the whole weight
            given, panels = (*fixed, windows, at_once, *self._limits), max(1, self._filters // self._kernels.PANEL)
            return Task(self._kernels.dense, given, (0, panels), most, held=held)
        given, rounds = (*fixed, -1, at_once, *self._limits), self._rounds(windows, at_once)
        return Task(self._kernels.dense, given, (0, windows), most, self._kernels.ROWS, rounds=rounds, held=held)

    @staticmethod
    def _rounds(windows: int, at_once: int) -> int:
        return 1 if windows < tuning.DIRECT_SEVERAL * at_once else ROUNDS

    def is_pointwise(self) -> bool:
        """Is every window one pixel, and every pixel a window?"""
        return self._window == self._stride == [1, 1]

    def fused_task(self, depthwise: "Depthwise", data: Tensor, result: Tensor) -> Task:
        """This pointwise convolution fused with the depthwise one after it, whose input stays in the cache."""
        (batch, run, height, width), (_, channels, down, right) = data.shape, result.shape
        step, row, panel = depthwise._stride[0], width * channels * 4, self._kernels.PANEL
        offsets = self._window_offsets(data, height, width)
        mine = [t.data_ptr() for t in (data, offsets, self._weight, self._bias)]
        other = [t.data_ptr() for t in (depthwise._weight, depthwise._bias, result)]
        fixed, sizes = (*mine, run, channels, *other), (height, width, down, right, step)
        clamps = *self._limits, *depthwise._limits
        most = batch * height * width * channels * run // tuning.MULTIPLICATIONS_PER_THREAD
        held, scratch = (offsets, data, result, self, depthwise), height * width * panel
        # Threads divide the channels, if they can, and compute no line twice; one thread is as fast in strips
        fits = scratch * 4 <= tuning.DIRECT_PANEL_IMAGE and channels % panel == 0
        if torch.get_num_threads() > 1 and fits:
            given, span = (*fixed, batch, *sizes, *clamps), (0, channels // panel)
            return Task(self._kernels.pointwise_depthwise_panels, given, span, most, scratch=scratch, held=held)
        strip = max(1, (tuning.DIRECT_STRIP // row - 3) // step + 1)
        given, scratch = (*fixed, *sizes, strip, *clamps), (strip * step + 3) * row // 4
        # Each part computes lines at its edges that its neighbours compute, too
        most, rounds = min(most, batch * down // tuning.DIRECT_LINES), self._rounds(batch, 1)
        span, kernel = (0, batch * down), self._kernels.pointwise_depthwise
        return Task(kernel, given, span, most, scratch=scratch, rounds=rounds, held=held)

    def _window_offsets(self, data: Tensor, down: int, right: int) -> Tensor:
        """Where in the data, in bytes, the window of each result begins."""
        known, offsets = self._offsets
        if known != data.shape:
            batch, _, height, width = data.shape
            image, row, column = (torch.arange(n) for n in (batch, down, right))
            lines = image[:, None] * height + row * self._stride[0]
            pixels = lines[:, :, None] * width + column * self._stride[1]
            offsets = (pixels * self._channels * 4).reshape(-1)
            self._offsets = data.shape, offsets
        return offsets


class Depthwise(_Packed):
    """Every channel has its own filter."""

    adds = False

    def _order(self, weight: Tensor) -> Tensor:
        return weight.permute(2, 3, 1, 0).contiguous()

    def _task(self, data: Tensor, result: Tensor, addend: int) -> Task:
        batch, channels, down, right = result.shape
        addresses = [t.data_ptr() for t in (data, self._weight, self._bias, result)]
        fixed = (*addresses, *data.shape[2:], channels, channels, down, right, self._stride[0])
        most, held = 9 * result.numel() // tuning.MULTIPLICATIONS_PER_THREAD, (data, result, self._weight, self._bias)
        return Task(self._kernels.depthwise, (*fixed, *self._limits), (0, batch * down), most, held=held)


DEPTHWISE = Way(
    "conv.packed_depthwise",
    "depthwise 3x3 windows of stride 1 or 2 and a constant weight",
    lambda problem: _applies(problem, True),
    lambda problem: Depthwise,
    _code,
)
DENSE = Way(
    "conv.packed_direct",
    "a constant weight of 1x1 windows, of up to four channels, or of 3x3 windows at stride 2",
    lambda problem: _applies(problem, False),
    lambda problem: Dense,
    _code,
)
