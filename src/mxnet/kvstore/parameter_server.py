"""`dist_async`: keys are spread over the workers' processes; a push updates its key at once, nobody waits."""

import zlib

from .._core.errors import MXNetError
from .._formats.atomic import write_file
from ..optimizer import state_files
from . import arrays, group, peers, shard
from .dist import Workers
from .kvstore import _copy, _overwrite, not_inited, pairs


class KVStoreAsync(Workers):
    """Every worker pushes and pulls at its own pace."""

    def __init__(self, handle):
        super().__init__(handle)
        peers.connect()
        self._pending = []
        self._known = set()

    # ------------------------------------------------------------------ messages
    def _owner(self, key):
        return zlib.crc32(repr(key).encode()) % self.num_workers

    @staticmethod
    def _start(worker, call, items):
        with group.contact():
            peers.WATCH.check()
            return peers.Peers.shards[worker].ask(call, items)

    @staticmethod
    def _finish(answers):
        with group.contact():
            return [answer.wait() for answer in answers]

    def _by_owner(self, items):
        """[(worker, items)] for the workers that hold the keys: one message for each; what stays here comes last."""
        gathered = {}
        for item in items:
            gathered.setdefault(self._owner(item[0]), []).append(item)
        return sorted(gathered.items(), key=lambda pair: pair[0] == self.rank)

    def _send(self, call, items):
        group.Traffic.handed += sum(arrays.size_on_wire(sent) for _, sent in items)
        return [self._start(worker, call, chosen) for worker, chosen in self._by_owner(items)]

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
            self._finish(self._send("set_values", [(k, arrays.to_wire(values[0])) for k, values in found]))
        self._barrier()

    def push(self, key, value, priority=0):
        """Send each key's sum over our devices to where it lives."""
        found = self._check_known(pairs(key, value))
        self._pending += self._send("push", [(k, self._wire(k, self._sum(a))) for k, a in found])

    def _wire(self, key, array):
        return arrays.to_wire(array) if self._compress is None else arrays.compressed(self._compress, key, array)

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Fetch the values as they are now."""
        assert out is not None
        found = self._check_known(pairs(key, out))
        self._settle()
        targets, answers = dict(found), self._send("pull", [(k, arrays.NOTHING) for k, _ in found])
        for answer in answers:
            for k, sent in self._finish([answer])[0]:
                held = arrays.from_wire(sent)
                for array in targets[k]:
                    if array.stype == "default" or not ignore_sparse:
                        _copy(held, array)

    def _pull_rows(self, key, array, ids):
        if array.stype != "row_sparse":
            raise MXNetError(f"row_sparse_pull of key {key} needs a row_sparse array, out is {array.stype}; use pull")
        self._check_known([(key, None)])
        self._settle()
        asked = [(key, ("dense", None, [ids._t.cpu()]))]
        [[(_, sent)]] = self._finish([self._start(self._owner(key), "rows", asked)])
        _overwrite(arrays.from_wire(sent), array)

    # ------------------------------------------------------------------ optimizer
    def _tell_all(self, call, items):
        return self._finish([self._start(worker, call, items) for worker in range(self.num_workers)])

    def set_optimizer(self, optimizer):
        """Give the first worker's optimizer to every server: its class by name, its settings as plain values."""
        super().set_optimizer(optimizer)  # what a trainer looks at; the servers have the states
        if self.rank == 0:
            self._tell_all("set_optimizer", shard.as_items(state_files.dumps(optimizer), type(optimizer).__module__))
        self._barrier()

    def save_optimizer_states(self, fname, dump_optimizer=False, pickled=False):
        """Gather the states of all keys into one file, as a single process would write it."""
        self._settle()
        states, optimizer = {}, None
        for items in self._tell_all("states", [("with optimizer" if dump_optimizer else "", arrays.NOTHING)]):
            part, optimizer = state_files.loads_for_updater(shard.as_bytes(items))
            states.update(part)
        tree = (states, optimizer) if dump_optimizer else states
        write_file(fname, state_files.pickled(tree) if pickled else state_files.dumps(tree))

    def load_optimizer_states(self, fname, trust=False, keys=None):
        """Give every server the states of its keys, after all servers have found that they fit."""
        assert self._updater is not None, "set_optimizer comes before loading its states"
        self._settle()
        with state_files.opened(fname) as file:
            weights = None if keys is None else dict.fromkeys([*keys, *self._known], ("", None))
            states, optimizer = self._updater._checked(file.read(), trust, weights)
            messages = self._messages(states, None if optimizer is self._updater.optimizer else optimizer)
            for call in ("check_states", "set_states"):
                self._finish([self._start(worker, call, items) for worker, items in enumerate(messages)])
        self._updater.optimizer = optimizer

    def _messages(self, states, optimizer):
        """What each server is told: the states of the keys that live there."""
        parts = [{} for _ in range(self.num_workers)]
        for key, state in states.items():
            parts[self._owner(key)][key] = state
        return [shard.as_items(state_files.dumps((part, optimizer))) for part in parts]
