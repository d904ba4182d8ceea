"""Parts of an array taken, and parts of it replaced: slice, crop, their assignments, clip."""

import torch
import torch.nn.functional as F

from ..._core.errors import MXNetError
from ..._core.rounding import single
from ..._device.copies import number
from ..elementwise.identity import to_dtype
from ..elementwise.masks import marks
from ..registry.gradient import with_gradient
from ..registry.registry import Attrs, op
from ..registry.shape_rules import Shape, Shapes, bracket, real_axis
from ..registry.torch_dtypes import number_for

Bound = int | None


def slices(shape: Shape, begin: tuple[Bound, ...], end: tuple[Bound, ...], step: tuple[Bound, ...]):
    """Python slices with positive steps, and the axes that are to be flipped afterwards."""
    if len(begin) > len(shape):
        raise MXNetError(f"Slicing axis exceeds data dimensions: begin={begin}, shape {bracket(shape)}")
    if len(begin) != len(end):
        raise MXNetError(f"begin and end must have the same length: {begin}, {end}")
    if step and len(step) != len(begin):
        raise MXNetError(f"step and begin must have the same length: {step}, {begin}")
    parts: list[slice] = []
    flipped: list[int] = []
    for i, (b, e, s) in enumerate(zip(begin, end, step or (None,) * len(begin), strict=True)):
        if s is None or s > 0:
            parts.append(slice(b, e, s))
            continue
        if s == 0:
            raise MXNetError(f"slice op step[{i}] cannot be 0")
        picked = range(shape[i])[b:e:s]
        parts.append(slice(picked[-1], picked[0] + 1, -s) if picked else slice(0, 0))
        flipped.append(i)
    return tuple(parts), flipped


def window(data: torch.Tensor, parts: tuple[slice, ...]) -> torch.Tensor:
    """`data[parts]` without steps. Its gradient is padded once; torch's own is padded once for each axis."""
    if not (data.requires_grad and torch.is_grad_enabled()):
        return data[parts]
    spans = [range(n)[part] for n, part in zip(data.shape, parts, strict=False)]
    if sum(len(span) < n for n, span in zip(data.shape, spans, strict=False)) < 2:
        return data[parts]
    margins = [(span.start, n - span.stop) for n, span in zip(data.shape, spans, strict=False)]
    margins += [(0, 0)] * (data.dim() - len(margins))
    return F.pad(data, [-side for margin in reversed(margins) for side in margin])


def cut(data: torch.Tensor, begin, end, step) -> torch.Tensor:
    """A slice, also one that steps backwards."""
    if not step and len(begin) == len(end) <= data.dim():
        parts = tuple(map(slice, begin, end))
        return window(data, parts)
    parts, flipped = slices(tuple(data.shape), begin, end, step)
    piece = data[parts]
    return torch.flip(piece, flipped) if flipped else piece


def slice_shape(attrs: Attrs, shapes: Shapes) -> Shapes:
    """What is left of each axis; of one of unknown size nothing is known, whatever the bounds say."""
    if not shapes[0]:
        return [None]
    sizes = [n or 1 for n in shapes[0]]
    parts, _ = slices(tuple(sizes), attrs["begin"], attrs["end"], attrs["step"])
    left = [len(range(size)[part]) for size, part in zip(sizes, parts, strict=False)] + sizes[len(parts) :]
    return [tuple(n if known else 0 for n, known in zip(left, shapes[0], strict=True))]


@op("slice", "crop", shape=slice_shape)
def slice_(data, *, begin: tuple, end: tuple, step: tuple | None = ()):
    """The elements from `begin` to `end` of each axis; None means as far as it goes.

    Parameters
    ----------
    data
        The array to cut.
    begin
        The first index of each axis; None means its start, and with a negative step its end. Negative indices count
        from the end, and axes without a number are taken whole.
    end
        The index after the last one of each axis; None means as far as the axis goes.
    step
        The step of each axis; None means 1, and negative steps go backwards.
    """
    return cut(data, begin, end, step)


def slice_axis_shape(attrs: Attrs, shapes: Shapes) -> Shapes:
    """The length of the cut, unless the axis is of unknown size."""
    if not shapes[0]:
        return [None]
    axis = real_axis(attrs["axis"], len(shapes[0]))
    size = shapes[0][axis]
    if size:
        first, last = axis_bounds(size, attrs["begin"], attrs["end"])
        size = last - first
    return [(*shapes[0][:axis], size, *shapes[0][axis + 1 :])]


def axis_bounds(size: int, begin: int, end: int | None) -> tuple[int, int]:
    """Both counted from the front, within an axis of `size`."""
    first = begin + size if begin < 0 else begin
    last = size if end is None else end + size if end < 0 else end
    if last > size:
        raise MXNetError(f"Invalid end for end={end} as axis_size is {size}")
    if not 0 <= first < last and size:
        raise MXNetError(f"Invalid begin, end, get begin={begin}, end={end}")
    return first, last


@op("slice_axis", shape=slice_axis_shape)
def slice_axis(data, *, axis: int, begin: int, end: int | None):
    """The elements from `begin` to `end` of one axis.

    Parameters
    ----------
    data
        The array to cut.
    axis
        The axis to cut; negative axes count from the end.
    begin
        The first index; negative ones count from the end.
    end
        The index after the last one; negative ones count from the end, None means the end of the axis.
    """
    axis = real_axis(axis, data.dim())
    first, last = axis_bounds(data.shape[axis], begin, end)
    return data.narrow(axis, first, last - first)


@op("slice_like", dtype="any")
def slice_like(data, shape_like, *, axes: tuple | None = ()):
    """`data` cut to the sizes of `shape_like`, along all axes or those named."""
    for axis in axes or range(data.dim()):
        size = shape_like.shape[real_axis(axis, shape_like.dim())]
        axis = real_axis(axis, data.dim())
        if size > data.shape[axis]:
            raise MXNetError(f"Slice axis {axis} of size {data.shape[axis]} is smaller than {size} in shape_like")
        data = data.narrow(axis, 0, size)
    return data


@op("_slice_assign", "_crop_assign")
def slice_assign(lhs, rhs, *, begin: tuple, end: tuple, step: tuple = ()):
    """`lhs` with a slice of it replaced by `rhs`."""
    parts, flipped = slices(tuple(lhs.shape), begin, end, step)
    result = lhs.clone()
    part = result[parts]
    if part.shape != rhs.shape:
        raise MXNetError(f"a slice of shape {bracket(part.shape)} cannot hold {bracket(rhs.shape)}")
    part.copy_(torch.flip(rhs, flipped) if flipped else rhs)
    return result


@op("_slice_assign_scalar", "_crop_assign_scalar", shape="same")
def slice_assign_scalar(data, *, scalar: float = 0.0, begin: tuple, end: tuple, step: tuple = ()):
    """`data` with a slice of it filled with one number."""
    result = data.clone()
    result[slices(tuple(data.shape), begin, end, step)[0]] = number_for(scalar, data.dtype)
    return result


@op("Crop")
def crop(*data, num_args: int = 0, offset: tuple = (0, 0), h_w: tuple = (0, 0), center_crop: bool = False):
    """A window of images: as large as `h_w` or as the images of a second input, at `offset` or in the middle."""
    if data[0].dim() != 4:
        raise MXNetError("Input data should be 4D in batch-num_filter-y-x")
    sizes = tuple(data[0].shape[2:])
    size = tuple(data[1].shape[2:]) if len(data) > 1 else tuple(h_w)
    if center_crop:
        offset = tuple((s - w) // 2 for s, w in zip(sizes, size, strict=True))
    if any(w < 1 or o < 0 or o + w > s for s, w, o in zip(sizes, size, offset, strict=True)):
        raise MXNetError(f"a window of {size} at offset {tuple(offset)} is not within an image of {sizes}")
    rows, columns = (slice(first, first + length) for first, length in zip(offset, size, strict=True))
    return window(data[0], (slice(None), slice(None), rows, columns))  # pyright: ignore[reportGeneralTypeIssues]


def _out_of_range(dtype: torch.dtype, a_min: float, a_max: float) -> bool:
    """Do both bounds lie beyond the same end of an integer type?"""
    if dtype.is_floating_point or dtype is torch.bool:
        return False
    limits = torch.iinfo(dtype)
    return a_max < limits.min or a_min > limits.max


def between(data: torch.Tensor, a_min: float, a_max: float) -> torch.Tensor:
    """Values cut to bounds, by MXNet's comparisons."""
    if a_min > a_max or _out_of_range(data.dtype, a_min, a_max):  # the upper bound is asked first; bounds wrap around
        low, high = (to_dtype(number(bound, torch.float32, data.device), data.dtype) for bound in (a_min, a_max))
        return torch.where(data > a_max, high, torch.where(data < a_min, low, data))
    if data.is_floating_point():
        if data.dtype is torch.float16:  # bounds beyond its range are infinite
            a_min, a_max = torch.tensor([a_min, a_max]).half().tolist()
        return torch.clamp(data, single(a_min), single(a_max))  # 3.4028235e38 becomes float32's largest number
    limits = torch.iinfo(data.dtype)
    return torch.clamp(data, int(max(a_min, limits.min)), int(min(a_max, limits.max)))


def clipped(data: torch.Tensor, a_min: float, a_max: float) -> torch.Tensor:
    """`between` with MXNet's gradient: NaN is neither below nor above, and a value at a bound passes it on, which not
    every version of torch does. It takes a tenth of the time of torch's."""

    def slope(inputs, outputs, heads):
        beyond = (inputs[0] - outputs[0]).abs_()
        return torch.ops.aten.threshold_backward(heads[0], marks(torch.gt, beyond, 0).neg_(), -0.5)

    return with_gradient(lambda x: between(x, a_min, a_max), slope, data)


@op("clip", "_npi_clip", shape="same")
def clip(data, *, a_min: float, a_max: float):
    """Elements below `a_min` become `a_min`, those above `a_max` become `a_max`.

    Parameters
    ----------
    data
        The input, of any shape.
    a_min
        The least value of the result; smaller elements become it and get a gradient of zero.
    a_max
        The greatest value of the result; greater elements become it and get a gradient of zero.
    """
    return clipped(data, a_min, a_max)
