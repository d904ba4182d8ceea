"""What lies between the packed layers of a prediction, handed to a compiler: elementwise chains, sums, norms."""

import operator
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import fx

from ..._ops.registry.registry import find
from ..training.memory_format import plain
from .backends import Compiler
from .lower import calls, pick

CHOICES = pick, operator.getitem  # of one of several outputs
# They compute nothing: a stretch with one operator beside them is not worth compiling.
IDLE = frozenset([plain, *CHOICES, *(find(name).fn for name in ("Flatten", "Reshape", "identity"))])


def compile_between(graph: fx.Graph, packed: frozenset[object], inputs: set[fx.Node], compiler: Compiler) -> None:
    """Put compiled code in place of all stretches that are not `packed` and read each other's results or `inputs`."""
    for stretch in list(_stretches(graph.nodes, packed, inputs)):
        results = [node for node in stretch if any(user not in stretch for user in node.users)]
        several = any(calls(user, *CHOICES) and user not in stretch for node in results for user in node.users)
        if not several and sum(node.target not in IDLE for node in stretch) > 1:
            _replace(graph, stretch, results, compiler)


def _stretches(
    nodes: Iterable[fx.Node], packed: frozenset[object], inputs: set[fx.Node]
) -> Iterator[dict[fx.Node, None]]:
    found: dict[fx.Node, None] = {}
    for node in nodes:
        taken = {value for value in node.all_input_nodes if value.op == "placeholder"}
        if node.op == "call_function" and node.target not in packed and taken <= inputs:
            found[node] = None
        elif found:
            yield found
            found = {}


def _replace(graph: fx.Graph, stretch: dict[fx.Node, None], results: list[fx.Node], compiler: Compiler) -> None:
    inner = fx.Graph()
    given = dict.fromkeys(value for node in stretch for value in node.all_input_nodes if value not in stretch)
    copies = {value: inner.placeholder(value.name) for value in given}
    for node in stretch:
        copies[node] = inner.node_copy(node, copies.__getitem__)
    inner.output(tuple(copies[node] for node in results))
    *_, last = stretch
    with graph.inserting_after(last):
        whole = graph.call_function(_function(compiler(fx.GraphModule(torch.nn.Module(), inner, "Between"))), (*given,))
    for place, node in reversed(list(enumerate(results))):
        with graph.inserting_after(whole):
            node.replace_all_uses_with(graph.call_function(operator.getitem, (whole, place)))
    for node in reversed(stretch):
        graph.erase_node(node)


def _function(code: Callable[..., object]) -> Callable[..., object]:
    """Code as something that has a name, which calls in a graph need."""

    def between(*tensors: torch.Tensor) -> object:
        return code(*tensors)

    return between
