"""A monitored run of a graph: reports every operator's inputs, outputs and gradients under MXNet's names."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_arg

from ..._core.errors import MXNetError
from ..._core.writes import wrote_anywhere
from ..._ops.registry.gradient import ignores_head
from ..._ops.registry.integer_gradient import plain
from ..._ops.sparse.tensors import densified
from ..ir.node import Entry, Node, entry_name
from ..lower.fx_calls import argument, calls, moved, selected_output
from ..lower.program import LOSSES, OPERATOR_ERRORS, Program, with_node_name
from ..training.gradient_flow import blocks_gradient
from .monitor_names import gradient_names, input_name, takes_head

Callback = Callable[[str, str, torch.Tensor], None]
Slot = tuple[fx.Node, int | None]
MAX_SUMMED_AT_ONCE = 8  # more gradients than this are added in a chain, as in MXNet


class MonitoredRun:
    """One run of a graph, operator by operator; each value is passed to `callback(name, operator, value)`.

    `monitor_all` reports inputs too: variables also under their own names unless `by_operator`, which is how hooks of
    Gluon blocks report them. With `differentiable`, torch records each operator separately, so that `backward` can
    report every gradient; a `silent` run reports nothing else. Of the inputs of MXNet's gradient operators only
    gradients are reported, and hidden outputs that are work space of MXNet's kernels do not exist here.
    """

    def __init__(
        self,
        program: Program,
        callback: Callback,
        monitor_all=False,
        by_operator=False,
        differentiable=False,
        silent=False,
    ) -> None:
        self.program, self.callback, self.silent = program, callback, silent
        self.monitor_all, self.by_operator, self.differentiable = monitor_all, by_operator, differentiable
        self.values: dict[fx.Node, Any] = {}
        self.requires_gradient: set[fx.Node] = set()  # values that depend on a variable whose gradient is wanted
        self.tape: dict[fx.Node, tuple[list[Any], list[Any]]] = {}
        self.gradients: dict[Slot, list[torch.Tensor]] = {}

    def run(self, tensors: Sequence[torch.Tensor], train: bool) -> tuple[torch.Tensor, ...]:
        """The heads' values."""
        self.lowered, streams = self.program.steps(train, tensors)
        given = iter([*tensors, *streams])
        try:
            for step in self.lowered.module.graph.nodes:
                if step.op == "placeholder":
                    self._enter(step, next(given))
                elif step.op == "call_function":
                    self.values[step] = self._call(step)
                else:
                    self.heads: tuple[fx.Node, ...] = step.args[0]
        except MXNetError as error:
            raise with_node_name(self.lowered, error, [step.name]) from error
        except OPERATOR_ERRORS as error:
            raise self.lowered.explain([*tensors, *streams], error) from error
        finally:
            wrote_anywhere()  # auxiliary states, in training
        self.silent = False
        return tuple(self.values[head] for head in self.heads)

    def _enter(self, step: fx.Node, value: Any) -> None:
        self.values[step] = value
        if isinstance(value, torch.Tensor) and value.requires_grad:
            self.requires_gradient.add(step)

    def _call(self, step: fx.Node) -> Any:
        node = self.lowered.calls.get(step.name)
        args, kwargs = map_arg((step.args, step.kwargs), self.values.__getitem__)
        if node is None:
            if any(value in self.requires_gradient for value in step.all_input_nodes):
                self.requires_gradient.add(step)
            return step.target(*args, **kwargs)  # type: ignore[operator]
        if self.monitor_all:
            self._report_inputs(node, args)
        recorded = (
            self.differentiable and not blocks_gradient(node) and any(a in self.requires_gradient for a in step.args)
        )
        args = self._leaves(node, args) if recorded else args
        result = plain(step.target(*args, **kwargs))  # type: ignore[operator]
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        for i, value in enumerate(outputs[: node.outputs()]):
            self._report(entry_name(Entry(node, i)), node.op.name, value)  # type: ignore[union-attr]
        if recorded and any(t.requires_grad for t in outputs):
            self.requires_gradient.add(step)
            self.tape[step] = list(args), outputs
        return result

    def _leaves(self, node: Node, args: Sequence[Any]) -> list[Any]:
        states = set(node.mutated())
        return [a if i in states else _leaf(a) for i, a in enumerate(args)]

    def _report_inputs(self, node: Node, args: Sequence[Any]) -> None:
        for i, (entry, value) in enumerate(zip(node.inputs, args, strict=True)):
            if entry.node.op is None and not self.by_operator:
                self._report(entry.node.name, node.op.name, value)  # type: ignore[union-attr]
            self._report(input_name(node, i), node.op.name, value)  # type: ignore[union-attr]

    def _report(self, name: str, operation: str, value: torch.Tensor) -> None:
        if self.silent:
            return
        value = value.detach()
        self.callback(name, operation, value.to_dense() if value.is_sparse else value)

    # gradients

    def reads_head(self, number: int) -> bool:
        """Does a gradient given for a head reach a variable? See `_ops.gradient.reads_head`."""
        ahead = [self.heads[number]]
        seen = set(ahead)
        while ahead:
            step = ahead.pop()
            if step.op == "placeholder":
                return True
            if step in self.tape and all(ignores_head(t) for t in self.tape[step][1] if t.requires_grad):
                continue
            sources = {a for a in step.args if a in self.requires_gradient} - seen
            seen |= sources
            ahead += sources
        return False

    def backward(self, seeds: Sequence[torch.Tensor | None], count: int) -> list[torch.Tensor | None]:
        """The gradients of the first `count` inputs of the code, from those of the heads."""
        for i, (head, seed) in enumerate(zip(self.heads, seeds, strict=True)):
            if seed is not None:
                node = self.program.heads[i].node
                if takes_head(node):
                    self._report(f"_head_grad_{i}_id_output", "_identity_with_attr_like_rhs", seed)
                self._add((head, None), seed)
        for step in reversed(self.lowered.module.graph.nodes):
            if step.op == "call_function":
                self._backward_step(step)
        inputs = [n for n in self.lowered.module.graph.nodes if n.op == "placeholder"][:count]
        return [self._sum((n, None)) for n in inputs]

    def _backward_step(self, step: fx.Node) -> None:
        selection = selected_output(step)
        if selection is not None:
            self._add_if_any(selection, self._sum((step, None)))
        elif calls(step, densified):
            self._add_if_any((argument(step, "tensor"), None), self._sum((step, None)))
        elif calls(step, moved):
            source, gradient = argument(step, "tensor"), self._sum((step, None))
            self._add_if_any((source, None), None if gradient is None else gradient.to(self.values[source].device))
        elif step in self.tape:
            self._differentiate(step)

    def _differentiate(self, step: fx.Node) -> None:
        node = self.lowered.calls[step.name]
        args, outputs = self.tape.pop(step)
        single = len(outputs) == 1 and isinstance(self.values[step], torch.Tensor)
        heads = [self._sum((step, None if single else i)) for i in range(len(outputs))]
        if node.op.name in LOSSES:  # type: ignore[union-attr]  # it starts by itself, even behind a block
            heads = [torch.ones_like(t) if h is None else h for t, h in zip(outputs, heads, strict=True)]
        pairs = [(t, h) for t, h in zip(outputs, heads, strict=True) if h is not None and t.requires_grad]
        if not pairs:
            return
        if self.monitor_all and takes_head(node) and gradient_names(node):
            for i, (_, head) in enumerate(pairs):
                self._report(f"{node.name}_backward_input{i}", f"_backward_{node.op.name}", head)  # type: ignore[union-attr]
        leaves = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
        found = torch.autograd.grad([t for t, _ in pairs], leaves, [h for _, h in pairs], allow_unused=True)
        gradients = iter(found)
        by_input = [next(gradients) if isinstance(a, torch.Tensor) and a.requires_grad else None for a in args]
        self._report_gradients(node, args, by_input)
        for source, gradient in zip(step.args, by_input, strict=True):
            if source in self.requires_gradient:
                self._add_if_any((source, None), gradient)  # type: ignore[arg-type]

    def _report_gradients(self, node: Node, args: list[Any], gradients: list[torch.Tensor | None]) -> None:
        states = set(node.mutated())
        pairs = [(a, g) for i, (a, g) in enumerate(zip(args, gradients, strict=True)) if i not in states]
        for name, (value, gradient) in zip(gradient_names(node), pairs, strict=False):
            reported = torch.zeros_like(value) if gradient is None else gradient
            self._report(name, f"_backward_{node.op.name}", reported)  # type: ignore[union-attr]

    def _add_if_any(self, slot: Slot, gradient: torch.Tensor | None) -> None:
        if gradient is not None:
            self._add(slot, gradient)

    def _add(self, slot: Slot, gradient: torch.Tensor) -> None:
        self.gradients.setdefault(slot, []).append(gradient)

    def _sum(self, slot: Slot) -> torch.Tensor | None:
        """The sum of the gradients of one value from all its users; MXNet has nodes for these sums."""
        parts = self.gradients.pop(slot, [])
        if len(parts) < 2:
            return parts[0] if parts else None
        total = parts[0]
        for i, part in enumerate(parts[1:], 1):
            total = total + part
            if len(parts) > MAX_SUMMED_AT_ONCE:
                self._report(f"sum_grad_{i}_output", "_grad_add", total)
        final = "sum_grad_final_output" if len(parts) > MAX_SUMMED_AT_ONCE else "sum_grad_output"
        self._report(final, "ElementWiseSum", total)
        return total


def _leaf(value: Any) -> Any:
    """A detached copy of a value, as a leaf for torch."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return plain(value)
    leaf = value.detach().requires_grad_()
    leaf.grad_stype = getattr(value, "grad_stype", None)  # type: ignore[attr-defined]  # read by embeddings
    return leaf
