"""What both forms of optimizer states share: the words of a refusal, and the bounds of a structure."""

from collections.abc import Callable
from typing import Any

from .._core.errors import MXNetError
from . import params

DEEPEST = 64

MakeArray = Callable[[params.Blob], Any]
MakeObject = Callable[[str, str, dict[str, Any]], Any]


def broken(words: str) -> MXNetError:
    """The error for bytes that hold no states, with the reason."""
    return MXNetError(f"these are no optimizer states: {words}")


def check_depth(depth: int) -> None:
    """Refuse a structure nested so deeply that walking it could exhaust the stack."""
    if depth > DEEPEST:
        raise broken(f"more than {DEEPEST} levels of nesting")


def as_key(value: Any) -> Any:
    """`value`, if a dict can have it as a key."""
    try:
        hash(value)
    except TypeError:
        raise broken(f"{value!r} cannot be a key") from None
    return value
