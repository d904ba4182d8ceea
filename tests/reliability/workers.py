"""Data workers that fail: each fault is reported soon, with the samples in flight, and leaves nothing behind."""

import ctypes
import multiprocessing
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

BAD, SAMPLES, BATCH, TIMEOUT = 13, 24, 4, 2
SOON = 10.0  # seconds, on a machine that does other things too


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def complain():
    raise KeyError("sample thirteen")


def crash():
    """A segmentation fault or a sudden exit, in turn."""
    if os.getpid() % 2:
        ctypes.string_at(0)
    os._exit(3)


def hang():
    time.sleep(1000)


def no_shared_memory():
    """No file may grow any more, the nameless ones of shared memory included."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


FAULTS = {"killed": kill, "stopped": stop, "out of shared memory": no_shared_memory, "raising": complain,
          "crashing": crash, "hanging": hang}  # fmt: skip


class Faulty:
    """A dataset with one sample that does harm, and a file that says when."""

    def __init__(self, fault, note):
        self.fault, self.note = fault, note

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        if index == BAD:
            pathlib.Path(self.note).write_text(repr(time.time()))
            self.fault()
        return np.full(1000, index, np.float32)


def shared_memory():
    """Names that torch gave to shared memory, but for those of living strangers."""
    names = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    owners = {name: int(name.split("_")[1]) for name in names if name.startswith("torch_")}
    mine = {os.getpid(), *children()}
    return {name for name, owner in owners.items() if owner in mine or not os.path.exists(f"/proc/{owner}")}


def children():
    """Processes that this one started and that still exist."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = pathlib.Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and fields[0] != "Z":
                found.append(int(entry))
    return found


def once(name):
    """(seconds until the report, words of it, what is wrong)."""
    from mxnet.gluon.data import DataLoader

    before = shared_memory(), set(children())
    with tempfile.TemporaryDirectory() as folder:
        note = pathlib.Path(folder, "when")
        try:
            for _ in DataLoader(Faulty(FAULTS[name], note), BATCH, num_workers=2, timeout=TIMEOUT):
                pass
            words = "nothing was reported"
        except Exception as error:
            words = f"{type(error).__name__}: {error} {getattr(error, '__notes__', '')}"
        taken = time.time() - float(note.read_text())
    wrong = [] if "in flight" in words and str(BAD) in words else [f"not reported with its samples: {words}"]
    if taken > SOON:
        wrong.append(f"reported after {taken:.1f} s")
    return taken, words, wrong + left_behind(*before)


def left_behind(segments, processes, patience=3):
    """What remains of a loader after a few seconds."""
    end = time.monotonic() + patience
    while time.monotonic() < end and (shared_memory() - segments or set(children()) - processes):
        multiprocessing.active_children()  # joins those that ended
        time.sleep(0.02)
    wrong = [f"shared memory {sorted(shared_memory() - segments)} remains"] if shared_memory() - segments else []
    more = set(children()) - processes
    return wrong + ([f"processes {sorted(more)} remain"] if more else [])


def many(name, count):
    """(slowest report, failures) of a fault that happens `count` times."""
    slowest, wrong = 0.0, []
    for _ in range(count):
        taken, _, failures = once(name)
        slowest, wrong = max(slowest, taken), wrong + failures
    return slowest, wrong


# -- faults that need a process around them ----------------------------------------------------------------------------

PARENT = """
import os, sys, time
sys.path[:0] = {path!r}
from reliability import workers
from mxnet.gluon.data import DataLoader
class Busy(workers.Faulty):
    def __getitem__(self, index):
        open({note!r}, "a").write(f"{{os.getpid()}}\\n")
        time.sleep(1000)
next(iter(DataLoader(Busy(None, None), 2, num_workers=2, timeout=1000)))
"""


def parent_killed(folder):
    """Workers whose parent is killed while they are busy: the seconds until they are gone, or None."""
    note = os.path.join(folder, "workers")
    path = [str(pathlib.Path(__file__).parents[1]), *sys.path]
    surroundings = {**os.environ, "TMPDIR": str(folder)}  # who is killed cannot clear away its files
    process = subprocess.Popen([sys.executable, "-c", PARENT.format(path=path, note=note)], env=surroundings)
    try:
        pids = _awaited(lambda: pathlib.Path(note).read_text().split() if os.path.exists(note) else [], 2, 60)
        process.kill()
        process.wait()
        start = time.monotonic()
        while any(os.path.exists(f"/proc/{pid}") for pid in pids):
            if time.monotonic() - start > SOON:
                return None
            time.sleep(0.05)
        return time.monotonic() - start
    finally:
        process.kill()


def _awaited(look, count, patience):
    end = time.monotonic() + patience
    while len(found := look()) < count:
        assert time.monotonic() < end, "the workers did not start"
        time.sleep(0.05)
    return found


FULL = """
import os, sys
sys.path[:0] = {path!r}
import numpy as np
from mxnet.gluon.data import DataLoader
try:
    for _ in DataLoader([np.zeros(1 << 20, np.float32)] * 8, 2, num_workers=2, timeout=20): pass
except Exception as error:
    print(type(error).__name__, error, getattr(error, "__notes__", ""))
"""


def full_shared_memory():
    """What is reported when /dev/shm really is full, where this user may mount a small one; None elsewhere."""
    if shutil.which("unshare") is None:
        return None
    small = 'mount -t tmpfs -o size=1m tmpfs /dev/shm || exit 77; exec "$@"'
    command = ["unshare", "-m", "sh", "-c", small, "sh", sys.executable, "-c", FULL.format(path=sys.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return None if done.returncode in (1, 77) and not done.stdout else done.stdout + done.stderr
