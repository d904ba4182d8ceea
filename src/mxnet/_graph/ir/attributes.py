"""Node attributes: strings; those that are not an operator's own are stored as `__key__` and hidden from it."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..._core.dtypes import dtype_name
from ..._core.errors import MXNetError

HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


def dtype_text(value: object) -> str:
    """A dtype attribute as text; None is NumPy's default, as it is for MXNet."""
    return "float64" if value is None else dtype_name(value)


def _deprecated_key(key: str, hidden: str, value: str) -> str:
    owner = key[: -len(hidden) - 1]
    return (
        f"setting variable attributes with {key} is deprecated. please instead use\n"
        f"w = Variable({hidden}={value})\nsym = YourSymbolName({owner}=w)"
    )


def operator_attributes(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The attributes of a new operator node; keys that are not the operator's own become `__key__`."""
    attrs: dict[str, str] = {}
    for key, value in given:
        for hidden in HIDDEN:
            if key.startswith(hidden):
                key = f"__{key}__"
                break
            if key.endswith(hidden) and not key.startswith("__"):
                raise MXNetError(_deprecated_key(key, hidden, value))
        attrs[key] = value
    return attrs


def check_strings(given: Mapping[str, Any]) -> None:
    """Attributes that a user sets must be strings."""
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
                raise MXNetError(_deprecated_key(key, hidden, value))
        attrs[key] = value


def user_attributes(attrs: dict[str, str]) -> dict[str, str]:
    """The attributes as a user sees them: hidden ones under `__key__` and under `key`."""
    visible: dict[str, str] = {}
    for key, value in attrs.items():
        visible[key] = value
        if key[2:-2] in HIDDEN and key.startswith("__"):
            visible[key[2:-2]] = value
    return visible


def lookup_attribute(attrs: dict[str, str], key: str) -> str | None:
    """The value of an attribute by its own or its hidden name."""
    value = attrs.get(key)
    return attrs.get(f"__{key}__") if value is None and key in HIDDEN else value
