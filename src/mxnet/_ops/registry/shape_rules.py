"""Helpers for shape rules: normalized axes, MXNet's notation of shapes, merging of partial shapes."""

from collections.abc import Sequence

from ..._core.errors import MXNetError
from .registry import Attrs

Shape = tuple[int, ...]
Shapes = list[Shape | None]


def real_axis(axis: int, ndim: int, what: str = "axis") -> int:
    """`axis` counted from the front; raises MXNet's error if it is out of range."""
    if -ndim <= axis < ndim:
        return axis + ndim if axis < 0 else axis
    has = f"an input of {ndim} axes has {-ndim} to {ndim - 1}"
    raise MXNetError(f"{what} {axis} exceeds the input dimension of {ndim}: {has}")


def bracket(shape: Sequence[int]) -> str:
    """A shape as MXNet's messages write it."""
    return "[" + ",".join(map(str, shape)) + "]"


def open_bracket(shape: Sequence[int]) -> str:
    """A shape with unknown sizes in MXNet's notation: they are 0 internally and -1 in messages."""
    return bracket([size or -1 for size in shape])


def merge(shapes: Sequence[Shape | None]) -> Shape | None:
    """Merge several partial views of one shape; a size of 0 is unknown."""
    result: Shape | None = None
    for shape in shapes:
        if not shape or result is None:
            result = shape or result
        elif len(result) != len(shape) or any(a and b and a != b for a, b in zip(result, shape, strict=True)):
            raise MXNetError(
                f"Incompatible attr in node  at 1-th input: expected {bracket(result)}, got {bracket(shape)}"
            )
        else:
            result = tuple(a or b for a, b in zip(result, shape, strict=True))
    return result


def fill_same(attrs: Attrs, shapes: Shapes) -> Shapes:
    """All inputs have one shape."""
    return [merge(shapes)] * len(shapes)
