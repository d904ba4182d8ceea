"""Which part of a parameter each worker keeps: a span of its elements, of its rows, or the whole of it."""

from typing import NamedTuple

import torch

from ..context import cpu
from ..ndarray import NDArray
from ..ndarray.ndarray import wrap
from ..ndarray.sparse import row_sparse_array


class Cut(NamedTuple):
    """Spans of one parameter by rank; `kind` says of what: "elements", "rows", or "whole" for a single owner."""

    kind: str
    spans: tuple

    def of(self, tensor, rank):
        """A worker's part of a tensor, in the same memory."""
        begin, end = self.spans[rank]
        if self.kind == "rows":
            return tensor[begin:end]
        return tensor if end - begin == tensor.numel() else tensor.view(-1)[begin:end]

    def sizes(self, tensor):
        """How many elements each worker has."""
        width = tensor[0].numel() if self.kind == "rows" and len(tensor) else 1
        return [(end - begin) * width for begin, end in self.spans]


UNIT = {"elements": 64, "rows": 1}


def even(kind, count, world):
    """Spans whose lengths differ by one unit at most.

    Elements are cut at multiples of 64: SIMD kernels then treat each element as they do in the whole parameter, as part
    of a vector or of the rest behind the last one, whose rounding differs.
    """
    unit = UNIT[kind]
    ends = [min(count, -(-count // unit) * rank // world * unit) for rank in range(world + 1)]
    return Cut(kind, tuple(zip(ends[:-1], ends[1:], strict=True)))


def whole(count, owner, world):
    """All of it with one worker."""
    return Cut("whole", tuple((0, count if rank == owner else 0) for rank in range(world)))


def rows_between(array, begin, end):
    """The rows of a row-sparse array in a span, numbered from its beginning."""
    numbers = array.indices._t
    chosen = (numbers >= begin) & (numbers < end)
    return sparse(array.data._t.detach()[chosen], numbers[chosen] - begin, (end - begin, *array.shape[1:]), array)


def sparse(values, numbers, shape, like):
    """A row-sparse array of these rows, where another one is."""
    parts = wrap(values, like.context), wrap(numbers, like.context)
    return row_sparse_array(parts, shape=shape, ctx=like.context, dtype=like.dtype)


# ---------------------------------------------------------------------- states
def split_state(cut, state, rank):
    """A worker's part of a state that was saved whole."""
    if isinstance(state, (tuple, list)):
        return type(state)(split_state(cut, part, rank) for part in state)
    if not isinstance(state, NDArray):
        return state
    if state.stype == "row_sparse":
        return rows_between(state, *cut.spans[rank])
    return wrap(cut.of(state._t.detach(), rank).clone(), state.context)


def join_states(cut, states, shape):
    """The whole state of the workers' parts; `shape` is that of the parameter."""
    first = states[0]
    if isinstance(first, (tuple, list)):
        return type(first)(join_states(cut, list(parts), shape) for parts in zip(*states, strict=True))
    if not isinstance(first, NDArray):
        return first
    if first.stype == "row_sparse":
        numbers = [s.indices._t + begin for s, (begin, _) in zip(states, cut.spans, strict=True)]
        values = torch.cat([s.data._t for s in states])
        return sparse(values, torch.cat(numbers), (cut.spans[-1][1], *first.shape[1:]), first)
    joined = torch.cat([s._t for s in states])
    return wrap(joined.view(shape) if cut.kind == "elements" else joined, cpu())
