"""Watching operators: one wrapper around every operator's function, and nothing on the way when there is none.

The eager faces take `observed(op)` when a wrapper is set, and are told to take their functions anew when it changes.
"""

from collections.abc import Callable
from typing import Any

from .registry import Op

Wrapper = Callable[[Op], Callable[..., Any]]
_WRAPPERS: list[Wrapper] = []
_REFRESH: list[Callable[[], None]] = []


def observed(op: Op) -> Callable[..., Any]:
    """The operator's function, inside the wrappers that are set."""
    function = op.fn
    for wrap in _WRAPPERS:
        function = wrap(op) if function is op.fn else _chain(wrap, op, function)
    return function


def _chain(wrap: Wrapper, op: Op, inner: Callable[..., Any]) -> Callable[..., Any]:
    """A second wrapper around the first: it is made for a stand-in whose function is the wrapped one."""
    stand_in = Op.__new__(Op)
    stand_in.__dict__.update(op.__dict__, fn=inner)
    return wrap(stand_in)


def watching() -> bool:
    """Is any wrapper set?"""
    return bool(_WRAPPERS)


def watch(wrapper: Wrapper) -> None:
    """Call every operator through `wrapper(op)` from now on."""
    _WRAPPERS.append(wrapper)
    _refresh()


def unwatch(wrapper: Wrapper) -> None:
    """Take the wrapper away again."""
    _WRAPPERS.remove(wrapper)
    _refresh()


def on_change(refresh: Callable[[], None]) -> None:
    """Be told when wrappers come or go; for code that keeps operators' functions."""
    _REFRESH.append(refresh)


def _refresh() -> None:
    for refresh in _REFRESH:
        refresh()
