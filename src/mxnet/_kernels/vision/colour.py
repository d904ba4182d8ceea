"""Colour adjustment of images in one pass: hue, saturation and PCA lighting of (height, width, 3) pixels."""

from typing import Any

import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.concrete import is_concrete
from ..runtime.loader import CompiledModule, any_processor

_code = CompiledModule("vision.colour_kernels", any_processor, after=tuning.COLOUR_COMPILE)
_DTYPES = {torch.uint8: "uint8", torch.float32: "float32"}


def _applies(name: str, image: Tensor, *factors: float) -> int:
    plain = image.dtype in _DTYPES and image.is_cpu and is_concrete(image)
    return tuning.COLOUR_CALL + image.numel() if plain else 0


def _run(name: str, image: Tensor, *factors: float) -> Tensor:
    result = torch.empty_like(image, memory_format=torch.contiguous_format)
    arrays: list[Any] = [t.detach().numpy().reshape(-1) for t in (image.contiguous(), result)]
    getattr(_code.get(wait=True), f"{name}_{_DTYPES[image.dtype]}")(*arrays, *factors)
    return result


# ("hue", "saturation" or "lighting", image, its factors)
adjust = Kernel("vision.colour", _applies, _run, code=_code)
