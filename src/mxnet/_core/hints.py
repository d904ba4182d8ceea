"""What to do when shapes do not fit: advice added to an operator's message after it has failed."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

Shapes = Sequence[tuple[int, ...] | None]


def _dense(shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    data, weight = shapes[0], shapes[1]
    if not data or not weight or len(weight) != 2:
        return ""
    width = prod(data[1:]) if attrs.get("flatten", True) else data[-1]
    if width == weight[1]:
        return ""
    return (
        f"Shape inconsistent, Provided = [{weight[0]},{weight[1]}], inferred shape=({weight[0]},{width}): the weight "
        f"was made for rows of {weight[1]} numbers, and the data has rows of {width}. A layer keeps the size of the "
        "first batch it saw: give it data of that size, or make a new layer"
    )


def _convolution(shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    data, weight = shapes[0], shapes[1]
    layout = attrs.get("layout") or ""
    if not data or not weight or len(data) != len(weight) or layout.endswith("C"):
        return ""
    groups = int(attrs.get("num_group", 1))
    if data[1] != weight[1] * groups:
        return (
            f"the weight was made for {weight[1] * groups} channels, and the data has {data[1]}; "
            f"the layout is {layout or 'NC…'}: (batch, channels, …), so pictures of (height, width, channels) "
            "need a transpose"
        )
    return f"the picture of {data[2:]} is smaller than the kernel of {weight[2:]}; add padding, or pool less before it"


def _dot(shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    left, right = ("[" + ",".join(map(str, shape or ())) + "]" for shape in shapes[:2])
    return (
        f"dot shape error: {left} X {right}: the last axis of the first and the first axis of the second must agree; "
        "transpose_a and transpose_b turn an operand around"
    )


def _concat(shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    return f"arrays that are joined along axis {attrs.get('dim', 1)} must agree on every other axis"


_ADVICE: dict[str, Callable[[Shapes, Mapping[str, Any]], str]] = {
    "FullyConnected": _dense,
    "Convolution": _convolution,
    "dot": _dot,
    "Concat": _concat,
}


def advice(operator: str, shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    """A sentence to put after the message, with its separator; empty if there is nothing to say."""
    if operator not in _ADVICE or len(shapes) < 2:
        return ""
    text = _ADVICE[operator](shapes, attrs)
    return f" ({text})" if text else ""
