"""Explanation of a network: what computes each layer in inference and training, by which rule, and its share of time.

The graph runs one call at a time, on copies of the arrays, while kernels record their decisions. In training every call
has its own torch graph, so that its forward and backward passes are timed separately.
"""

import inspect
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_arg

from ..._kernels.registry import Decision, enabled, traced
from ..._kernels.runtime.loader import finish_loading
from ...context import Context
from ..inference.fold import Folding
from ..ir.node import Entry
from ..lower.lower import pick
from ..lower.program import Program

LIBRARY = Decision("torch", True, "torch's own operator")
# Calls that are not layers: output selection and memory format changes
INTERNAL = frozenset(["pick", "getitem", "plain", "moved", "flush", "copy_out"])
Names = dict[str, tuple[str, str]]  # name in the code -> node and operator
ROUNDS = 5  # number of runs; the shortest time of each layer is used


@dataclass
class Layer:
    """One call of the graph: its node, its operator, the implementation that computes it, and its time."""

    name: str
    operator: str
    shape: tuple[int, ...]
    way: str = LIBRARY.kernel
    rule: str = LIBRARY.rule
    folded: list[str] = field(default_factory=list)
    seconds: float = 0.0
    share: float = 0.0


@dataclass
class Explanation:
    """The layers of a network as they are computed in inference and in training.

    `print` shows a table, `as_dict` returns the same data for JSON.
    """

    inputs: dict[str, tuple[int, ...]]
    threads: int
    kernels: str
    inference: list[Layer]
    training: list[Layer]

    def as_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries, lists and numbers."""
        return asdict(self)

    def __str__(self) -> str:
        shapes = ", ".join(f"{name} {_size(shape)}" for name, shape in self.inputs.items())
        lines = [f"{shapes}; {self.threads} thread{'s' * (self.threads > 1)}; kernels: {self.kernels}"]
        for title, layers in (("inference", self.inference), ("training", self.training)):
            if layers:
                total = sum(layer.seconds for layer in layers)
                lines += ["", f"{title}: {total * 1e3:.2f} ms, one call at a time", *_table(layers)]
        return "\n".join(lines)

    __repr__ = __str__


def _size(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _table(layers: list[Layer]) -> Iterator[str]:
    rows = [("layer", "operator", "output", "computed by", "share", "folded in; why")]
    for layer in layers:
        notes = "; ".join([*([f"with {', '.join(layer.folded)}"] if layer.folded else []), layer.rule])
        rows.append((layer.name, layer.operator, _size(layer.shape), layer.way, f"{100 * layer.share:.1f} %", notes))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        *cells, share = (f"{cell:<{width}}" for cell, width in zip(row[:5], widths, strict=True))
        yield "  ".join([*cells, f"{share.strip():>{widths[4]}}", row[5]]).rstrip()


def explain(
    heads: Sequence[Entry], tensors: Sequence[torch.Tensor], ctx: Context, training: bool = True
) -> Explanation:
    """Explain how the graph below `heads` is computed; the inputs are in the order of `list_inputs()`.

    The caller's arrays do not change: the graph is prepared again and runs on copies.
    """
    program, copies = Program(heads, ctx), [t.detach().clone() for t in tensors]
    with torch.no_grad():
        inference = _inference(program, copies)
    trained = _training(program, copies) if training else []
    names = [node.name for node in program.variables]
    known = {"weight", "bias", "gamma", "beta", "mean", "var", "parameters", "i2h", "h2h"}
    shapes = {n: tuple(t.shape) for n, t in zip(names, copies, strict=True) if not known & set(n.split("_"))}
    kernels = "auto" if enabled() else "off"
    return Explanation(shapes, torch.get_num_threads(), kernels, inference, trained)


# Inference


def _inference(program: Program, tensors: list[torch.Tensor]) -> list[Layer]:
    for _ in range(2):
        for _ in range(2):  # parameters are folded once two runs have used the same values
            program.run(tensors, train=False)
        finish_loading()  # explain the steady state of a program, not its first calls
    lowered, streams = program.code(False, tensors)
    folding = program.folding
    names = {name: (node.name, node.op.name) for name, node in lowered.calls.items() if node.op is not None}
    ready = folding.arguments(tensors, streams) if isinstance(folding, Folding) and enabled() else None
    if ready is None:
        return _shared(_timed(lambda: _walk(lowered.code.graph, (*tensors, *streams), None, names, [])))
    arguments, workspace = ready
    return _shared(_timed(lambda: _walk(folding.graph, arguments, workspace.flush, names, folding.sites)))


def _timed(run: Any) -> list[Layer]:
    """Return the layers: decisions come from the first of several runs, times are the shortest of all runs."""
    first, *others = [run() for _ in range(ROUNDS)]
    for other in others:
        for layer, again in zip(first, other, strict=True):
            layer.seconds = min(layer.seconds, again.seconds)
            if layer.way == LIBRARY.kernel:
                layer.way, layer.rule = again.way, again.rule
    return first


def _walk(graph: fx.Graph, arguments: Sequence[Any], flush: Any, names: Names, sites: list[Any]) -> list[Layer]:
    values: dict[fx.Node, Any] = {}
    given, layers = iter(arguments), []
    for node in graph.nodes:
        if node.op == "placeholder":
            values[node] = next(given)
        elif node.op == "call_function":
            args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
            with traced() as log:
                begin = time.perf_counter()
                values[node] = node.target(*args, **kwargs)
                if flush is not None:
                    flush()
                seconds = time.perf_counter() - begin
            layer = _layer(node, values[node], names, sites)
            _note(layers, layer, node, log, seconds)
    return layers


def _note(layers: list[Layer], layer: Layer | None, node: fx.Node, log: list[Decision], seconds: float) -> None:
    """Add the layer; a call that is not an operator (a memory format change) is added to the previous layer."""
    if layer is None:
        if layers:
            layers[-1].seconds += seconds
        return
    used = [decision for decision in log if decision.used]
    layer.way, layer.rule = (used or [LIBRARY])[-1][::2]
    layer.seconds = seconds
    layers.append(layer)


def _layer(node: fx.Node, value: Any, names: Names, sites: list[Any]) -> Layer | None:
    tensor = value[0] if isinstance(value, (tuple, list)) and value else value
    shape = tuple(tensor.shape) if isinstance(tensor, torch.Tensor) else ()
    places = _site_numbers(node, len(sites))
    if places:
        own = [sites[i].conv.name for i in places]
        steps = [step for i in places for step in sites[i].chain]
        taken = [step.name for step in steps if step.name not in own and step.target is not pick]
        name, operator = names.get(own[0], (own[0], _function_name(node)))
        more = [names.get(word, (word, ""))[0] for word in (*own[1:], *taken)]
        return Layer(name, operator, shape, folded=more)
    first, *more = node.meta.get("layers", [node.name])  # several nodes that a rewriting pass has merged into one call
    if first in names:
        return Layer(*names[first], shape, folded=[names[word][0] for word in more if word in names])
    function = _function_name(node)
    return None if function in INTERNAL else Layer(node.name, function, shape)


def _site_numbers(node: fx.Node, count: int) -> list[int]:
    """Return the numbers of the packed layers that a call of a folded graph computes."""
    if not count:
        return []
    given = inspect.signature(node.target).bind(*node.args, **node.kwargs).arguments
    index = given.get("index", given.get("indices", ()))
    return list(index) if isinstance(index, (tuple, list)) else [index]


def _function_name(node: fx.Node) -> str:
    return getattr(node.target, "__name__", str(node.target))


# Training


def _training(program: Program, tensors: list[torch.Tensor]) -> list[Layer]:
    lowered, streams = program.code(True, tensors)
    names = {name: (node.name, node.op.name) for name, node in lowered.calls.items() if node.op is not None}
    run = _Training(lowered.code.graph, tensors, streams, set(program.states), names)
    return _shared(_timed(run.layers))


class _Training:
    """A training graph whose calls are differentiated one by one."""

    def __init__(
        self,
        graph: fx.Graph,
        tensors: list[torch.Tensor],
        streams: Sequence[Any],
        states: set[int],
        names: Names,
    ) -> None:
        self._graph, self._names = graph, names
        self._inputs = [_leaf(t, i in states) for i, t in enumerate(tensors)] + list(streams)

    def layers(self) -> list[Layer]:
        with torch.enable_grad():
            layers, steps = self._forward()
        for layer, outputs, leaves in reversed(steps):
            layer.seconds += _backward_seconds(outputs, leaves)
        return layers

    def _forward(self) -> tuple[list[Layer], list[tuple[Layer, list[torch.Tensor], list[torch.Tensor]]]]:
        values: dict[fx.Node, Any] = {}
        given, layers, steps = iter(self._inputs), [], []
        for node in self._graph.nodes:
            if node.op == "placeholder":
                values[node] = next(given)
            elif node.op == "call_function":
                leaves: list[torch.Tensor] = []
                args, kwargs = map_arg((node.args, node.kwargs), lambda n, own=leaves: _copied(values[n], own))
                with traced() as log:
                    begin = time.perf_counter()
                    values[node] = node.target(*args, **kwargs)
                    seconds = time.perf_counter() - begin
                _note(layers, _layer(node, values[node], self._names, []), node, log, seconds)
                if layers:
                    steps.append((layers[-1], _differentiable(values[node]), leaves))
        return layers, steps


def _leaf(tensor: torch.Tensor, state: bool) -> torch.Tensor:
    return tensor if state or not tensor.is_floating_point() else tensor.detach().requires_grad_()


def _copied(value: Any, leaves: list[torch.Tensor]) -> Any:
    """Return a copy of a value as a leaf of this call's own graph; the call may work in place."""
    if not isinstance(value, torch.Tensor):
        return type(value)(_copied(v, leaves) for v in value) if isinstance(value, (tuple, list)) else value
    if not value.requires_grad:
        return value
    leaf = value.detach().requires_grad_()
    leaves.append(leaf)
    return leaf.clone()


def _differentiable(value: Any) -> list[torch.Tensor]:
    values = value if isinstance(value, (tuple, list)) else [value]
    return [v for v in values if isinstance(v, torch.Tensor) and v.requires_grad and v.grad_fn is not None]


def _backward_seconds(outputs: list[torch.Tensor], leaves: list[torch.Tensor]) -> float:
    if not outputs or not leaves:
        return 0.0
    heads = [torch.ones_like(output) for output in outputs]
    begin = time.perf_counter()
    torch.autograd.grad(outputs, leaves, heads, allow_unused=True)
    return time.perf_counter() - begin


def _shared(layers: list[Layer]) -> list[Layer]:
    total = sum(layer.seconds for layer in layers) or 1.0
    for layer in layers:
        layer.share = layer.seconds / total
    return layers
