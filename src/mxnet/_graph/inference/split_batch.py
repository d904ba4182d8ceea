"""A batch for which a network would need more memory than it may keep goes through it in portions.

New memory at each run costs more time than it takes to compute part of the batch after the other. What is behind the
last layer that works on each image alone gets the whole batch.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from ..._core.lru import Recent
from .packed_conv import Workspace

PORTION = 1 << 26  # bytes that a portion may take: images enough for good use of the weights

Forward = Callable[..., Any]


class Portions:
    """A graph that is run as a whole, or up to a node in portions of its data, an argument by its place."""

    def __init__(self, module: fx.GraphModule, data: int, cut: fx.Node | None) -> None:
        self._graph, self._forward, self._data, self._cut = module.graph, module.forward, data, cut
        self._halves: tuple[Forward, Forward] | None = None
        self._counts: Recent[tuple[int, ...], int] = Recent(256)  # into how many portions data of a shape are divided

    def run(self, arguments: Sequence[Any], workspace: Workspace) -> Any:
        """The graph's results."""
        shape = arguments[self._data].shape
        count = self._counts.get(shape) or self._counts.again(shape) or 1
        if count == 1 or self._cut is None:
            return self._forward(*arguments)
        first, second = self._halves = self._halves or _halves(self._graph, self._cut)
        return second(*arguments, self._gathered(first, list(arguments), count, workspace))

    def divide(self, arguments: Sequence[Any], needed: int) -> None:
        """Take such data in portions from now on: as a whole they needed so many bytes."""
        shape = arguments[self._data].shape
        if self._counts.again(shape) is None:
            self._counts.keep(shape, min(shape[0], math.ceil(needed / PORTION)))

    def _gathered(self, first: Forward, arguments: list[Any], count: int, workspace: Workspace) -> torch.Tensor:
        """What the portions give, in memory of its own: it may be the result that a user sees."""
        data, begin, gathered = arguments[self._data], 0, None
        for portion in data.tensor_split(count):
            arguments[self._data] = portion
            value = first(*arguments)
            workspace.flush()
            if gathered is None:
                gathered = workspace.take(None, len(data), *value.shape[1:])
            gathered[begin : begin + len(portion)].copy_(value)
            begin += len(portion)
        return gathered  # type: ignore[return-value] - there are two portions at least


def _halves(graph: fx.Graph, cut: fx.Node) -> tuple[Forward, Forward]:
    """What comes up to a node, and what comes behind it, which takes the node's value as its last argument."""
    first, second = fx.Graph(), fx.Graph()
    before: dict[fx.Node, fx.Node] = {}
    behind: dict[fx.Node, fx.Node] = {}
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    for node in inputs:
        before[node], behind[node] = first.node_copy(node), second.node_copy(node)
    others = [node for node in graph.nodes if node.op != "placeholder"]
    place = others.index(cut) + 1
    for node in others[:place]:
        before[node] = first.node_copy(node, before.__getitem__)
    first.output(before[cut])
    behind[cut] = second.placeholder("gathered")
    for node in others[place:]:
        behind[node] = second.node_copy(node, behind.__getitem__)
    made = [fx.GraphModule(torch.nn.Module(), half, "Portion").forward for half in (first, second)]
    return made[0], made[1]


def last_cut(graph: fx.Graph, inputs: set[fx.Node], alone: Callable[[fx.Node], bool]) -> fx.Node | None:
    """The last node behind which nothing else that came before is needed, and up to which all work on images `alone`.

    They take `inputs` and each other's results only.
    """
    found = None
    needed: set[fx.Node] = set()  # results that somebody further down reads
    order = {node: i for i, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        if node.op == "placeholder":
            continue
        taken = {value for value in node.all_input_nodes if value.op == "placeholder"}
        if node.op != "call_function" or not alone(node) or not taken <= inputs:
            break
        needed = {value for value in {*needed, node} if any(order[user] > order[node] for user in value.users)}
        if needed == {node}:
            found = node
    return found
