"""Maxima and means over the bins of regions by compiled loops (see region_kernels), where there is much to do."""

import math

import torch
from torch import Tensor

from ..runtime.buffers import share
from ..runtime.loader import CompiledModule, any_processor

LEAST = 1 << 14  # bins of all channels; fewer are not worth loading a compiler at once
WORTH_A_THREAD = 1 << 16

_code = CompiledModule("vision.roi_kernels", any_processor, after=1 << 24)


class Bins:
    """Where the bins of all regions begin and end: `rows` and `columns` are (2, regions, bins)."""

    def __init__(self, numbers: Tensor, rows: Tensor, columns: Tensor, kinds: int) -> None:
        self.shape = len(numbers), kinds, rows.shape[2], columns.shape[2]
        self.numbers, self.rows, self.columns = numbers, rows, columns

    def fit(self, data: Tensor) -> bool:
        """Is there compiled code for them, and is it ready? Training waits for it: two runs compute the same."""
        if data.dtype is not torch.float32 or not data.is_cpu or not self.numbers.numel():
            return False
        lowest, highest = torch.aminmax(self.numbers)
        if lowest < 0 or highest >= len(data):
            return False
        wait = torch.is_grad_enabled() and data.requires_grad
        if math.prod(self.shape) < LEAST:
            return _code.earned(data.numel(), wait) is not None
        return _code.get(wait) is not None

    def maxima(self, data: Tensor) -> tuple[Tensor, Tensor]:
        """The largest number of each bin, and its place in the image, -1 where it has none."""
        found, places = data.new_empty(self.shape), torch.empty(self.shape, dtype=torch.int32)
        self._run("maxima", data, found, places, self.numbers, self.rows, self.columns)
        return found, places

    def spread_maxima(self, head: Tensor, places: Tensor, shape: torch.Size) -> Tensor:
        """The gradient of data of that shape."""
        result = head.new_zeros(shape)
        self._run("spread_maxima", result.flatten(2), head, places, self.numbers)
        return result

    def means(self, data: Tensor, channels: Tensor) -> Tensor:
        """The mean of each bin, which reads a channel of its own."""
        found = data.new_empty(self.shape)
        self._run("means", data, found, channels, self.numbers, self.rows, self.columns)
        return found

    def spread_means(self, head: Tensor, channels: Tensor, shape: torch.Size) -> Tensor:
        """The gradient of data of that shape."""
        result = head.new_zeros(shape)
        self._run("spread_means", result, head, channels, self.numbers, self.rows, self.columns)
        return result

    def _run(self, name: str, *tensors: Tensor) -> None:
        kernel = getattr(_code.get(wait=True), name)
        arrays = [t.detach().contiguous().numpy() for t in tensors]
        most = math.prod(self.shape) // WORTH_A_THREAD
        share(lambda first, last: kernel(*arrays, first, last), 0, self.shape[1], most)
