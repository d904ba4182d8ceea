"""Code generation: an fx graph as a Python function with one line per call, compiled when it is first needed.

torch's `GraphModule` generates its code at once and takes several times as long; `as_module` makes one for its tools.
"""

import functools
import itertools
import operator
from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch
from torch import fx
from torch.fx.immutable_collections import immutable_list

FILE_PREFIX = "<graph>."  # and a number; tracebacks show no source lines for names that end with `>`
_NUMBERS = itertools.count()
_LITERALS = (int, str, bool, type(None))


class Code:
    """An fx graph of placeholders, function calls and one output, with its Python function made lazily."""

    def __init__(self, graph: fx.Graph, name: str = "Graph") -> None:
        self.graph, self.name = graph, name

    @cached_property
    def forward(self) -> Callable[..., Any]:
        """The graph as a function of its inputs."""
        source = _Writer(self.graph)
        namespace: dict[str, Any] = {**source.namespace, "__name__": self.name, "__loader__": _Source(source.text)}
        exec(compile(source.text, f"{FILE_PREFIX}{next(_NUMBERS)}", "exec"), namespace)
        return namespace["forward"]

    def rewrite(self) -> None:
        """Must be called after a change of the graph: the function is generated again."""
        self.__dict__.pop("forward", None)

    def as_module(self) -> fx.GraphModule:
        """The graph as a `GraphModule`, for torch's tools."""
        return fx.GraphModule(torch.nn.Module(), self.graph, self.name)


class _Source:
    """A module loader that gives tracebacks the source lines."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, name: str) -> str:
        return self._text


class _Writer:
    """Generates the source of a graph's function, and the namespace of the objects that it refers to."""

    def __init__(self, graph: fx.Graph) -> None:
        self.namespace: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._used_names = {node.name for node in graph.nodes}
        self._freed_after = _last_uses(graph)
        inputs = [node.name for node in graph.nodes if node.op == "placeholder"]
        lines = [self._line(node) for node in graph.nodes if node.op != "placeholder"]
        self.text = "\n    ".join([f"def forward({', '.join(inputs)}):", *lines]) + "\n"

    def _line(self, node: fx.Node) -> str:
        if node.op == "output":
            return f"return {self._value(node.args[0])}"
        assert node.op == "call_function", f"{node.op} {node.name}: a lowered graph has only calls of functions"
        freed = "".join(f"{other.name} = " for other in self._freed_after.get(node, ()))
        return f"{node.name} = {self._call(node)}" + (f"; {freed}None" if freed else "")

    def _call(self, node: fx.Node) -> str:
        args = [self._value(arg) for arg in node.args]
        if node.target is operator.getitem:
            return f"{args[0]}[{args[1]}]"
        if node.kwargs and not any(map(_refers, node.kwargs.values())):  # bound constants are quicker to compile
            return f"{self._object(functools.partial(node.target, **node.kwargs))}({', '.join(args)})"
        args += [f"{key}={self._value(value)}" for key, value in node.kwargs.items()]
        return f"{self._object(node.target)}({', '.join(args)})"

    def _value(self, value: Any) -> str:
        kind = value.__class__
        if kind is fx.Node:
            return value.name
        if kind in _LITERALS:
            return repr(value)
        if kind is tuple or kind is immutable_list or kind is list:
            inner = "".join(f"{self._value(item)}, " for item in value)
            return f"({inner})" if kind is tuple else f"[{inner}]"
        return self._object(value)

    def _object(self, value: Any) -> str:
        """A name, used by no input and no value, for an object that has no literal."""
        name = self._names.get(id(value))
        if name is None:
            name = f"__{len(self._names)}"
            while name in self._used_names:
                name += "_"
            self._names[id(value)] = name
            self._used_names.add(name)
            self.namespace[name] = value
        return name


def _refers(value: Any) -> bool:
    """Is it a node, or does it hold one?"""
    kind = value.__class__
    return kind is fx.Node or (kind not in _LITERALS and isinstance(value, (tuple, list)) and any(map(_refers, value)))


def _last_uses(graph: fx.Graph) -> dict[fx.Node, list[fx.Node]]:
    """The values that are not read after each call, so that their memory can be freed there."""
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
