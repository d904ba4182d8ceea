"""A program's own marks in the trace: tasks, frames, events, counters and markers of a domain."""

import time

from .._core.errors import MXNetError
from .recorder import RECORDER
from .statistics import Levels


class _Named:
    """What is printed as its name."""

    def __str__(self):
        return self.name


class Domain(_Named):
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


class _Span(_Named):
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
            RECORDER.took(self._category.format(self.domain), self.name, self._start, time.perf_counter())
            self._start = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()


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


class Counter(_Named):
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
        if RECORDER.active:
            RECORDER.event(
                name=self.name, cat=str(self.domain), ph="C", ts=time.perf_counter() * 1e6, args={self.name: value}
            )
            RECORDER.count(str(self.domain), self.name, value / 1000, Levels)

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
        if RECORDER.active:
            with RECORDER.lock:  # MXNet has a table of markers, with nothing in it
                RECORDER.times.setdefault(f"{self.domain},instant_marker", {})
            cat, now = f"{self.domain},instant_marker", time.perf_counter() * 1e6
            RECORDER.event(name=self.name, cat=cat, ph="i", s=_SCOPES[scope], ts=now)
