"""Looking into a graph while it runs: every operator's inputs and outputs, by MXNet's names for them."""

from collections.abc import Iterator, Sequence

import torch

from .node import Entry, Node
from .program import Program


def label(node: Node, index: int) -> str:
    """What an output is called: the variable's name, or the node's name and the output's."""
    if node.op is None:
        return node.name
    name = node.output_names()[index]
    return f"{node.name}_{name}" if node.name else name


def _entries(program: Program, everything: bool) -> list[tuple[str, str, Entry]]:
    """(name, operator, entry) of all that is shown, in the order of computation."""
    shown: list[tuple[str, str, Entry]] = []
    for node in program.nodes:
        if node.op is None:
            continue
        if everything:
            names = node.input_names()
            for i, entry in enumerate(node.inputs):
                name = f"{node.name}_{names[i]}" if entry.node.op is not None else entry.node.name
                shown.append((name, node.op.name, entry))
        shown += [(label(node, i), node.op.name, Entry(node, i)) for i in range(node.visible())]
    return shown


def values(
    program: Program, tensors: Sequence[torch.Tensor], train: bool, everything: bool = False
) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Run the graph on copies of its states and give out (name, operator, value) of every operator's outputs."""
    shown = _entries(program, everything)
    inner = Program([entry for _, _, entry in shown], program.place)
    given = {id(node): tensor.detach() for node, tensor in zip(program.variables, tensors, strict=True)}
    states = {id(program.variables[i]) for i in program.states}
    inputs = [given[id(n)].clone() if id(n) in states else given[id(n)] for n in inner.variables]
    with torch.no_grad():
        results = inner.run(inputs, train)
    for (name, operator, _), result in zip(shown, results, strict=True):
        yield name, operator, result
