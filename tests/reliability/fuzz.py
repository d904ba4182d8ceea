"""Readers under hostile input: each input is read in a process with little memory and an alarm clock.

A reader passes if it returns, or raises MXNetError. Anything else is a finding: another error, memory beyond four
times the file and 64 MB, more than two seconds, the end of the process. Seconds are the processor's, so that a busy
machine makes no findings.

The input that is being read is noted in a file, so that one that ends the process is known; another process reads the
inputs after it.
"""

import hashlib
import itertools
import multiprocessing
import os
import pathlib
import pickle
import resource
import signal
import tempfile
import time
from dataclasses import dataclass, field

from . import inputs, more_readers

KINDS = ("params", "symbol", "record", "states", *more_readers.READERS)
SECONDS, SPARE = 2.0, 64 << 20
START = "spawn"  # how processes begin


class Hang(BaseException):
    """An input took too long."""


@dataclass
class Result:
    """What came of many inputs."""

    clean: int = 0
    refused: int = 0
    slowest: float = 0.0
    growth: int = 0  # most bytes of memory that a process of thousands of inputs came to hold on top of its start
    findings: list = field(default_factory=list)

    def add(self, other):
        self.clean += other.clean
        self.refused += other.refused
        self.slowest = max(self.slowest, other.slowest)
        self.growth = max(self.growth, other.growth)
        self.findings += other.findings


# -- what a program does with a file of each kind ----------------------------------------------------------------------


def read_params(data):
    import mxnet as mx

    arrays = mx.nd.load_frombuffer(data)
    for array in arrays.values() if isinstance(arrays, dict) else arrays:
        array.wait_to_read()


def read_symbol(data):
    import mxnet as mx

    symbol = mx.sym.load_json(data.decode("latin-1"))
    symbol.tojson()
    symbol.list_arguments(), symbol.list_outputs(), symbol.attr_dict()


def read_record(pair, folder):
    """Through the index, then one after the other, with the header of each record."""
    from mxnet import recordio
    from mxnet.base import MXNetError

    paths = [os.path.join(folder, name) for name in ("a.rec", "a.idx")]
    for path, data in zip(paths, pair, strict=True):
        pathlib.Path(path).write_bytes(data)
    first = None
    try:
        with_index = recordio.MXIndexedRecordIO(paths[1], paths[0], "r")
        for key in with_index.keys:
            with_index.read_idx(key)
    except MXNetError as error:
        first = error
    plain = recordio.MXRecordIO(paths[0], "r")
    while (record := plain.read()) is not None:
        recordio.unpack(record)
    if first is not None:
        raise first


def read_states(data):
    """Load them, then take a step with what was loaded."""
    import mxnet as mx

    updater, weight = mx.optimizer.get_updater(mx.optimizer.create("sgd")), mx.nd.ones((2, 3))
    updater.set_states(data)
    updater(0, mx.nd.ones((2, 3)), weight)
    weight.wait_to_read()


def reader(kind, folder):
    """The function that reads an input of a kind."""
    if kind == "record":
        return lambda pair: read_record(pair, folder)
    if kind in more_readers.READERS:
        return lambda data: more_readers.READERS[kind][2](data, folder)
    return {"params": read_params, "symbol": read_symbol, "states": read_states}[kind]


# -- one input after the other -----------------------------------------------------------------------------------------


def alarm(signum, frame):
    """What the clock calls."""
    raise Hang


def _size(data):
    return sum(map(len, data)) if isinstance(data, tuple) else len(data)


def _memory():
    """Bytes of address space in use."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _peak():
    """Most bytes of memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def attempt(read, data):
    """(outcome, words): "clean", "refused", or what went wrong."""
    from mxnet.base import MXNetError

    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        read(data)
    except MXNetError as error:
        words = str(error)
        return ("memory", words) if "MemoryError" in words else ("refused", words)
    except Hang:
        return "hang", f"more than {SECONDS} s"
    except MemoryError as error:
        return "memory", str(error)
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "clean", ""


class Notes:
    """Which input is being read, and what came of those before it, in a file that outlives this process."""

    def __init__(self, path):
        self._file = open(path, "wb", buffering=0)

    def write(self, number, data, result):
        told = pickle.dumps((number, data, result))
        self._file.seek(0)
        self._file.write(len(told).to_bytes(8, "little") + told)

    @staticmethod
    def read(path):
        """(number, data, result), or None where nothing was read yet."""
        noted = pathlib.Path(path).read_bytes()
        length = int.from_bytes(noted[:8], "little")
        return pickle.loads(noted[8 : 8 + length]) if length else None


def run(kind, stream, notes=None):
    """Read a stream of inputs in this process, which keeps the limits: call it in a process of its own."""
    result, spare = Result(), more_readers.SPARE.get(kind, SPARE)
    signal.signal(signal.SIGPROF, alarm)
    os.environ.update(more_readers.SETTINGS)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        read = reader(kind, folder)
        warm(kind, read)
        base, peak = _memory(), _peak()
        for number, data in enumerate(stream):
            if number % 64 == 0:
                base = max(base, _memory())
            if notes is not None:
                notes.write(number, data, result)
            resource.setrlimit(resource.RLIMIT_AS, (base + spare + 4 * _size(data), -1))
            start = time.process_time()
            outcome, words = attempt(read, data)
            result.slowest = max(result.slowest, time.process_time() - start)
            result.clean += outcome == "clean"
            result.refused += outcome == "refused"
            if outcome not in ("clean", "refused"):
                result.findings.append((kind, outcome, words[:300], data))
        result.growth = _peak() - peak
    return result


def warm(kind, read):
    """Import what reading needs before memory and time are measured."""
    import mxnet as mx

    if kind != "record":
        mx.sym.Activation(mx.sym.var("x"), act_type="relu").tojson()
        mx.optimizer.create("sgd")
        mx.nd.zeros(1).asnumpy()
    files = inputs.corpus("record" if kind == "record" else kind)
    indices = inputs.corpus("index")
    for number, data in enumerate(files):
        attempt(read, (data, indices[number % len(indices)]) if kind == "record" else data)


def _work(kind, seed, count, first, path, queue):
    if "image" in kind:  # the libraries that decode report each damage there
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    result = run(kind, itertools.islice(inputs.stream(kind, seed, count), first, None), Notes(path))
    result.findings = result.findings[:20]
    queue.put(result)


def in_process(kind, seed, count, patience=600.0):
    """`run` in processes of their own: an input that ends one is a finding, and the next process goes on behind it."""
    total, first = Result(), 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        path = os.path.join(folder, "notes")
        while first is not None and first < count:
            result, first = _in_one(kind, seed, count, first, path, patience)
            total.add(result)
    return total


def _in_one(kind, seed, count, first, path, patience):
    """(what came of the inputs from `first` on, where to go on or None)."""
    context = multiprocessing.get_context(START)
    queue = context.SimpleQueue()
    pathlib.Path(path).write_bytes(b"")
    process = context.Process(target=_work, args=(kind, seed, count, first, path, queue))
    process.start()
    end = time.monotonic() + patience
    while queue.empty() and process.is_alive() and time.monotonic() < end:
        time.sleep(0.02)
    if not queue.empty():
        result = queue.get()
        process.join()
        return result, None
    process.kill()
    process.join()
    words, noted = f"the process ended with {process.exitcode} in the inputs of seed {seed}", Notes.read(path)
    if noted is None:
        return Result(findings=[(kind, "crash", words, b"")]), None
    number, data, result = noted
    result.findings = [*result.findings[:20], (kind, "crash", f"{words}, number {first + number}", data)]
    return result, first + number + 1


def keep(finding, folder):
    """Store the input of a finding; tests read everything that is stored."""
    kind, _, words, data = finding
    parts = data if isinstance(data, tuple) else (data,)
    stem = f"{kind}-{hashlib.sha256(b''.join(parts)).hexdigest()[:12]}"
    for part, ending in zip(parts, ("rec", "idx") if kind == "record" else (kind,), strict=True):
        (pathlib.Path(folder) / f"{stem}.{ending}").write_bytes(part)
    return f"{stem}: {words}"
