"""A single run of an inference graph, operator by operator: no code is generated for it.

Lowering takes longer than a prediction of a small network does. The first prediction therefore runs like this; the
second one, which is folded as well, lowers the graph.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ...context import Context
from ..infer.fixpoint import attrs_with_count
from ..ir.node import Entry, Node
from .fx_calls import pick
from .lower import injected_values, node_function

Values = dict[tuple[Node, int], torch.Tensor]


def runs_directly(nodes: Iterable[Node]) -> bool:
    """Do single operators compute what the code of the graph would? Quantized layers are rounded differently there."""
    return not any(node.op is not None and (node.subgraphs or "quant" in node.op.name) for node in nodes)


def run_directly(
    nodes: Sequence[Node], heads: Sequence[Entry], tensors: Iterable[torch.Tensor], ctx: Context, stream: Any
) -> tuple[torch.Tensor, ...]:
    """The values of `heads`; `nodes` are in topological order, `tensors` the values of their variables.

    A value is dropped after its last use.
    """
    given = iter(tensors)
    values: Values = {(node, 0): next(given) for node in nodes if node.op is None}
    uses = Counter((entry[0], entry[1]) for node in nodes for entry in node.inputs)
    uses.update((head[0], head[1]) for head in heads)
    for node in nodes:
        if node.op is not None:
            _call(node, values, uses, ctx, stream)
    return tuple(values[head[0], head[1]] for head in heads)


def _call(node: Node, values: Values, uses: Counter[tuple[Node, int]], ctx: Context, stream: Any) -> None:
    """Enter the outputs that are used, and drop the inputs that are used for the last time."""
    op, slots = node.op, [(entry[0], entry[1]) for entry in node.inputs]
    assert op is not None
    function = node_function(node, False, ctx, None, {})
    tensors = [values[slot] for slot in slots]
    result = function(*tensors, **attrs_with_count(node), **injected_values(op, False, ctx, stream))
    for slot in slots:
        uses[slot] -= 1
        if not uses[slot]:
            del values[slot]
    if op.outputs == 1:
        values[node, 0] = result
    else:
        values.update({(node, i): pick(result, i) for i in range(node.outputs()) if uses[node, i]})
