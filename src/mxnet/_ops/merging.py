"""Sums and products of two matrices of few elements in one pass (see merge_kernels): no sorting of what both have."""

import torch
from torch import Tensor

from .loader import kernels

LEAST = 1 << 12  # elements; fewer are not worth loading a compiler

_loader = kernels("merge_kernels")

Parts = tuple[Tensor, Tensor, Tensor]  # elements, their columns, and where rows begin


# of two elements a and b: a + sign b, or a b where the sign is 0
SIGNS = {"elemwise_add": 1, "_grad_add": 1, "elemwise_sub": -1, "elemwise_mul": 0}


def merged(one: Parts, other: Parts, name: str) -> Parts | None:
    """The operator on two matrices, without zeros; None: there is no kernel for that, or not yet."""
    most, sign = len(one[0]) + len(other[0]), SIGNS.get(name)
    if sign is None or any(p[0].dtype is not torch.float32 or not p[0].is_cpu for p in (one, other)):
        return None
    even = len(one[2]) == len(other[2]) and all(len(p[0]) == len(p[1]) for p in (one, other))
    kernel = (_loader.get(wait=False) if most >= LEAST else _loader.loaded()) if even else None
    if kernel is None:
        return None
    sums, columns, starts = one[0].new_empty(most), one[1].new_empty(most), torch.empty_like(one[2])
    arrays = [[t.detach().contiguous().numpy() for t in parts] for parts in (one, other, (sums, columns, starts))]
    number = kernel.merge(*arrays[0], *arrays[1], sign, *arrays[2])
    return None if number < 0 else (sums.resize_(number), columns.resize_(number), starts)
