"""Updates where something is sparse: a row-sparse gradient may touch its own rows and nothing else."""

import torch

from .._core.writes import wrote_anywhere
from .._ops.sparse.parts import write_rows
from ..ndarray import NDArray
from ..ndarray._dispatch.invoke import plain_tensor
from ..ndarray._sparse.array import rows_for_update


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

    After a step on some rows sparse states have all of them, as in MXNet, and a weight those that it had, though they
    be zeros. A dense gradient rewrites whole sparse arrays.
    """
    arrays = [weight, *arrays_of(state)]
    with torch.no_grad():
        if grad.stype == "default":
            _update_whole(step, arrays, plain_tensor(grad), lr, wd, index)
        elif len(rows := plain_tensor(grad.indices).long()):
            opened = [rows_for_update(rows, array, all_rows=array is not weight) for array in arrays]
            parts = [values.index_select(0, places) for values, places, _ in opened]
            _call(step, parts, plain_tensor(grad.data), lr, wd, index)
            for array, (values, places, kept), part in zip(arrays, opened, parts, strict=True):
                write_rows(values, places, part)
                if kept is not None:
                    array._replace((values, kept))
    wrote_anywhere()


def _update_whole(step, arrays, grad, lr, wd, index):
    dense = [a if a.stype == "default" else a.tostype("default") for a in arrays]
    _call(step, [plain_tensor(a) for a in dense], grad, lr, wd, index)
    for array, changed in zip(arrays, dense, strict=True):
        if changed is not array:
            changed.tostype(array.stype).copyto(array)


def _call(step, tensors, grad, lr, wd, index):
    weight, *states = tensors
    step([weight], [grad], [[state] for state in states], [lr], [wd], [index])
