"""Saving that is interrupted: killed at any moment, on a full disk, in a folder that cannot be written.

Every saver writes sets of files that hold one number throughout, so that a mixture of two sets is seen at once.
"""

import contextlib
import errno
import gc
import os
import random
import resource
import signal
import subprocess
import sys
import time
from unittest import mock

SIZE = 20_000


class Arrays:
    """`nd.save` of two arrays."""

    tidy = True  # the next save of the same names removes what a killed one left

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
    """`mx.model.save_checkpoint`: a symbol and its parameters, each epoch under its own name."""

    tidy = False

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


class Again(Checkpoint):
    """`save_checkpoint` of the same epoch over and over: all its files have the names of the old ones."""

    tidy = True

    def save(self, number):
        import mxnet as mx

        symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=int(number), name="f")
        arrays = {"f_weight": mx.nd.full((100, SIZE // 100), number)}
        mx.model.save_checkpoint(self.prefix, 1, symbol, arrays, {})

    def load(self):
        import mxnet as mx

        symbol, arguments, _ = mx.model.load_checkpoint(self.prefix, 1)
        hidden = symbol.attr_dict()["f"]["num_hidden"]
        return {float(hidden), *map(float, arguments["f_weight"].asnumpy().ravel()[[0, 1, -1]])}


class WithStates(Checkpoint):
    """`Module.save_checkpoint` with the optimizer's states: three files and their manifest."""

    def _module(self, number):
        import mxnet as mx

        symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=10, name="f")
        module = mx.mod.Module(mx.sym.MakeLoss(symbol), label_names=None)
        module.bind([("data", (2, 100))])
        module.init_params(mx.init.Constant(number))
        module.init_optimizer(optimizer_params={"learning_rate": 1.0, "momentum": 0.5, "rescale_grad": 1.0})
        return module

    def save(self, number):
        import mxnet as mx

        module = self._module(number)
        module.forward_backward(mx.io.DataBatch([mx.nd.zeros((2, 100))]))
        module.update()
        for state in module._updater.states.values():
            state[:] = number
        module.save_checkpoint(self.prefix, int(number), save_optimizer_states=True)

    def load(self):
        import mxnet as mx

        epoch = mx.model.latest_checkpoint(self.prefix)
        module = mx.mod.Module.load(self.prefix, epoch, load_optimizer_states=True, label_names=None)
        module.bind([("data", (2, 100))])
        module.init_optimizer(optimizer_params={"learning_rate": 1.0, "momentum": 0.5})
        states = {float(state.asnumpy().ravel()[0]) for state in module._updater.states.values()}
        return {float(epoch), float(module.get_params()[0]["f_weight"].asnumpy()[0, 0]), *states}


class Export(Parameters):
    """`HybridBlock.export`: symbol and parameters under the same names each time."""

    def save(self, number):
        import mxnet as mx

        network = self._network()
        network.initialize(mx.init.Constant(number))
        network.bias.set_data(mx.nd.full((100,), number))
        network.hybridize()
        network(mx.nd.zeros((1, SIZE // 100)))
        network.export(self.path)

    def load(self):
        import mxnet as mx

        network = mx.gluon.SymbolBlock.imports(f"{self.path}-symbol.json", ["data"], f"{self.path}-0000.params")
        return {float(v) for p in network.collect_params().values() for v in p.data().asnumpy().ravel()[[0, 1, -1]]}


class Tree(Parameters):
    """`Block.save`: the description of a tree, which holds the number as a name, and its parameters."""

    def _tree(self, name):
        import mxnet as mx

        tree = mx.gluon.nn.HybridSequential(prefix=name)
        tree.add(self._network())
        return tree

    def save(self, number):
        import mxnet as mx

        tree = self._tree(f"number{int(number)}_")
        tree.initialize(mx.init.Constant(number))
        tree[0].bias.set_data(mx.nd.full((100,), number))
        tree.save(self.path)

    def load(self):
        tree = self._tree("other_")
        tree.load(self.path)
        values = [p.data().asnumpy().ravel()[[0, 1, -1]] for p in tree.collect_params().values()]
        return {float(tree.name.removeprefix("number")), *(float(v) for part in values for v in part)}


class Safetensors(Arrays):
    """`nd.save` to safetensors."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "a.safetensors")


class Onnx(Arrays):
    """`mx.onnx.export_model`. Tracing takes seconds and writes nothing, so it is done once, for other weights too."""

    def __init__(self, folder):
        self.path, self._model = os.path.join(folder, "net.onnx"), None

    def save(self, number):
        import onnx

        from mxnet.onnx.mx2onnx import _export_model as exporter

        self._model = self._model or self._exported(onnx)
        for each in self._model.graph.initializer:
            array = onnx.numpy_helper.to_array(each)
            if array.dtype == "float32":
                each.CopyFrom(onnx.numpy_helper.from_array(0 * array + array.dtype.type(number), each.name))
        exporter._write(onnx, self._model, self.path)

    def _exported(self, onnx):
        import mxnet as mx

        symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=10, name="f")
        weights = {"f_weight": mx.nd.ones((10, SIZE // 10)), "f_bias": mx.nd.ones((10,))}
        mx.onnx.export_model(symbol, weights, [(1, SIZE // 10)], "float32", self.path)
        return onnx.load(self.path)

    def load(self):
        import onnx
        from onnx import numpy_helper

        arrays = [numpy_helper.to_array(each) for each in onnx.load(self.path).graph.initializer]
        return {float(v) for array in arrays if array.dtype == "float32" for v in array.ravel()}


class Index(Arrays):
    """`.idx` of a record file: keys made of the number and a count. The records themselves are not kept."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "a.idx")

    def save(self, number):
        from mxnet import recordio

        writer = recordio.MXIndexedRecordIO(self.path, os.devnull, "w")
        for place in range(500):
            writer.write_idx(int(number) * 1000 + place, b"x")
        writer.close()

    def load(self):
        from mxnet import recordio

        with open(self.path, encoding="ascii") as file:
            keys = [int(line.split("\t")[0]) for line in file]
        assert [key % 1000 for key in keys] == list(range(500)), f"{len(keys)} keys"
        assert len(recordio._format.read_index(self.path, int)[0]) == 500
        return {float(key // 1000) for key in keys}


class Whole(States):
    """`mx.checkpoint.Run.save`: network, trainer, streams and position."""

    tidy = False

    def __init__(self, folder):
        self.prefix = os.path.join(folder, "run")

    def _run(self, number):
        import mxnet as mx

        network = mx.gluon.nn.Dense(100, in_units=SIZE // 100)
        network.initialize(mx.init.Constant(number))
        trainer = mx.gluon.Trainer(network.collect_params(), "sgd", {"learning_rate": float(number)}, kvstore=None)
        return network, trainer, mx.checkpoint.Run(self.prefix, network, trainer)

    def save(self, number):
        import mxnet as mx

        network, _, run = self._run(number)
        network.bias.set_data(mx.nd.full((100,), number))
        run.epoch, run.values["number"] = int(number), number
        run.save()

    def load(self):
        network, trainer, run = self._run(0)
        assert run.resume()
        weights = {float(v) for p in network.collect_params().values() for v in p.data().asnumpy().ravel()[[0, -1]]}
        return {float(run.epoch), float(run.values["number"]), float(trainer.learning_rate), *weights}


SAVERS = {
    "nd.save": Arrays,
    "safetensors": Safetensors,
    "save_parameters": Parameters,
    "save_states": States,
    "save_checkpoint": Checkpoint,
    "save_checkpoint, same epoch": Again,
    "Module.save_checkpoint": WithStates,
    "export": Export,
    "Block.save": Tree,
    "onnx": Onnx,
    "idx": Index,
    "Run.save": Whole,
}
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FORK = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from reliability.kills import SAVERS
saver = SAVERS[sys.argv[2]](sys.argv[3])
saver.save(1)
start = time.monotonic()
saver.save(1)
print("ready", time.monotonic() - start, flush=True)
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


def litter(folder):
    """Temporary files that are left."""
    return sorted(name for name in os.listdir(folder) if name.endswith(".tmp"))


def kill_while_saving(name, folder, times, seed=0):
    """(kills, how often an older set than the last begun was found, what was broken).

    A server with everything imported forks the process that saves and is killed; its parent reads what is left. At the
    end one more save is left alone, after which nothing temporary may be there.
    """
    rng = random.Random(seed)
    command = [sys.executable, "-c", FORK, TESTS, name, str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    saver, last, old, broken = SAVERS[name](str(folder)), 1, 0, []
    duration = float(server.stdout.readline().split()[1])
    try:
        for _ in range(times):
            last, found = _one_kill(server, saver, last, rng.uniform(0, 3 * duration))
            if isinstance(found, str):
                broken.append(found)
            else:
                old += found < last + 1
                last = max(last, found)
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()
    for number in (last + 1, last + 2):  # sets of their own names go after two more
        saver.save(number)
    broken += [f"litter: {name}" for name in litter(folder)] if saver.tidy else []
    return times, old, broken


def _one_kill(server, saver, last, wait):
    """(last set that was surely saved, the number that is found or what is wrong)."""
    server.stdin.write(f"{last + 1}\n")
    server.stdin.flush()
    child, saved = None, last
    while child is None:
        kind, *rest = server.stdout.readline().split()
        child, saved = (int(rest[0]), saved) if kind == "child" else (None, int(kind))
    time.sleep(wait)
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
    opened = os.open

    def refuse(path, flags, *arguments, **options):
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return opened(path, flags, *arguments, **options)

    return mock.patch("os.open", refuse)


@contextlib.contextmanager
def _small_files():
    """The system itself refuses to write beyond a thousand bytes of any file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


FAULTS = {
    "full disk": _full_disk,
    "full at the end": lambda: mock.patch("os.fsync", _full),
    "no rename": lambda: mock.patch("os.replace", _full),
    "read-only folder": _read_only,
    "limit on file sizes": _small_files,
}
MOUNTED = ("full tmpfs", "read-only mount")


def _mount(folder, options):
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], capture_output=True)
    return done.returncode == 0


@contextlib.contextmanager
def _full_tmpfs(folder):
    """Fill the file system to its end."""
    filler = os.path.join(folder, "filler")
    with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    try:
        yield
    finally:
        os.remove(filler)


@contextlib.contextmanager
def _read_only_mount(folder):
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)


def save_on_mount(name, fault, folder):
    """`save_with_fault` on a file system of its own; NotImplemented if the system lets nobody mount one."""
    if os.geteuid() != 0 or not _mount(folder, "size=4m"):
        return NotImplemented
    try:
        context = {"full tmpfs": _full_tmpfs, "read-only mount": _read_only_mount}[fault]
        return save_with_fault(name, lambda: context(folder), folder)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def save_with_fault(name, fault, folder):
    """None if saving failed in words, the old set is there and nothing else; otherwise what is wrong."""
    saver = SAVERS[name](str(folder))
    saver.save(1)
    try:
        with FAULTS.get(fault, fault)():
            saver.save(2)
    except Exception as error:  # which kind is part of the answer
        from mxnet.base import MXNetError

        if not isinstance(error, (OSError, MXNetError)):
            return f"{type(error).__name__}: {error}"
    else:
        return "nothing was raised"
    gc.collect()  # writers that were given up close their files
    if litter(folder):
        return f"litter: {litter(folder)}"
    found = saver.load()
    return None if found == {1.0} else f"found {found}"
