"""NCHW and NHWC layouts: channels-last data is computed as a channels-first view of the same memory."""

from ..._core.errors import MXNetError

DEFAULT = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def channels_last(layout, space, operator):
    """Are the channels the last axis? `space` is the number of spatial axes (the length of the kernel)."""
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
    """A shape of data in NCHW order; `last` says that it is in NHWC order now."""
    return (shape[0], shape[-1], *shape[1:-1]) if last else tuple(shape)


def shape_last(shape, last):
    """A shape of data in NCHW order as NHWC, if `last`."""
    return (shape[0], *shape[2:], shape[1]) if last else tuple(shape)
