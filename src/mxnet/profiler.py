"""Profiling: times of operators and of a program's own tasks, as tables and as a trace for Chrome's viewer.

Operators are timed by a wrapper around their functions, which is there only while the profiler runs; kernels come from
torch's own profiler, whose trace is merged into the file.
"""

import atexit
import contextlib
import json
import os
import tempfile
import warnings

from ._core.environment import is_on
from ._core.errors import MXNetError
from ._formats.atomic import atomic_write
from ._ops.registry import observe
from ._profiling.marks import Counter, Domain, Event, Frame, Marker, Task
from ._profiling.recorder import OPTIONS, RECORDER, timed
from ._profiling.statistics import KEYS, sorted_rows, table

__all__ = [
    "Counter", "Domain", "Event", "Frame", "Marker", "Task", "dump", "dump_profile", "dumps", "pause",
    "profiler_set_config", "profiler_set_state", "resume", "scope", "set_config", "set_kvstore_handle", "set_state",
]  # fmt: skip

for _mark in (Counter, Domain, Event, Frame, Marker, Task):
    _mark.__module__ = __name__  # programs and pickles know the classes by this module's name


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
    unknown = set(kwargs) - set(OPTIONS)
    if unknown:
        raise MXNetError(f"unknown profiler options {sorted(unknown)}; known are {sorted(OPTIONS)}")
    counted = RECORDER.options["aggregate_stats"]
    RECORDER.options.update({"aggregate_stats": False, **kwargs})  # every call says anew whether there are statistics
    if counted != RECORDER.options["aggregate_stats"]:
        with RECORDER.lock:
            RECORDER.times, RECORDER.memory = {}, {}
    if kwargs.get("profile_all"):
        RECORDER.options.update(
            dict.fromkeys([o for o in OPTIONS if o.startswith("profile_") and o != "profile_process"], True)
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
    if state == "run" and not RECORDER.running:
        RECORDER.running, RECORDER.paused = True, False
        atexit.register(dump)  # a program that ends meanwhile leaves its trace; torch's recorder must be stopped
        observe.watch(timed)
        _start_torch()
    elif state == "stop" and RECORDER.running:
        RECORDER.running = False
        atexit.unregister(dump)
        observe.unwatch(timed)
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
    RECORDER.paused = True


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
    RECORDER.paused = False


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
    if RECORDER.options["profile_all"] or RECORDER.options["profile_symbolic"]:
        import torch
        from torch.autograd.profiler import profile  # what torch.profiler wraps; that one imports sympy, a second

        device = "cuda" if torch.cuda.is_available() else None
        RECORDER.torch = profile(use_device=device).__enter__()


def _stop_torch():
    profile, RECORDER.torch = RECORDER.torch, None
    if profile is None:
        return
    profile.__exit__(None, None, None)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "torch.json")
        profile.export_chrome_trace(path)
        with open(path, "rb") as file:  # UTF-8, whatever the system's encoding is
            RECORDER.torch_events += json.load(file).get("traceEvents", [])


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
    with RECORDER.lock:
        trace = {"traceEvents": [*RECORDER.events, *RECORDER.torch_events], "displayTimeUnit": "ms"}
    with atomic_write(RECORDER.options["filename"]) as file:
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
    known = ", ".join(map(repr, KEYS))
    assert sort_by in KEYS, f"Invalid value provided for sort_by: {sort_by}. Support: {known}"
    assert format in ("table", "json"), f"Invalid value provided for format: {format}. Support: 'table', 'json'"
    with RECORDER.lock:
        times = {c: sorted_rows(e, sort_by, ascending) for c, e in sorted(RECORDER.times.items())}
        memory = {"Device Storage": sorted_rows(RECORDER.memory, sort_by, ascending)} if RECORDER.memory else {}
        if reset:
            RECORDER.times, RECORDER.memory = {}, {}
    if not RECORDER.options["aggregate_stats"]:
        return ""
    if format == "json":
        return json.dumps({"Time": times, "Memory": memory, "Unit": {"Time": "ms", "Memory": "kB"}}, indent=4)
    return table(memory, times)


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
    local = RECORDER.local
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
