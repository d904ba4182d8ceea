"""One pass over the data by worker processes, which are looked after while a batch is awaited."""

import multiprocessing
import pickle
import signal
import threading
import time
import traceback
import warnings
import weakref
from typing import NamedTuple

from ..._core.errors import MXNetError

POLL = 1  # seconds between looks at the workers while a batch is awaited, and of workers at their parent
_CAUSES = {
    "SIGKILL": "somebody killed it, or the system ran out of memory",
    "SIGBUS": "probably /dev/shm is full: use fewer workers or smaller batches, or thread_pool=True",
    "SIGSEGV": "a library it called crashed",
}


class DataLoaderTimeout(MXNetError, multiprocessing.TimeoutError):
    """No batch arrived in time."""


class DataLoaderWorkerError(MXNetError):
    """A worker process died, was stopped or ran out of shared memory."""


def plain(index):
    """A number for messages, whatever type a sampler gave it."""
    return index.item() if hasattr(index, "item") else index


def note(error, words):
    """Add words to an error of whatever type; before Python 3.11 only one that holds a text can take them."""
    if hasattr(error, "add_note"):
        error.add_note(words)
    elif len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]}\n{words}",)


class _RemoteTraceback(Exception):
    """Where an exception was raised in a worker process; shown as the cause of the exception."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text

    def __str__(self):
        return f"\n{self.text}"


class Raised(NamedTuple):
    """An exception of a worker, sent in place of a batch so that it keeps its type, arguments and notes."""

    error: bytes
    where: str

    @classmethod
    def of(cls, error):
        """The exception in a form that can be sent; None if it cannot be pickled and read back."""
        try:
            sent = pickle.dumps(error)
            pickle.loads(sent)
        except Exception:  # __reduce__ and __init__ of an exception are code of the user
            return None
        return cls(sent, "".join(traceback.format_exception(error)))

    def again(self):
        """Raise it here."""
        raise pickle.loads(self.error) from _RemoteTraceback(self.where)


class ProcessRun:
    """The batches of one pass, in order. `finished` after the last one or an error."""

    def __init__(self, iterator, journal, timeout, pool):
        self._iterator = iterator
        self._journal = journal
        self._timeout = timeout
        self._pool = pool  # keeps the workers while somebody iterates
        self._since = None  # when the wait for the next batch began
        self._stopped, self._late = [], False  # what the watchdog found
        self.finished = False
        _Watchdog(self).start()

    def __iter__(self):
        return self

    def __next__(self):
        self._since = time.monotonic()
        try:
            batch, warned = self._awaited()
        except StopIteration:
            self.finished = True
            raise
        except Exception as error:
            self.finished = True
            self._pool.close(self._iterator, kill=True)
            if "in flight" not in str(error):
                note(error, self._journal.describe())
            raise
        finally:
            self._since = None
        self._journal.in_flight.popleft()
        for words in warned:
            warnings.warn(words, stacklevel=3)
        return batch

    def _awaited(self):
        batch, warned = self._received()
        if isinstance(batch, Raised):
            batch.again()
        return batch, warned

    def _received(self):
        while True:
            try:
                return next(self._iterator)
            except (RuntimeError, OSError, EOFError) as error:
                if "DataLoader timed out" not in str(error):
                    raise self._explained(error) from error
                if time.monotonic() - self._since >= self._timeout:
                    raise self._timed_out() from None

    def _explained(self, error):
        """The end of a worker in the words of this API; an exception that could not be sent has torch's text."""
        if "Caught " in str(error):
            return error
        if self._stopped:
            pids = ", ".join(map(str, self._stopped))
            return DataLoaderWorkerError(
                f"A data loader worker (pid {pids}) was stopped by a signal; {self._journal.describe()}"
            )
        if self._late:
            return self._timed_out()
        ends = [_end(worker) for worker in self._dead()]
        if not ends:
            return error
        return DataLoaderWorkerError(f"A data loader worker died: {'; '.join(ends)}; {self._journal.describe()}")

    def _timed_out(self):
        return DataLoaderTimeout(
            f"Worker timed out after {self._timeout} seconds. This might be caused by slow data (then use "
            "a larger timeout), or by too little shared memory (then use fewer workers); "
            f"{self._journal.describe()}"
        )

    def _dead(self):
        """The workers that ended; a broken connection may be known before the end of the process is."""
        deadline = time.monotonic() + POLL
        while True:
            dead = [worker for worker in self._iterator._workers if not worker.is_alive()]
            if dead or time.monotonic() >= deadline:
                return dead
            time.sleep(0.01)

    def look(self):
        """Called by the watchdog: end workers that will never answer, so that a wait for their bytes ends as well."""
        since, workers = self._since, getattr(self._iterator, "_workers", ())
        waited = 0 if since is None else time.monotonic() - since
        if waited > POLL:
            stopped = [worker for worker in workers if _is_stopped(worker.pid)]
            self._stopped += [worker.pid for worker in stopped]
            _kill(stopped)
        if waited > self._timeout + 2 * POLL:  # the wait itself hangs: a worker went silent in the middle of a message
            self._late = True
            _kill(workers)


class _Watchdog(threading.Thread):
    """Looks at a pass and its workers every second, until it is over or nobody has it any more."""

    def __init__(self, run):
        super().__init__(daemon=True, name="mxnet-data-watchdog")
        self._watched = weakref.ref(run)

    def run(self):
        while (watched := self._watched()) is not None and not watched.finished:
            watched.look()
            del watched
            time.sleep(POLL)


def _kill(workers):
    for worker in workers:
        worker.kill()  # a stopped process hears nothing else


def _end(worker):
    """How a worker ended, for people."""
    code = worker.exitcode
    if code is None or code >= 0:
        return f"pid {worker.pid} exited with code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    cause = _CAUSES.get(name)
    return f"pid {worker.pid} was ended by {name}" + (f" ({cause})" if cause else "")


def _is_stopped(pid):
    """Whether a process is stopped, where the system says so in /proc."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] in ("T", "t")
    except (OSError, IndexError):
        return False
