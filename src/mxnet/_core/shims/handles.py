"""Handles: what MXNet's objects have in place of a C pointer, for programs that pass it on or read its `value`."""

import ctypes
from typing import Any


class Handle(ctypes.c_void_p):
    """A number that stands for a Python object, and keeps the object alive."""

    owner: Any = None


def handle_of(owner: Any) -> Handle:
    """The handle of an object; equal objects have the same `value`."""
    handle = Handle(id(owner))
    handle.owner = owner
    return handle


def owner_of(handle: Any) -> Any:
    """The object that a handle stands for, or None."""
    return getattr(handle, "owner", None)
