"""What to do when shapes do not fit or a file is not there: advice added to a message after something has failed."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

from .errors import MXNetError

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
    if all(size >= kernel for size, kernel in zip(data[2:], weight[2:], strict=True)):
        return ""
    return (
        f"kernel size exceed input: the picture of {data[2:]} is smaller than the kernel of {weight[2:]}; add padding, "
        "or pool less before it"
    )


def _pair(shapes: Shapes) -> tuple[str, str]:
    left, right = ("[" + ",".join(map(str, shape or ())) + "]" for shape in shapes[:2])
    return left, right


def _broadcast(shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    left, right = _pair(shapes)
    return (
        f"operands could not be broadcast together with shapes {left} {right}: from the last axis on, two sizes must "
        "be equal or one of them 1"
    )


def _batch_dot(shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    left, right = _pair(shapes)
    flags = [int(bool(attrs.get(f"transpose_{side}"))) for side in "ab"]
    return (
        f"batch_dot shape error (shape mismatch): {left} X {right} trans_a={flags[0]} trans_b={flags[1]}: "
        "the leading axes must be equal, and the inner sizes of the products too"
    )


def _dot(shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    left, right = _pair(shapes)
    return (
        f"dot shape error: {left} X {right}: the last axis of the first and the first axis of the second must agree; "
        "transpose_a and transpose_b transpose an operand"
    )


def _matmul(shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    left, right = _pair(shapes)
    return f"matmul of {left} and {right}: the last axis of the first and the last but one of the second must be equal"


def _concat(shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    return f"arrays that are joined along axis {attrs.get('dim', 1)} must agree on every other axis"


def _batch_norm(shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    data, gamma = shapes[0], shapes[1]
    axis = int(attrs.get("axis", 1))
    if not data or not gamma or not -len(data) <= axis < len(data) or data[axis] == gamma[0]:
        return ""
    return f"the layer was made for {gamma[0]} channels on axis {axis}, and the data has {data[axis]}"


_ADVICE: dict[str, Callable[[Shapes, Mapping[str, Any]], str]] = {
    "FullyConnected": _dense,
    "Convolution": _convolution,
    "dot": _dot,
    "batch_dot": _batch_dot,
    "Concat": _concat,
    "_npi_concatenate": _concat,
    "_npi_matmul": _matmul,
    "BatchNorm": _batch_norm,
}


def advice(operator: str, shapes: Shapes, attrs: Mapping[str, Any]) -> str:
    """What to do, on a line of its own below the message; empty if there is nothing to say."""
    find = _broadcast if operator.startswith("broadcast_") else _ADVICE.get(operator)
    if find is None or len(shapes) < 2:
        return ""
    text = find(shapes, attrs)
    return f"\n{text}." if text else ""


def not_opened(path: Any, error: OSError) -> MXNetError:
    """The error for a file that cannot be opened, in MXNet's words."""
    return MXNetError(f'Check failed: allow_null: :Open "{path}": {error.strerror}{beside(path)}')


def beside(path: Any) -> str:
    """What is there instead of a file that is not: others of its kind in its folder, or that there is no folder."""
    wanted = Path(path)
    folder = wanted.parent
    if wanted.exists():
        return ""
    if not folder.is_dir():
        return f" (there is no folder {folder})"
    others = sorted(other.name for other in folder.glob(f"*{wanted.suffix}"))[:5]
    if others:
        return f" (the folder {folder.resolve()} has {', '.join(others)})"
    return f" (the folder {folder.resolve()} has no {wanted.suffix or 'such'} file)"
