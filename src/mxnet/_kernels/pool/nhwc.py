"""Pooling of channels-last images for inference: maxima of windows, and global averages.

torch's max pooling also computes indices, which takes three times as long.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.loader import CompiledModule
from ..runtime.task import Task
from .windows import Windows, windows_of

_code = CompiledModule("pool.nhwc_kernels")

Shape = tuple[int, int, int, int]
Plan = Callable[[Tensor, Tensor], Task]  # (data, result), both channels-last -> the task that pools them


def _applies(data: Tensor, attrs: dict[str, Any]) -> int:
    """`attrs` are those of the operator Pooling."""
    if data.dtype is not torch.float32 or not data.is_cpu or data.dim() != 4 or data.shape[1] % 8:
        return 0
    if attrs.get("layout") not in (None, "NCHW"):
        return 0
    kind = attrs.get("pool_type", "max")
    if attrs.get("global_pool", False):
        fits = kind == "avg" and data.shape[2] * data.shape[3] <= tuning.POOL_GLOBAL_PIXELS
    else:
        fits = kind == "max" and len(attrs.get("kernel", ())) == 2 and _fits(_windows(data, attrs))
    return data.numel() if fits else 0


def _windows(data: Tensor, attrs: dict[str, Any]) -> Windows:
    given = (attrs.get(name, ()) for name in ("kernel", "stride", "pad"))
    return windows_of(data.shape[2:], *given, attrs.get("pooling_convention", "valid"))


def _fits(windows: Windows) -> bool:
    return windows.native and not windows.any_empty()


def _plan(data: Tensor, attrs: dict[str, Any]) -> tuple[Shape, Plan]:
    if attrs.get("global_pool", False):
        return (data.shape[0], data.shape[1], 1, 1), _global_average
    windows = _windows(data, attrs)

    def max_pool(data: Tensor, result: Tensor) -> Task:
        batch, channels, height, width = result.shape
        sizes = (*data.shape[2:], channels, height, width, *windows.kernel, *windows.stride, *windows.pad)
        given, parts = (data.data_ptr(), result.data_ptr(), *sizes), data.numel() // tuning.POOL_NHWC_PER_THREAD
        return Task(_code.get(wait=True).max_pool, given, (0, batch * height), parts, held=(data, result))

    return (data.shape[0], data.shape[1], *windows.count), max_pool


def _global_average(data: Tensor, result: Tensor) -> Task:
    batch, channels, height, width = data.shape
    given = data.data_ptr(), result.data_ptr(), height * width, channels
    parts = data.numel() // tuning.POOL_NHWC_PER_THREAD
    return Task(_code.get(wait=True).global_average_pool, given, (0, batch), parts, held=(data, result))


# (data, the operator's attributes) -> the shape of the result, and the plan
plan_pooling = Kernel("pool.nhwc", _applies, _plan, code=_code)
