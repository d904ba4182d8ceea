"""Helpers for `fill` rules, which deduce unknown input shapes from known ones."""

from collections.abc import Sequence

from ..._core.errors import MXNetError
from .shape_rules import open_bracket

Shape = tuple[int, ...] | None


def merge(given: Shape, deduced: Sequence[int], operator: str, name: str) -> tuple[int, ...]:
    """Combine the given and the deduced shape of an input; raise if they disagree. A size of 0 is unknown."""
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
