"""The serving half of `dist_async`: the part of the values that one process holds, and what may be asked of it."""

import contextlib
import importlib
import sys
import threading

import torch

from .._core.errors import MXNetError
from .._formats.states import MAGIC
from ..context import cpu
from ..ndarray.ndarray import wrap
from ..optimizer import get_updater, state_files
from . import arrays
from .kvstore import KVStore


class Shard:
    """Values by key, updated under a lock by requests from all workers."""

    def __init__(self):
        self.store, self.lock = KVStore("local"), threading.Lock()

    def updater(self):
        if self.store._updater is None:
            raise MXNetError("Updater needs to be set for async mode: call set_optimizer first")
        return self.store._updater


SHARD = Shard()


def set_values(items):
    """Take values as they are."""
    SHARD.store._stored.update((key, arrays.from_wire(sent).copy()) for key, sent in items)
    return []


def push(items):
    """Let the updater use gradients."""
    SHARD.updater()
    keys, gradients = [key for key, _ in items], [arrays.from_wire(sent) for _, sent in items]
    for key in keys:
        SHARD.store._held(key)
    SHARD.store._take(keys, gradients)
    return []


def pull(items):
    """The values of keys."""
    return [(key, arrays.to_wire(SHARD.store._held(key).copy())) for key, _ in items]


def rows(items):
    """Some rows of a value; the numbers of the rows come as an array."""
    [(key, ids)] = items
    held = SHARD.store._held(key)
    if held.stype != "row_sparse":
        raise MXNetError(f"row_sparse_pull of key {key} needs row_sparse storage, but the value is {held.stype}")
    numbers = torch.unique(arrays.from_wire(ids)._t.flatten().long())
    return [(key, arrays.to_wire(held.retain(wrap(numbers, cpu()))))]


# ---------------------------------------------------------------------- the optimizer, as a container without code
def as_items(data, name=""):
    """Bytes as a message of one array."""
    return [(name, ("dense", None, [torch.frombuffer(bytearray(data), dtype=torch.uint8)]))]


def as_bytes(items):
    """The bytes of `as_items`; only our own container of states, which holds no code, is let in."""
    [(_, (_, _, [tensor]))] = items
    data = tensor.numpy().tobytes()
    if not data.startswith(MAGIC):
        raise MXNetError("optimizers and their states travel in ReMX's own container, which holds no code")
    return data


def set_optimizer(items):
    """Set the optimizer; states that are there stay, as they do when MXNet's servers get a new one."""
    module = items[0][0]
    if module not in sys.modules:  # a class of the program's own, which this worker has not needed yet
        with contextlib.suppress(ImportError, ValueError):  # `loads` says what is missing
            importlib.import_module(module)
    SHARD.store._set_updater(get_updater(state_files.loads(as_bytes(items))))
    return []


def states(items):
    """The updater's states as bytes, with the optimizer if the key says so."""
    return as_items(SHARD.updater().get_states(items[0][0] == "with optimizer"))


def check_states(items):
    """Refuse states that do not fit the values that live here."""
    SHARD.updater()._checked(as_bytes(items), weights=SHARD.store._weights(), complete=False)
    return []


def set_states(items):
    """Put states into the updater."""
    SHARD.updater().set_states(as_bytes(items), weights=SHARD.store._weights(), complete=False)
    return []


CALLS = {
    call.__name__: call for call in (set_values, push, pull, rows, set_optimizer, states, check_states, set_states)
}


def call(name, items):
    """Do what is asked, under the lock."""
    if name not in CALLS:
        raise MXNetError(f"a parameter server knows no {str(name)[:40]!r}")
    with SHARD.lock:
        return CALLS[name](items)


def answer(header, buffers):
    """The answer to a message from another worker; what goes wrong here is told to who asked."""
    try:
        return arrays.pack_items(call(header.get("call"), arrays.unpack_items(header, buffers)))
    except MXNetError as error:
        return {"refused": str(error)}, []
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}, []
