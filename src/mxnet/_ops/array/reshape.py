"""Operators that rearrange axes: reshape, transpose, flip, tile, pad, and moves between depth and space."""

import math
from operator import mul
from typing import Literal

import torch
import torch.nn.functional as F

from ..._core.errors import MXNetError
from ..._kernels.elementwise.transpose import contiguous_copy, transposed_copy
from ...util import is_np_shape
from ..registry.output_shapes import PRIMES, stable, with_primes
from ..registry.registry import Attrs, op
from ..registry.shape_rules import Shape, Shapes, bracket, real_axis

COPY, INFER, COPY_REST, MERGE, SPLIT = 0, -1, -2, -3, -4


def coded_shape(codes: Shape, source: Shape, reverse: bool = False) -> Shape:
    """The shape that MXNet's reshape codes describe.

    0 keeps a size, -1 infers one, -2 keeps all that remain, -3 joins two, -4 splits one into the two sizes after it.
    `reverse` reads both from the right.
    """
    if reverse:
        return coded_shape(codes[::-1], source[::-1])[::-1]
    target: list[int] = []
    inferred, at, code = -1, 0, iter(codes)
    try:
        for size in code:
            if size == COPY_REST:
                target += source[at:]
                at = max(at, len(source))
            elif size == MERGE:
                target.append(source[at] * source[at + 1])
                at += 2
            elif size == SPLIT:
                target += _split(source[at], next(code), next(code))
                at += 1
            else:
                if size == INFER:
                    if inferred >= 0:
                        raise MXNetError("One and only one dim can be inferred")
                    inferred = len(target)
                target.append(source[at] if size == COPY else abs(size))
                at += 1
    except (IndexError, StopIteration):
        raise MXNetError(f"reshape codes {bracket(codes)} do not fit an array of shape {bracket(source)}") from None
    if inferred >= 0:
        rest = math.prod(target)
        target[inferred] = math.prod(source) // rest if rest else 0
    return tuple(target)


def _split(size: int, left: int, right: int) -> tuple[int, int]:
    if left == right == INFER:
        raise MXNetError("Split dims cannot both be -1.")
    if left == INFER:
        left = size // right
    if right == INFER:
        right = size // left
    if size and left * right != size:
        raise MXNetError(f"Split dims {left}, {right} do not divide original dim {size}")
    return left, right


def _target_shape(target: Shape, source: Shape, keep_highest: bool) -> Shape:
    """The attribute that came before `shape`: a single 0 is inferred."""
    sizes = [source[0], *target[1:]] if keep_highest else list(target)
    if sizes.count(0) == 1:
        sizes[sizes.index(0)] = math.prod(source) // math.prod(n for n in sizes if n)
    return tuple(sizes)


def _plainly(shape, reverse, target_shape, keep_highest):
    """A shape of positive sizes needs no reading."""
    return (lambda data: torch.reshape(data, shape).clone()) if shape and min(shape) > 0 else None


def _wanted(source: Shape, shape: Shape, reverse: bool, target_shape: Shape, keep_highest: bool) -> Shape:
    if shape:
        return shape if min(shape) > 0 else coded_shape(shape, source, reverse)
    if target_shape:
        return _target_shape(target_shape, source, keep_highest)
    raise MXNetError("Reshape needs a shape")


def _same_size(target: Shape, source: Shape) -> Shape:
    if math.prod(target) != math.prod(source):
        raise MXNetError(
            f"Target shape size is different to source. Target: {bracket(target)}\nSource: {bracket(source)}"
        )
    return target


def _reshaped(attrs: Attrs, shapes: Shapes) -> Shapes:
    """Nothing is known that unknown sizes (0) would have to fit; what follows from them is unknown."""
    source = shapes[0]
    if source is None:
        return [None]
    codes = [attrs[name] for name in ("shape", "reverse", "target_shape", "keep_highest")]
    guesses = [with_primes([source], primes)[0] for primes in PRIMES]
    try:
        return [stable(*(_same_size(_wanted(guess, *codes), guess) for guess in guesses))]
    except MXNetError:
        if all(source):
            raise
        return [_wanted(source, *codes)]


@op("Reshape", "reshape", quick=_plainly, shape=_reshaped)
def reshape(data, *, shape: tuple = (), reverse: bool = False, target_shape: tuple = (), keep_highest: bool = False):
    """The elements of `data` in another shape; the numbers 0 to -4 in `shape` have special meanings.

    0 keeps the size at that place, -1 is what remains for it, -2 keeps all sizes from there on, -3 joins the next two
    into one, -4 splits the next one into the two sizes behind it. `reverse` reads from the last axis to the first.

    Parameters
    ----------
    data
        The array to reshape, of any shape.
    shape
        The new shape. A positive number is a size; 0 copies the size at that place, -1 is what remains (once only), -2
        copies all further sizes, -3 joins two sizes, -4 splits one into the two numbers that follow.
    reverse
        Whether the codes are matched with the axes of `data` from the right to the left.
    target_shape
        Deprecated: use `shape`.
    keep_highest
        Deprecated: whether the first axis stays.
    """
    if shape and min(shape) > 0:
        return data.reshape(shape)
    source = tuple(data.shape)
    return data.reshape(_same_size(_wanted(source, shape, reverse, target_shape, keep_highest), source))


def _rows(data: torch.Tensor) -> torch.Tensor | None:
    return data.flatten(1).clone() if data.dim() > 1 and data.is_contiguous() else None


@op("Flatten", "flatten", plain=_rows)
def flatten(data):
    """Join all axes but the first: (d1, d2, …, dk) becomes (d1, d2 * … * dk).

    Parameters
    ----------
    data
        The input, with at least one axis; the first is kept.
    """
    return data.flatten(1) if data.dim() > 1 else data.reshape(-1, 1)


def _transposed(data: torch.Tensor) -> torch.Tensor | None:
    return transposed_copy(data) if data.dim() == 2 else None


def _permuted(axes):
    """torch takes negative axes, too, and refuses what is no permutation."""
    return (lambda data: contiguous_copy(data.permute(axes))) if axes else None


@op("transpose", plain=_transposed, quick=_permuted)
def transpose(data, *, axes: tuple = ()):
    """Permute the axes; without `axes` their order is reversed.

    Parameters
    ----------
    data
        The input, of any shape.
    axes
        The axis of `data` that comes to each place of the result, such as (0, 2, 3, 1) from NCHW to NHWC; empty
        reverses the order.
    """
    if not axes:
        return data.permute(tuple(range(data.dim() - 1, -1, -1)))
    if len(axes) != data.dim() or sorted(a % data.dim() for a in axes) != list(range(data.dim())):
        raise MXNetError(f"axes {bracket(axes)} do not permute the axes of an array of shape {bracket(data.shape)}")
    return data.permute(axes)


def _widened(axis):
    return lambda data: data.unsqueeze(axis).clone(memory_format=torch.contiguous_format)


@op("expand_dims", "_npi_expand_dims", quick=_widened)
def expand_dims(data, *, axis: int):
    """A new axis of size 1 before `axis`.

    Parameters
    ----------
    data
        The input, of any shape.
    axis
        The place of the new axis in the result; negative values count from the end, -1 makes it the last.
    """
    ndim = data.dim()
    if not -ndim - 1 <= axis <= ndim:
        raise MXNetError(f"axis must be in the range [{-ndim}, {ndim}] ({axis} provided)")
    return data.unsqueeze(axis)


@op("squeeze")
def squeeze(data, *, axis: tuple | None = None):
    """Remove axes of size 1: all of them, or those in `axis`.

    Parameters
    ----------
    data
        The input, of any shape.
    axis
        The axis or axes to remove, each of length 1; None removes all axes of length 1. If none would be left, the
        result has shape (1,).
    """
    axes = range(data.dim()) if axis is None else {real_axis(a, data.dim()) for a in axis}
    shape = tuple(data.shape)
    if axis is not None:
        for a in axes:
            if shape[a] != 1:
                raise MXNetError(f"cannot select an axis to squeeze out which has size={shape[a]} not equal to one")
    return data.reshape([n for i, n in enumerate(shape) if n != 1 or i not in axes] or [1])


@op("SwapAxis", "swapaxes", "_npi_swapaxes")
def swap_axis(data, *, dim1: int = 0, dim2: int = 0):
    """Exchange two axes.

    Parameters
    ----------
    data
        The input, of any shape.
    dim1
        The first of the two axes to exchange.
    dim2
        The second of the two axes to exchange.
    """
    return data.transpose(real_axis(dim1, data.dim()), real_axis(dim2, data.dim()))


@op("reverse", "flip", shape="same")
def reverse(data, *, axis: tuple):
    """The elements of some axes in reversed order."""
    return torch.flip(data, [real_axis(a, data.dim()) for a in axis])


@op("repeat", "_np_repeat")
def repeat(data, *, repeats: int, axis: int | None = None):
    """Each element several times, one after the other.

    Parameters
    ----------
    data
        The input, of any shape.
    repeats
        How often each element is repeated, directly after itself; `tile` repeats the whole array instead.
    axis
        The axis along which elements are repeated; None repeats the elements of the flattened array.
    """
    if axis is None or repeats == 0:  # nothing has one axis, whatever there was
        return torch.repeat_interleave(data.reshape(-1), repeats)
    return torch.repeat_interleave(data, repeats, real_axis(axis, data.dim()))


def _tiled_shape(attrs: Attrs, shapes: Shapes) -> Shapes | None:
    data, reps = shapes[0], attrs["reps"]
    if data is None or any(n < 1 for n in reps):
        return None
    missing = len(data) - len(reps)
    return [tuple(map(mul, (1,) * -missing + data, (1,) * missing + tuple(reps)))]


@op("tile", "_npi_tile", shape=_tiled_shape)
def tile(data, *, reps: tuple):
    """The whole array several times along each axis.

    Parameters
    ----------
    data
        The input, of any shape.
    reps
        How often the whole array is repeated along each axis. If there are fewer numbers than axes, they belong to the
        last axes; if there are more, `data` gets new axes in front.
    """
    if any(n < (not is_np_shape()) for n in reps):
        raise MXNetError(f"invalid reps {tuple(reps)}: each must be at least 1")
    return torch.tile(data, reps) if reps else data.clone()


def _block(data: torch.Tensor, size: int, name: str) -> None:
    if data.dim() != 4:
        raise MXNetError(f"{name} needs an array of 4 axes, not of shape {bracket(data.shape)}")
    if size <= 0:
        raise MXNetError(f"block_size must be positive, not {size}")
    if not data.numel():
        raise MXNetError(f"{name} needs sizes that are not zero, got {bracket(data.shape)}")


@op("depth_to_space")
def depth_to_space(data, *, block_size: int):
    """Channels spread over blocks of pixels."""
    _block(data, block_size, "depth_to_space")
    n, c, h, w = data.shape
    b = block_size
    if c % (b * b):
        raise MXNetError(f"block_size {b} squared does not divide {c} channels")
    split = data.reshape(n, b, b, c // (b * b), h, w)
    return split.permute(0, 3, 4, 1, 5, 2).reshape(n, c // (b * b), h * b, w * b)


@op("space_to_depth")
def space_to_depth(data, *, block_size: int):
    """Blocks of pixels gathered into channels."""
    _block(data, block_size, "space_to_depth")
    n, c, h, w = data.shape
    b = block_size
    if h % b or w % b:
        raise MXNetError(f"block_size {b} does not divide the image size {h} x {w}")
    split = data.reshape(n, c, h // b, b, w // b, b)
    return split.permute(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)


@op("diag")
def diag(data, *, k: int = 0, axis1: int = 0, axis2: int = 1):
    """The `k`-th diagonal of a pair of axes, or the matrix that has `data` as its diagonal."""
    if data.dim() == 1:
        return torch.diag_embed(data, k)
    axis1, axis2 = real_axis(axis1, data.dim()), real_axis(axis2, data.dim())
    if data.shape[axis1] + min(k, 0) < 0 or data.shape[axis2] - max(k, 0) < 0:
        raise MXNetError("Diagonal does not exist.")
    return torch.diagonal(data, k, axis1, axis2)


PAD_MODES = {"constant": "constant", "edge": "replicate", "reflect": "reflect"}


def _padded_shape(attrs: Attrs, shapes: Shapes) -> Shapes | None:
    """Of an array of which the operator takes the axes, and borders that make it larger."""
    data, width = shapes[0], attrs["pad_width"]
    if data is None or not 4 <= len(data) <= 5 or len(width) != 2 * len(data) or any(width[:4]) or min(width) < 0:
        return None
    return [tuple(n and n + before + after for n, before, after in zip(data, width[::2], width[1::2], strict=True))]


@op("Pad", "pad", shape=_padded_shape)
def pad(data, *, mode: Literal["constant", "edge", "reflect"], pad_width: tuple, constant_value: float = 0.0):
    """A border around the last axes of an array of 4 or 5 axes.

    Parameters
    ----------
    data
        The input, (batch, channels, height, width) or (batch, channels, depth, height, width).
    mode
        constant: fill with `constant_value`; edge: repeat the outermost element; reflect: mirror at the outermost
        element, which is not repeated.
    pad_width
        Numbers of elements (before, after) for every axis, one pair after the other in one tuple. The pairs of the
        first two axes, batch and channels, must be 0.
    constant_value
        The value of the border with mode constant.
    """
    ndim = data.dim()
    if ndim not in (4, 5):
        raise MXNetError("Current implementation only supports 4-D or 5-D input.")
    if len(pad_width) != 2 * ndim:
        raise MXNetError(f"pad_width needs {2 * ndim} numbers, not {len(pad_width)}")
    if any(pad_width[:4]):
        raise MXNetError("Current implementation expects padding on the first two axes to be zero.")
    width = [n for axis in range(ndim - 1, 1, -1) for n in pad_width[2 * axis : 2 * axis + 2]]
    if mode == "constant":
        return F.pad(data, width, value=constant_value)
    if mode == "reflect" and any(n >= data.shape[ndim - 1 - i // 2] for i, n in enumerate(width)):
        return _reflect(data, pad_width)
    return F.pad(data, width, PAD_MODES[mode])


def _reflect(data: torch.Tensor, pad_width: Shape) -> torch.Tensor:
    """Borders wider than the image go back and forth through it, which torch's own padding does not do."""
    for axis in range(2, data.dim()):
        size, (before, after) = data.shape[axis], pad_width[2 * axis : 2 * axis + 2]
        period = max(2 * (size - 1), 1)
        place = torch.arange(-before, size + after, device=data.device).remainder(period)
        data = data.index_select(axis, torch.minimum(place, period - place) if size > 1 else place * 0)
    return data
