"""Bilinear interpolation of NCHW images: neighbours and weights of each axis are computed once, not for each plane."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.autograd import with_gradient
from ..runtime.buffers import share
from ..runtime.concrete import is_concrete
from ..runtime.loader import CompiledModule, any_processor

Size = tuple[int, int]
_code = CompiledModule("vision.resize_kernels", any_processor, after=tuning.RESIZE_COMPILE)


@lru_cache(maxsize=256)
def neighbours(size: int, wanted: int, align_corners: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The two source pixels of each result and the weight of the second one, computed in float32 as in MXNet."""
    end = int(align_corners)
    scale = np.float32(size - end) / np.float32(wanted - end) if wanted > 1 else np.float32(0)
    steps = np.arange(wanted)
    place = scale * steps.astype("float32") if align_corners else float(scale) * (steps + 0.5) - 0.5
    place = np.maximum(place, 0).astype("float32")
    first = place.astype("int64")
    return first, np.minimum(first + 1, size - 1), place - first.astype("float32")


def _applies(data: Tensor, wanted: Size, align_corners: bool, plain: Callable[..., Tensor]) -> int:
    if data.dtype is not torch.float32 or not data.is_cpu or not is_concrete(data) or not data.numel():
        return 0
    if wanted == tuple(data.shape[2:]):  # a copy: no weight of zero may turn a neighbour's NaN into NaN
        return 0
    return data.shape[0] * data.shape[1] * wanted[0] * wanted[1]


def _run(data: Tensor, wanted: Size, align_corners: bool, plain: Callable[..., Tensor]) -> Tensor:
    axes = [t for pair in zip(data.shape[2:], wanted, strict=True) for t in neighbours(*pair, align_corners)]

    def run(name: str, source: Tensor, target: Tensor) -> Tensor:
        kernel = getattr(_code.get(wait=True), name)
        arrays = [t.detach().contiguous().flatten(0, 1).numpy() for t in (source, target)]
        parts = max(source.numel(), target.numel()) // tuning.RESIZE_PER_THREAD
        share(lambda first, last: kernel(*arrays, *axes, first, last), 0, len(arrays[0]), parts)
        return target

    def backward(inputs: Any, outputs: Any, heads: Any) -> Any:
        if torch.is_grad_enabled():  # a gradient to be differentiated again
            result = plain(inputs[0], wanted, align_corners)
            return torch.autograd.grad(result, inputs[0], heads[0], create_graph=True)
        return run("bilinear_backward", heads[0], heads[0].new_zeros(inputs[0].shape))

    return with_gradient(lambda x: run("bilinear", x, x.new_empty(*x.shape[:2], *wanted)), backward, data)


# (data, (height, width), align_corners, torch's way to it)
bilinear = Kernel("vision.bilinear_resize", _applies, _run, code=_code)
