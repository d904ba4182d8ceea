"""Several arrays made one, and one made several: concat, stack, split, broadcast to a shape."""

import torch

from ..._core.attrs import Count
from ..._core.errors import MXNetError
from ..registry.registry import Attrs, op
from ..registry.shape_rules import Shapes, bracket, merge, real_axis


def fill_concat(attrs: Attrs, shapes: Shapes) -> Shapes:
    """All sizes but the joined one are equal."""
    known = next((s for s in shapes if s), None)
    if known is None:
        return shapes
    axis = real_axis(attrs["dim"], len(known))
    common = merge([None if not s else (*s[:axis], 0, *s[axis + 1 :]) for s in shapes])
    assert common is not None
    return [(*common[:axis], s[axis] if s else 0, *common[axis + 1 :]) for s in shapes]


def _joined_shape(attrs: Attrs, shapes: Shapes) -> Shapes:
    """As `fill_concat` leaves it, only the joined size differs; it is open (0) where one of them is."""
    given = [s for s in shapes if s]
    if len(given) < len(shapes):
        return [None]
    axis = real_axis(attrs["dim"], len(given[0]))
    sizes = [s[axis] for s in given]
    return [(*given[0][:axis], sum(sizes) if all(sizes) else 0, *given[0][axis + 1 :])]


def _joined(num_args, dim):
    return torch.cat if dim == 0 else lambda data: torch.cat(data, dim)  # to be told the axis takes time


@op("Concat", "concat", fill=fill_concat, quick=_joined, shape=_joined_shape)
def concat(*data, num_args: int = 0, dim: int = 1):
    """Join arrays along an existing axis.

    Parameters
    ----------
    data
        The arrays to join. Their shapes are equal except along `dim`.
    num_args
        Number of inputs; it is counted if it is not given.
    dim
        The axis to join along, 1 by default (the channels); negative axes count from the end.
    """
    return torch.cat(data, dim)


@op("_rnn_param_concat")
def rnn_param_concat(*data, num_args: int = 0, dim: int = 1):
    """Weights and biases of a recurrent network as one vector."""
    return torch.cat(data, dim)


def _stacked_shape(attrs: Attrs, shapes: Shapes) -> Shapes | None:
    """Of arrays of one shape."""
    one, axis = shapes[0] if shapes else None, attrs["axis"]
    if one is None or any(s != one for s in shapes) or not -len(one) - 1 <= axis <= len(one):
        return None
    axis %= len(one) + 1
    return [(*one[:axis], len(shapes), *one[axis:])]


@op("stack", shape=_stacked_shape)
def stack(*data, axis: int = 0, num_args: int = 0):
    """Arrays of one shape joined along a new axis.

    Parameters
    ----------
    data
        The arrays to join, all of the same shape.
    axis
        Where the new axis goes in the result; negative values count from the end, -1 makes it the last.
    num_args
        Number of inputs; it is counted if it is not given.
    """
    return torch.stack(data, axis)


@op("SliceChannel", "split", outputs=lambda attrs: attrs["num_outputs"])
def split(data, *, num_outputs: Count, axis: int = 1, squeeze_axis: bool = False):
    """Equal parts along an axis, without that axis if `squeeze_axis`.

    Parameters
    ----------
    data
        The array to split.
    num_outputs
        Number of parts. It must divide the length of `axis`; with 1 the result is one array, not a list.
    axis
        The axis to split, 1 by default (the channels); negative axes count from the end.
    squeeze_axis
        Whether `axis` is removed from the parts, each of which must then have length 1 there.
    """
    axis = real_axis(axis, data.dim())
    size = data.shape[axis]
    if num_outputs < 1 or size % num_outputs:
        raise MXNetError(
            f"You are trying to split the {axis}-th axis of input tensor with shape {bracket(data.shape)} into "
            f"num_outputs={num_outputs} evenly sized chunks, but this is not possible because {num_outputs} does "
            f"not evenly divide {size}"
        )
    return _parts(torch.split(data, max(size // num_outputs, 1), axis), axis, squeeze_axis)


def _parts(parts: tuple[torch.Tensor, ...], axis: int, squeeze: bool):
    if squeeze:
        if any(p.shape[axis] != 1 for p in parts):
            raise MXNetError(f"squeeze_axis=True needs parts of size 1 along axis {axis}, not {parts[0].shape[axis]}")
        parts = tuple(p.squeeze(axis) if p.dim() > 1 else p for p in parts)
    return parts if len(parts) > 1 else parts[0]  # pyright: ignore[reportGeneralTypeIssues]


def _split_count(attrs: Attrs) -> int:
    return attrs["sections"] if attrs["sections"] > 0 else len(attrs["indices"])


@op("_split_v2", "_npi_split", outputs=_split_count)
def split_v2(data, *, indices: tuple, axis: int = 1, squeeze_axis: bool = False, sections: int = 0):
    """`sections` parts along an axis, as equal as can be, or parts that begin at `indices`, the first of which is 0."""
    axis = real_axis(axis, data.dim())
    size = data.shape[axis]
    if sections > 0:
        return _parts(torch.tensor_split(data, sections, axis), axis, squeeze_axis)
    bounds = [*indices, size] if size else [0] * (len(indices) + 1)  # of nothing, each part is nothing
    if any(a > b for a, b in zip(bounds, bounds[1:], strict=False)):
        raise MXNetError(f"indices {tuple(indices)} are not ascending within axis {axis} of size {size}")
    parts = tuple(data.narrow(axis, a, b - a) for a, b in zip(bounds, bounds[1:], strict=False))
    return _parts(parts, axis, squeeze_axis)


@op("broadcast_to")
def broadcast_to(data, *, shape: tuple = ()):
    """Axes of size 1 repeated up to `shape`; a size of 0 there keeps the input's.

    Parameters
    ----------
    data
        The array to repeat.
    shape
        The new shape, with as many axes as `data` has. Axes of length 1 are repeated up to the new size; 0 keeps an
        axis as it is.
    """
    if len(shape) != data.dim():
        raise MXNetError(
            f"Operand of shape {bracket(data.shape)} cannot be broadcasted to {bracket(shape)}: "
            "the number of axes must be the same"
        )
    return _expand(data, tuple(n or own for n, own in zip(shape, data.shape, strict=True)))


def _expand(data: torch.Tensor, shape) -> torch.Tensor:
    if any(own not in (1, n) for n, own in zip(shape, data.shape, strict=True)):
        raise MXNetError(
            f"Array cannot be broadcasted from {bracket(data.shape)} to {bracket(shape)}: "
            "broadcasting axis must have size 1"
        )
    return data.expand(shape)


@op("broadcast_axis", "broadcast_axes")
def broadcast_axes(data, *, axis: tuple = (), size: tuple = ()):
    """Repeat axes of size 1 to the given sizes."""
    if len(axis) != len(size):
        raise MXNetError(f"axis and size need the same length: {tuple(axis)}, {tuple(size)}")
    shape = list(data.shape)
    for a, n in zip(axis, size, strict=True):
        a = real_axis(a, data.dim())
        if shape[a] != 1:
            raise MXNetError(f"Broadcasting axis must have size 1, axis {a} has {shape[a]}")
        shape[a] = n
    return data.expand(shape)


@op("broadcast_like", dtype="any")
def broadcast_like(lhs, rhs, *, lhs_axes: tuple | None = None, rhs_axes: tuple | None = None):
    """Axes of size 1 of `lhs` repeated to the sizes that `rhs` has."""
    if lhs_axes is None or rhs_axes is None:
        if lhs.dim() != rhs.dim():
            raise MXNetError(
                f"Operand of shape {bracket(lhs.shape)} cannot be broadcasted to {bracket(rhs.shape)}: "
                "the number of axes must be the same"
            )
        return _expand(lhs, tuple(rhs.shape))
    if len(lhs_axes) != len(rhs_axes) or not lhs_axes:
        raise MXNetError(f"lhs_axes and rhs_axes need the same length: {tuple(lhs_axes)}, {tuple(rhs_axes)}")
    shape = list(lhs.shape)
    for left, right in zip(lhs_axes, rhs_axes, strict=True):
        shape[real_axis(left, lhs.dim())] = rhs.shape[real_axis(right, rhs.dim())]
    return _expand(lhs, shape)
