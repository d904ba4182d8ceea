"""A long stay: trains, saves, loads, resumes, serves and is killed at random, until the time is over.

Rounds of four parts. A training run is killed and resumed, and must end as if undisturbed. Savers are killed, and the
old or the new set must be there. A server is asked, killed while it answers and started again: an answer is right or
there is none. A process that is never killed trains with changing shapes, saves and loads: its memory, descriptors and
threads must stay as they are. After each round no process, no shared memory and no temporary file may be left.
"""

import contextlib
import glob
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from . import kills, memory, resume_runs

TESTS = str(pathlib.Path(__file__).parents[1])
MARK = "REMX_SOAK"  # in the environment of every process that belongs to us
GRACE = 20.0  # seconds in which whoever lost its parent has to end
STEPS, CACHES = 60, 8  # of the enduring process in a round, and the bound of its caches
REQUESTS = 30


class Wrong(Exception):
    """What must not happen."""


# -- what is left behind -----------------------------------------------------------------------------------------------


class Family:
    """All processes that carry our mark, now and earlier; they inherit it from each other."""

    def __init__(self):
        self.mark = f"{os.getpid()}-{time.monotonic_ns()}"
        self.seen, self._stop = set(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        os.environ[MARK] = self.mark
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        del os.environ[MARK]

    def alive(self):
        """{process: command} of those that run, but for this one."""
        found, word = {}, f"{MARK}={self.mark}".encode()
        for path in glob.glob("/proc/[0-9]*"):
            with contextlib.suppress(OSError):
                process = int(path.rpartition("/")[2])
                if process != os.getpid() and word in pathlib.Path(path, "environ").read_bytes().split(b"\0"):
                    found[process] = pathlib.Path(path, "cmdline").read_bytes().replace(b"\0", b" ").decode()[:120]
        self.seen.update(found)
        return found

    def _watch(self):
        while not self._stop.wait(0.2):
            self.alive()

    def shared_memory(self):
        """Names of shared memory that one of us has made and that is still there."""
        names = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
        return [name for name in names if (told := re.match(r"torch_(\d+)_", name)) and int(told[1]) in self.seen]

    def check(self, expected):
        """Raise if, after a while, more is left than the processes that are expected."""
        end = time.monotonic() + GRACE
        while (left := self._left(expected)) and time.monotonic() < end:
            time.sleep(0.2)
        if left:
            raise Wrong(f"left behind: {left}")

    def _left(self, expected):
        orphans = {process: words for process, words in self.alive().items() if process not in expected}
        return [*orphans.items(), *self.shared_memory()]


# -- the process that is never killed ----------------------------------------------------------------------------------


def endure(folder):
    """For each line of the input: train, save, load; then tell memory, descriptors and threads."""
    import mxnet as mx

    step, path = memory.SHAPES["hybridized Gluon"](), os.path.join(folder, "kept.params")
    step()
    memory.shrink_caches(CACHES)
    for number, _ in enumerate(sys.stdin):
        for _ in range(STEPS):
            step()
        mx.nd.save(path, {"number": mx.nd.full((1000,), number)})
        assert (mx.nd.load(path)["number"].asnumpy() == number).all()
        told = {"used": memory._used(), "resident": memory._resident(), "descriptors": len(os.listdir("/proc/self/fd"))}
        print(json.dumps({**told, "threads": threading.active_count()}), flush=True)


class Enduring:
    """The process, and what it has told after each round."""

    def __init__(self, folder):
        code = "import sys; sys.path.insert(0, sys.argv[1]); from reliability import soak; soak.endure(sys.argv[2])"
        bounds = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": str(CACHES), "LRU_CACHE_CAPACITY": str(CACHES)}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code, TESTS, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, "OMP_NUM_THREADS": "1", **bounds},
        )  # fmt: skip
        self.told = []

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Wrong(f"the process that trains all the time ended with {self.process.wait()}")
        self.told.append(json.loads(line))

    def growth(self):
        """Bytes a step: the median over rounds, after some to get warm. A kernel that was compiled is one round."""
        used = [told["used"] for told in self.told[3:]]
        steps = [(after - before) / STEPS for before, after in zip(used, used[1:], strict=False)]
        return statistics.median(steps) if steps else 0.0

    def check(self):
        if self.growth() > memory.LIMIT:
            raise Wrong(f"a step leaves {self.growth():.0f} bytes behind")
        for name in ("descriptors", "threads"):
            counts = [told[name] for told in self.told[3:]] or [0]
            if counts[-1] > counts[0]:
                raise Wrong(f"{name} grew from {counts[0]} to {counts[-1]}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# -- a server ----------------------------------------------------------------------------------------------------------


def saved_network(folder):
    """(prefix, what it answers to rows of ones, twos, ...)."""
    import numpy as np

    import mxnet as mx

    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, no_bias=True, name="fc")
    weight = mx.nd.array([[1, 2, 3], [4, 5, 6]])
    prefix = os.path.join(folder, "served")
    mx.model.save_checkpoint(prefix, 1, symbol, {"fc_weight": weight}, {})
    return prefix, lambda value: (np.full(3, value) @ weight.asnumpy().T).tolist()


class Service:
    """`remx serve` in a process of its own, which may be killed and started again."""

    def __init__(self, prefix, answer):
        self.prefix, self.answer, self.kills, self.answers, self.silent = prefix, answer, 0, 0, 0
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = None

    def start(self):
        command = [sys.executable, "-W", "ignore", "-m", "mxnet.cli", "serve", self.prefix, "--shape", "data=1,3"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 120
        while self.ask(1.0) is None:
            if time.monotonic() > end or self.process.poll() is not None:
                raise Wrong(f"the server does not answer, exit code {self.process.poll()}")
            time.sleep(0.1)

    def ask(self, value):
        """The row that it answers; None if there is nobody, or who was there is gone."""
        tensor = {"name": "data", "shape": [1, 3], "datatype": "FP32", "data": [value] * 3}
        body = json.dumps({"inputs": [tensor]}).encode()
        address = f"http://127.0.0.1:{self.port}/v2/models/served/infer"
        try:
            with urllib.request.urlopen(urllib.request.Request(address, body), timeout=60) as told:
                return json.load(told)["outputs"][0]["data"]
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise Wrong(f"the server answers {error.code}: {error.read()[:200]}") from None
            return None  # it is not ready yet
        except (OSError, ValueError, http.client.HTTPException):  # refused, reset, or cut off in the answer or its head
            return None

    def round(self, rng):
        """Ask again and again; kill it in between, mostly."""
        if self.process is None:
            self.start()
        moment = rng.randrange(2 * REQUESTS)
        for number in range(REQUESTS):
            if number == moment:
                threading.Timer(rng.uniform(0, 0.01), self.process.kill).start()
            self._compare(float(rng.randrange(100)), killed=number >= moment)
        if moment < REQUESTS:
            self.process.wait()
            self.kills += 1
            self.start()

    def _compare(self, value, killed):
        row = self.ask(value)
        if row is None and not killed:
            raise Wrong(f"the server is silent, exit code {self.process.poll()}")
        if row is not None and row != self.answer(value):
            raise Wrong(f"the server answers {row} to {value}, not {self.answer(value)}")
        self.answers, self.silent = self.answers + (row is not None), self.silent + (row is None)

    def close(self):
        """End it as a user would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            code = self.process.wait(30)
            if code not in (0, -signal.SIGTERM, 128 + signal.SIGTERM):
                raise Wrong(f"the server ended with {code}")


# -- rounds ------------------------------------------------------------------------------------------------------------


class Soak:
    """Everything of one stay."""

    def __init__(self, folder, seed, kills_each=3):
        self.rng, self.folder, self.kills_each = random.Random(seed), folder, kills_each
        self.rounds = self.kills = 0
        self.trainers, self.enduring = resume_runs.Server(), Enduring(folder)
        self.service = Service(*saved_network(folder))

    def round(self, family):
        names = list(resume_runs.RUNS), list(kills.SAVERS)
        run, saver = (some[self.rounds % len(some)] for some in names)
        killed, terminated, wrong = resume_runs.kill_and_resume(self.trainers, run, self.rng, self.kills_each)
        if wrong:
            raise Wrong(f"{run}, killed and resumed: {wrong}")
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            times, _, broken = kills.kill_while_saving(saver, place, self.kills_each, self.rng.random())
        if broken:
            raise Wrong(f"{saver}, killed while it saved: {broken}")
        self.service.round(self.rng)
        self.enduring.round()
        self.kills += killed + terminated + times
        self.rounds += 1
        family.check({self.trainers.process.pid, self.enduring.process.pid, self.service.process.pid})

    def told(self):
        used = self.enduring.growth()
        return (
            f"{self.rounds} rounds, {self.kills + self.service.kills} processes killed, {self.service.answers} answers "
            f"right, {self.service.silent} cut off by a kill, {used:.0f} bytes left by a step"
        )


def soak(seconds, seed, say=lambda words: None, kills_each=3):
    """(what happened, what is wrong or None)."""
    with tempfile.TemporaryDirectory() as folder, Family() as family:
        stay = Soak(folder, seed, kills_each)
        try:
            with stay.trainers:
                end = time.monotonic() + seconds
                while stay.rounds == 0 or time.monotonic() < end:
                    stay.round(family)
                    say(stay.told())
                stay.enduring.check()
                stay.enduring.close()
                stay.service.close()
            family.check(set())
        except Wrong as wrong:
            return stay.told(), str(wrong)
        finally:
            for process in family.alive():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
    return stay.told(), None
