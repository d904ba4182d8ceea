"""Memory of a graph's intermediate values: all of them if there is a backward pass, else the peak of live ones."""

from collections.abc import Iterable

import numpy as np

from ..infer.fixpoint import Facts
from ..ir.node import Node
from ..lower.program import Program
from ..training.gradient_flow import gradient_path


def peak_memory(program: Program, shapes: Facts, types: Facts, wanted: Iterable[Node]) -> int:
    """Bytes of the values that operators compute, at the time when most of them are alive."""
    sizes = {id(n): _size(n, shapes, types) for n in program.nodes if n.op is not None}
    if gradient_path(program, wanted):
        return sum(sizes.values())
    last = {id(e.node): i for i, n in enumerate(program.nodes) for e in n.inputs}
    outputs = {id(e.node) for e in program.heads}
    live = most = 0
    for i, node in enumerate(program.nodes):
        live += sizes.get(id(node), 0)
        most = max(most, live)
        for before in {id(e.node) for e in node.inputs}:
            if last[before] == i and before not in outputs:
                live -= sizes.get(before, 0)
    return most


def _size(node: Node, shapes: Facts, types: Facts) -> int:
    total = 0
    for shape, dtype in zip(shapes.outputs(node), types.outputs(node), strict=True):
        width = 2 if dtype == "bfloat16" else np.dtype(dtype or "float32").itemsize
        total += int(np.prod(shape)) * width if shape is not None else 0
    return total
