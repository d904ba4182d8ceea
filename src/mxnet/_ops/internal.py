"""Names that MXNet registers for its own machinery: two backward operators, and marks that only C++ can call."""

import torch

from .._core.errors import MXNetError
from .reduce.reduction import at_least_1d, reduced_axes
from .registry.registry import op


@op("_broadcast_backward")
def broadcast_backward(data, *, axis: tuple | None = None, keepdims: bool = False, exclude: bool = False):
    """The gradient of a broadcast: its head summed over the repeated axes."""
    return at_least_1d(torch.sum(data, reduced_axes(data, axis, exclude), keepdims, dtype=data.dtype))


@op("_split_v2_backward")
def split_v2_backward(*data, indices: tuple, axis: int = 1, squeeze_axis: bool = False, sections: int = 0):
    """The gradient of a split: the heads joined."""
    return torch.stack(data, axis) if squeeze_axis else torch.cat(data, axis)


# These take pointers or stand for nothing that could be computed; a Python program cannot call them in MXNet either.
MARKS = {
    "_NoGradient": "marks an input without gradient inside a gradient graph",
    "_CachedOp": "stands for a hybridized block inside a recorded graph; use mx.nd.CachedOp",
    "_CachedOpThreadSafe": "stands for a hybridized block inside a recorded graph; use mx.nd.CachedOp",
    "_CustomFunction": "stands for an autograd.Function inside a recorded graph; use mx.autograd.Function",
    "_NDArray": "calls a Python operator through a C pointer; use mx.operator.CustomOp",
    "_Native": "calls a Python operator through a C pointer; use mx.operator.CustomOp",
}


def mark(name: str, meaning: str):
    """An operator that is only a name in graphs."""

    def refuse(*data):
        raise MXNetError(f"Operator {name} {meaning}")

    refuse.__name__, refuse.__doc__ = name, f"Not callable: it {meaning}."
    return refuse


for _name, _meaning in MARKS.items():
    op(_name, differentiable=False)(mark(_name, _meaning))
