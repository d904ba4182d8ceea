"""Stores of several workers that step together: gradients are summed over all of them, each keeps its own copy."""

import torch
import torch.distributed as dist

from .._core.errors import MXNetError
from ..ndarray.ndarray import wrap
from ..ndarray.sparse import row_sparse_array
from . import group
from .compression import pack, unpack
from .kvstore import KVStore, pairs
from .overlap import Plan, describe


def create_distributed(name):
    """The store for a name with `dist` in it."""
    group.join()
    if "async" in name:
        from .parameter_server import KVStoreAsync

        return KVStoreAsync(name)
    return KVStoreDist(name)


class Workers(KVStore):
    """What all distributed stores know: rank, number of workers, barriers."""

    @property
    def rank(self):
        return dist.get_rank()

    @property
    def num_workers(self):
        return dist.get_world_size()

    def _barrier(self):
        with group.contact():
            dist.barrier()

    def serve(self):
        """Workers hold the values themselves; a server has nothing to do but to wait for them."""
        self._barrier()


class KVStoreDist(Workers):
    """Every worker pushes, every worker gets the sum; the updater runs in each, on equal values."""

    def __init__(self, handle):
        super().__init__(handle)
        self._plan = None

    def watch(self, keys, weights):
        """Send these weights' gradients while the next backward runs; they are pushed as ever afterwards."""
        if self._compress is not None:  # what is quantized cannot be taken back
            return
        if self._plan is None or self._plan.description != describe(keys, weights):
            channel = group.channel() if self._plan is None else self._plan.channel
            self._forget()
            self._plan = Plan(keys, weights, channel)
        self._plan.watch()

    def _forget(self):
        if self._plan is not None:
            self._plan.close()

    def init(self, key, value):
        """Store the first worker's values in all."""
        for k, arrays in self._check_keys(pairs(key, value)):
            stored = arrays[0].copy()
            dense = stored if stored.stype == "default" else stored.tostype("default")
            tensor = dense._t.contiguous()
            with group.contact():
                dist.broadcast(tensor, src=0)
            shared = wrap(tensor, stored.context)
            self._stored[k] = shared if stored.stype == "default" else shared.tostype(stored.stype)

    def _reduce_all(self, found):
        if self._compress is not None:
            return self._exchange_compressed(found)
        if self._plan is not None and self._plan.fits(*zip(*found, strict=True)):
            sums = self._plan.sums()
            return [wrap(sums[k], arrays[0].context) for k, arrays in found]
        # Copies: a gradient that was pushed must stay as it was.
        sums = [s.copy() if s.stype == "default" else s for s in (self._sum(arrays) for _, arrays in found)]
        group.add_over_workers([s._t for s in sums if s.stype == "default"])
        return [s if s.stype == "default" else rows_of_all(s) for s in sums]

    def _exchange_compressed(self, found):
        """Two bits for each element, of all keys in one message; each worker adds up what all have sent."""
        keys, totals = [k for k, _ in found], [self._sum(arrays) for _, arrays in found]
        for key, total in zip(keys, totals, strict=True):
            if total.stype != "default":
                raise MXNetError(f"gradient compression needs dense gradients; that of key {key} is {total.stype}")
        with torch.no_grad():
            tensors = [total._t.detach() for total in totals]
            packed = [pack(self._compress.quantize(k, t)) for k, t in zip(keys, tensors, strict=True)]
            sent = torch.cat([part.to(packed[0].device) for part in packed])
            from_all = [flat.split([len(part) for part in packed]) for flat in group.gather_over_workers(sent)]
            for i, tensor in enumerate(tensors):
                signs = sum(unpack(parts[i], tensor.numel()).to(torch.int32) for parts in from_all)
                tensors[i] = self._compress.dequantize(signs.to(tensor.device), tensor.dtype).view(tensor.shape)
        return [wrap(tensor, total.context) for tensor, total in zip(tensors, totals, strict=True)]


def rows_of_all(array, channel=None):
    """The sum of row-sparse arrays over all workers; only the rows that somebody has are sent."""
    if array.stype != "row_sparse":
        raise MXNetError(f"a distributed kvstore sums dense and row_sparse arrays, not {array.stype}")
    numbers, values = (group.gather_rows(part._t.detach(), channel) for part in (array.indices, array.data))
    rows, places = torch.unique(numbers, return_inverse=True)
    total = values.new_zeros((len(rows), *values.shape[1:])).index_add_(0, places, values)
    parts = wrap(total, array.context), wrap(rows, array.context)
    return row_sparse_array(parts, shape=array.shape, ctx=array.context, dtype=array.dtype)
