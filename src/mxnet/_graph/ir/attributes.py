"""Attributes as a graph keeps them: text, some of them hidden from operators behind double underscores."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..._core.dtypes import dtype_name
from ..._core.errors import MXNetError

HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


def dtype_text(value: object) -> str:
    """A dtype attribute as text; None is NumPy's default, as it is for MXNet."""
    return "float64" if value is None else dtype_name(value)


def _misplaced(key: str, hidden: str, value: str) -> str:
    owner = key[: -len(hidden) - 1]
    return (
        f"setting variable attributes with {key} is deprecated. please instead use\n"
        f"w = Variable({hidden}={value})\nsym = YourSymbolName({owner}=w)"
    )


def operator_attributes(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What an operator's node keeps: keys that are not the operator's own are hidden."""
    kept: dict[str, str] = {}
    for key, value in given:
        for hidden in HIDDEN:
            if key.startswith(hidden):
                key = f"__{key}__"
                break
            if key.endswith(hidden) and not key.startswith("__"):
                raise MXNetError(_misplaced(key, hidden, value))
        kept[key] = value
    return kept


def check_texts(given: Mapping[str, Any]) -> None:
    """What a user sets as attributes must be text."""
    for key, value in given.items():
        if not isinstance(value, str):
            raise ValueError(f"Set Attr only accepts string values, got {key}={value!r}")


def set_attributes(attrs: dict[str, str], given: Iterable[tuple[str, str]]) -> None:
    """Add to the attributes of a node that exists already."""
    for key, value in given:
        for hidden in HIDDEN:
            if key == hidden:
                key = f"__{key}__"
                break
            if key.endswith(hidden):
                raise MXNetError(_misplaced(key, hidden, value))
        attrs[key] = value


def shown(attrs: dict[str, str]) -> dict[str, str]:
    """What a user sees: hidden attributes under both their names."""
    seen: dict[str, str] = {}
    for key, value in attrs.items():
        seen[key] = value
        if key[2:-2] in HIDDEN and key.startswith("__"):
            seen[key[2:-2]] = value
    return seen


def lookup(attrs: dict[str, str], key: str) -> str | None:
    value = attrs.get(key)
    return attrs.get(f"__{key}__") if value is None and key in HIDDEN else value
