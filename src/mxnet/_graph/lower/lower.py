"""Lowering: a graph becomes a torch.fx graph that calls the operators' functions in topological order.

Parsed attributes become constants in the fx graph. Its inputs are the graph's variables in the order of
`list_inputs()`, then a random stream for each context that needs one.
"""

import functools
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
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
from ..._device.errors import explained
from ..._ops.registry.device import torch_device
from ..._ops.registry.gradient import with_deferred_rule
from ..._ops.registry.observe import in_graphs
from ..._ops.registry.registry import Op
from ..._ops.registry.signature import listed_inputs
from ..._ops.registry.torch_dtypes import NAME
from ..._ops.sparse.tensors import densified
from ...context import Context
from ..infer.fixpoint import Facts, attrs_with_count
from ..infer.storage import SparsePlan
from ..ir.node import Entry, Node, walk
from .codegen import Code
from .fx_calls import calls, moved, pick, sole_user  # noqa: F401 - rewriting passes import these from here

_NOT_IDENTIFIER = re.compile("[^0-9A-Za-z]")
DevicePlacement = Callable[[Node], Context]
Slot = tuple[int, int]
NodeStates = dict[int, dict[str, Any]]  # state of custom operators in an executor, by node id, kept from run to run
Stypes = Mapping[int, list[str]]  # storage types of a node's inputs, by node id, where an operator needs them


@dataclass
class Lowered:
    """A lowered graph: `run(*tensors, *streams)` returns a tuple of tensors, one per head."""

    module: Code
    variables: list[Node]
    streams: list[Context]
    calls: dict[str, Node] = field(default_factory=dict)

    @cached_property
    def code(self) -> Code:
        """What runs: the graph as it is, or a rewritten one."""
        return self.module

    @cached_property
    def run(self) -> Callable[..., tuple[torch.Tensor, ...]]:
        """The graph's function; a rewritten or compiled one may be assigned instead."""
        return self.module.forward

    def explain(self, tensors: Sequence[Any], error: Exception) -> MXNetError:
        """Run again step by step to find the operator that fails, and name it in the error."""
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
                    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, MemoryError) as again:
                        return self._report(step.name, args, again)
        return MXNetError(explained(error))

    def _report(self, name: str, args: Any, error: Exception) -> MXNetError:
        text, node = explained(error), self.calls.get(name)
        if node is None or node.op is None:
            return MXNetError(text)
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        shapes = [f"{tuple(a.shape)} {NAME[a.dtype]}" for a in tensors]
        hint = advice(node.op.name, [tuple(a.shape) for a in tensors], node.parsed)
        hint += listed_inputs(node.op, shapes)
        return MXNetError(f"Error in operator {node.name}: {text} ({node.op.name} on {', '.join(shapes)}){hint}")


class _Constants(dict[str, Any]):
    """Keyword arguments of a call.

    torch walks through a plain `dict` in search of symbolic sizes, which no attribute is, for most of the time that a
    graph takes to lower. It takes a dict of another class for a single value.
    """


class _Builder:
    """Builds the fx graph of some nodes, given in topological order."""

    def __init__(
        self,
        train: bool,
        context_of: DevicePlacement,
        shapes: Facts | None,
        node_states: NodeStates | None,
        stypes: Stypes,
        trained: Set[int] | None = None,
        sparse: SparsePlan | None = None,
    ) -> None:
        self.train, self.context_of, self.shapes = train, context_of, shapes
        self.node_states, self.stypes = node_states, stypes
        self.trained, self.sparse = trained, sparse or SparsePlan()
        self.graph = fx.Graph()
        self.values: dict[Slot, fx.Node] = {}
        self.densified: dict[Slot, fx.Node] = {}
        self.results: dict[int, fx.Node] = {}
        self.streams: dict[Context, fx.Node] = {}
        self.calls: dict[str, Node] = {}
        self.input_names: set[str] = set()  # names of inputs
        self.deferred: set[int] = set()  # ids of nodes whose gradient rule is attached to their result

    def input(self, node: Node, index: int = 0, name: str | None = None) -> None:
        identifier = _identifier(name or node.name)
        while identifier in self.input_names:  # a graph may have several variables of one name
            identifier += "_"
        self.input_names.add(identifier)
        self.values[(id(node), index)] = self.graph.create_node("placeholder", identifier, name=None)

    def add_streams(self, nodes: Iterable[Node]) -> None:
        """Add placeholders for random streams; in an fx graph they must come before any call."""
        for node in nodes:
            if node.op is not None and "_rng" in node.op.injected:
                ctx = self.context_of(node)
                if ctx not in self.streams:
                    self.streams[ctx] = self.graph.placeholder(f"stream{len(self.streams)}")

    def value(self, entry: Entry) -> fx.Node:
        slot = (id(entry.node), entry.index)
        if slot not in self.values:
            target = pick if _hides(entry.node) else operator.getitem
            call, name = self.results[id(entry.node)], f"{_identifier(entry.node.name)}_{entry.index}"
            self.values[slot] = self.graph.create_node("call_function", target, (call, entry.index), {}, name)
        return self.values[slot]

    def dense(self, entry: Entry) -> fx.Node:
        """The value as a dense tensor, for whoever has no function on sparse ones."""
        slot = (id(entry.node), entry.index)
        if slot not in self.sparse.values:
            return self.value(entry)
        if slot not in self.densified:
            self.densified[slot] = self.graph.call_function(densified, (self.value(entry),))
        return self.densified[slot]

    def value_on(self, entry: Entry, ctx: Context, sparse: bool = False) -> fx.Node:
        """The value on the device of `ctx`; a copy if it was computed on another device."""
        value = self.value(entry) if sparse else self.dense(entry)
        source = self.context_of(entry.node)
        if source is ctx or torch_device(source) == torch_device(ctx):
            return value
        return self.graph.call_function(moved, (value, torch_device(ctx)))

    def call(self, node: Node) -> None:
        op = node.op
        assert op is not None
        ctx = self.context_of(node)
        on_stored = self.sparse.functions.get(id(node))
        args = tuple(self.value_on(entry, ctx, on_stored is not None) for entry in node.inputs)
        kwargs = _Constants(self.constants(node), **self.injected(node, ctx))
        if on_stored is not None:
            function = in_graphs(op, node.name, on_stored)
        else:
            function = node_function(node, self.train, ctx, self.node_states, self.stypes)
        if id(node) in self.deferred:
            function = _with_deferred_rule(function)
        result = self.graph.create_node("call_function", function, args, kwargs, name=_identifier(node.name))
        self.calls[result.name] = node
        if op.outputs == 1 and not node.subgraphs:
            self.values[(id(node), 0)] = result
        else:
            self.results[id(node)] = result

    def constants(self, node: Node) -> dict[str, Any]:
        """The attributes; a creation operator of unknown size gets the inferred size."""
        attrs = attrs_with_count(node)
        if node.inputs or self.shapes is None or not _is_unsized({**node.op.defaults, **attrs}):
            return attrs
        found = self.shapes.of(Entry(node))
        if found is None:
            return attrs
        if attrs.get("infer_range"):
            return {**attrs, "stop": attrs["start"] + attrs.get("step", 1.0) * found[0] / attrs.get("repeat", 1)}
        return {**attrs, "shape": found}

    def injected(self, node: Node, ctx: Context) -> dict[str, Any]:
        values = injected_values(node.op, self.train, ctx, self.streams.get(ctx))
        if "_set_gamma" in values and self.trained is not None:
            values["_set_gamma"] = id(node) in self.trained
        return values

    def finish(self, values: Iterable[fx.Node], name: str) -> Code:
        self.graph.output(tuple(values))
        return Code(self.graph, name)


def injected_values(op: Op, train: bool, ctx: Context, stream: Any) -> dict[str, Any]:
    """What an operator's function asks for beside its inputs and attributes."""
    if not op.injected:
        return {}
    values = {"_train": train, "_device": torch_device(ctx), "_rng": stream, "_set_gamma": None}
    return {name: value for name, value in values.items() if name in op.injected}


def node_function(
    node: Node, train: bool, ctx: Context, node_states: NodeStates | None, stypes: Stypes
) -> Callable[..., Any]:
    """The function to call for a node."""
    assert node.op is not None
    if node.subgraphs:
        from .subgraphs import subgraph_function

        return subgraph_function(node, train, ctx)
    if "_ctx" in node.op.injected:
        own = None if node_states is None else node_states.setdefault(id(node), {})
        return _bind_context(node.op.fn, ctx, own, stypes.get(id(node)))
    return in_graphs(node.op, node.name)


def _bind_context(
    function: Callable[..., Any], ctx: Context, node_states: dict[str, Any] | None, stypes: list[str] | None
) -> Callable[..., Any]:
    """The function with its context and state bound, which cannot be constants in an fx graph."""

    @functools.wraps(function)
    def call(*tensors: Any, **attrs: Any) -> Any:
        return function(*tensors, **attrs, _ctx=ctx, _kept=node_states, _stypes=stypes)

    return call


def _with_deferred_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    return functools.wraps(function)(functools.partial(with_deferred_rule, function))


def _hides(node: Node) -> bool:
    """May the function return fewer values than the operator declares?"""
    op = node.op
    return op is not None and (op.visible is not None or callable(op.outputs))


def _identifier(name: str) -> str:
    """A valid Python identifier for a name."""
    identifier = _NOT_IDENTIFIER.sub("_", name)
    return f"n{identifier}" if not identifier or identifier[0].isdigit() or iskeyword(identifier) else identifier


def has_inferred_sizes(nodes: Iterable[Node]) -> bool:
    """Does the graph create arrays whose sizes must be inferred from the rest of the graph?"""
    return any(node.op is not None and not node.inputs and _is_unsized(node.parsed) for node in nodes)


def _is_unsized(attrs: dict[str, Any]) -> bool:
    """Do the attributes of a creation operator leave a size, or the end of a range, to shape inference?"""
    shape = attrs.get("shape")
    if attrs.get("infer_range") and attrs.get("stop") is None:
        return True
    if isinstance(shape, float):  # a parameter of the gamma distribution
        return False
    return "shape" in attrs and (not shape or any(n < 1 for n in shape))


def lower(
    heads: Iterable[Entry],
    train: bool,
    context_of: DevicePlacement | Context,
    shapes: Facts | None = None,
    variables: list[Node] | None = None,
    mirror: bool = False,
    deferred: Iterable[Node] = (),
    node_states: NodeStates | None = None,
    stypes: Stypes = MappingProxyType({}),
    trained: Set[int] | None = None,
    sparse: SparsePlan | None = None,
) -> Lowered:
    """Lower the graph below `heads`.

    `context_of` says where each node runs, `shapes` has the inferred sizes of creation operators, `variables` fixes the
    order of the inputs. With `mirror`, activations are recomputed in the backward pass. Results of the nodes `deferred`
    carry their gradient rules (see `with_deferred_rule`). `node_states` holds the state of custom operators, `stypes`
    the storage types of inputs for operators that look at them, `trained` the ids of the nodes that a backward pass
    will visit, if they are known, `sparse` which values are sparse tensors. The heads' values are dense.
    """
    heads = list(heads)
    nodes = walk(heads)
    operators = [n for n in nodes if n.op is not None]
    variables = [n for n in nodes if n.op is None] if variables is None else variables
    if isinstance(context_of, Context):
        context_of = _single_context(context_of)
    builder = _Builder(train, context_of, shapes, node_states, stypes, trained, sparse)
    builder.deferred.update(map(id, deferred))
    for node in variables:
        builder.input(node)
    builder.add_streams(operators)
    if mirror and train:
        from ..training.mirror import call_segments

        call_segments(builder, operators, heads)
    else:
        for node in operators:
            builder.call(node)
    module = builder.finish([builder.dense(head) for head in heads], "Graph")
    return Lowered(module, variables, list(builder.streams), builder.calls)


def _single_context(ctx: Context) -> DevicePlacement:
    return lambda node: ctx
