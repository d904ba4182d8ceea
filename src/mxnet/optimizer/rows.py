"""Updates where something is sparse: a row-sparse gradient may touch its own rows and nothing else."""

import torch

from .._core.writes import wrote_anywhere
from ..ndarray import NDArray
from ..ndarray.invoke import plain_tensor
from ..ndarray.ndarray import wrap
from ..ndarray.sparse import row_sparse_array


def arrays_of(state):
    """The arrays of one parameter's state, in order."""
    if state is None:
        return []
    if isinstance(state, (list, tuple)):
        if all(type(part) is NDArray for part in state):
            return state
        return [array for part in state for array in arrays_of(part)]
    return [state]


def update_rows(step, index, weight, grad, state, lr, wd):
    """One `step`; with a row-sparse `grad` on its rows only.

    Sparse weights and states are rewritten whole. After a step on some rows states have all of them, as in MXNet, and a
    weight those that it had, though they be zeros.
    """
    arrays, rows = [weight, *arrays_of(state)], None
    dense = [a if a.stype == "default" else a.tostype("default") for a in arrays]
    tensors = [plain_tensor(a) for a in dense]
    with torch.no_grad():
        if grad.stype == "default":
            _call(step, tensors, plain_tensor(grad), lr, wd, index)
        else:
            rows = plain_tensor(grad.indices).long()
            if not len(rows):
                return
            parts = [t[rows] for t in tensors]
            _call(step, parts, plain_tensor(grad.data), lr, wd, index)
            for tensor, part in zip(tensors, parts, strict=True):
                tensor.index_copy_(0, rows, part)
    wrote_anywhere()
    for array, changed in zip(arrays, dense, strict=True):
        if changed is not array:
            kept = None if rows is None else _kept(array, rows, whole=array is not weight)
            _rewrite(array, changed, kept)


def _kept(array, rows, whole):
    if whole:
        return torch.arange(array.shape[0], device=rows.device)
    return torch.unique(torch.cat([plain_tensor(array.indices).long(), rows]))


def _rewrite(array, dense, rows):
    """Give a sparse array new values: in these rows, or in those that are not zero."""
    if rows is None:
        sparse = dense.tostype(array.stype)
    else:
        places = wrap(rows, array.context)
        sparse = row_sparse_array((wrap(plain_tensor(dense)[rows], array.context), places), shape=array.shape)
    sparse.copyto(array)


def _call(step, tensors, grad, lr, wd, index):
    weight, *states = tensors
    step([weight], [grad], [[state] for state in states], [lr], [wd], [index])
