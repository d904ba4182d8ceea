"""An fx graph as a Python function, one line a call, written when it is first needed.

torch's own `GraphModule` is written at once and takes several times as long; `as_module` makes one, for torch's tools.
"""

import itertools
import operator
from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch
from torch import fx
from torch.fx.immutable_collections import immutable_list

FILE = "<graph>."  # and a number: what ends with the bracket has no lines, to tracebacks
_NUMBERS = itertools.count()
_PLAIN = (int, str, bool, type(None))


class Code:
    """A graph whose nodes are inputs, calls of functions and one output."""

    def __init__(self, graph: fx.Graph, name: str = "Graph") -> None:
        self.graph, self.name = graph, name

    @cached_property
    def forward(self) -> Callable[..., Any]:
        """The graph as a function of its inputs."""
        written = _Writer(self.graph)
        space: dict[str, Any] = {**written.space, "__name__": self.name, "__loader__": _Source(written.text)}
        exec(compile(written.text, f"{FILE}{next(_NUMBERS)}", "exec"), space)
        return space["forward"]

    def rewrite(self) -> None:
        """The graph has changed."""
        self.__dict__.pop("forward", None)

    def as_module(self) -> fx.GraphModule:
        """The same for torch's tools."""
        return fx.GraphModule(torch.nn.Module(), self.graph, self.name)


class _Source:
    """Tells tracebacks the lines of the code."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, name: str) -> str:
        return self._text


class _Writer:
    """The text of a graph's function, and what the names in it stand for."""

    def __init__(self, graph: fx.Graph) -> None:
        self.space: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._taken = {node.name for node in graph.nodes}
        self._last = _last_uses(graph)
        inputs = [node.name for node in graph.nodes if node.op == "placeholder"]
        lines = [self._line(node) for node in graph.nodes if node.op != "placeholder"]
        self.text = "\n    ".join([f"def forward({', '.join(inputs)}):", *lines]) + "\n"

    def _line(self, node: fx.Node) -> str:
        if node.op == "output":
            return f"return {self._value(node.args[0])}"
        assert node.op == "call_function", f"{node.op} {node.name}: a lowered graph has only calls of functions"
        done = self._last.get(node, ())
        freed = "".join(f"{other.name} = " for other in done)
        return f"{node.name} = {self._call(node)}" + (f"; {freed}None" if freed else "")

    def _call(self, node: fx.Node) -> str:
        args = [self._value(arg) for arg in node.args]
        if node.target is operator.getitem:
            return f"{args[0]}[{args[1]}]"
        args += [f"{key}={self._value(value)}" for key, value in node.kwargs.items()]
        return f"{self._object(node.target)}({', '.join(args)})"

    def _value(self, value: Any) -> str:
        kind = value.__class__
        if kind is fx.Node:
            return value.name
        if kind in _PLAIN:
            return repr(value)
        if kind is tuple or kind is immutable_list or kind is list:
            inner = "".join(f"{self._value(item)}, " for item in value)
            return f"({inner})" if kind is tuple else f"[{inner}]"
        return self._object(value)

    def _object(self, value: Any) -> str:
        """A name, which no input and no value has, for what cannot be written."""
        name = self._names.get(id(value))
        if name is None:
            name = f"__{len(self._names)}"
            while name in self._taken:
                name += "_"
            self._names[id(value)] = name
            self._taken.add(name)
            self.space[name] = value
        return name


def _last_uses(graph: fx.Graph) -> dict[fx.Node, list[fx.Node]]:
    """Which values nobody reads after each call: their memory is free from then on."""
    found: dict[fx.Node, list[fx.Node]] = {}
    seen: set[fx.Node] = set()
    for node in reversed(graph.nodes):
        read = [n for n in node._input_nodes if n not in seen] if node.op != "placeholder" else ()
        seen.update(read)
        if node.op == "call_function":
            unread = [] if node.users else [node]
            if read or unread:
                found[node] = [*read, *unread]
    return found
