"""Environment variables that are numbers or switches: all are read, and refused, in one way."""

import os
from collections.abc import Sequence

from .errors import ValueRefused


def whole_number(
    variable: str, default: int, what: str = "a whole number", below: float = float("inf"), least: int = 0
) -> int:
    """The number that a variable holds, the default where it is empty or not set; `what` says which are possible."""
    text = os.environ.get(variable) or str(default)
    if not text.isdecimal() or not least <= int(text) < below:
        raise ValueRefused(f"{variable} must be {what}, got {text!r}")
    return int(text)


def is_on(variable: str, default: bool = False) -> bool:
    """Is a variable's switch on?"""
    return means_yes(os.environ.get(variable, ""), default)


def means_yes(word: str, default: bool = False) -> bool:
    """Does a word turn something on? 0, false and none do not, and an empty one leaves it as it is by default."""
    word = word.strip().lower()
    return word not in ("0", "false", "none") if word else default


def choice(variable: str, possible: Sequence[str], default: str) -> str:
    """The word that a variable holds, one of those possible."""
    word = os.environ.get(variable, "").strip().lower() or default
    if word not in possible:
        raise ValueRefused(f"{variable} must be one of {', '.join(possible)}, got {word!r}")
    return word
