"""Windows that move over the spatial axes: where they lie, and what is padded around the data."""

from ..... import symbol as sym
from .._node import Unknown
from .elementwise import fold
from .shapes import padded


def windows(node, sizes):
    """(strides, pads at the beginnings, pads at the ends, dilations) over the spatial axes."""
    count = len(sizes)
    strides, dilations = node.attr("strides") or [1] * count, node.attr("dilations") or [1] * count
    automatic = node.attr("auto_pad", "NOTSET")
    if automatic in ("NOTSET", ""):
        pads = node.attr("pads") or [0] * 2 * count
        return strides, pads[:count], pads[count:], dilations
    if automatic == "VALID":
        return strides, [0] * count, [0] * count, dilations
    space = node.shape()[2:]
    if any(isinstance(n, Unknown) for n in space):
        raise node.refuse(f"auto_pad {automatic} needs sizes that are known")
    whole = [
        max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        for n, s, k, d in zip(space, strides, sizes, dilations, strict=True)
    ]
    small, large = [n // 2 for n in whole], [n - n // 2 for n in whole]
    return (strides, small, large, dilations) if automatic == "SAME_UPPER" else (strides, large, small, dilations)


def around(node, x, before, after, count, value=0.0):
    """(data, pad attribute): pads that differ at the two ends are made explicitly."""
    if before == after:
        return x, before
    return padded(node, x, [0, 0, *before, 0, 0, *after], count + 2, value=value), [0] * count


def shifted(x, axis, begin, behind, step):
    """Every `step`-th element along an axis, without `begin` elements in front and `behind` ones at the back."""
    front = (None,) * axis
    return sym.slice(x, begin=(*front, begin), end=(*front, -behind or None), step=(*front, step))


def swept(x, operator, kernel, strides, dilations):
    """An operator of two over all elements of each window, axis by axis; the windows may have holes."""
    for axis, (size, step, hole) in enumerate(zip(kernel, strides, dilations, strict=True), 2):
        x = fold(operator, [shifted(x, axis, i * hole, (size - 1 - i) * hole, step) for i in range(size)])
    return x


def swept_places(x, places, kernel, strides, dilations):
    """The largest element of each window, and what stands at its place in `places`; of equals, the first."""
    for axis, (size, step, hole) in enumerate(zip(kernel, strides, dilations, strict=True), 2):
        top = place = None
        for i in range(size):
            value, here = (shifted(t, axis, i * hole, (size - 1 - i) * hole, step) for t in (x, places))
            place = here if top is None else sym.where(sym.broadcast_greater(value, top), here, place)
            top = value if top is None else sym.broadcast_maximum(top, value)
        x, places = top, place
    return x, places
