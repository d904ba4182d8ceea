"""`dist_async`: keys are spread over the workers' processes; a push updates its key at once, nobody waits."""

import atexit
import os
import threading
import warnings
import zlib
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch.distributed import rpc

from .._core.errors import MXNetError
from .._core.ports import free_port
from .._formats.atomic import write_file
from ..optimizer import state_files
from . import group, shard
from .dist import Workers
from .kvstore import _copy, _overwrite, not_inited, pairs

PULSE = 2  # seconds between two questions whether the others live


@contextmanager
def own_store():
    """Let the first worker open the meeting point, which torch otherwise expects of the launcher's agent."""
    held = os.environ.pop("TORCHELASTIC_USE_AGENT_STORE", None)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "You are using a Backend")  # torch's own call of its own function
            yield
    finally:
        if held is not None:
            os.environ["TORCHELASTIC_USE_AGENT_STORE"] = held


def connect():
    """Join the workers' remote procedure calls, once; the first worker says where."""
    if rpc.api._is_current_rpc_agent_set():
        return
    rank, world = dist.get_rank(), dist.get_world_size()
    port = torch.tensor([free_port() if rank == 0 else 0])
    with group.contact():
        dist.broadcast(port, src=0)
        where = f"tcp://{group._fact('address')}:{port.item()}"
        options = rpc.TensorPipeRpcBackendOptions(init_method=where, rpc_timeout=300)
        with own_store():
            rpc.init_rpc(f"worker{rank}", rank=rank, world_size=world, rpc_backend_options=options)
    PULSE_OF_OTHERS.start([f"worker{other}" for other in range(world) if other != rank])
    atexit.register(disconnect)


def disconnect():
    """Leave when all workers are done: until then others may need the values that live here."""
    if rpc.api._is_current_rpc_agent_set():
        PULSE_OF_OTHERS.stop()
        rpc.shutdown(graceful=not PULSE_OF_OTHERS.lost and not group.Lost.seen)


class Pulse:
    """Asks the other workers now and then whether they live: who holds no key of ours would not be missed else."""

    def __init__(self):
        self.lost, self._done, self._thread = "", threading.Event(), None

    def start(self, others):
        self._thread = threading.Thread(target=self._watch, args=(others,), daemon=True, name="pulse")
        self._thread.start()

    def stop(self):
        self._done.set()
        self._thread.join()

    def _watch(self, others):
        while not self.lost and not self._done.wait(PULSE):
            for other in others:
                self._ask(other)

    def _ask(self, other):
        try:
            rpc.rpc_sync(other, shard.serve_alive, timeout=60)
        except RuntimeError as error:
            if not self._done.is_set():
                self.lost = f"{other} does not answer: {str(error).splitlines()[0]}"

    def check(self):
        if self.lost:
            raise RuntimeError(self.lost)


PULSE_OF_OTHERS = Pulse()


class KVStoreAsync(Workers):
    """Every worker pushes and pulls at its own pace."""

    def __init__(self, handle):
        super().__init__(handle)
        connect()
        self._pending = []
        self._known = set()

    # ------------------------------------------------------------------ messages
    def _owner(self, key):
        return f"worker{zlib.crc32(repr(key).encode()) % self.num_workers}"

    def _everyone(self):
        return [f"worker{worker}" for worker in range(self.num_workers)]

    @staticmethod
    def _start(worker, call, *arguments):
        with group.contact():
            PULSE_OF_OTHERS.check()
            return rpc.rpc_async(worker, call, args=arguments)

    @staticmethod
    def _finish(answers):
        with group.contact():
            return [answer.wait() for answer in answers]

    def _by_owner(self, items):
        """Items (key, ...) gathered for the workers that hold the keys: one message for each worker."""
        gathered = {}
        for item in items:
            gathered.setdefault(self._owner(item[0]), []).append(item)
        return gathered

    def _send(self, call, items):
        group.Traffic.handed += sum(shard.size_on_wire(sent) for _, sent in items)
        return [self._start(worker, call, chosen) for worker, chosen in self._by_owner(items).items()]

    def _settle(self):
        """Our own pushes arrive before we pull."""
        pending, self._pending = self._pending, []
        self._finish(pending)

    def _barrier(self):
        """Wait for all workers, whose pushes have then arrived."""
        self._settle()
        super()._barrier()

    def _check_known(self, found):
        for key, _ in self._check_keys(found):
            if key not in self._known:
                raise not_inited(key)
        return found

    # ------------------------------------------------------------------ values
    def init(self, key, value):
        """Store the first worker's values."""
        found = self._check_keys(pairs(key, value))
        self._known.update(k for k, _ in found)
        if self.rank == 0:
            self._finish(self._send(shard.serve_set, [(k, shard.to_wire(arrays[0])) for k, arrays in found]))
        self._barrier()

    def push(self, key, value, priority=0):
        """Send each key's sum over our devices to where it lives."""
        found = self._check_known(pairs(key, value))
        self._pending += self._send(shard.serve_push, [(k, self._wire(k, self._sum(a))) for k, a in found])

    def _wire(self, key, array):
        return shard.to_wire(array) if self._compress is None else shard.compressed(self._compress, key, array)

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Fetch the values as they are now."""
        assert out is not None
        found = self._check_known(pairs(key, out))
        self._settle()
        gathered = list(self._by_owner(found).items())
        answers = [self._start(worker, shard.serve_pull, [k for k, _ in items]) for worker, items in gathered]
        for (_, items), sent in zip(gathered, self._finish(answers), strict=True):
            for (_, arrays), one in zip(items, sent, strict=True):
                held = shard.from_wire(one)
                for array in arrays:
                    if array.stype == "default" or not ignore_sparse:
                        _copy(held, array)

    def _pull_rows(self, key, array, ids):
        if array.stype != "row_sparse":
            raise MXNetError(f"row_sparse_pull of key {key} needs a row_sparse array, out is {array.stype}; use pull")
        self._check_known([(key, None)])
        self._settle()
        [sent] = self._finish([self._start(self._owner(key), shard.serve_rows, key, ids._t.cpu())])
        _overwrite(shard.from_wire(sent), array)

    # ------------------------------------------------------------------ optimizer
    def _tell_all(self, call, *arguments):
        return self._finish([self._start(worker, call, *arguments) for worker in self._everyone()])

    def set_optimizer(self, optimizer):
        """Give the first worker's optimizer to every server."""
        super().set_optimizer(optimizer)  # what a trainer looks at; the servers have the states
        if self.rank == 0:
            self._tell_all(shard.serve_optimizer, state_files.dumps(optimizer))
        self._barrier()

    def save_optimizer_states(self, fname, dump_optimizer=False, pickled=False):
        """Gather the states of all keys into one file, as a single process would write it."""
        self._settle()
        states, optimizer = {}, None
        for data in self._tell_all(shard.serve_states, dump_optimizer):
            part, optimizer = state_files.loads_for_updater(data)
            states.update(part)
        tree = (states, optimizer) if dump_optimizer else states
        write_file(fname, state_files.pickled(tree) if pickled else state_files.dumps(tree))

    def load_optimizer_states(self, fname, trust=False):
        """Give every server the states of the file."""
        assert self._updater is not None, "set_optimizer comes before loading its states"
        with state_files.opened(fname) as file:
            self._updater.set_states(file.read(), trust)
        self._settle()
        self._tell_all(shard.serve_new_states, self._updater.get_states(dump_optimizer=True))
