"""Memory layouts of image-like data: channels behind the space axes are computed as views with channels first."""

from ..._core.errors import MXNetError

DEFAULT = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def channels_last(layout, space, operator):
    """Are the channels the last axis? `space` is the number of space axes that the kernel has."""
    if layout is None or layout == DEFAULT.get(space):
        return False
    if len(layout) != space + 2:
        raise MXNetError(f"Invalid layout {layout} for {space + 2}d shape, in operator {operator}")
    return layout[-1] == "C"


def to_first(tensor):
    """View (N, ..., C) as (N, C, ...): what torch calls the channels-last memory format."""
    return tensor.movedim(-1, 1)


def to_last(tensor):
    """View (N, C, ...) as (N, ..., C)."""
    return tensor.movedim(1, -1)


def shape_first(shape, last):
    """A shape with its channels second."""
    return (shape[0], shape[-1], *shape[1:-1]) if last else tuple(shape)


def shape_last(shape, last):
    """The same, back."""
    return (shape[0], *shape[2:], shape[1]) if last else tuple(shape)
