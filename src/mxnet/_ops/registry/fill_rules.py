"""Deduction of input shapes: what `fill` rules are made of."""

from collections.abc import Sequence

from ..._core.errors import MXNetError
from .shape_rules import open_bracket

Shape = tuple[int, ...] | None


def merge(given: Shape, deduced: Sequence[int], operator: str, name: str) -> tuple[int, ...]:
    """The deduced shape, its unknown sizes taken from the given one; it is an error if the two disagree."""
    if given is None or given == ():
        return tuple(deduced)
    if len(given) != len(deduced) or any(a and b and a != b for a, b in zip(given, deduced, strict=True)):
        raise MXNetError(
            f"Shape inconsistent, Provided = {open_bracket(given)}, inferred shape={open_bracket(deduced)}: "
            f"input {name} of operator {operator} does not fit its other inputs and attributes"
        )
    return tuple(a or b for a, b in zip(given, deduced, strict=True))


def assign(shapes: list[Shape], index: int, deduced: Sequence[int], operator: str, name: str) -> None:
    """Give input number `index` its deduced shape, if the call has that input."""
    if index < len(shapes):
        shapes[index] = merge(shapes[index], deduced, operator, name)
