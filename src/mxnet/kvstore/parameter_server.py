"""`dist_async`: keys are spread over the workers' processes; a push updates its key at once, nobody waits."""

import atexit
import os
import socket
import threading
import zlib
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch.distributed import rpc

from .._core.errors import MXNetError
from ..context import cpu
from ..ndarray.ndarray import wrap
from ..optimizer import get_updater, state_files
from . import group
from .compression import pack, unpack
from .dist import Workers
from .kvstore import KVStore, _copy, pairs


class Shard:
    """The part of the values that this process serves, updated under a lock by requests from all workers."""

    def __init__(self):
        self.store, self.lock = KVStore("local"), threading.Lock()

    def set(self, key, tensor):
        with self.lock:
            self.store._stored[key] = wrap(tensor.clone(), cpu())

    def push(self, key, tensor):
        with self.lock:
            if self.store._updater is None:
                raise MXNetError("Updater needs to be set for async mode: call set_optimizer before push")
            self.store._take([key], [wrap(tensor, cpu())])

    def pull(self, key):
        with self.lock:
            return self.store._held(key)._t.clone()

    def set_optimizer(self, data):
        with self.lock:
            self.store._set_updater(get_updater(state_files.loads(data)))


SHARD = Shard()


def serve_set(key, tensor):
    SHARD.set(key, tensor)


def serve_push(key, tensor):
    SHARD.push(key, tensor)


def serve_push_packed(key, packed, shape, threshold):
    signs = unpack(packed, torch.Size(shape).numel())
    SHARD.push(key, (signs.to(torch.float32) * threshold).view(shape))


def serve_pull(key):
    return SHARD.pull(key)


def serve_optimizer(data):
    SHARD.set_optimizer(data)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


@contextmanager
def own_store():
    """Let the first worker open the meeting point, which torch otherwise expects of the launcher's agent."""
    held = os.environ.pop("TORCHELASTIC_USE_AGENT_STORE", None)
    try:
        yield
    finally:
        if held is not None:
            os.environ["TORCHELASTIC_USE_AGENT_STORE"] = held


def connect():
    """Join the workers' remote procedure calls, once; the first worker says where."""
    if rpc.api._is_current_rpc_agent_set():
        return
    rank, world = dist.get_rank(), dist.get_world_size()
    port = torch.tensor([_free_port() if rank == 0 else 0])
    with group.contact():
        dist.broadcast(port, src=0)
        where = f"tcp://{group._fact('address')}:{port.item()}"
        options = rpc.TensorPipeRpcBackendOptions(init_method=where, rpc_timeout=300)
        with own_store():
            rpc.init_rpc(f"worker{rank}", rank=rank, world_size=world, rpc_backend_options=options)
    atexit.register(disconnect)


def disconnect():
    """Leave when all workers are done: until then others may need the values that live here."""
    if rpc.api._is_current_rpc_agent_set():
        rpc.shutdown()


class KVStoreAsync(Workers):
    """Every worker pushes and pulls at its own pace."""

    def __init__(self, handle):
        super().__init__(handle)
        connect()
        self._pending = {}
        self._shapes = {}

    def _owner(self, key):
        return f"worker{zlib.crc32(repr(key).encode()) % self.num_workers}"

    def _wait(self, key):
        """Our own pushes of a key arrive before we pull it."""
        for answer in self._pending.pop(key, ()):
            with group.contact():
                answer.wait()

    def init(self, key, value):
        """Store the first worker's values."""
        for k, arrays in self._check_keys(pairs(key, value)):
            self._shapes[k] = arrays[0].shape
            if self.rank == 0:
                rpc.rpc_sync(self._owner(k), serve_set, args=(k, arrays[0]._t.cpu()))
        self._barrier()

    def push(self, key, value, priority=0):
        """Send each key's sum over our devices to where it lives."""
        for k, arrays in self._check_keys(pairs(key, value)):
            if k not in self._shapes:
                raise MXNetError(f"key {k} has not been inited; call init or broadcast with it first")
            tensor = self._sum(arrays)._t.detach().cpu()
            if self._compress is None:
                call, arguments = serve_push, (k, tensor)
            else:
                packed = pack(self._compress.quantize(k, tensor))
                call, arguments = serve_push_packed, (k, packed, tuple(tensor.shape), self._compress.threshold)
            self._pending.setdefault(k, []).append(rpc.rpc_async(self._owner(k), call, args=arguments))

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Fetch the values as they are now."""
        assert out is not None
        for k, arrays in self._check_keys(pairs(key, out)):
            self._wait(k)
            with group.contact():
                held = wrap(rpc.rpc_sync(self._owner(k), serve_pull, args=(k,)), cpu())
            for array in arrays:
                _copy(held, array)

    def set_optimizer(self, optimizer):
        """Give the first worker's optimizer to every server."""
        if self.rank == 0:
            data = state_files.dumps(optimizer)
            for worker in range(self.num_workers):
                rpc.rpc_sync(f"worker{worker}", serve_optimizer, args=(data,))
        self._barrier()

    def save_optimizer_states(self, fname, dump_optimizer=False):
        raise MXNetError("Cannot save states for distributed training: the servers of dist_async hold them")

    def load_optimizer_states(self, fname):
        raise MXNetError("Cannot load states for distributed training: the servers of dist_async hold them")
