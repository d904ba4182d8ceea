"""Lowering: a graph becomes one torch.fx module, plain Python code that calls the operators' functions in order.

Attributes are parsed once, here, and stand in the code as constants; a value is dropped at its last use. The code
takes the graph's variables in the order of `list_inputs()`, then a random stream for each context that needs one.
"""

import functools
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from keyword import iskeyword
from types import MappingProxyType
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_arg

from ..._core.errors import MXNetError
from ..._core.hints import advice
from ..._ops.registry.device import torch_device
from ..._ops.registry.gradient import with_deferred_rule
from ..._ops.registry.observe import in_graphs
from ..._ops.registry.torch_dtypes import NAME
from ...context import Context
from ..infer.fixpoint import Facts, counted
from ..ir.node import Entry, Node, walk
from .codegen import Code

_NO_WORD = re.compile("[^0-9A-Za-z]")
Place = Callable[[Node], Context]
Slot = tuple[int, int]
Kept = dict[int, dict[str, Any]]  # what nodes of a bound graph remember from run to run
Stypes = Mapping[int, list[str]]  # the storage of the inputs of nodes, where it matters and is not all dense


@dataclass
class Lowered:
    """A graph as code: call `run(*tensors, *streams)`; it returns a tuple of tensors, one per head."""

    module: Code
    variables: list[Node]
    streams: list[Context]
    calls: dict[str, Node] = field(default_factory=dict)

    @cached_property
    def run(self) -> Callable[..., tuple[torch.Tensor, ...]]:
        """The graph as it is; whoever has a quicker form puts it here."""
        return self.module.forward

    def explain(self, tensors: Sequence[Any], error: Exception) -> MXNetError:
        """The failure in the user's terms: run again step by step to find the operator that refuses."""
        values: dict[fx.Node, Any] = {}
        given = iter(tensors)
        with torch.no_grad():
            for step in self.module.graph.nodes:
                if step.op == "placeholder":
                    values[step] = next(given)
                elif step.op == "call_function":
                    args, kwargs = map_arg((step.args, step.kwargs), values.__getitem__)
                    try:
                        values[step] = step.target(*args, **kwargs)
                    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError) as again:
                        return self._report(step.name, args, again)
        return MXNetError(str(error).strip())

    def _report(self, name: str, args: Any, error: Exception) -> MXNetError:
        text, node = str(error).strip(), self.calls.get(name)
        if node is None or node.op is None:
            return MXNetError(text)
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        shapes = ", ".join(f"{tuple(a.shape)} {NAME[a.dtype]}" for a in tensors)
        hint = advice(node.op.name, [tuple(a.shape) for a in tensors], node.parsed)
        return MXNetError(f"Error in operator {node.name}: {text} ({node.op.name} on {shapes}){hint}")


def pick(result: Any, index: int) -> torch.Tensor:
    """One output of an operator whose function may leave hidden outputs out."""
    return result[index] if result.__class__ is tuple or result.__class__ is list else result


def calls(node: Any, *targets: Any) -> bool:
    """Is this value of a graph a call of one of these functions?"""
    return isinstance(node, fx.Node) and node.op == "call_function" and node.target in targets


def sole_user(node: fx.Node) -> fx.Node | None:
    """Who reads the value, if nobody else does."""
    return next(iter(node.users)) if len(node.users) == 1 else None


def moved(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on another device."""
    return tensor.to(device)


class _Builder:
    """Writes the fx graph of some nodes, in order."""

    def __init__(self, train: bool, place: Place, shapes: Facts | None, kept: Kept | None, stypes: Stypes) -> None:
        self.train, self.place, self.shapes, self.kept, self.stypes = train, place, shapes, kept, stypes
        self.graph = fx.Graph()
        self.values: dict[Slot, fx.Node] = {}
        self.results: dict[int, fx.Node] = {}
        self.streams: dict[Context, fx.Node] = {}
        self.calls: dict[str, Node] = {}
        self.words: set[str] = set()  # names of inputs
        self.apart: set[int] = set()  # nodes whose rule for the gradient is left on their result

    def input(self, node: Node, index: int = 0, name: str | None = None) -> None:
        word = _word(name or node.name)
        while word in self.words:  # a graph may have several variables of one name
            word += "_"
        self.words.add(word)
        self.values[(id(node), index)] = self.graph.create_node("placeholder", word, name=None)

    def add_streams(self, nodes: Iterable[Node]) -> None:
        """Placeholders come first in an fx graph, so streams are known before any call is written."""
        for node in nodes:
            if node.op is not None and "_rng" in node.op.injected:
                ctx = self.place(node)
                if ctx not in self.streams:
                    self.streams[ctx] = self.graph.placeholder(f"stream{len(self.streams)}")

    def value(self, entry: Entry) -> fx.Node:
        slot = (id(entry.node), entry.index)
        if slot not in self.values:
            target = pick if _hides(entry.node) else operator.getitem
            made, name = self.results[id(entry.node)], f"{_word(entry.node.name)}_{entry.index}"
            self.values[slot] = self.graph.create_node("call_function", target, (made, entry.index), {}, name)
        return self.values[slot]

    def at(self, entry: Entry, ctx: Context) -> fx.Node:
        """The value where it is needed; a copy if it was made on another device."""
        value = self.value(entry)
        source = self.place(entry.node)
        if source is ctx or torch_device(source) == torch_device(ctx):
            return value
        return self.graph.call_function(moved, (value, torch_device(ctx)))

    def call(self, node: Node) -> None:
        op = node.op
        assert op is not None
        ctx = self.place(node)
        args = tuple(self.at(entry, ctx) for entry in node.inputs)
        kwargs = {**self.constants(node), **self.injected(node, ctx)}
        function = node_function(node, self.train, ctx, self.kept, self.stypes)
        if id(node) in self.apart:
            function = _apart(function)
        result = self.graph.create_node("call_function", function, args, kwargs, name=_word(node.name))
        self.calls[result.name] = node
        if op.outputs == 1 and not node.subgraphs:
            self.values[(id(node), 0)] = result
        else:
            self.results[id(node)] = result

    def constants(self, node: Node) -> dict[str, Any]:
        """The attributes; a creation operator of unknown size gets the size that the graph says."""
        attrs = counted(node)
        if node.inputs or self.shapes is None or not _open({**node.op.defaults, **attrs}):
            return attrs
        found = self.shapes.of(Entry(node))
        if found is None:
            return attrs
        if attrs.get("infer_range"):
            return {**attrs, "stop": attrs["start"] + attrs.get("step", 1.0) * found[0] / attrs.get("repeat", 1)}
        return {**attrs, "shape": found}

    def injected(self, node: Node, ctx: Context) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name in node.op.injected:  # type: ignore[union-attr]
            if name == "_train":
                values[name] = self.train
            elif name == "_device":
                values[name] = torch_device(ctx)
            elif name == "_rng":
                values[name] = self.streams[ctx]
        return values

    def finish(self, values: Iterable[fx.Node], name: str) -> Code:
        self.graph.output(tuple(values))
        return Code(self.graph, name)


def node_function(node: Node, train: bool, ctx: Context, kept: Kept | None, stypes: Stypes) -> Callable[..., Any]:
    """The function to call for a node."""
    assert node.op is not None
    if node.subgraphs:
        from .subgraphs import bound

        return bound(node, train, ctx)
    if "_ctx" in node.op.injected:
        own = None if kept is None else kept.setdefault(id(node), {})
        return _placed(node.op.fn, ctx, own, stypes.get(id(node)))
    return in_graphs(node.op, node.name)


def _placed(
    function: Callable[..., Any], ctx: Context, kept: dict[str, Any] | None, stypes: list[str] | None
) -> Callable[..., Any]:
    """The function with its context and what it remembers, which cannot stand in fx code as constants."""

    @functools.wraps(function)
    def call(*tensors: Any, **attrs: Any) -> Any:
        return function(*tensors, **attrs, _ctx=ctx, _kept=kept, _stypes=stypes)

    return call


def _apart(function: Callable[..., Any]) -> Callable[..., Any]:
    return functools.wraps(function)(functools.partial(with_deferred_rule, function))


def _hides(node: Node) -> bool:
    """May the function return fewer values than the operator declares?"""
    op = node.op
    return op is not None and (op.visible is not None or callable(op.outputs))


def _word(name: str) -> str:
    """A name as Python allows it."""
    word = _NO_WORD.sub("_", name)
    return f"n{word}" if not word or word[0].isdigit() or iskeyword(word) else word


def unsized(nodes: Iterable[Node]) -> bool:
    """Does the graph create arrays whose sizes only the rest of the graph tells?"""
    return any(node.op is not None and not node.inputs and _open(node.parsed) for node in nodes)


def _open(attrs: dict[str, Any]) -> bool:
    """Do the attributes of a creation operator leave a size, or the end of a range, to the rest of the graph?"""
    shape = attrs.get("shape")
    if attrs.get("infer_range") and attrs.get("stop") is None:
        return True
    if isinstance(shape, float):  # a parameter of the gamma distribution
        return False
    return "shape" in attrs and (not shape or any(n < 1 for n in shape))


def lower(
    heads: Iterable[Entry],
    train: bool,
    place: Place | Context,
    shapes: Facts | None = None,
    variables: list[Node] | None = None,
    mirror: bool = False,
    apart: Iterable[Node] = (),
    kept: Kept | None = None,
    stypes: Stypes = MappingProxyType({}),
) -> Lowered:
    """The graph below `heads` as code. `variables` fixes the order of the inputs; `mirror` trades time for memory;
    results of the nodes `apart` carry the rules of their gradients (see `with_deferred_rule`); `kept` is for operators that
    remember, `stypes` for those that mind the storage of their inputs."""
    heads = list(heads)
    nodes = walk(heads)
    calls = [n for n in nodes if n.op is not None]
    variables = [n for n in nodes if n.op is None] if variables is None else variables
    if isinstance(place, Context):
        place = _everywhere(place)
    builder = _Builder(train, place, shapes, kept, stypes)
    builder.apart.update(map(id, apart))
    for node in variables:
        builder.input(node)
    builder.add_streams(calls)
    if mirror and train:
        from ..training.mirror import call_segments

        call_segments(builder, calls, heads)
    else:
        for node in calls:
            builder.call(node)
    module = builder.finish([builder.value(head) for head in heads], "Graph")
    return Lowered(module, variables, list(builder.streams), builder.calls)


def _everywhere(ctx: Context) -> Place:
    return lambda node: ctx
