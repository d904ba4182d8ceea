"""The record of a profiler: events of the trace and statistics; operators and memory are recorded through it."""

import contextlib
import os
import threading
import time

from .statistics import Levels

OPTIONS = {
    "filename": "profile.json", "profile_all": False, "profile_symbolic": False, "profile_imperative": False,
    "profile_memory": False, "profile_api": False, "continuous_dump": False, "dump_period": 1.0,
    "aggregate_stats": False, "profile_process": "worker", "gpu_memory_profile_filename_prefix": "gpu_memory_profile",
}  # fmt: skip

_STATM = "/proc/self/statm"  # where Linux tells how much memory a process has


class _Local(threading.local):
    custom = None  # the custom operator whose Python code runs in this thread
    scope = ""


class _Recorder:
    """What has been recorded: trace events, and statistics by category and name."""

    def __init__(self):
        self.options = dict(OPTIONS)
        self.running = self.paused = False
        self.events, self.times, self.memory = [], {}, {}
        self.lock = threading.Lock()
        self.local = _Local()
        self.torch = None
        self.torch_events = []

    @property
    def active(self):
        return self.running and not self.paused

    def event(self, **fields):
        """One event of Chrome's format, with this thread's number."""
        fields.update(pid=os.getpid(), tid=threading.get_ident() % 100000)
        with self.lock:
            self.events.append(fields)

    def took(self, category, name, start, stop):
        """A span that has ended: seconds by `time.perf_counter`."""
        if not self.active:
            return
        self.event(name=name, cat=category, ph="X", ts=start * 1e6, dur=(stop - start) * 1e6)
        self.count(category, name, (stop - start) * 1e3)

    def count(self, category, name, value, kind=list):
        """Add to the statistics."""
        with self.lock:
            self.times.setdefault(category, {}).setdefault(name, kind()).append(value)


RECORDER = _Recorder()


def timed(op):
    """The operator's function with a clock around it; inside a custom operator the time counts as its own."""
    function, recorder = op.fn, RECORDER

    def call(*args, **kwargs):
        start = time.perf_counter()
        result = function(*args, **kwargs)
        stop = time.perf_counter()
        owner = recorder.local.custom
        name = recorder.local.scope + op.name
        if owner is None:
            recorder.took("operator", name, start, stop)
        else:
            recorder.took("Custom Operator", f"{owner}::{op.name}", start, stop)
        if recorder.options["profile_memory"] and recorder.active:
            _remember_memory()
        return result

    return call


def _remember_memory():
    if not os.path.exists(_STATM):  # a system that does not tell
        return
    with open(_STATM, "rb") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024
    with RECORDER.lock:
        RECORDER.memory.setdefault("Memory: cpu/0", Levels()).append(resident)


@contextlib.contextmanager
def custom_operator(name):
    """Python code of a custom operator runs inside; called by `ndarray._dispatch.custom_call`."""
    local, start = RECORDER.local, time.perf_counter()
    before, local.custom = local.custom, name.removeprefix("_backward_")
    try:
        yield
    finally:
        local.custom = before
        RECORDER.took("Custom Operator", f"{name}::pure_python", start, time.perf_counter())
