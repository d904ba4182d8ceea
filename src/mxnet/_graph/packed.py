"""A convolution made ready for inference: batch norm folded in, weight in the kernel's order, sum and bound fused."""

import ctypes
import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from .._ops import winograd

LIMIT, LARGEST = 1e6, 1e37  # of data that need not be looked at closely, and of what cannot become infinite

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


SMALL = 1 << 15  # bytes; less is compared before a thread would have begun
Place = tuple[int, int, int]  # two addresses and a number of bytes


class Copies:
    """Copies of tensors, by which it is seen if the tensors have changed."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self.tensors = [t.data.clone(memory_format=torch.contiguous_format) for t in tensors]
        # Of which tensors the addresses are known: to ask hundreds for all of it takes longer than to compare them.
        self._known: tuple[list[Any], list[Place], list[Place]] = ([], [], [])

    def compare(self, tensors: Sequence[torch.Tensor]) -> Callable[[], bool]:
        """Begin to compare; the result says if all tensors hold the same bits as their copies, when it is asked.

        Large ones are compared by a thread of their own, beside whatever the caller does next.
        """
        key = [(id(t), t.data_ptr(), t.shape) for t in tensors]
        known, small, large = self._known
        if key != known:
            if not all(map(_alike, tensors, self.tensors)):
                return lambda: _all_equal(tensors, self.tensors)
            places = [(t.data_ptr(), c.data_ptr(), c.nbytes) for t, c in zip(tensors, self.tensors, strict=True)]
            small, large = [p for p in places if p[2] <= SMALL], [p for p in places if p[2] > SMALL]
            self._known = key, small, large
        if any(map(_differ, small)):
            return lambda: False
        return _threads(os.getpid()).submit(_none_differs, large).result if large else lambda: True


def _alike(tensor: torch.Tensor, copy: torch.Tensor) -> bool:
    """Can their memory be compared as it is?"""
    return tensor.shape == copy.shape and tensor.dtype is copy.dtype and tensor.is_contiguous()


def _all_equal(tensors: Sequence[torch.Tensor], copies: Sequence[torch.Tensor]) -> bool:
    return all(map(same_bytes, (t.data for t in tensors), copies))


def _differ(place: Place) -> int:
    return _memcmp(*place)


def _none_differs(places: Sequence[Place]) -> bool:
    return not any(map(_differ, places))


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
        sums = weight.abs().sum((1, 2, 3)).max() if weight.numel() else weight.new_zeros(())
        self.reach = float(sums), 0.0 if bias is None or not bias.numel() else float(bias.abs().max())
        self.fusible = False
        # Looked up once: finding the overload takes as long as a small convolution's bookkeeping.
        self.alone = torch.ops.mkldnn._convolution_pointwise.default
        self.with_sum = torch.ops.mkldnn._convolution_pointwise.binary

    def __call__(self, within: bool, data: torch.Tensor, addend: torch.Tensor | None = None) -> torch.Tensor:
        """The result for data that are `within` the limit for which it was found whether a bound can be fused."""
        data = data.contiguous(memory_format=torch.channels_last)
        if self.tiled and winograd.pays(data, self.weight, wait=False):
            return winograd.convolve(data, self._matrices(), self.bias, addend, self.bounds, wait=False)
        fused = self.fusible and within and (addend is None or self.bounds[1] is None)  # of sums, only `relu`
        name, numbers = self._activation() if fused else ("none", [])
        if addend is None:
            result = self.alone(data, self._packed(data), self.bias, *self.geometry, name, numbers, "")
        else:
            addend = addend.contiguous(memory_format=torch.channels_last)
            constants = (self._packed(data), self.bias, *self.geometry)
            more = (name, numbers, "") if fused else (None, [], None)
            result = self.with_sum(data, addend, *constants, "add", None, *more)
        return result if fused else self._bounded(result)

    def limit(self, data: float | None, addend: float | None = 0) -> float | None:
        """How large results can be for data up to a size; None: not known, or infinite.

        Where it is known, no NaN can arise, and oneDNN's own `relu` and `clip`, which turn NaN into a number, will do.
        """
        low, high = self.bounds
        if data is None or addend is None:
            return None
        reach = self.reach[0] * data + self.reach[1] + addend
        self.fusible = low is not None and reach < LARGEST
        return (reach if high is None else max(abs(low or 0), abs(high))) if reach < LARGEST else None

    def _activation(self) -> tuple[str, list[float]]:
        low, high = self.bounds
        return ("relu", []) if high is None else ("hardtanh", [low, high])  # type: ignore[list-item]

    def _bounded(self, result: torch.Tensor) -> torch.Tensor:
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


def convolve(
    convolutions: Sequence[PackedConvolution], within: bool, index: int, *tensors: torch.Tensor
) -> torch.Tensor:
    """What the rewritten graph calls in place of convolution, batch norm, sum and activation."""
    return convolutions[index](within, *tensors)
