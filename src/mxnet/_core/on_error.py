"""`on_error`: what iterators, datasets and loaders do with what cannot be read."""

from typing import Literal, get_args

OnError = Literal["raise", "warn", "skip"]


def checked_on_error(value: str) -> str:
    """The value, if it is one of the three."""
    if value not in get_args(OnError):
        raise ValueError(f"on_error must be one of {', '.join(map(repr, get_args(OnError)))}, but got {value!r}")
    return value
