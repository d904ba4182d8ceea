"""Wrappers around every operator's function, for the profiler, NaN checks and history.

Without a wrapper nothing is added to a call. The generated eager functions hold `observed(op)`; when wrappers are set
or removed, the callbacks registered by `on_change` make them fetch it again.
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
    """Put a second wrapper around the first, through a copy of `op` whose function is the wrapped one."""
    wrapped = Op.__new__(Op)
    wrapped.__dict__.update(op.__dict__, fn=inner)
    return wrap(wrapped)


def watching() -> bool:
    """Is any wrapper set?"""
    return bool(_WRAPPERS)


def watching_graphs() -> bool:
    """Is any wrapper set for graphs?"""
    return bool(_GRAPH_WRAPPERS)


def in_graphs(op: Op, name: str = "", function: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The function that a graph lowered now calls for its node `name`, inside the wrappers for graphs.

    `function` is one that the graph calls instead of the operator's own.
    """
    function = function or op.fn
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
    """Remove a wrapper."""
    _WRAPPERS.remove(wrapper)
    if wrapper in _GRAPH_WRAPPERS:
        _GRAPH_WRAPPERS.remove(wrapper)
    _refresh()


def on_change(refresh: Callable[[], None]) -> None:
    """Register a callback for when wrappers are set or removed; for code that caches operators' functions."""
    _REFRESH.append(refresh)


def _refresh() -> None:
    for refresh in _REFRESH:
        refresh()
