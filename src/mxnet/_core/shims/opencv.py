"""The functions of OpenCV that ReMX calls, by Pillow and NumPy, where OpenCV itself is not installed.

JPEG, PNG and the other formats are decoded by Pillow; the caller has checked the bytes. Images have OpenCV's layout:
rows, columns, and channels with blue first. Values may differ from OpenCV's by rounding (docs/differences.md).
"""

import io
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from . import resampling
from .resampling import AREA, CUBIC, LANCZOS, LINEAR, NEAREST, Array

INTER_NEAREST, INTER_LINEAR, INTER_CUBIC, INTER_AREA, INTER_LANCZOS4 = NEAREST, LINEAR, CUBIC, AREA, LANCZOS
IMREAD_UNCHANGED, IMREAD_GRAYSCALE, IMREAD_COLOR = -1, 0, 1
IMWRITE_JPEG_QUALITY, IMWRITE_PNG_COMPRESSION = 1, 16
BORDER_CONSTANT = 0
COLOR_BGR2RGB, COLOR_RGB2GRAY, COLOR_GRAY2BGR, COLOR_BGR2HLS, COLOR_HLS2BGR = 4, 7, 8, 52, 60
_BORDERS = ("constant", "edge", "symmetric", "wrap", "reflect")  # by OpenCV's numbers
_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM", "JPEG2000")
_UNREADABLE = (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError)
__version__ = f"Pillow {Image.__version__}"
ipp = SimpleNamespace(useIPP=lambda: False, setUseIPP=lambda use: None)
resize = resampling.resize


class error(Exception):
    """What OpenCV raises for arguments that it refuses."""


def imdecode(data: Array, flags: int = IMREAD_COLOR) -> Array | None:
    """Decode an image; None if Pillow cannot read it."""
    try:
        picture = Image.open(io.BytesIO(data.tobytes()), formats=_FORMATS)
        kind = str(picture.format)
        if flags == IMREAD_GRAYSCALE:
            picture.draft("L", picture.size)  # a JPEG's own brightness, as OpenCV takes it
        if flags != IMREAD_UNCHANGED:
            picture = ImageOps.exif_transpose(picture)
        return _pixels(picture, flags, kind)
    except _UNREADABLE:
        return None


def _pixels(picture: Any, flags: int, kind: str) -> Array:
    if picture.mode.startswith("I"):  # 16 bits
        deep = np.asarray(picture).astype(np.uint16)
        if flags == IMREAD_UNCHANGED:
            return deep
        grey = (deep >> 8).astype(np.uint8)
        return grey if flags == IMREAD_GRAYSCALE else cvtColor(grey, COLOR_GRAY2BGR)
    if picture.mode in ("1", "L"):
        grey = np.asarray(picture.convert("L"))
        return cvtColor(grey, COLOR_GRAY2BGR) if flags == IMREAD_COLOR else grey
    clear = flags == IMREAD_UNCHANGED and picture.has_transparency_data
    pixels = np.asarray(picture.convert("RGBA").convert("RGBA" if clear else "RGB"))
    if flags == IMREAD_GRAYSCALE:
        return _weighted(pixels, _GREY[kind])
    return np.ascontiguousarray(pixels[:, :, [2, 1, 0, 3] if clear else [2, 1, 0]])


def imencode(ext: str, image: Array, params: Any = None) -> tuple[bool, Array]:
    """Encode an image as the format that a file name's end tells."""
    options = dict(zip((params or [])[::2], (params or [])[1::2], strict=True))
    kind = Image.registered_extensions().get(ext.lower())
    if kind not in _FORMATS:
        raise error(f"could not find a writer for the extension {ext}")
    settings: dict[str, int] = {}
    if kind == "JPEG":
        settings["quality"] = int(options.get(IMWRITE_JPEG_QUALITY, 95))
    if kind == "PNG" and IMWRITE_PNG_COMPRESSION in options:
        settings["compress_level"] = int(options[IMWRITE_PNG_COMPRESSION])
    order = {3: [2, 1, 0], 4: [2, 1, 0, 3]}
    image = image[:, :, 0] if image.ndim == 3 and image.shape[2] == 1 else image
    image = image[:, :, order[image.shape[2]]] if image.ndim == 3 else image
    into = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image, np.uint8)).save(into, kind, **settings)
    return True, np.frombuffer(into.getvalue(), np.uint8)


def cvtColor(image: Array, code: int) -> Array:
    """Another order or space of colours, by OpenCV's number for it."""
    return _CONVERSIONS[code](image)


def _swap(image: Array) -> Array:
    return np.ascontiguousarray(image[:, :, ::-1])


# 0.299 red + 0.587 green + 0.114 blue in integers, (weights, what is added, shift): other decoders' rule, libpng's
_GREY = defaultdict(lambda: (np.array([4899, 9617, 1868]), 1 << 13, 14), PNG=(np.array([9797, 19234, 3737]), 0, 15))


def _weighted(image: Array, rule: tuple[Array, int, int]) -> Array:
    weights, added, shift = rule
    return ((image.astype(np.int64) @ weights + added) >> shift).astype(np.uint8)


def _grey(image: Array) -> Array:
    return _weighted(image, (np.array([9798, 19235, 3735]), 1 << 14, 15))


def _repeat(image: Array) -> Array:
    return np.repeat(image.reshape(*image.shape[:2], 1), 3, axis=2)


def _to_hls(image: Array) -> Array:
    blue, green, red = np.moveaxis(image.astype(np.float64) / 255, 2, 0)
    most, least = np.maximum(np.maximum(blue, green), red), np.minimum(np.minimum(blue, green), red)
    spread, total = most - least, most + least
    some = np.where(spread == 0, 1, spread)
    hue = np.where(most == red, (green - blue) / some, np.where(most == green, 2 + (blue - red) / some,
                                                                4 + (red - green) / some))  # fmt: skip
    full = np.where(total < 1, total, 2 - total)
    saturation = np.where(spread == 0, 0, spread / np.where(full == 0, 1, full))
    return np.rint(np.stack([(hue * 30) % 180, total / 2 * 255, saturation * 255], axis=2)).astype(np.uint8)


def _from_hls(image: Array) -> Array:
    hue, lightness, saturation = np.moveaxis(image.astype(np.float64) / [30, 255, 255], 2, 0)
    high = np.where(lightness <= 0.5, lightness * (1 + saturation), lightness + saturation - lightness * saturation)
    low = 2 * lightness - high

    def channel(shift: float) -> Array:
        place = (hue + shift) % 6
        return low + (high - low) * np.clip(np.minimum(place, 4 - place), 0, 1)

    return np.rint(np.clip(np.stack([channel(-2), channel(0), channel(2)], axis=2), 0, 1) * 255).astype(np.uint8)


_CONVERSIONS = {
    COLOR_BGR2RGB: _swap, COLOR_RGB2GRAY: _grey, COLOR_GRAY2BGR: _repeat,
    COLOR_BGR2HLS: _to_hls, COLOR_HLS2BGR: _from_hls,
}  # fmt: skip


def copyMakeBorder(
    image: Array, top: int, bottom: int, left: int, right: int, borderType: int = 0, value: Any = (0,)
) -> Array:
    """A frame around the image."""
    if not 0 <= borderType < len(_BORDERS):
        raise error(f"unknown border type {borderType}")
    wide = ((top, bottom), (left, right)) + ((0, 0),) * (image.ndim - 2)
    made = np.pad(image, wide, _BORDERS[borderType])  # pyright: ignore[reportArgumentType]
    if borderType == BORDER_CONSTANT:
        height, width = image.shape[:2]
        colour = np.zeros(4)
        colour[: len(value)] = value
        made[...] = colour[: image.shape[2]] if image.ndim == 3 else colour[0]
        made[top : top + height, left : left + width] = image
    return made


def warpAffine(
    image: Array, matrix: Array, dsize: tuple[int, int], flags: int = LINEAR, borderMode: int = 0, borderValue: Any = ()
) -> Array:
    """The image under an affine transform, a matrix of two rows."""
    return resampling.warp(image, matrix, dsize, flags, (*borderValue, 0, 0, 0, 0))


def flip(image: Array, axis: int) -> Array:
    """The image mirrored: left and right for 1, top and bottom for 0."""
    return np.ascontiguousarray(image[:, ::-1] if axis > 0 else image[::-1])


def split(image: Array) -> list[Array]:
    """The channels."""
    return [image] if image.ndim == 2 else [np.ascontiguousarray(image[:, :, k]) for k in range(image.shape[2])]


def LUT(image: Array, table: Array, dst: Array) -> Array:
    """What the table has for each value, written into `dst`."""
    dst[...] = table[image]
    return dst


def convertScaleAbs(image: Array, alpha: float = 1.0) -> Array:
    """|alpha * image|, rounded, in bytes."""
    return np.clip(np.rint(np.abs(image * alpha)), 0, 255).astype(np.uint8)


def addWeighted(one: Array, alpha: float, other: Array, beta: float, gamma: float) -> Array:
    """alpha * one + beta * other + gamma, rounded, in bytes."""
    return np.clip(np.rint(one * alpha + other * beta + gamma), 0, 255).astype(np.uint8)


def mean(image: Array) -> tuple[float, ...]:
    """The mean of each channel."""
    means = np.atleast_1d(image.mean(axis=(0, 1)))
    return (*map(float, means), *(0.0,) * (4 - len(means)))
