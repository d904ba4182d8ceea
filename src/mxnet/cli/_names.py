"""What a dotted MXNet name is in ReMX: followed through modules and classes to the thing itself."""

import inspect
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from .._core.attrs import NULL


@dataclass(frozen=True)
class Found:
    """`name` is canonical up to where it was followed; `missing` is the part that was not there, or None."""

    name: str
    thing: Any = None
    missing: str | None = None
    near: str | None = None


_NOTHING = object()


def _member(owner, part):
    value = getattr(owner, part, _NOTHING)
    if value is _NOTHING and isinstance(owner, ModuleType):
        name = f"{owner.__name__}.{part}"
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not name.startswith(error.name):
                raise  # the module is there; what it needs is not
    return value


def _get(owner, part):
    """A member, or _NOTHING; an optional package that is not installed says nothing about the name."""
    try:
        return _member(owner, part)
    except ModuleNotFoundError as error:
        return None if (error.name or "").split(".")[0] != "mxnet" else _NOTHING


@cache
def follow(dotted):
    """Follow a dotted name that starts with `mxnet`."""
    first, *parts = dotted.split(".")
    thing, name = import_module(first), first
    for part in parts:
        if not isinstance(thing, (ModuleType, type)):
            return Found(name, thing)
        value = _get(thing, part)
        if value is _NOTHING:
            near = get_close_matches(part, [n for n in dir(thing) if not n.startswith("_")], 1, 0.8)
            return Found(f"{name}.{part}", None, part, f"{name}.{near[0]}" if near else None)
        name = value.__name__ if isinstance(value, ModuleType) else f"{name}.{part}"
        thing = value
    return Found(name, thing)


def exported(module):
    """Names that `from module import *` brings."""
    found = follow(module)
    if not isinstance(found.thing, ModuleType):
        return ()
    return getattr(found.thing, "__all__", None) or [name for name in dir(found.thing) if not name.startswith("_")]


def _is_operator(parameters):
    """Whether these are an operator's with attributes: it refuses what is not among them, though **kwargs is there."""
    return any(parameter.default is NULL for parameter in parameters.values())


def unknown_keywords(thing, keywords):
    """Keywords that a function or class does not take; none if it takes any."""
    try:
        parameters = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        return []
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()) and not _is_operator(parameters):
        return []
    return [keyword for keyword in keywords if keyword not in parameters and not keyword.startswith("__")]
