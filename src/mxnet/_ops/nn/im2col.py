"""Sliding windows laid out as columns, and columns summed back into an image: im2col, col2im."""

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from ..._core.errors import MXNetError
from ..._kernels.registry import enabled
from ..._kernels.runtime.concrete import is_concrete
from ..registry.gradient import with_gradient
from ..registry.registry import op
from ..registry.shape_rules import Shape, bracket
from ..registry.torch_dtypes import require_floating

TOGETHER = 1 << 18  # numbers of images that are summed up together: they stay in the cache


def _each(kernel: Shape, given: Shape, default: int) -> Shape:
    """MXNet leaves out what is the same for all axes."""
    return tuple(given) if given else (default,) * len(kernel)


def _windows(kernel: Shape, stride: Shape, dilate: Shape, pad: Shape) -> dict[str, Shape]:
    """The arguments of torch's two-axis functions; one axis is two of which one has size 1."""
    parts = {
        "kernel_size": tuple(kernel),
        "stride": _each(kernel, stride, 1),
        "dilation": _each(kernel, dilate, 1),
        "padding": _each(kernel, pad, 0),
    }
    if len(kernel) == 1:
        neutral = {"kernel_size": 1, "stride": 1, "dilation": 1, "padding": 0}
        parts = {name: (neutral[name], *value) for name, value in parts.items()}
    return parts


def _output_size(windows: dict[str, Shape], size: Shape) -> Shape:
    """How many windows there are along each axis."""
    parts = zip(size, *(windows[name] for name in ("kernel_size", "stride", "dilation", "padding")), strict=True)
    return tuple((n + 2 * pad - dilate * (kernel - 1) - 1) // stride + 1 for n, kernel, stride, dilate, pad in parts)


_ALL = (slice(None), slice(None))  # images and channels


def _steps(windows: dict[str, Shape], out_size: Shape) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """The index of each place of a window, and of what lies there in the image with its border."""
    axes = list(zip(windows["dilation"], windows["stride"], out_size, strict=True))
    for place in product(*map(range, windows["kernel_size"])):
        inside = (
            slice(i * dilate, i * dilate + (number - 1) * stride + 1, stride)
            for i, (dilate, stride, number) in zip(place, axes, strict=True)
        )
        yield (*_ALL, *place), (*_ALL, *inside)


def _by_slices(tensor: Tensor, out_size: Shape) -> bool:
    """Copy whole rows, several times as fast as torch's unfold, element by element? torch has two axes only."""
    return min(out_size) > 0 and tensor.numel() > 0 and ((enabled() and is_concrete(tensor)) or len(out_size) > 2)


def _unfolded(images: Tensor, windows: dict[str, Shape]) -> Tensor:
    out_size = _output_size(windows, tuple(images.shape[2:]))
    if not _by_slices(images, out_size):
        return F.unfold(images, **windows)
    size = tuple(images.shape[2:])

    def forward(images: Tensor) -> Tensor:
        padded = F.pad(images, [n for pad in reversed(windows["padding"]) for n in (pad, pad)])
        columns = padded.new_empty(*images.shape[:2], *windows["kernel_size"], *out_size)
        for place, inside in _steps(windows, out_size):
            columns[place] = padded[inside]
        return columns.view(len(images), -1, prod(out_size))

    return with_gradient(forward, lambda inputs, outputs, heads: _folded(heads[0], size, windows), images)


def _folded(columns: Tensor, size: Shape, windows: dict[str, Shape]) -> Tensor:
    out_size, kernel = _output_size(windows, size), windows["kernel_size"]
    fits = columns.dim() == 3 and not columns.shape[1] % prod(kernel) and columns.shape[2] == prod(out_size)
    if not fits and len(out_size) > 2:
        raise MXNetError(
            f"col2im: data of shape {bracket(columns.shape)} are no columns of {prod(kernel)} numbers for each channel "
            f"and {prod(out_size)} windows, which output_size {bracket(size)} has"
        )
    if not fits or not _by_slices(columns, out_size):
        return F.fold(columns, size, **windows)

    def forward(columns: Tensor) -> Tensor:
        pads = windows["padding"]
        windows_of = columns.reshape(len(columns), -1, *kernel, *out_size)
        padded = columns.new_zeros(*windows_of.shape[:2], *(n + 2 * pad for n, pad in zip(size, pads, strict=True)))
        number = max(1, TOGETHER // padded[0].numel())
        for images, some in zip(padded.split(number), windows_of.split(number), strict=True):
            for place, inside in _steps(windows, out_size):
                images[inside].add_(some[place])
        return padded[(*_ALL, *(slice(p, p + n) for n, p in zip(size, pads, strict=True)))].contiguous()

    return with_gradient(forward, lambda inputs, outputs, heads: _unfolded(heads[0], windows), columns)


@op("im2col")
def im2col(data, *, kernel: tuple, stride: tuple = (), dilate: tuple = (), pad: tuple = ()):
    """Each window that a convolution would see, as a column."""
    require_floating(data, "im2col")
    if len(kernel) == 1 and data.dim() == 4:  # MXNet reads the memory of each image as if its last axis were not there
        data = data.reshape(len(data), -1)[:, : data.shape[1] * data.shape[2]].reshape(data.shape[:3])
    if len(kernel) + 2 != data.dim() or len(kernel) > 2:
        raise MXNetError(f"im2col: a kernel of {len(kernel)} axes does not fit data of shape {bracket(data.shape)}")
    images = data.unsqueeze(2) if len(kernel) == 1 else data
    return _unfolded(images, _windows(kernel, stride, dilate, pad))


@op("col2im")
def col2im(data, *, output_size: tuple, kernel: tuple, stride: tuple = (), dilate: tuple = (), pad: tuple = ()):
    """Columns of windows added up where they came from."""
    require_floating(data, "col2im")
    if len(kernel) != len(output_size) or len(kernel) > 3:
        raise MXNetError(f"col2im: kernel {bracket(kernel)} does not fit output_size {bracket(output_size)}")
    size = (1, *output_size) if len(kernel) == 1 else tuple(output_size)
    images = _folded(data, size, _windows(kernel, stride, dilate, pad))
    return images.squeeze(2) if len(kernel) == 1 else images
