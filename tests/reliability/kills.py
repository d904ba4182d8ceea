"""Saving that is interrupted: killed at any moment, on a full disk, in a folder that cannot be written.

Every saver writes sets of files that hold one number throughout, so that a mixture of two sets is seen at once.
"""

import errno
import os
import random
import signal
import subprocess
import sys
import time
from unittest import mock

SIZE = 20_000


class Arrays:
    """`nd.save` of two arrays."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "a.params")

    def save(self, number):
        import mxnet as mx

        mx.nd.save(self.path, {"a": mx.nd.full((SIZE,), number), "b": mx.nd.full((SIZE,), number)})

    def load(self):
        import mxnet as mx

        return {float(v) for array in mx.nd.load(self.path).values() for v in array.asnumpy()[[0, 1, -1]]}


class Parameters(Arrays):
    """`Block.save_parameters`."""

    def _network(self):
        import mxnet as mx

        return mx.gluon.nn.Dense(100, in_units=SIZE // 100)

    def save(self, number):
        import mxnet as mx

        network = self._network()
        network.initialize(mx.init.Constant(number))
        network.bias.set_data(mx.nd.full((100,), number))
        network.save_parameters(self.path)

    def load(self):
        network = self._network()
        network.load_parameters(self.path)
        return {float(v) for p in network.collect_params().values() for v in p.data().asnumpy().ravel()[[0, 1, -1]]}


class Checkpoint(Arrays):
    """`mx.model.save_checkpoint`: a symbol and its parameters."""

    def __init__(self, folder):
        self.prefix = os.path.join(folder, "net")

    def save(self, number):
        import mxnet as mx

        symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=100, name="f")
        weight = mx.nd.full((100, SIZE // 100), number)
        mx.model.save_checkpoint(self.prefix, int(number), symbol, {"f_weight": weight}, {})

    def load(self):
        """The newest epoch that has a manifest."""
        import mxnet as mx

        epoch = mx.model.latest_checkpoint(self.prefix)
        symbol, arguments, _ = mx.model.load_checkpoint(self.prefix, epoch)
        assert symbol.list_arguments() == ["data", "f_weight", "f_bias"]
        return {float(epoch), *map(float, arguments["f_weight"].asnumpy().ravel()[[0, 1, -1]])}


class States(Arrays):
    """`Trainer.save_states`."""

    def _trainer(self):
        import mxnet as mx

        parameter = mx.gluon.Parameter("w", shape=(SIZE,))
        parameter.initialize(mx.init.Zero())
        trainer = mx.gluon.Trainer([parameter], "sgd", {"momentum": 0.5, "learning_rate": 1.0}, kvstore=None)
        return parameter, trainer

    def save(self, number):
        import mxnet as mx

        parameter, trainer = self._trainer()
        with mx.autograd.record():
            loss = (parameter.data() * number).sum()
        loss.backward()
        trainer.step(1)
        trainer.save_states(self.path)

    def load(self):
        _, trainer = self._trainer()
        trainer.load_states(self.path)
        return {-float(v) for v in trainer._updaters[0].states[0].asnumpy()[[0, 1, -1]]}


SAVERS = {"nd.save": Arrays, "save_parameters": Parameters, "save_checkpoint": Checkpoint, "save_states": States}
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FORK = """
import os, sys
sys.path.insert(0, sys.argv[1])
from reliability.kills import SAVERS
saver = SAVERS[sys.argv[2]](sys.argv[3])
saver.save(1)
print("ready", flush=True)
for line in sys.stdin:
    first = int(line)
    child = os.fork()
    if child == 0:
        number = first
        while True:
            saver.save(number)
            os.write(1, b"%d\\n" % number)
            number += 1
    print("child", child, flush=True)
    os.waitpid(child, 0)
    print("dead", flush=True)
"""


def kill_while_saving(name, folder, times, seed=0):
    """(kills, how often an older set than the last begun was found, what was broken).

    A server with everything imported forks the process that saves and is killed; its parent reads what is left.
    """
    rng = random.Random(seed)
    command = [sys.executable, "-c", FORK, TESTS, name, str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    saver, last, old, broken = SAVERS[name](str(folder)), 1, 0, []
    assert server.stdout.readline() == "ready\n"
    try:
        for _ in range(times):
            last, found = _one_kill(server, saver, last, rng)
            if isinstance(found, str):
                broken.append(found)
            else:
                old += found < last + 1
                last = max(last, found)
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()
    return times, old, broken


def _one_kill(server, saver, last, rng):
    """(last set that was surely saved, the number that is found or what is wrong)."""
    server.stdin.write(f"{last + 1}\n")
    server.stdin.flush()
    child, saved = None, last
    while child is None:
        kind, *rest = server.stdout.readline().split()
        child, saved = (int(rest[0]), saved) if kind == "child" else (None, int(kind))
    time.sleep(rng.uniform(0, 0.03))
    os.kill(child, signal.SIGKILL)
    while (line := server.stdout.readline()) != "dead\n":
        saved = int(line)
    try:
        found = saver.load()
    except Exception as error:
        return saved, f"after set {saved}: {type(error).__name__}: {error}"
    if len(found) != 1 or not saved <= min(found) <= saved + 1:
        return saved, f"after set {saved}: found {sorted(found)}"
    return saved, int(found.pop())


# -- disks -------------------------------------------------------------------------------------------------------------


def _full(*arguments, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class _FullFile:
    """A file on a disk that has room for a thousand bytes."""

    def __init__(self, file):
        self._file, self._left = file, 1000

    def write(self, data):
        self._left -= memoryview(data).nbytes
        return self._file.write(data) if self._left >= 0 else _full()

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()


def _full_disk():
    real = os.fdopen
    return mock.patch("os.fdopen", lambda *arguments, **options: _FullFile(real(*arguments, **options)))


def _read_only():
    def refuse(*arguments, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    return mock.patch("tempfile.mkstemp", refuse)


FAULTS = {
    "full disk": _full_disk,
    "full at the end": lambda: mock.patch("os.fsync", _full),
    "no rename": lambda: mock.patch("os.replace", _full),
    "read-only folder": _read_only,
}


def save_with_fault(name, fault, folder):
    """None if saving failed in words, the old set is there and nothing else; otherwise what is wrong."""
    saver = SAVERS[name](str(folder))
    saver.save(1)
    before = sorted(os.listdir(folder))
    try:
        with FAULTS[fault]():
            saver.save(2)
    except Exception as error:  # which kind is part of the answer
        from mxnet.base import MXNetError

        if not isinstance(error, (OSError, MXNetError)):
            return f"{type(error).__name__}: {error}"
    else:
        return "nothing was raised"
    litter = sorted(name for name in set(os.listdir(folder)) - set(before) if name.endswith(".tmp"))
    if litter:
        return f"litter: {litter}"
    found = saver.load()
    return None if found == {1.0} else f"found {found}"
