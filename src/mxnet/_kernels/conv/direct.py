"""Convolutions with constant weights by compiled kernels (see kernels): of one pixel, of few channels, depthwise.

Elsewhere, and on processors for which these kernels are not made, oneDNN's are as fast.
"""

from collections.abc import Sequence
from typing import Any

import torch

from ..matmul.packed import WORTH_A_THREAD
from ..runtime.loader import CompiledModule
from ..runtime.task import ROUNDS, Task

INFINITE = float("inf")
FEW = 4  # channels
STRIPS = 1 << 18  # bytes between two convolutions that are computed at once: they stay in the cache
ACROSS = 1 << 16  # bytes of an image, of so many channels as are computed at a time, that stay in the cache
IN_CACHE = 320 << 10  # bytes of rows that stay in the cache while all filters pass
MOST_THREADS = 16  # of more, nobody knows how well they share out the work
FEWEST_LINES, SEVERAL = 3, 8  # in a part of the work; images, or blocks of windows, of which threads take turns
WORTH_A_COPY = 1 << 15  # floats

Bounds = tuple[float | None, float | None]
Shape = tuple[int, int, int, int]
Geometry = tuple[list[int], list[int], list[int], int]  # padding, steps, dilation, groups


_code = CompiledModule("conv.direct_kernels")


def loaded() -> bool | None:
    """Are there kernels for this processor? None: they are on their way."""
    return _code.known()


def ends(bounds: Bounds) -> tuple[float, float]:
    """Bounds as kernels take them: where there is none, infinity."""
    low, high = bounds
    return -INFINITE if low is None else low, INFINITE if high is None else high


def gains(weight: torch.Tensor, geometry: Geometry) -> bool:
    """Is the convolution of a kind for which there are kernels?"""
    filters, channels, *window = weight.shape
    padding, steps, dilation, groups = geometry
    if filters % 8 or dilation != [1, 1]:
        return False
    if groups == 1:
        apart = window == [3, 3] and steps == [2, 2] and padding == [1, 1]  # of stride one, tiles are quicker
        return (window == [1, 1] and padding == [0, 0]) or (channels <= FEW and min(window) > 1) or apart
    return _is_depthwise(weight, groups) and padding == [1, 1] and steps in ([1, 1], [2, 2])


def _is_depthwise(weight: torch.Tensor, groups: int) -> bool:
    return groups == weight.shape[0] and tuple(weight.shape[1:]) == (1, 3, 3)


def pack(weight: torch.Tensor, bias: Any, geometry: Geometry, bounds: Bounds) -> "Dense | Depthwise | None":
    """The convolution, one that gains, made ready; None: not yet, or never, as threads and processor have it."""
    if torch.get_num_threads() > MOST_THREADS:
        return None
    kind = Depthwise if _is_depthwise(weight, geometry[3]) else Dense
    found = _code.get(wait=False)
    return found and kind(found, weight, bias, geometry, bounds)


def enclosing(images: torch.Tensor, larger: torch.Tensor, corner: Sequence[int]) -> Task:
    """What copies images (image, row, column, channel) into larger ones, at a corner, with zeros around them."""
    (_, height, width, channels), (batch, tall, wide, _) = images.shape, larger.shape
    zeros = images.new_zeros(wide * channels)
    addresses = [t.data_ptr() for t in (images, zeros, larger)]
    given, most = (*addresses, height, width, channels * 4, *corner, tall, wide), larger.numel() // WORTH_A_COPY
    return Task(_code.get(wait=True).enclose, given, (0, batch * tall), most, held=(images, zeros, larger))


class _Packed:
    """What the kernels have in common. They know addresses only."""

    adds = True  # can something be added to the result?

    def __init__(
        self, kernels: Any, weight: torch.Tensor, bias: torch.Tensor | None, geometry: Geometry, bounds: Bounds
    ) -> None:
        self._padding, self._steps, _, groups = geometry
        self._kernels = kernels
        self._filters, self._channels, *self._window = weight.shape
        self._bias = weight.new_zeros(self._filters) if bias is None else bias.contiguous()
        self._weight, self._inputs = self._order(weight.detach()), self._channels * groups
        self._bounds = ends(bounds)
        self.surrounds = self._padding != [0, 0] and groups == 1
        self._shapes: tuple[Any, Any] = None, None

    def shape(self, data: torch.Tensor) -> Shape:
        """The result's; kernels, which know addresses only, must not be given other data."""
        if data.dtype is not torch.float32 or not data.is_cpu:
            raise ValueError(f"a kernel is given {data.dtype} on {data.device}")
        return self.shape_behind(data.shape)

    def shape_behind(self, shape: Sequence[int]) -> Shape:
        """The result's for data of a shape."""
        given, made = self._shapes
        if given != shape:
            batch, channels, *sizes = shape
            many = zip(sizes, self._padding, self._window, self._steps, strict=True)
            down, right = ((n + 2 * pad - k) // step + 1 for n, pad, k, step in many)
            if channels != self._inputs or min(down, right) < 1:
                wanted = f"{self._inputs} channels and windows of {self._window}"
                raise ValueError(f"a kernel for {wanted} is given {tuple(shape)}")
            made = batch, self._filters, down, right
            self._shapes = shape, made
        return made

    def job(self, data: torch.Tensor, result: torch.Tensor, addend: torch.Tensor | None) -> Task:
        """The convolution, plus `addend`, within the bounds, for as long as these tensors live.

        All are channels-last, and `data` are surrounded by zeros where that is needed.
        """
        return self._prepare(data, result, 0 if addend is None else addend.data_ptr())

    def surrounded(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of data with zeros around them."""
        (batch, channels, height, width), (above, beside) = shape, self._padding
        return batch, channels, height + 2 * above, width + 2 * beside

    def surrounding(self, data: torch.Tensor, padded: torch.Tensor) -> Task:
        """What puts zeros around data, channels-last, as often as it is wanted."""
        return enclosing(data.permute(0, 2, 3, 1), padded.permute(0, 2, 3, 1), self._padding)

    def laying(self, shape: Sequence[int], strides: Sequence[int], padded: torch.Tensor) -> Task:
        """What lays few channels side by side and puts zeros around them, for any data whose rows are whole.

        Where they are is said at each run.
        """
        (_, channels, height, width), (_, _, tall, wide) = shape, padded.shape
        zeros = padded.new_zeros(wide * channels)
        places = (0, zeros.data_ptr(), padded.data_ptr())
        given = (*places, *(4 * stride for stride in strides[:3]), channels, height, width, *self._padding, tall, wide)
        most = padded.numel() // WORTH_A_COPY
        return Task(self._kernels.surround, given, (0, shape[0] * tall), most, held=(zeros, padded))

    def _order(self, weight: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def _prepare(self, data: torch.Tensor, result: torch.Tensor, addend: int) -> Task:
        raise NotImplementedError


class Dense(_Packed):
    """All channels of a window make every filter's value."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._places: tuple[Any, Any] = None, None

    def _order(self, weight: torch.Tensor) -> torch.Tensor:
        rows = weight.permute(0, 2, 3, 1).reshape(self._filters, -1)
        return torch.cat([panel.t().reshape(-1) for panel in rows.split(self._kernels.panels(self._filters))])

    def _prepare(self, data: torch.Tensor, result: torch.Tensor, addend: int) -> Task:
        batch, _, down, right = result.shape
        places, row = self._beginnings(data, down, right), data.shape[3] * self._channels
        return self._work(data, places, row, batch * down * right, self._kernels.ROWS_AT_ONCE, result, addend)

    @property
    def channels(self) -> int:
        return self._channels

    @property
    def filters(self) -> int:
        return self._filters

    def rows_job(self, data: torch.Tensor, result: torch.Tensor, addend: torch.Tensor | None) -> Task:
        """Rows of a matrix, or of a part of its columns, as windows of one pixel."""
        known, places = self._places
        if known != (len(data), data.stride(0)):
            places = torch.arange(len(data)) * data.stride(0) * 4
            self._places = (len(data), data.stride(0)), places
        at_once = max(self._kernels.ROWS, min(len(data), IN_CACHE // (4 * self._channels)))
        more = 0 if addend is None else addend.data_ptr()
        return self._work(data, places, 0, len(data), at_once, result, more)

    def _work(
        self, data: torch.Tensor, places: Any, row: int, windows: int, at_once: int, result: torch.Tensor, addend: int
    ) -> Task:
        run, height = self._window[1] * self._channels, self._window[0]
        addresses = [t.data_ptr() for t in (data, places, self._weight, self._bias, result)]
        fixed = (*addresses, addend, self._filters, height, run, row * 4)
        work = max(windows, self._kernels.ROWS) * self._filters * run * height  # fewer windows wait for memory
        most, held = work // WORTH_A_THREAD, (places, data, result, self._weight, self._bias)
        if windows < self._filters:  # each part reads all windows, else the whole weight
            given, panels = (*fixed, windows, at_once, *self._bounds), max(1, self._filters // self._kernels.PANEL)
            return Task(self._kernels.dense, given, (0, panels), most, held=held)
        given, rounds = (*fixed, -1, at_once, *self._bounds), 1 if windows < SEVERAL * at_once else ROUNDS
        return Task(self._kernels.dense, given, (0, windows), most, self._kernels.ROWS, rounds=rounds, held=held)

    def is_lone(self) -> bool:
        """Is every window one pixel, and every pixel a window?"""
        return self._window == self._steps == [1, 1]

    def job_with(self, deep: "Depthwise", data: torch.Tensor, result: torch.Tensor) -> Task:
        """This convolution, of single pixels, and the depthwise one behind it, in strips."""
        (batch, run, height, width), (_, channels, down, right) = data.shape, result.shape
        step, row, panel = deep._steps[0], width * channels * 4, self._kernels.PANEL
        places = self._beginnings(data, height, width)
        mine = [t.data_ptr() for t in (data, places, self._weight, self._bias)]
        other = [t.data_ptr() for t in (deep._weight, deep._bias, result)]
        fixed, sizes = (*mine, run, channels, *other), (height, width, down, right, step)
        bounds = *self._bounds, *deep._bounds
        most = batch * height * width * channels * run // WORTH_A_THREAD
        held, scratch = (places, data, result, self, deep), height * width * panel
        # Threads share channels out, if they can, and make no line twice; one alone is as quick in strips
        if torch.get_num_threads() > 1 and scratch * 4 <= ACROSS and channels % panel == 0:
            given, span = (*fixed, batch, *sizes, *bounds), (0, channels // panel)
            return Task(self._kernels.expanded_across, given, span, most, scratch=scratch, held=held)
        strip = max(1, (STRIPS // row - 3) // step + 1)
        given, scratch = (*fixed, *sizes, strip, *bounds), (strip * step + 3) * row // 4
        # Each part makes lines at its edges that its neighbours make, too
        most, rounds = min(most, batch * down // FEWEST_LINES), 1 if batch < SEVERAL else ROUNDS
        return Task(self._kernels.expanded, given, (0, batch * down), most, scratch=scratch, rounds=rounds, held=held)

    def _beginnings(self, data: torch.Tensor, down: int, right: int) -> torch.Tensor:
        """Where in the data, in bytes, the window of each result begins."""
        known, places = self._places
        if known != data.shape:
            batch, _, height, width = data.shape
            image, row, column = (torch.arange(n) for n in (batch, down, right))
            lines = image[:, None] * height + row * self._steps[0]
            pixels = lines[:, :, None] * width + column * self._steps[1]
            places = (pixels * self._channels * 4).reshape(-1)
            self._places = data.shape, places
        return places


class Depthwise(_Packed):
    """Every channel has its own filter."""

    adds = False

    def _order(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.permute(2, 3, 1, 0).contiguous()

    def _prepare(self, data: torch.Tensor, result: torch.Tensor, addend: int) -> Task:
        batch, channels, down, right = result.shape
        addresses = [t.data_ptr() for t in (data, self._weight, self._bias, result)]
        fixed = (*addresses, *data.shape[2:], channels, channels, down, right, self._steps[0])
        most, held = 9 * result.numel() // WORTH_A_THREAD, (data, result, self._weight, self._bias)
        return Task(self._kernels.depthwise, (*fixed, *self._bounds), (0, batch * down), most, held=held)
