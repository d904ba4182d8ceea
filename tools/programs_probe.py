"""Runs a part of somebody's program on small data made on the spot, and prints numbers: `programs.py` starts it twice.

    python programs_probe.py KIND FILE       parts of the file (`programs_parts.py`): symbol, blocks or derived
    python programs_probe.py script FILE …   the program itself
    python programs_probe.py serve           reads what to run from standard input, and forks for each program, which
                                             gets data sets of a few images and no network
Plain Python and NumPy of any version: the same file runs beside real MXNet.
"""

import gzip
import json
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tarfile
import time
import traceback
import types

import numpy as np
from programs_parts import PROBES as PARTS


# ---------------------------------------------------------------------- whole programs
def _write_mnist(folder):
    os.makedirs(folder)
    state = np.random.RandomState(0)
    for part, count in (("train", 256), ("t10k", 128)):
        images = (state.rand(count, 28, 28) * 255).astype(np.uint8)
        labels = state.randint(0, 10, count).astype(np.uint8)
        images[np.arange(count), labels * 2] = 255  # something to learn
        with gzip.open(os.path.join(folder, part + "-images-idx3-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28) + images.tobytes())
        with gzip.open(os.path.join(folder, part + "-labels-idx1-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">II", 2049, count) + labels.tobytes())


def _write_cifar(folder):
    os.makedirs(folder)
    state = np.random.RandomState(0)
    for name in [f"data_batch_{n}.bin" for n in range(1, 6)] + ["test_batch.bin"]:
        rows = np.concatenate([state.randint(0, 10, (64, 1)), state.randint(0, 256, (64, 3072))], 1)
        rows.astype(np.uint8).tofile(os.path.join(folder, name))


def write_data_sets(home):
    """Data sets of a few images where MXNet looks for them; `programs.py` calls it once for each interpreter."""
    for name in ("mnist", "fashion-mnist"):
        _write_mnist(os.path.join(home, "datasets", name))
    cifar = os.path.join(home, "datasets", "cifar10")
    _write_cifar(cifar)
    with tarfile.open(os.path.join(cifar, "cifar-10-binary.tar.gz"), "w:gz") as archive:
        for name in sorted(os.listdir(cifar)):
            if name.endswith(".bin"):
                archive.add(os.path.join(cifar, name), "cifar-10-batches-bin/" + name)


def _brought(url, path):
    """The file of that name from the data sets, put where a download would have put it."""
    name = os.path.basename(url)
    found = os.path.join(path, name) if path and os.path.isdir(path) else path or name
    folder = next((f for f in ("fashion-mnist", "mnist", "cifar10") if f in url), "mnist")
    source = os.path.join(os.environ["MXNET_HOME"], "datasets", folder, name)
    if not os.path.exists(found) and os.path.exists(source):
        os.makedirs(os.path.dirname(os.path.abspath(found)), exist_ok=True)
        shutil.copy(source, found)
    if os.path.exists(found):
        return found
    raise OSError("no network here: " + url)


def _prepared():
    """Files that count as right, and nothing that reaches the network."""
    mnist = os.path.join(os.environ["MXNET_HOME"], "datasets", "mnist")
    for name in os.listdir(mnist):
        os.symlink(os.path.join(mnist, name), name)
    import mxnet as mx
    from mxnet.gluon.data.vision import datasets

    datasets.check_sha1 = lambda *_: True
    if hasattr(datasets, "obtain"):  # ReMX asks hosts in turn
        datasets.obtain = lambda root, namespace, name, sha1: _brought(namespace + "/" + name, os.path.join(root, name))

    def brought(url, path=None, *_, **__):
        return _brought(url, path)

    for owner in (mx.gluon.utils, datasets):
        if hasattr(owner, "download"):
            owner.download = brought
    _without_gpu(mx)
    mx.random.seed(0)
    np.random.seed(0)
    random.seed(0)


def _without_gpu(mx):
    """`gpu(n)` is a CPU, so that programs that name one run."""
    for owner in (mx, mx.context):
        owner.gpu = mx.cpu


def probe_script(path, *arguments):
    try:
        import matplotlib

        matplotlib.use("Agg")
    except ImportError:
        pass
    sys.argv = [path, *arguments]
    folder = os.path.dirname(os.path.abspath(path))
    sys.path[0] = folder
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    exec(code, vars(module))


PROBES = {**PARTS, "script": probe_script}


# ---------------------------------------------------------------------- one process for each program
def _importable(folder, root):
    """A program imports from its folder and those above it, up to its repository's."""
    while len(folder) > len(root):
        sys.path.append(folder)
        folder = os.path.dirname(folder)
    sys.path.append(root)


def _child(order):
    """Run one program in its folder; never returns."""
    code = 1
    try:
        os.chdir(order["folder"])
        out = os.open(order["out"], os.O_WRONLY | os.O_CREAT)
        os.dup2(out, 1)
        os.dup2(out, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (order["seconds"], order["seconds"] + 1))
        try:
            _importable(order["beside"], order["root"])
            _prepared()
            PROBES[order["kind"]](order["path"], *order["arguments"])
            sys.modules["mxnet"].nd.waitall()  # what was asked for is computed on both
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


IDLE_SECONDS = 60  # a program that computes nothing for so long waits for something that never comes


def _waited(pid, seconds):
    """(exit code, resources); "timeout" for a process that took the processor too long, or no longer uses it."""
    end, used, idle_since = time.time() + 10 * seconds, 0.0, time.time()
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done and os.WIFEXITED(status):
            return os.WEXITSTATUS(status), usage
        if done:
            ended = os.WTERMSIG(status)
            return "timeout" if ended == signal.SIGXCPU else -ended, usage
        now, spent = time.time(), _processor_seconds(pid)
        if spent > used:
            used, idle_since = spent, now
        if now > end or now - idle_since > IDLE_SECONDS:
            os.kill(pid, signal.SIGKILL)
            return "timeout", os.wait4(pid, 0)[2]
        time.sleep(0.02)


def _processor_seconds(pid):
    """Processor time that a running process has used, as /proc counts it."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve():
    """A line of JSON in, one out, until the input ends."""
    import mxnet as mx

    mx.nd.ones(1).asnumpy()
    mx.gluon.nn.Dense(1)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _child(order)
        code, usage = _waited(pid, order["seconds"])
        seconds = round(usage.ru_utime + usage.ru_stime, 2)
        answers.write(json.dumps({"code": code, "seconds": seconds, "megabytes": usage.ru_maxrss // 1024}) + "\n")
        answers.flush()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        PROBES[sys.argv[1]](*sys.argv[2:])
