"""Images in other sizes and positions by NumPy, with OpenCV's positions of pixels and its weights, rounded once."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
NEAREST, LINEAR, CUBIC, AREA, LANCZOS = range(5)


def _linear(t: Array) -> list[Array]:
    return [1 - t, t]


def _cubic(t: Array) -> list[Array]:
    a = -0.75
    far, near = ([((a * d - 5 * a) * d + 8 * a) * d - 4 * a for d in (t + 1, 2 - t)],
                 [((a + 2) * d - (a + 3)) * d * d + 1 for d in (t, 1 - t)])  # fmt: skip
    return [far[0], near[0], near[1], far[1]]


def _lanczos(t: Array) -> list[Array]:
    weights = [np.sinc(t - k) * np.sinc((t - k) / 4) for k in range(-3, 5)]
    total = sum(weights)
    return [weight / total for weight in weights]


_WINDOWS: dict[int, tuple[int, Callable[[Array], list[Array]]]] = {
    LINEAR: (0, _linear), CUBIC: (-1, _cubic), LANCZOS: (-3, _lanczos)
}  # fmt: skip


def _overlaps(old: int, new: int) -> Array:
    """The part of each old pixel that lies in each new one."""
    edges = np.arange(new + 1) * (old / new)
    pixels = np.arange(old)
    cover = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    cover = np.clip(cover, 0, None)
    return cover / cover.sum(axis=1, keepdims=True)


@lru_cache(64)
def _weights(old: int, new: int, method: int, shrinks: bool) -> Array:
    """The matrix that makes `new` pixels of `old` ones; pixels beyond the edge repeat it."""
    scale, number = old / new, np.arange(new)
    if method == AREA and shrinks:
        return _overlaps(old, new).astype(np.float32)
    matrix = np.zeros((new, old), np.float32)
    if method == NEAREST:
        matrix[number, np.minimum((number * scale).astype(int), old - 1)] = 1
        return matrix
    if method == AREA:
        begin = np.floor(number * scale)
        part = number + 1 - (begin + 1) / scale
        part = np.where(part <= 0, 0, part - np.floor(part))
    else:
        position = (number + 0.5) * scale - 0.5
        begin = np.floor(position)
        part = position - begin
    first, window = _WINDOWS.get(method, _WINDOWS[LINEAR])
    for offset, weight in enumerate(window(part), first):
        np.add.at(matrix, (number, np.clip(begin.astype(int) + offset, 0, old - 1)), weight)
    return matrix


def _as(values: Array, dtype: Any) -> Array:
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        values = np.clip(np.rint(values), limits.min, limits.max)
    return values.astype(dtype)


def resize(image: Array, size: tuple[int, int], interpolation: int = LINEAR) -> Array:
    """The image in `size`, (width, height)."""
    width, height = size
    shrinks = width <= image.shape[1] and height <= image.shape[0]
    rows = _weights(image.shape[0], height, interpolation, shrinks)
    columns = _weights(image.shape[1], width, interpolation, shrinks)
    planes = image.reshape(*image.shape[:2], -1).transpose(2, 0, 1).astype(np.float32)
    made = (rows @ planes @ columns.T).transpose(1, 2, 0)
    return _as(made, image.dtype).reshape(height, width, *image.shape[2:])


def warp(image: Array, matrix: Array, size: tuple[int, int], method: int, border: tuple[float, ...]) -> Array:
    """Every pixel of `size` from where the inverse of `matrix` leads; `border` is the colour outside of the image."""
    width, height = size
    inverse = np.linalg.inv(np.vstack([np.asarray(matrix, np.float64), [0, 0, 1]]))[:2]
    places = np.stack([*np.meshgrid(np.arange(width), np.arange(height)), np.ones((height, width))])
    x, y = np.rint(np.tensordot(inverse, places, 1) * 32) / 32  # OpenCV's steps
    if method == NEAREST:
        return _as(_at(image, np.rint(y), np.rint(x), border), image.dtype)
    first, window = _WINDOWS.get(method, _WINDOWS[LINEAR])
    made = np.zeros((height, width, *image.shape[2:]))
    extra = (1,) * (image.ndim - 2)
    for i, down in enumerate(window(y - np.floor(y)), first):
        for j, right in enumerate(window(x - np.floor(x)), first):
            pixels = _at(image, np.floor(y) + i, np.floor(x) + j, border)
            made += (down * right).reshape(height, width, *extra) * pixels
    return _as(made, image.dtype)


def _at(image: Array, y: Array, x: Array, border: tuple[float, ...]) -> Array:
    height, width = image.shape[:2]
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    found = image[np.clip(y, 0, height - 1).astype(int), np.clip(x, 0, width - 1).astype(int)].astype(np.float64)
    found[~inside] = border[: image.shape[2]] if image.ndim == 3 else border[0]
    return found
