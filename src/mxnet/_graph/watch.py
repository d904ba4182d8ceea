"""Looking into a graph while it runs: every operator's inputs and outputs, by MXNet's names for them."""

from collections.abc import Iterator, Sequence

import torch

from .node import Entry, Node, label
from .program import Program

# Operators of one input that MXNet gave a name; to its hooks the input of any other is `input0`.
NAMED_INPUT = frozenset(
    [
        "Dropout",
        "LRN",
        "Pooling",
        "all_finite",
        "col2im",
        "depth_to_space",
        "diag",
        "im2col",
        "log_softmax",
        "moments",
        "one_hot",
        "repeat",
        "reverse",
        "space_to_depth",
        "squeeze",
        "tile",
    ]
)


def _input_name(node: Node, index: int) -> str:
    names = node.input_names()
    plain = len(names) > 1 or node.op.name in NAMED_INPUT  # type: ignore[union-attr]
    return names[index] if plain else f"input{index}"


def _entries(program: Program, everything: bool, by_operator: bool) -> list[tuple[str, str, Entry]]:
    """(name, operator, entry) of all that is shown, in the order of computation."""
    shown: list[tuple[str, str, Entry]] = []
    for node in program.nodes:
        if node.op is None:
            continue
        if everything:
            names = node.input_names()
            for i, entry in enumerate(node.inputs):
                if by_operator:
                    name = f"{node.name}_{_input_name(node, i)}"
                else:
                    name = f"{node.name}_{names[i]}" if entry.node.op is not None else entry.node.name
                shown.append((name, node.op.name, entry))
        shown += [(label(Entry(node, i)), node.op.name, Entry(node, i)) for i in range(node.visible())]
    return shown


def values(
    program: Program, tensors: Sequence[torch.Tensor], train: bool, everything: bool = False, by_operator: bool = False
) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Run the graph on copies of its states and give out (name, operator, value) of every operator's outputs.

    With `everything` inputs too, variables under their own names or, as hooks of blocks have it, all `by_operator`.
    """
    shown = _entries(program, everything, by_operator)
    inner = Program([entry for _, _, entry in shown], program.place)
    given = {id(node): tensor.detach() for node, tensor in zip(program.variables, tensors, strict=True)}
    states = {id(program.variables[i]) for i in program.states}
    inputs = [given[id(n)].clone() if id(n) in states else given[id(n)] for n in inner.variables]
    with torch.no_grad():
        results = inner.run(inputs, train)
    for (name, operator, _), result in zip(shown, results, strict=True):
        yield name, operator, result
