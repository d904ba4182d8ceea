"""Looking into a graph while it runs: every operator's inputs, outputs and gradients, by MXNet's names for them."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_arg

from ..._core.errors import MXNetError
from ..._core.writes import wrote_anywhere
from ..._ops.registry.gradient import ignores_head
from ..._ops.registry.integer_gradient import plain
from ..ir.node import Entry, Node, label
from ..lower.lower import moved, pick
from ..lower.program import FAILURES, LOSSES, Program, named
from ..training.gradient_flow import stops
from .monitor_names import gradient_names, input_name, takes_head

Show = Callable[[str, str, torch.Tensor], None]
Slot = tuple[fx.Node, int | None]
SUMMED_AT_ONCE = 8  # of more gradients than this MXNet makes a chain of sums


class Walk:
    """One run of a graph, an operator at a time, whose values go to `show(name, operator, value)` as they are made.

    `everything` shows inputs, too: variables also under their own names unless `by_operator`, as hooks of blocks have
    it. With `cut` every operator gets a graph of its own for torch, so that `backward` can show each gradient; a
    `silent` run shows nothing else. Of what MXNet's gradient operators read, only gradients are shown; work space that
    its kernels keep as hidden outputs does not exist here.
    """

    def __init__(
        self, program: Program, show: Show, everything=False, by_operator=False, cut=False, silent=False
    ) -> None:
        self.program, self.show, self.silent = program, show, silent
        self.everything, self.by_operator, self.cut = everything, by_operator, cut
        self.values: dict[fx.Node, Any] = {}
        self.reached: set[fx.Node] = set()  # values that lead back to a variable whose gradient is wanted
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
            raise named(self.lowered, error, [step.name]) from error
        except FAILURES as error:
            raise self.lowered.explain([*tensors, *streams], error) from error
        finally:
            wrote_anywhere()  # states, if it is trained
        self.silent = False
        return tuple(self.values[head] for head in self.heads)

    def _enter(self, step: fx.Node, value: Any) -> None:
        self.values[step] = value
        if isinstance(value, torch.Tensor) and value.requires_grad:
            self.reached.add(step)

    def _call(self, step: fx.Node) -> Any:
        node = self.lowered.calls.get(step.name)
        args, kwargs = map_arg((step.args, step.kwargs), self.values.__getitem__)
        if node is None:
            if step.args[0] in self.reached:
                self.reached.add(step)
            return step.target(*args, **kwargs)  # type: ignore[operator]
        if self.everything:
            self._show_inputs(node, args)
        cut = self.cut and not stops(node) and any(a in self.reached for a in step.args)
        args = self._leaves(node, args) if cut else args
        result = plain(step.target(*args, **kwargs))  # type: ignore[operator]
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        for i, value in enumerate(outputs[: node.outputs()]):
            self._tell(label(Entry(node, i)), node.op.name, value)  # type: ignore[union-attr]
        if cut and any(t.requires_grad for t in outputs):
            self.reached.add(step)
            self.tape[step] = list(args), outputs
        return result

    def _leaves(self, node: Node, args: Sequence[Any]) -> list[Any]:
        states = set(node.mutated())
        return [a if i in states else _leaf(a) for i, a in enumerate(args)]

    def _show_inputs(self, node: Node, args: Sequence[Any]) -> None:
        for i, (entry, value) in enumerate(zip(node.inputs, args, strict=True)):
            if entry.node.op is None and not self.by_operator:
                self._tell(entry.node.name, node.op.name, value)  # type: ignore[union-attr]
            self._tell(input_name(node, i), node.op.name, value)  # type: ignore[union-attr]

    def _tell(self, name: str, operation: str, value: torch.Tensor) -> None:
        if self.silent:
            return
        value = value.detach()
        self.show(name, operation, value.to_dense() if value.is_sparse else value)

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
            sources = {a for a in step.args if a in self.reached} - seen
            seen |= sources
            ahead += sources
        return False

    def backward(self, seeds: Sequence[torch.Tensor | None], count: int) -> list[torch.Tensor | None]:
        """The gradients of the first `count` inputs of the code, from those of the heads."""
        for i, (head, seed) in enumerate(zip(self.heads, seeds, strict=True)):
            if seed is not None:
                node = self.program.heads[i].node
                if takes_head(node):
                    self._tell(f"_head_grad_{i}_id_output", "_identity_with_attr_like_rhs", seed)
                self._add((head, None), seed)
        for step in reversed(self.lowered.module.graph.nodes):
            if step.op == "call_function":
                self._step_back(step)
        inputs = [n for n in self.lowered.module.graph.nodes if n.op == "placeholder"][:count]
        return [self._sum((n, None)) for n in inputs]

    def _step_back(self, step: fx.Node) -> None:
        source: Any = step.args[0] if step.args else None
        if step.target in (operator.getitem, pick):
            self._pass_on((source, step.args[1]), self._sum((step, None)))  # type: ignore[arg-type]
        elif step.target is moved:
            whole = self._sum((step, None))
            self._pass_on((source, None), None if whole is None else whole.to(self.values[source].device))
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
        if self.everything and takes_head(node) and gradient_names(node):
            for i, (_, head) in enumerate(pairs):
                self._tell(f"{node.name}_backward_input{i}", f"_backward_{node.op.name}", head)  # type: ignore[union-attr]
        leaves = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
        found = torch.autograd.grad([t for t, _ in pairs], leaves, [h for _, h in pairs], allow_unused=True)
        gradients = iter(found)
        by_input = [next(gradients) if isinstance(a, torch.Tensor) and a.requires_grad else None for a in args]
        self._show_gradients(node, args, by_input)
        for source, gradient in zip(step.args, by_input, strict=True):
            if source in self.reached:
                self._pass_on((source, None), gradient)  # type: ignore[arg-type]

    def _show_gradients(self, node: Node, args: list[Any], gradients: list[torch.Tensor | None]) -> None:
        states = set(node.mutated())
        pairs = [(a, g) for i, (a, g) in enumerate(zip(args, gradients, strict=True)) if i not in states]
        for name, (value, gradient) in zip(gradient_names(node), pairs, strict=False):
            shown = torch.zeros_like(value) if gradient is None else gradient
            self._tell(name, f"_backward_{node.op.name}", shown)  # type: ignore[union-attr]

    def _pass_on(self, slot: Slot, gradient: torch.Tensor | None) -> None:
        if gradient is not None:
            self._add(slot, gradient)

    def _add(self, slot: Slot, gradient: torch.Tensor) -> None:
        self.gradients.setdefault(slot, []).append(gradient)

    def _sum(self, slot: Slot) -> torch.Tensor | None:
        """All that came back to one value, added up; MXNet has nodes for that."""
        parts = self.gradients.pop(slot, [])
        if len(parts) < 2:
            return parts[0] if parts else None
        total = parts[0]
        for i, part in enumerate(parts[1:], 1):
            total = total + part
            if len(parts) > SUMMED_AT_ONCE:
                self._tell(f"sum_grad_{i}_output", "_grad_add", total)
        final = "sum_grad_final_output" if len(parts) > SUMMED_AT_ONCE else "sum_grad_output"
        self._tell(final, "ElementWiseSum", total)
        return total


def _leaf(value: Any) -> Any:
    """A value as torch differentiates by it, cut off from where it came from."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return plain(value)
    leaf = value.detach().requires_grad_()
    leaf.grad_stype = getattr(value, "grad_stype", None)  # type: ignore[attr-defined]  # embeddings look at this
    return leaf
