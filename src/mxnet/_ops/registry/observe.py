"""Watching operators: one wrapper around every operator's function, and nothing on the way when there is none.

The eager faces take `observed(op)` when a wrapper is set, and are told to take their functions anew when it changes.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from .registry import Op

Wrapper = Callable[[Op], Callable[..., Any]]
_WRAPPERS: list[Wrapper] = []
_GRAPH_WRAPPERS: list[Callable[..., Callable[..., Any]]] = []
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


def in_graphs(op: Op, name: str = "") -> Callable[..., Any]:
    """What a graph that is lowered now calls for its node `name`: the function inside the wrappers for graphs."""
    function = op.fn
    for named in _GRAPH_WRAPPERS:
        wrap = partial(named, name=name)
        function = wrap(op) if function is op.fn else _chain(wrap, op, function)
    return function


def watch(wrapper: Wrapper, graphs: bool = False) -> None:
    """Call every operator through `wrapper(op)` from now on.

    With `graphs` also in graphs that are lowered later: there it is `wrapper(op, name=node)`.
    """
    _WRAPPERS.append(wrapper)
    if graphs:
        _GRAPH_WRAPPERS.append(wrapper)
    _refresh()


def unwatch(wrapper: Wrapper) -> None:
    """Take the wrapper away again."""
    _WRAPPERS.remove(wrapper)
    if wrapper in _GRAPH_WRAPPERS:
        _GRAPH_WRAPPERS.remove(wrapper)
    _refresh()


def on_change(refresh: Callable[[], None]) -> None:
    """Be told when wrappers come or go; for code that keeps operators' functions."""
    _REFRESH.append(refresh)


def _refresh() -> None:
    for refresh in _REFRESH:
        refresh()
