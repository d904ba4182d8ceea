"""Profiling: times of operators and of a program's own tasks, as tables and as a trace for Chrome's viewer.

Operators are timed by a wrapper around their functions, which is there only while the profiler runs; kernels come from
torch's own profiler, whose trace is merged into the file.
"""

import atexit
import contextlib
import json
import os
import tempfile
import threading
import time
import warnings
from operator import itemgetter

from ._core.environment import is_on
from ._core.errors import MXNetError
from ._formats.atomic import atomic_write
from ._ops.registry import observe

__all__ = [
    "Counter", "Domain", "Event", "Frame", "Marker", "Task", "dump", "dump_profile", "dumps", "pause",
    "profiler_set_config", "profiler_set_state", "resume", "scope", "set_config", "set_kvstore_handle", "set_state",
]  # fmt: skip

_OPTIONS = {
    "filename": "profile.json", "profile_all": False, "profile_symbolic": False, "profile_imperative": False,
    "profile_memory": False, "profile_api": False, "continuous_dump": False, "dump_period": 1.0,
    "aggregate_stats": False, "profile_process": "worker", "gpu_memory_profile_filename_prefix": "gpu_memory_profile",
}  # fmt: skip

_STATM = "/proc/self/statm"  # where Linux tells how much memory a process has


class _Local(threading.local):
    custom = None  # the custom operator whose Python code runs in this thread
    scope = ""


class _Levels(list):
    """Values of something that goes up and down; their total is the last one."""


class _Recorder:
    """What has been recorded: trace events, and statistics by category and name."""

    def __init__(self):
        self.options = dict(_OPTIONS)
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


_RECORDER = _Recorder()


def _timed(op):
    """The operator's function with a clock around it; inside a custom operator the time counts as its own."""
    function, recorder = op.fn, _RECORDER

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
    with _RECORDER.lock:
        _RECORDER.memory.setdefault("Memory: cpu/0", _Levels()).append(resident)


@contextlib.contextmanager
def custom_operator(name):
    """Python code of a custom operator runs inside; called by `mxnet.operator`."""
    local, start = _RECORDER.local, time.perf_counter()
    before, local.custom = local.custom, name.removeprefix("_backward_")
    try:
        yield
    finally:
        local.custom = before
        _RECORDER.took("Custom Operator", f"{name}::pure_python", start, time.perf_counter())


# ---------------------------------------------------------------------- configuration and state
def set_config(**kwargs):
    """Choose what is recorded and where the trace goes.

    Call it before `set_state("run")`. A call replaces the options it names and switches `aggregate_stats` off unless it
    names it; an option that does not exist raises MXNetError.

    Parameters
    ----------
    **kwargs
        `filename` (default 'profile.json'): the trace, which chrome://tracing and Perfetto show.
        `profile_symbolic` (default False): record torch's own operators and GPU kernels below MXNet's operators, which
        are always recorded. `profile_memory` (default False): record the memory in use after each operator.
        `profile_all` switches both on. `aggregate_stats` (default False): count calls and times, which `dumps` prints
        as a table. `profile_imperative`, `profile_api`, `continuous_dump` and `dump_period` are accepted and have no
        effect.

    Examples
    --------
    >>> mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename="trace.json")
    """
    unknown = set(kwargs) - set(_OPTIONS)
    if unknown:
        raise MXNetError(f"unknown profiler options {sorted(unknown)}; known are {sorted(_OPTIONS)}")
    counted = _RECORDER.options["aggregate_stats"]
    _RECORDER.options.update({"aggregate_stats": False, **kwargs})  # every call says anew whether there are statistics
    if counted != _RECORDER.options["aggregate_stats"]:
        with _RECORDER.lock:
            _RECORDER.times, _RECORDER.memory = {}, {}
    if kwargs.get("profile_all"):
        _RECORDER.options.update(
            dict.fromkeys([o for o in _OPTIONS if o.startswith("profile_") and o != "profile_process"], True)
        )


def profiler_set_config(mode="symbolic", filename="profile.json"):
    """The old form of `set_config`.

    Parameters
    ----------
    mode : str, default 'symbolic'
        symbolic: record graphs; all: record single operators as well.
    filename : str, default 'profile.json'
        The file of the trace.

    Examples
    --------
    >>> mx.profiler.profiler_set_config(mode="all", filename="trace.json")
    """
    warnings.warn(
        "profiler.profiler_set_config() is deprecated. Please use profiler.set_config() instead", stacklevel=2
    )
    set_config(filename=filename, **{f"profile_{'all' if mode == 'all' else 'symbolic'}": True})


def set_state(state="stop", profile_process="worker"):
    """Start or stop recording.

    Parameters
    ----------
    state : str, default 'stop'
        'run' or 'stop'.
    profile_process : str, default 'worker'
        'worker' profiles this process; 'server' asks the servers of a distributed store, which profile themselves.

    Examples
    --------
    >>> mx.profiler.set_config(profile_all=True, filename="trace.json")
    >>> mx.profiler.set_state("run")
    >>> y = mx.nd.ones((2,)) + 1
    >>> mx.profiler.set_state("stop")
    """
    if state not in ("run", "stop"):
        raise KeyError(f"the profiler's state is 'run' or 'stop', got {state!r}")
    if state == "run" and not _RECORDER.running:
        _RECORDER.running, _RECORDER.paused = True, False
        atexit.register(dump)  # a program that ends meanwhile leaves its trace; torch's recorder must be stopped
        observe.watch(_timed)
        _start_torch()
    elif state == "stop" and _RECORDER.running:
        _RECORDER.running = False
        atexit.unregister(dump)
        observe.unwatch(_timed)
        _stop_torch()


def profiler_set_state(state="stop"):
    """The old form of `set_state`.

    Parameters
    ----------
    state : str, default 'stop'
        'run' or 'stop'.

    Examples
    --------
    >>> mx.profiler.profiler_set_state("stop")
    """
    warnings.warn("profiler.profiler_set_state() is deprecated. Please use profiler.set_state() instead", stacklevel=2)
    set_state(state)


def pause(profile_process="worker"):
    """Stop recording until `resume`.

    Parameters
    ----------
    profile_process : str, default 'worker'
        'worker' profiles this process; 'server' asks the servers of a distributed store, which profile themselves.

    Examples
    --------
    >>> mx.profiler.pause()
    >>> mx.profiler.resume()
    """
    _RECORDER.paused = True


def resume(profile_process="worker"):
    """Go on recording after `pause`.

    Parameters
    ----------
    profile_process : str, default 'worker'
        'worker' profiles this process; 'server' asks the servers of a distributed store, which profile themselves.

    Examples
    --------
    >>> mx.profiler.pause()
    >>> mx.profiler.resume()
    """
    _RECORDER.paused = False


def set_kvstore_handle(handle):
    """Name the distributed store to profile; its workers are profiled where they run.

    Parameters
    ----------
    handle : object
        The store's handle.

    Examples
    --------
    >>> mx.profiler.set_kvstore_handle(mx.kv.create("local").handle)
    """


def _start_torch():
    if _RECORDER.options["profile_all"] or _RECORDER.options["profile_symbolic"]:
        import torch
        from torch.autograd.profiler import profile  # what torch.profiler wraps; that one imports sympy, a second

        device = "cuda" if torch.cuda.is_available() else None
        _RECORDER.torch = profile(use_device=device).__enter__()


def _stop_torch():
    profile, _RECORDER.torch = _RECORDER.torch, None
    if profile is None:
        return
    profile.__exit__(None, None, None)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "torch.json")
        profile.export_chrome_trace(path)
        with open(path, "rb") as file:  # UTF-8, whatever the system's encoding is
            _RECORDER.torch_events += json.load(file).get("traceEvents", [])


# ---------------------------------------------------------------------- what comes out
def dump(finished=True, profile_process="worker"):
    """Write the trace to the file, for chrome://tracing or Perfetto.

    Parameters
    ----------
    finished : bool, default True
        Whether recording stops.
    profile_process : str, default 'worker'
        'worker' profiles this process; 'server' asks the servers of a distributed store, which profile themselves.

    Examples
    --------
    >>> mx.profiler.set_config(profile_all=True, filename="trace.json")
    >>> mx.profiler.set_state("run")
    >>> y = mx.nd.ones((2,)) + 1
    >>> mx.profiler.dump()
    >>> import os
    >>> os.path.exists("trace.json")
    True
    """
    if finished:
        set_state("stop")
    with _RECORDER.lock:
        trace = {"traceEvents": [*_RECORDER.events, *_RECORDER.torch_events], "displayTimeUnit": "ms"}
    with atomic_write(_RECORDER.options["filename"]) as file:
        file.write(json.dumps(trace).encode())


def dump_profile():
    """The old name of `dump`.

    Examples
    --------
    >>> mx.profiler.set_config(filename="trace.json")
    >>> mx.profiler.dump_profile()
    """
    warnings.warn("profiler.dump_profile() is deprecated. Please use profiler.dump() instead", stacklevel=2)
    dump(True)


_KEYS = {"total": "Total", "avg": "Avg", "min": "Min", "max": "Max", "count": "Count"}


def _statistics(values):
    """One row; the average of a level is half of what lies between its lowest and highest, as MXNet has it."""
    lowest, highest, total = min(values), max(values), sum(values)
    average = total / len(values)
    if isinstance(values, _Levels):
        total, average = values[-1], (highest - lowest) / 2
    row = {"Total": total, "Min": lowest, "Max": highest, "Avg": average}
    return {"Count": len(values), **{key: round(value, 4) for key, value in row.items()}}


def _sorted(entries, sort_by, ascending):
    rows = {name: _statistics(values) for name, values in entries.items()}
    return dict(sorted(rows.items(), key=lambda row: row[1][_KEYS[sort_by]], reverse=not ascending))


def dumps(reset=False, format="table", sort_by="total", ascending=False):
    """Statistics of what was recorded; empty without `set_config(aggregate_stats=True)`.

    Parameters
    ----------
    reset : bool, default False
        Whether the statistics start afresh.
    format : str, default 'table'
        table or json.
    sort_by : str, default 'total'
        total, avg, min, max or count.
    ascending : bool, default False
        Whether small values come first.

    Returns
    -------
    str

    Examples
    --------
    >>> mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename="trace.json")
    >>> mx.profiler.set_state("run")
    >>> y = mx.nd.ones((2,)) + 1
    >>> mx.profiler.set_state("stop")
    >>> "Profile Statistics" in mx.profiler.dumps(reset=True)
    True
    """
    known = ", ".join(map(repr, _KEYS))
    assert sort_by in _KEYS, f"Invalid value provided for sort_by: {sort_by}. Support: {known}"
    assert format in ("table", "json"), f"Invalid value provided for format: {format}. Support: 'table', 'json'"
    with _RECORDER.lock:
        times = {c: _sorted(e, sort_by, ascending) for c, e in sorted(_RECORDER.times.items())}
        memory = {"Device Storage": _sorted(_RECORDER.memory, sort_by, ascending)} if _RECORDER.memory else {}
        if reset:
            _RECORDER.times, _RECORDER.memory = {}, {}
    if not _RECORDER.options["aggregate_stats"]:
        return ""
    if format == "json":
        return json.dumps({"Time": times, "Memory": memory, "Unit": {"Time": "ms", "Memory": "kB"}}, indent=4)
    return _table(memory, times)


def _table(memory, times):
    lines = ["", "Profile Statistics:", "\tNote the difference in units for different entries."]
    heads = ("Total Count", "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)")
    uses = ("Total Count", "Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)")
    tables = [(domain, rows, heads, "Count Total Min Max Avg") for domain, rows in times.items()]
    tables += [(domain, rows, uses, "Count Min Max Avg") for domain, rows in memory.items()]
    for domain, *table in sorted(tables, key=itemgetter(0)):
        lines += [domain, "=" * 17, *_rows(*table)]
    return "\n".join(lines) + "\n"


def _rows(rows, heads, keys):
    widths = [16 if i else 15 for i in range(len(heads))]
    yield f"{'Name':<26s}" + " ".join(f"{h:>{w}s}" for h, w in zip(heads, widths, strict=True))
    yield f"{'----':<26s}" + " ".join(f"{'-' * len(h):>{w}s}" for h, w in zip(heads, widths, strict=True))
    for name, row in rows.items():
        values = [row[k] for k in keys.split()]
        cells = [f"{v:>{w}d}" if isinstance(v, int) else f"{v:>{w}.4f}" for v, w in zip(values, widths, strict=True)]
        yield f"{name:<26s}" + " ".join(cells)
    yield ""


# ---------------------------------------------------------------------- a program's own marks
class Domain:
    """A group of tasks, frames, counters and markers.

    The objects of a domain appear together in the trace, apart from the operators. `new_task`, `new_frame`,
    `new_counter` and `new_marker` make them.

    Parameters
    ----------
    name : str
        The name in the trace.

    Examples
    --------
    >>> domain = mx.profiler.Domain("training")
    >>> counter = domain.new_counter("batches")
    >>> counter += 1
    """

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name

    def new_task(self, name):
        """Make a task of this domain.

        Parameters
        ----------
        name : str
            The name in the trace.

        Returns
        -------
        Task

        Examples
        --------
        >>> str(mx.profiler.Domain("training").new_task("load"))
        'load'
        """
        return Task(self, name)

    def new_frame(self, name):
        """Make a frame of this domain.

        Parameters
        ----------
        name : str
            The name in the trace.

        Returns
        -------
        Frame

        Examples
        --------
        >>> str(mx.profiler.Domain("training").new_frame("batch"))
        'batch'
        """
        return Frame(self, name)

    def new_counter(self, name, value=None):
        """Make a counter of this domain.

        Parameters
        ----------
        name : str
            The name in the trace.
        value : number, optional
            The first value.

        Returns
        -------
        Counter

        Examples
        --------
        >>> mx.profiler.Domain("training").new_counter("samples", 32).value
        32
        """
        return Counter(self, name, value)

    def new_marker(self, name):
        """Make a marker of this domain.

        Parameters
        ----------
        name : str
            The name in the trace.

        Returns
        -------
        Marker

        Examples
        --------
        >>> marker = mx.profiler.Domain("training").new_marker("epoch ends")
        """
        return Marker(self, name)


class _Span:
    """Something with a beginning and an end; also usable in a `with`."""

    _category = "{}"

    def __init__(self, domain, name):
        self.domain, self.name = domain, name
        self._start = None

    def start(self):
        """Begin the span of time.

        Examples
        --------
        >>> task = mx.profiler.Domain("training").new_task("load")
        >>> task.start()
        >>> task.stop()
        """
        self._start = time.perf_counter()

    def stop(self):
        """End the span of time; it is recorded if the profiler runs.

        Examples
        --------
        >>> task = mx.profiler.Domain("training").new_task("load")
        >>> task.start()
        >>> task.stop()
        """
        if self._start is not None:
            _RECORDER.took(self._category.format(self.domain), self.name, self._start, time.perf_counter())
            self._start = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()

    def __str__(self):
        return self.name


class Task(_Span):
    """A piece of work of a domain, from `start` to `stop`.

    It appears as a bar in the trace, under the name of its domain. Tasks may overlap; start and stop one again to
    record another bar.

    Parameters
    ----------
    domain : Domain
        The group it belongs to.
    name : str
        The name in the trace.

    Examples
    --------
    >>> task = mx.profiler.Task(mx.profiler.Domain("training"), "epoch")
    >>> task.start()
    >>> task.stop()
    """


class Frame(_Span):
    """One of a series, such as a frame of a video.

    Parameters
    ----------
    domain : Domain
        The group it belongs to.
    name : str
        The name in the trace.

    Examples
    --------
    >>> frame = mx.profiler.Frame(mx.profiler.Domain("video"), "frame")
    >>> frame.start()
    >>> frame.stop()
    """

    _category = "{},frame"


class Event(_Span):
    """A piece of work without a domain.

    It is recorded like a Task, in the thread that starts it: use it to mark a phase of the program, such as loading
    data.

    Parameters
    ----------
    name : str
        The name in the trace.

    Examples
    --------
    >>> event = mx.profiler.Event("loading")
    >>> event.start()
    >>> event.stop()
    """

    _category = "event"

    def __init__(self, name):
        super().__init__(None, name)


class Counter:
    """A number that changes over time.

    The trace draws it as a curve: the length of a queue, the number of samples, the memory in use. `+=`, `-=`,
    `increment`, `decrement` and `set_value` change it.

    Parameters
    ----------
    domain : Domain
        The group it belongs to.
    name : str
        The name in the trace.
    value : number, optional
        The first value.

    Examples
    --------
    >>> counter = mx.profiler.Counter(mx.profiler.Domain("training"), "samples", 0)
    >>> counter.increment(32)
    """

    def __init__(self, domain, name, value=None):
        self.domain, self.name, self.value = domain, name, 0
        if value is not None:
            self.set_value(value)

    def set_value(self, value):
        """Set the counter.

        Parameters
        ----------
        value : number
            The new value.

        Examples
        --------
        >>> counter = mx.profiler.Domain("training").new_counter("samples")
        >>> counter.set_value(7)
        >>> counter.value
        7
        """
        self.value = value
        if _RECORDER.active:
            _RECORDER.event(
                name=self.name, cat=str(self.domain), ph="C", ts=time.perf_counter() * 1e6, args={self.name: value}
            )
            _RECORDER.count(str(self.domain), self.name, value / 1000, _Levels)

    def increment(self, delta=1):
        """Add to the counter; `counter += delta` does the same.

        Parameters
        ----------
        delta : number, default 1
            What is added.

        Examples
        --------
        >>> counter = mx.profiler.Domain("training").new_counter("samples", 7)
        >>> counter.increment(3)
        >>> counter.value
        10
        """
        self.set_value(self.value + delta)

    def decrement(self, delta=1):
        """Subtract from the counter; `counter -= delta` does the same.

        Parameters
        ----------
        delta : number, default 1
            What is subtracted.

        Examples
        --------
        >>> counter = mx.profiler.Domain("training").new_counter("samples", 7)
        >>> counter.decrement(3)
        >>> counter.value
        4
        """
        self.set_value(self.value - delta)

    def __iadd__(self, delta):
        self.increment(delta)
        return self

    def __isub__(self, delta):
        self.decrement(delta)
        return self

    def __str__(self):
        return self.name


_SCOPES = {"global": "g", "process": "p", "thread": "t", "task": "t", "marker": "t"}  # and the viewer's letters


class Marker:
    """A moment in time.

    It appears as a vertical line in the trace. `mark` takes the scope of the line: 'process', 'thread', 'task' or
    'global'.

    Parameters
    ----------
    domain : Domain
        The group it belongs to.
    name : str
        The name in the trace.

    Examples
    --------
    >>> mx.profiler.Marker(mx.profiler.Domain("training"), "saved").mark("process")
    """

    def __init__(self, domain, name):
        self.domain, self.name = domain, name

    def mark(self, scope="process"):
        """Record this moment, if the profiler runs.

        Parameters
        ----------
        scope : str, default 'process'
            How far the mark reaches in the viewer: 'global', 'process', 'thread', 'task' or 'marker'.

        Examples
        --------
        >>> mx.profiler.Domain("training").new_marker("epoch ends").mark()
        """
        if scope not in _SCOPES:
            raise MXNetError(f"Invalid Input: {scope!r}, valid values are: {{{', '.join(map(repr, sorted(_SCOPES)))}}}")
        if _RECORDER.active:
            with _RECORDER.lock:  # MXNet has a table of markers, with nothing in it
                _RECORDER.times.setdefault(f"{self.domain},instant_marker", {})
            cat, now = f"{self.domain},instant_marker", time.perf_counter() * 1e6
            _RECORDER.event(name=self.name, cat=cat, ph="i", s=_SCOPES[scope], ts=now)


@contextlib.contextmanager
def scope(name="<unk>:", append_mode=False):
    """Operators called inside the block are recorded under a prefix.

    Parameters
    ----------
    name : str, default '<unk>:'
        The prefix, ending in a colon.
    append_mode : bool, default False
        Whether the prefix is added to that of the outer scope.

    Examples
    --------
    >>> with mx.profiler.scope("encoder:"):
    ...     y = mx.nd.ones((2,)) + 1
    """
    local = _RECORDER.local
    before = local.scope
    name = name if name.endswith(":") else f"{name}:"
    local.scope = before + name if append_mode else name
    try:
        yield name
    finally:
        local.scope = before


if is_on("MXNET_PROFILER_AUTOSTART"):
    set_config(profile_all=True)
    set_state("run")
