"""Sliding windows laid out as columns, and columns summed back into an image: im2col, col2im."""

import torch.nn.functional as F

from .._core.errors import MXNetError
from .registry import op
from .shapes import Shape, bracket


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


@op("im2col")
def im2col(data, *, kernel: tuple, stride: tuple = (), dilate: tuple = (), pad: tuple = ()):
    """Each window that a convolution would see, as a column."""
    if len(kernel) + 2 != data.dim() or len(kernel) > 2:
        raise MXNetError(f"im2col: a kernel of {len(kernel)} axes does not fit data of shape {bracket(data.shape)}")
    images = data.unsqueeze(2) if len(kernel) == 1 else data
    return F.unfold(images, **_windows(kernel, stride, dilate, pad))


@op("col2im")
def col2im(data, *, output_size: tuple, kernel: tuple, stride: tuple = (), dilate: tuple = (), pad: tuple = ()):
    """Columns of windows added up where they came from."""
    if len(kernel) != len(output_size) or len(kernel) > 2:
        raise MXNetError(f"col2im: kernel {bracket(kernel)} does not fit output_size {bracket(output_size)}")
    size = (1, *output_size) if len(kernel) == 1 else tuple(output_size)
    images = F.fold(data, size, **_windows(kernel, stride, dilate, pad))
    return images.squeeze(2) if len(kernel) == 1 else images
