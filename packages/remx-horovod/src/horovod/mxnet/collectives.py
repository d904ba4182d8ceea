"""Reductions, gathers and broadcasts of arrays over the processes of a job, called in the same order by all."""

import hashlib

import numpy as np
import torch
import torch.distributed as dist

import mxnet as mx
from mxnet._core.writes import wrote_anywhere
from mxnet.base import MXNetError
from mxnet.kvstore import group
from mxnet.kvstore.dist import rows_of_all

from . import basics
from .process_sets import check_member, global_process_set

Average, Sum, Adasum, Min, Max, Product = range(6)
_NAMES = ("Average", "Sum", "Adasum", "Min", "Max", "Product")
_OPS = {
    Average: dist.ReduceOp.SUM,
    Sum: dist.ReduceOp.SUM,
    Min: dist.ReduceOp.MIN,
    Max: dist.ReduceOp.MAX,
    Product: dist.ReduceOp.PRODUCT,
}
_SHOWN = 224  # bytes of a call's description that travel with its hash


# ---------------------------------------------------------------------- arrays and calls
def _memory(array, what):
    """The tensor of a dense array, to be read or written in place."""
    if getattr(array, "stype", "default") != "default":
        raise MXNetError(f"hvd.{what} takes dense arrays, not {array.stype} ones: use tostype('default') first")
    return array.as_nd_ndarray()._t.detach()


def _new(tensor, like):
    """A new array of the class and context of another."""
    made = mx.nd.from_torch(tensor.contiguous())
    made = made.as_in_context(like.context)
    return made.as_np_ndarray() if isinstance(like, mx.np.ndarray) else made


def _alone(process_set):
    check_member(process_set)
    return process_set.size() == 1


def same_call(what, facts, process_set):
    """Raise in all processes when they have called different things: torch would wait, or mix up their bytes."""
    text = f"{what} {facts}".encode()
    sent = hashlib.sha256(text).digest() + text[:_SHOWN].ljust(_SHOWN)
    with basics.contact():
        found = group.gather_over_workers(torch.tensor(list(sent), dtype=torch.uint8), process_set.channel)
    calls = [bytes(one.tolist()) for one in found]
    if len(set(calls)) > 1:
        named = zip(process_set.ranks, calls, strict=True)
        shown = "; ".join(f"process {rank}: {call[32:].decode(errors='replace').strip()}" for rank, call in named)
        raise MXNetError(f"the processes have called different things: {shown}")


def _kind_of_device(arrays, what):
    """ "cpu" or "gpu", where all these arrays are."""
    kinds = sorted({array.context.device_type for array in arrays})
    if len(kinds) > 1:
        raise MXNetError(f"hvd.{what} takes arrays on one kind of device, not on {' and '.join(kinds)} together")
    return kinds[0] if kinds else ""


def _describe(tensors):
    return ", ".join(f"{tuple(t.shape)} {str(t.dtype).removeprefix('torch.')}" for t in tensors)


def chosen_op(average, op):
    """The operation of Horovod's two arguments for it; Average if neither is given."""
    if op is not None and average is not None:
        raise ValueError("The op parameter supersedes average. Please provide only one of them.")
    op = (Sum if average is False else Average) if op is None else op
    if op == Adasum:
        raise MXNetError("hvd.Adasum is not available: use hvd.Average or hvd.Sum")
    if op not in _OPS:
        raise ValueError(f"no reduction {op!r}; there are hvd.Average, Sum, Min, Max and Product")
    return op


# ---------------------------------------------------------------------- reductions
def _scale(tensors, factor):
    if factor == 1.0:
        return
    for tensor in tensors:
        tensor.copy_(tensor * factor)  # integers are rounded towards zero


def reduce_tensors(tensors, op, process_set, before=1.0, after=1.0):
    """Reduce tensors in place; small ones share messages."""
    after = after / process_set.size() if op == Average else after
    _scale(tensors, before)
    if process_set.size() > 1:
        with basics.contact():
            group.add_over_workers(tensors, process_set.channel, _OPS[op])
    _scale(tensors, after)
    wrote_anywhere()


def reduce_rows(array, op, process_set, before=1.0, after=1.0):
    """Sum a row-sparse array in place; only the rows that somebody has travel."""
    if op not in (Sum, Average):
        raise MXNetError(f"row_sparse arrays are summed or averaged, hvd.{_NAMES[op]} is for dense ones")
    factor = before * after / (process_set.size() if op == Average else 1)
    if process_set.size() > 1:
        with basics.contact():
            rows_of_all(array, process_set.channel).copyto(array)
    if factor != 1.0:
        (array * factor).copyto(array)


def is_sparse(array):
    """Is this a row-sparse array?"""
    return getattr(array, "stype", "default") == "row_sparse"


def _reduce_sparse(what, array, name, op, process_set, before, after):
    if not _alone(process_set):
        same_call(what, f"{_NAMES[op]} {name or ''} row_sparse {array.shape} {array.dtype}", process_set)
    reduce_rows(array, op, process_set, before, after)


def _reduce(what, arrays, name, op, process_set, before, after):
    sparse = [array for array in arrays if is_sparse(array)]
    for array in sparse:
        _reduce_sparse(what, array, name, op, process_set, before, after)
    if len(sparse) == len(arrays):
        return arrays
    given, arrays = arrays, [array for array in arrays if not is_sparse(array)]
    tensors, device = [_memory(array, what) for array in arrays], _kind_of_device(arrays, what)
    if any(tensor.dtype is torch.bool for tensor in tensors):
        raise MXNetError(f"hvd.{what} takes numbers; the array has type bool")
    if not _alone(process_set):
        same_call(what, f"{_NAMES[op]} {name or ''} {device} {_describe(tensors)}", process_set)
    reduce_tensors(tensors, op, process_set, before, after)
    return given


def allreduce(
    tensor,
    average=None,
    name=None,
    priority=0,
    prescale_factor=1.0,
    postscale_factor=1.0,
    process_set=global_process_set,
    op=None,
):
    """The mean (or `op`) of an array over all processes, as a new array.

    Parameters
    ----------
    tensor : NDArray
        Of the same shape and type in all processes.
    average : bool, optional
        Horovod's older spelling of `op`: Average or Sum.
    name : str, optional
        If given, all processes must give the same.
    prescale_factor, postscale_factor : float
        Factors before and after the reduction.
    process_set : ProcessSet
        Who takes part.
    op : optional
        `Average` (the default), `Sum`, `Min`, `Max` or `Product`.

    Returns
    -------
    NDArray
    """
    factors = {"prescale_factor": prescale_factor, "postscale_factor": postscale_factor}
    return allreduce_(tensor.copy(), average, name, priority, process_set=process_set, op=op, **factors)


def allreduce_(
    tensor,
    average=None,
    name=None,
    priority=0,
    prescale_factor=1.0,
    postscale_factor=1.0,
    process_set=global_process_set,
    op=None,
):
    """`allreduce` in place; returns the array."""
    op = chosen_op(average, op)
    return _reduce("allreduce", [tensor], name, op, process_set, prescale_factor, postscale_factor)[0]


def grouped_allreduce(
    tensors,
    average=None,
    name=None,
    priority=0,
    prescale_factor=1.0,
    postscale_factor=1.0,
    process_set=global_process_set,
    op=None,
):
    """`allreduce` of several arrays in few messages; a list of new arrays."""
    factors = {"prescale_factor": prescale_factor, "postscale_factor": postscale_factor}
    copies = [tensor.copy() for tensor in tensors]
    return grouped_allreduce_(copies, average, name, priority, process_set=process_set, op=op, **factors)


def grouped_allreduce_(
    tensors,
    average=None,
    name=None,
    priority=0,
    prescale_factor=1.0,
    postscale_factor=1.0,
    process_set=global_process_set,
    op=None,
):
    """`grouped_allreduce` in place; returns the arrays."""
    op = chosen_op(average, op)
    arrays = list(tensors)
    return _reduce("grouped_allreduce", arrays, name, op, process_set, prescale_factor, postscale_factor)


def reducescatter(
    tensor,
    op=Average,
    name=None,
    priority=0,
    process_set=global_process_set,
    prescale_factor=1.0,
    postscale_factor=1.0,
):
    """This process's share of the rows of the reduced array; the first processes have one more if they must."""
    _with_rows(tensor, "reducescatter", ValueError)
    factors = {"prescale_factor": prescale_factor, "postscale_factor": postscale_factor}
    whole = allreduce(tensor, name=name, process_set=process_set, op=op, **factors)
    share, more = divmod(len(whole), process_set.size())
    mine = process_set.rank()
    begin = mine * share + min(mine, more)
    return whole[begin : begin + share + (mine < more)].copy()


def grouped_reducescatter(
    tensors,
    op=Average,
    name=None,
    priority=0,
    process_set=global_process_set,
    prescale_factor=1.0,
    postscale_factor=1.0,
):
    """`reducescatter` of several arrays."""
    for one in tensors:
        _with_rows(one, "reducescatter", ValueError)
    return [reducescatter(one, op, name, priority, process_set, prescale_factor, postscale_factor) for one in tensors]


# ---------------------------------------------------------------------- moves
def _as_numbers(tensor):
    """Bits that gloo can move: it knows no bool."""
    return tensor.view(torch.uint8) if tensor.dtype is torch.bool else tensor


def _with_rows(array, what, error=MXNetError):
    """The tensor of an array that has a first axis; Horovod's error for one without differs."""
    memory = _memory(array, what)
    if memory.dim() == 0:
        raise error(f"hvd.{what} works along the first axis; a scalar array has none")
    return memory


def allgather(tensor, name=None, priority=0, process_set=global_process_set):
    """The arrays of all processes one behind the other, along the first axis, whose length may differ."""
    memory = _with_rows(tensor, "allgather")
    if _alone(process_set):
        return tensor.copy()
    device = _kind_of_device([tensor], "allgather")
    same_call("allgather", f"{name or ''} {device} {_describe([memory[:0]])}", process_set)
    with basics.contact():
        found = group.gather_rows(_as_numbers(memory.contiguous()), process_set.channel)
    return _new(found.view(memory.dtype), tensor)


def grouped_allgather(tensors, name=None, priority=0, process_set=global_process_set):
    """`allgather` of several arrays."""
    _kind_of_device(tensors, "grouped_allgather")
    return [allgather(one, name, priority, process_set) for one in tensors]


def broadcast_tensors(tensors, root_rank, process_set):
    """Overwrite tensors with those of the root; small ones share messages."""
    for bucket in group.buckets(tensors):
        flat = torch.cat([_as_numbers(tensor.contiguous()).view(-1) for tensor in bucket])
        with basics.contact():
            dist.broadcast(flat, root_rank, group=process_set.channel)
        parts = flat.split([tensor.numel() for tensor in bucket])
        for tensor, part in zip(bucket, parts, strict=True):
            tensor.copy_(part.view(tensor.dtype).view(tensor.shape))
    wrote_anywhere()


def broadcast_arrays_(arrays, root_rank, name, process_set=global_process_set):
    """Overwrite arrays with those of the process `root_rank`."""
    tensors, device = [_memory(array, "broadcast") for array in arrays], _kind_of_device(arrays, "broadcast")
    if root_rank not in process_set.ranks:
        raise ValueError(f"the root of a broadcast must be one of the processes {process_set.ranks}, not {root_rank}")
    if not _alone(process_set):
        same_call("broadcast", f"from {root_rank} {name or ''} {device} {_describe(tensors)}", process_set)
        broadcast_tensors(tensors, root_rank, process_set)


def broadcast(tensor, root_rank, name=None, priority=0, process_set=global_process_set):
    """The array of the process `root_rank` (its rank in the whole job), as a new array."""
    return broadcast_(tensor.copy(), root_rank, name, priority, process_set)


def broadcast_(tensor, root_rank, name=None, priority=0, process_set=global_process_set):
    """`broadcast` in place; returns the array."""
    broadcast_arrays_([tensor], root_rank, name, process_set)
    return tensor


def alltoall(tensor, splits=None, name=None, priority=0, process_set=global_process_set):
    """Send a slice of the first axis to each process; what they have sent here, one behind the other.

    Parameters
    ----------
    tensor : NDArray
    splits : NDArray or list of int, optional
        How many rows go to each process; equal shares if left out.

    Returns
    -------
    NDArray, or (NDArray, NDArray)
        With `splits` also how many rows came from each process.
    """
    memory = _with_rows(tensor, "alltoall")
    counts = _split_counts(memory, splits, process_set)
    if _alone(process_set):
        received, found = counts, memory.clone()
    else:
        device = _kind_of_device([tensor], "alltoall")
        same_call("alltoall", f"{name or ''} {device} {_describe([memory[:0]])}", process_set)
        received, found = _exchange(_as_numbers(memory.contiguous()), counts, process_set)
    made = _new(found.view(memory.dtype), tensor)
    return made if splits is None else (made, mx.nd.array(received, dtype="int32"))


def _split_counts(memory, splits, process_set):
    check_member(process_set)
    rows, world = len(memory), process_set.size()
    if splits is None:
        if rows % world:
            raise MXNetError(f"hvd.alltoall cannot split {rows} rows evenly among {world} processes: give splits")
        return [rows // world] * world
    if hasattr(splits, "asnumpy") and np.dtype(splits.dtype) != np.int32:
        raise MXNetError(f"the splits of hvd.alltoall must have type int32, not {np.dtype(splits.dtype).name}")
    counts = [int(n) for n in (splits.asnumpy() if hasattr(splits, "asnumpy") else splits)]
    if len(counts) != world or min(counts) < 0 or sum(counts) != rows:
        raise MXNetError(f"the splits of hvd.alltoall must be {world} numbers with the sum {rows}, not {counts}")
    return counts


def _exchange(memory, counts, process_set):
    sent, received = torch.tensor(counts), torch.empty(len(counts), dtype=torch.int64)
    with basics.contact():
        dist.all_to_all_single(received, sent, group=process_set.channel)
        coming = received.tolist()
        found = memory.new_empty((sum(coming), *memory.shape[1:]))
        dist.all_to_all_single(found, memory, coming, counts, group=process_set.channel)
    return coming, found
