"""A convolution made ready for inference: batch norm folded in, weight in the kernel's order, sum and bound fused."""

import ctypes
import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from .._ops import winograd

Bounds = tuple[float | None, float | None]  # what an activation cuts off below and above
_memcmp = (ctypes.cdll.msvcrt if os.name == "nt" else ctypes.CDLL(None)).memcmp
_memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


def available() -> bool:
    """Does this build of torch have oneDNN's fused convolutions?"""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_convolution_pointwise")


def folded(weight: torch.Tensor, bias: torch.Tensor | None, norm: list[torch.Tensor], eps: float) -> Any:
    """(weight, bias) that compute norm(convolution): `norm` is gamma, beta, moving mean, moving variance."""
    gamma, beta, mean, variance = norm
    scale = gamma * (variance + eps).rsqrt()
    shift = beta - mean * scale if bias is None else beta + (bias - mean) * scale
    return weight * scale.reshape(-1, 1, 1, 1), shift


def same_bytes(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Do two tensors hold the same bits? Three times as fast as torch.equal, which compares numbers."""
    if one.shape != other.shape or one.dtype is not other.dtype:
        return False
    if not (one.is_contiguous() and other.is_contiguous()):
        return torch.equal(one, other)
    return not _memcmp(one.data_ptr(), other.data_ptr(), one.nbytes)


SMALL = 1 << 18  # bytes; less is compared before a thread would have begun


def compare_aside(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> Callable[[], bool]:
    """Begin to compare pairs of tensors; the result says if all of them hold the same bits, when it is asked.

    Large ones are compared by a thread of their own, beside whatever the caller does next.
    """
    large = [pair for pair in pairs if pair[0].nbytes > SMALL]
    if not all(same_bytes(*pair) for pair in pairs if pair[0].nbytes <= SMALL):
        return lambda: False
    if not large:
        return lambda: True
    return _threads(os.getpid()).submit(_all_same, large).result


def _all_same(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> bool:
    return all(same_bytes(*pair) for pair in pairs)


@functools.lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """Threads of this process: a fork has none of its parent's."""
    return ThreadPoolExecutor(2, thread_name_prefix="mxnet-compare")


class PackedConvolution:
    """Two-dimensional convolution with constant weight; packed at the first call, when the data's size is known."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, attrs: dict[str, Any], bounds: Bounds) -> None:
        self.weight, self.bias, self.bounds = weight, bias, bounds
        geometry = (attrs.get("pad") or (0, 0), attrs.get("stride") or (1, 1), attrs.get("dilate") or (1, 1))
        self.geometry = (*map(list, geometry), attrs.get("num_group", 1))
        self.packed: torch.Tensor | None = None
        self.matrices: torch.Tensor | None = None
        self.tiled = self.geometry == ([1, 1], [1, 1], [1, 1], 1) and tuple(weight.shape[2:]) == (3, 3)
        # Looked up once: finding the overload takes as long as a small convolution's bookkeeping.
        self.alone = torch.ops.mkldnn._convolution_pointwise.default
        self.with_sum = torch.ops.mkldnn._convolution_pointwise.binary

    def __call__(self, data: torch.Tensor, addend: torch.Tensor | None = None) -> torch.Tensor:
        data = data.contiguous(memory_format=torch.channels_last)
        if self.tiled and winograd.pays(data, self.weight, wait=False):
            return winograd.convolve(data, self._matrices(), self.bias, addend, self.bounds, wait=False)
        if addend is None:
            result = self.alone(data, self._packed(data), self.bias, *self.geometry, "none", [], "")
        else:
            addend = addend.contiguous(memory_format=torch.channels_last)
            constants = (self._packed(data), self.bias, *self.geometry)
            result = self.with_sum(data, addend, *constants, "add", None, None, [], None)
        return self._bounded(result)

    def _bounded(self, result: torch.Tensor) -> torch.Tensor:
        # Not oneDNN's own relu and clip, which turn NaN into a number.
        low, high = self.bounds
        if low is None:
            return result
        return result.relu_() if high is None else result.clamp_(low, high)

    def _packed(self, data: torch.Tensor) -> torch.Tensor:
        made = self.packed
        if made is None:
            weight = self.weight.contiguous(memory_format=torch.channels_last)
            sizes = (*self.geometry, list(data.shape))
            made = self.packed = torch.ops.mkldnn._reorder_convolution_weight(weight, *sizes)
            if not self.tiled:
                self.weight = made  # the other order is not needed again
        return made

    def _matrices(self) -> torch.Tensor:
        made = self.matrices
        if made is None:
            made = self.matrices = winograd.weight_matrices(self.weight)
        return made


def convolve(convolutions: Sequence[PackedConvolution], index: int, *tensors: torch.Tensor) -> torch.Tensor:
    """What the rewritten graph calls in place of convolution, batch norm, sum and activation."""
    return convolutions[index](*tensors)
