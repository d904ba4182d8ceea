"""The serving half of `dist_async`: the part of the values that one process holds, and how arrays travel to it."""

import threading

import torch

from .._core.errors import MXNetError
from ..context import cpu
from ..ndarray.ndarray import wrap
from ..ndarray.sparse import row_sparse_array
from ..optimizer import get_updater, state_files
from .compression import pack, unpack
from .kvstore import KVStore


# ---------------------------------------------------------------------- arrays on the wire
def to_wire(array):
    """A dense array's tensor, or the numbers and the values of a row-sparse array's rows."""
    if array.stype == "row_sparse":
        return "rows", array.indices._t.cpu(), array.data._t.detach().cpu(), tuple(array.shape)
    if array.stype != "default":
        raise MXNetError(f"dist_async sends dense and row_sparse arrays, not {array.stype}")
    return "dense", array._t.detach().cpu()


def compressed(compressor, key, array):
    """Two bits for each element."""
    if array.stype != "default":
        raise MXNetError(f"gradient compression needs dense gradients; that of key {key} is {array.stype}")
    tensor = array._t.detach().cpu()
    return "2bit", pack(compressor.quantize(key, tensor)), tuple(tensor.shape), compressor.threshold


def from_wire(sent):
    """The array that `to_wire` or `compressed` described."""
    kind, first, *rest = sent
    if kind == "rows":
        return row_sparse_array((wrap(rest[0], cpu()), wrap(first, cpu())), shape=rest[1], dtype=rest[0].numpy().dtype)
    if kind == "2bit":
        shape, threshold = rest
        first = (unpack(first, torch.Size(shape).numel()).to(torch.float32) * threshold).view(shape)
    return wrap(first, cpu())


def size_on_wire(sent):
    """Bytes of the tensors in it."""
    return sum(part.numel() * part.element_size() for part in sent if isinstance(part, torch.Tensor))


# ---------------------------------------------------------------------- what is served
class Shard:
    """Values by key, updated under a lock by requests from all workers."""

    def __init__(self):
        self.store, self.lock = KVStore("local"), threading.Lock()

    def updater(self):
        if self.store._updater is None:
            raise MXNetError("Updater needs to be set for async mode: call set_optimizer first")
        return self.store._updater


SHARD = Shard()


def serve_set(items):
    """Take values as they are."""
    with SHARD.lock:
        SHARD.store._stored.update((key, from_wire(sent).copy()) for key, sent in items)


def serve_push(items):
    """Let the updater use gradients."""
    with SHARD.lock:
        SHARD.updater()
        keys, arrays = [key for key, _ in items], [from_wire(sent) for _, sent in items]
        for key in keys:
            SHARD.store._held(key)
        SHARD.store._take(keys, arrays)


def serve_pull(keys):
    """The values of keys."""
    with SHARD.lock:
        return [to_wire(SHARD.store._held(key).copy()) for key in keys]


def serve_rows(key, ids):
    """Some rows of a value."""
    with SHARD.lock:
        held = SHARD.store._held(key)
        if held.stype != "row_sparse":
            raise MXNetError(f"row_sparse_pull of key {key} needs row_sparse storage, but the value is {held.stype}")
        return to_wire(held.retain(wrap(torch.unique(ids.flatten().long()), cpu())))


def serve_optimizer(data):
    """Set the optimizer; states that are there stay, as they do when MXNet's servers get a new one."""
    with SHARD.lock:
        SHARD.store._set_updater(get_updater(state_files.loads(data)))


def serve_states(dump_optimizer):
    """The updater's states as bytes."""
    with SHARD.lock:
        return SHARD.updater().get_states(dump_optimizer)


def serve_new_states(data):
    """Put states into the updater."""
    with SHARD.lock:
        SHARD.updater().set_states(data)


def serve_alive():
    """Asked by the others from time to time."""
