"""Pooling of predictions by compiled kernels (see pooling_kernels): maxima of windows, and means of whole images.

torch's kernel for maxima also notes where they are, which takes three times as long.
"""

from collections.abc import Callable
from typing import Any

import torch

from ..runtime.loader import CompiledModule
from ..runtime.task import Task
from .windows import windows_of

FEW = 256  # pixels, which one sum may have: of more, torch's sums in parts lose fewer digits
WORTH_A_THREAD = 1 << 14  # floats, in a part of the work

_code = CompiledModule("pool.nhwc_kernels")

Shape = tuple[int, int, int, int]
Prepare = Callable[[torch.Tensor, torch.Tensor], Task]  # from data and result, both channels-last


def prepared(data: torch.Tensor, attrs: dict[str, Any]) -> tuple[Shape, Prepare] | None:
    """The result's shape, and what makes a task; None: there is no kernel for that, or not yet."""
    if data.dtype is not torch.float32 or not data.is_cpu or data.dim() != 4 or data.shape[1] % 8 or not data.numel():
        return None
    if attrs.get("layout") not in (None, "NCHW"):
        return None
    kind, whole = attrs.get("pool_type", "max"), attrs.get("global_pool", False)
    if whole:
        few = kind == "avg" and data.shape[2] * data.shape[3] <= FEW
        return ((data.shape[0], data.shape[1], 1, 1), _means) if few and _code.get(wait=False) else None
    return _windows(data, attrs) if kind == "max" and len(attrs.get("kernel", ())) == 2 else None


def _means(data: torch.Tensor, result: torch.Tensor) -> Task:
    batch, channels, height, width = data.shape
    means = _code.get(wait=True).means
    given = data.data_ptr(), result.data_ptr(), height * width, channels
    return Task(means, given, (0, batch), data.numel() // WORTH_A_THREAD, held=(data, result))


def _windows(data: torch.Tensor, attrs: dict[str, Any]) -> tuple[Shape, Prepare] | None:
    given = (attrs.get(name, ()) for name in ("kernel", "stride", "pad"))
    windows = windows_of(data.shape[2:], *given, attrs.get("pooling_convention", "valid"))
    if not windows.native or windows.any_empty() or _code.get(wait=False) is None:
        return None

    def prepare(data: torch.Tensor, result: torch.Tensor) -> Task:
        batch, channels, down, right = result.shape
        maxima = _code.get(wait=True).maxima
        sizes = (*data.shape[2:], channels, down, right, *windows.kernel, *windows.stride, *windows.pad)
        given, most = (data.data_ptr(), result.data_ptr(), *sizes), data.numel() // WORTH_A_THREAD
        return Task(maxima, given, (0, batch * down), most, held=(data, result))

    return (data.shape[0], data.shape[1], *windows.count), prepare
