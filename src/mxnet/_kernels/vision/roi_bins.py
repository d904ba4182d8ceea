"""Max and average pooling over the bins of regions of interest (ROI), and their gradients."""

import math

import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.buffers import share
from ..runtime.loader import CompiledModule, any_processor

_code = CompiledModule("vision.roi_kernels", any_processor, after=tuning.ROI_COMPILE)


class Bins:
    """Begin and end of the bins of all regions: `rows` and `columns` are (2, regions, bins), `numbers` the images."""

    def __init__(self, numbers: Tensor, rows: Tensor, columns: Tensor, kinds: int) -> None:
        self.shape = len(numbers), kinds, rows.shape[2], columns.shape[2]
        self.numbers, self.rows, self.columns = numbers, rows, columns

    def max_pool(self, data: Tensor) -> tuple[Tensor, Tensor]:
        """The maximum of each bin, and its index in the image, -1 of empty bins."""
        found, indices = data.new_empty(self.shape), torch.empty(self.shape, dtype=torch.int32)
        self._run("max_pool", data, found, indices, self.numbers, self.rows, self.columns)
        return found, indices

    def max_pool_backward(self, head: Tensor, indices: Tensor, shape: torch.Size) -> Tensor:
        """The gradient of data of that shape."""
        result = head.new_zeros(shape)
        self._run("max_pool_backward", result.flatten(2), head, indices, self.numbers)
        return result

    def average_pool(self, data: Tensor, channels: Tensor) -> Tensor:
        """The average of each bin, which reads a channel of its own (position-sensitive)."""
        found = data.new_empty(self.shape)
        self._run("average_pool", data, found, channels, self.numbers, self.rows, self.columns)
        return found

    def average_pool_backward(self, head: Tensor, channels: Tensor, shape: torch.Size) -> Tensor:
        """The gradient of data of that shape."""
        result = head.new_zeros(shape)
        self._run("average_pool_backward", result, head, channels, self.numbers, self.rows, self.columns)
        return result

    def _run(self, name: str, *tensors: Tensor) -> None:
        kernel = getattr(_code.get(wait=True), name)
        arrays = [t.detach().contiguous().numpy() for t in tensors]
        parts = math.prod(self.shape) // tuning.ROI_PER_THREAD
        share(lambda first, last: kernel(*arrays, first, last), 0, self.shape[1], parts)


def _applies(data: Tensor, bins: Bins) -> int:
    """Elements of the data; many bins load the compiler at the second call."""
    if data.dtype is not torch.float32 or not data.is_cpu or not bins.numbers.numel():
        return 0
    lowest, highest = torch.aminmax(bins.numbers)
    if lowest < 0 or highest >= len(data):
        return 0
    return data.numel() if math.prod(bins.shape) < tuning.ROI_BINS else max(data.numel(), tuning.ROI_COMPILE)


# (data, bins) -> the bins, whose methods are compiled
roi_bins = Kernel("vision.roi_bins", _applies, lambda data, bins: bins, code=_code)
