"""Memory of a graph's values: with a backward pass all values and the gradients in flight, else the peak of live ones.

Activations that training recomputes after batch norms are counted as stored.
"""

from collections.abc import Iterable

import numpy as np

from ..infer.fixpoint import Facts
from ..ir.node import Node
from ..lower.program import Program
from ..training.gradient_flow import gradient_path
from ..training.mirror import is_wanted as mirror_wanted
from ..training.mirror import needed, repeated, segments


def peak_memory(program: Program, shapes: Facts, types: Facts, wanted: Iterable[Node]) -> int:
    """Return the peak number of bytes of the values that operators compute."""
    sizes = {id(n): _size(n, shapes, types) for n in program.nodes if n.op is not None}
    if gradient_path(program, wanted):
        return _stored_for_backward(program, sizes) + _gradients_in_flight(program, sizes)
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


def _gradients_in_flight(program: Program, sizes: dict[int, int]) -> int:
    """Return the largest number of bytes of gradients that the backward pass of one operator reads and writes."""
    calls = [node for node in program.nodes if node.op is not None]
    return max(sizes[id(n)] + sum(sizes.get(id(e.node), 0) for e in n.inputs) for n in calls)


def _stored_for_backward(program: Program, sizes: dict[int, int]) -> int:
    """Return the bytes that the backward pass needs.

    These are all values outside mirrored segments, the values of mirrored segments that other nodes read, and the
    largest segment, which is recomputed while the gradient of its result exists.
    """
    calls = [node for node in program.nodes if node.op is not None]
    if not mirror_wanted(program.nodes):
        return sum(sizes.values())
    total = largest = 0
    parts = segments(calls)
    for number, (mirrored, nodes) in enumerate(parts):
        inside = sum(sizes[id(node)] for node in nodes)
        if not repeated(mirrored, nodes, number == len(parts) - 1):
            total += inside
            continue
        read = {id(entry.node) for entry in needed(nodes, calls, program.heads)}
        outside = sum(sizes[key] for key in read)
        total, largest = total + outside, max(largest, inside + outside)
    return total + largest


def _size(node: Node, shapes: Facts, types: Facts) -> int:
    total = 0
    for shape, dtype in zip(shapes.outputs(node), types.outputs(node), strict=True):
        width = 2 if dtype == "bfloat16" else np.dtype(dtype or "float32").itemsize
        total += int(np.prod(shape)) * width if shape is not None else 0
    return total
