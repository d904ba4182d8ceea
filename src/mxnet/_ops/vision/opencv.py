"""Operators that OpenCV does: decoding, reading, resizing and framing images. It is loaded when first needed."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._core.attrs import Floats
from ..._core.errors import MXNetError
from ..._core.extras import opencv
from ..._formats import images
from ..registry.registry import op

RESIZABLE = (torch.uint8, torch.float32, torch.float64)


def _do(function: Callable[..., Any], *arguments: Any, **options: Any) -> np.ndarray:
    """Call a function of OpenCV; what it refuses is the caller's mistake."""
    try:
        return function(*arguments, **options)
    except opencv().error as error:
        raise MXNetError(f"OpenCV refused {function.__name__}: {str(error).strip()}") from None


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().contiguous().numpy()


def _tensor(array: np.ndarray, device: torch.device) -> Tensor:
    """OpenCV drops the axis of a single channel; it comes back here."""
    return torch.from_numpy(array[..., None] if array.ndim == 2 else np.ascontiguousarray(array)).to(
        device, non_blocking=True
    )


def resize(image: Tensor, height: int, width: int, interp: int) -> Tensor:
    """A (height, width, channel) image in another size."""
    if image.dtype not in RESIZABLE:
        given = str(image.dtype).removeprefix("torch.")
        raise MXNetError(f"opencv resize doesn't support {given}; convert the image to uint8 or float32 first")
    if image.dim() != 3:
        raise MXNetError(f"Only images of shape (height, width, channels) can be resized, got {tuple(image.shape)}")
    if image.is_meta:
        return image.new_empty(height, width, image.shape[2])
    return _tensor(_do(images.resize, _array(image), width, height, interp), image.device)


def _decoded(data: np.ndarray, flag: int, to_rgb: bool, name: str = "image") -> Tensor:
    if flag not in (0, 1):
        raise MXNetError(f"flag: Convert decoded image to grayscale (0) or color (1), got {flag}")
    image = images.decode(data.tobytes(), flag, name)
    if to_rgb and flag != 0 and image.ndim == 3:
        image = _do(opencv().cvtColor, image, opencv().COLOR_BGR2RGB)
    return _tensor(image, torch.device("cpu"))


@op("_cvimdecode", dtype="any", differentiable=False)
def cvimdecode(buf, *, flag: int = 1, to_rgb: bool = True):
    """Decode the bytes of an image file; `flag` 0 gives grey, 1 colour."""
    if buf.numel() == 0:
        raise MXNetError("Check failed: len > 0: Input cannot be an empty buffer")
    return _decoded(_array(buf).reshape(-1).astype(np.uint8, copy=False), flag, to_rgb)


@op("_cvimread", dtype="any", differentiable=False)
def cvimread(*, filename: str, flag: int = 1, to_rgb: bool = True):
    """Read and decode an image file."""
    try:
        with open(filename, "rb") as file:
            data = np.frombuffer(file.read(), np.uint8)
    except OSError as error:
        raise MXNetError(f"Imread: '{filename}' couldn't open file: {error.strerror}") from None
    if not data.size:
        raise MXNetError(f"Imread: '{filename}' is empty")
    return _decoded(data, flag, to_rgb, filename)


@op("_cvimresize", dtype="any", differentiable=False)
def cvimresize(src, *, w: int, h: int, interp: int = 1):
    """Resize an image to width `w` and height `h`."""
    if w <= 0 or h <= 0:
        raise MXNetError(f"imresize: width and height must be greater than 0, got {w} x {h}")
    return resize(src, h, w, interp)


@op("_cvcopyMakeBorder", dtype="any", differentiable=False)
def cv_copy_make_border(
    src,
    *,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int = 0,
    value: float = 0.0,
    values: Floats = (),
):
    """Put a border around an image; `type` is OpenCV's border mode, `values` a colour for mode 0."""
    if src.dim() != 3:
        raise MXNetError(f"copyMakeBorder frames (height, width, channels) images, got {tuple(src.shape)}")
    if src.is_meta:
        height, width, channels = src.shape
        return src.new_empty(height + top + bot, width + left + right, channels)
    colour = tuple(values) if values else (value,) * 4
    framed = _do(opencv().copyMakeBorder, _array(src), top, bot, left, right, type, value=colour)
    return _tensor(framed, src.device)


def _bytes(text: str) -> np.ndarray:
    """The bytes behind an attribute: attributes are text, so bytes arrive as their Python literal."""
    literal = text.startswith(("b'", 'b"'))
    return np.frombuffer(ast.literal_eval(text) if literal else text.encode("latin-1"), np.uint8)


@op("_imdecode", dtype="any", differentiable=False)
def imdecode(mean, *, index: int, x0: int, y0: int, x1: int, y1: int, c: int, size: int, str_img: str = ""):
    """MXNet's first image decoder: decode, crop to (x0, y0, x1, y1), subtract `mean`; channels come first."""
    data = _bytes(str_img)[:size]
    if not data.size:
        raise MXNetError("_imdecode needs the bytes of an image in str_img: mx.nd.imdecode passes them")
    image = _decoded(data, 0 if c == 1 else 1, True).float()
    image = image[y0 : y1 or None, x0 : x1 or None].permute(2, 0, 1)[None].contiguous()
    return image - mean.cpu() if mean.numel() > 1 else image
