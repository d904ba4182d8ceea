"""Batch splitting: a batch whose activations exceed the buffers that may be kept is computed in chunks.

Allocating fresh memory at each run costs more time than computing chunks of the batch one after the other. Layers
after the last one that treats every image independently get the whole batch.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from ..._core.lru import Recent
from .packed_conv import Workspace

CHUNK = 1 << 26  # bytes of activations of one chunk: enough images to reuse the weights in cache

Forward = Callable[..., Any]


class BatchChunks:
    """Runs a graph as a whole, or up to the node `cut` in chunks of argument number `data`."""

    def __init__(self, module: fx.GraphModule, data: int, cut: fx.Node | None) -> None:
        self._graph, self._forward, self._data, self._cut = module.graph, module.forward, data, cut
        self._halves: tuple[Forward, Forward] | None = None
        self._counts: Recent[tuple[int, ...], int] = Recent(256)  # number of chunks, by shape of the data

    def run(self, arguments: Sequence[Any], workspace: Workspace) -> Any:
        """The graph's results."""
        shape = arguments[self._data].shape
        count = self._counts.get(shape) or self._counts.again(shape) or 1
        if count == 1 or self._cut is None:
            return self._forward(*arguments)
        first, second = self._halves = self._halves or _halves(self._graph, self._cut)
        return second(*arguments, self._gathered(first, list(arguments), count, workspace))

    def divide(self, arguments: Sequence[Any], needed: int) -> None:
        """Compute data of this shape in chunks from now on; the whole batch needed `needed` bytes."""
        shape = arguments[self._data].shape
        if self._counts.again(shape) is None:
            self._counts.keep(shape, min(shape[0], math.ceil(needed / CHUNK)))

    def _gathered(self, first: Forward, arguments: list[Any], count: int, workspace: Workspace) -> torch.Tensor:
        """The concatenated results of the chunks, in memory of their own: it may be the result that a user sees."""
        data, begin, gathered = arguments[self._data], 0, None
        for chunk in data.tensor_split(count):
            arguments[self._data] = chunk
            value = first(*arguments)
            workspace.flush()
            if gathered is None:
                gathered = workspace.take(None, len(data), *value.shape[1:])
            gathered[begin : begin + len(chunk)].copy_(value)
            begin += len(chunk)
        return gathered  # type: ignore[return-value] - there are two chunks at least


def _halves(graph: fx.Graph, cut: fx.Node) -> tuple[Forward, Forward]:
    """The graph up to a node, and the graph after it, which takes the node's value as its last argument."""
    first, second = fx.Graph(), fx.Graph()
    before: dict[fx.Node, fx.Node] = {}
    after: dict[fx.Node, fx.Node] = {}
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    for node in inputs:
        before[node], after[node] = first.node_copy(node), second.node_copy(node)
    others = [node for node in graph.nodes if node.op != "placeholder"]
    position = others.index(cut) + 1
    for node in others[:position]:
        before[node] = first.node_copy(node, before.__getitem__)
    first.output(before[cut])
    after[cut] = second.placeholder("gathered")
    for node in others[position:]:
        after[node] = second.node_copy(node, after.__getitem__)
    functions = [fx.GraphModule(torch.nn.Module(), half, "Portion").forward for half in (first, second)]
    return functions[0], functions[1]


def last_cut(graph: fx.Graph, inputs: set[fx.Node], alone: Callable[[fx.Node], bool]) -> fx.Node | None:
    """The last node that is the only value its successors need, with all nodes before it working on images `alone`.

    Those nodes read only `inputs` and each other's results.
    """
    found = None
    needed: set[fx.Node] = set()  # results that later nodes read
    order = {node: i for i, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        if node.op == "placeholder":
            continue
        placeholders = {value for value in node.all_input_nodes if value.op == "placeholder"}
        if node.op != "call_function" or not alone(node) or not placeholders <= inputs:
            break
        needed = {value for value in {*needed, node} if any(order[user] > order[node] for user in value.users)}
        if needed == {node}:
            found = node
    return found
