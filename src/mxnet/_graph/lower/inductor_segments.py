"""Compilation of graph segments between packed layers in inference: elementwise chains, sums, norms."""

import operator
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import fx

from ..._ops.registry.registry import find
from ..training.memory_format import plain
from .backends import Compiler
from .fx_calls import calls, pick

OUTPUT_SELECTORS = pick, operator.getitem  # functions that select one of several outputs
# Functions that compute nothing: a segment with only one other operator is not worth compiling.
NO_COMPUTE = frozenset([plain, *OUTPUT_SELECTORS, *(find(name).fn for name in ("Flatten", "Reshape", "identity"))])


def compile_segments(graph: fx.Graph, packed: frozenset[object], inputs: set[fx.Node], compiler: Compiler) -> None:
    """Compile each maximal run of calls that are not `packed` and read only `inputs` and results of other calls."""
    for segment in list(_segments(graph.nodes, packed, inputs)):
        results = [node for node in segment if any(user not in segment for user in node.users)]
        selected_outside = any(
            calls(user, *OUTPUT_SELECTORS) and user not in segment for node in results for user in node.users
        )
        if not selected_outside and sum(node.target not in NO_COMPUTE for node in segment) > 1:
            _replace(graph, segment, results, compiler)


def _segments(
    nodes: Iterable[fx.Node], packed: frozenset[object], inputs: set[fx.Node]
) -> Iterator[dict[fx.Node, None]]:
    found: dict[fx.Node, None] = {}
    for node in nodes:
        placeholders = {value for value in node.all_input_nodes if value.op == "placeholder"}
        if node.op == "call_function" and node.target not in packed and placeholders <= inputs:
            found[node] = None
        elif found:
            yield found
            found = {}


def _replace(graph: fx.Graph, segment: dict[fx.Node, None], results: list[fx.Node], compiler: Compiler) -> None:
    inner = fx.Graph()
    given = dict.fromkeys(value for node in segment for value in node.all_input_nodes if value not in segment)
    copies = {value: inner.placeholder(value.name) for value in given}
    for node in segment:
        copies[node] = inner.node_copy(node, copies.__getitem__)
    inner.output(tuple(copies[node] for node in results))
    *_, last = segment
    with graph.inserting_after(last):
        call = graph.call_function(_function(compiler(fx.GraphModule(torch.nn.Module(), inner, "Between"))), (*given,))
    for index, node in reversed(list(enumerate(results))):
        with graph.inserting_after(call):
            node.replace_all_uses_with(graph.call_function(operator.getitem, (call, index)))
    for node in reversed(segment):
        graph.erase_node(node)


def _function(code: Callable[..., object]) -> Callable[..., object]:
    """The code as a function with a name, as calls in fx graphs need."""

    def between(*tensors: torch.Tensor) -> object:
        return code(*tensors)

    return between
