"""Batches made ahead of time by a pool of threads: OpenCV decodes and augments outside the GIL."""

import collections
import os
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .._core.errors import MXNetError

_SLICE = 4  # images per task: enough to hide the cost of a task, few enough to share a batch among threads


class Batch:
    """One batch under construction: its arrays, the tasks that fill them, and the rows that failed."""

    def __init__(self, arrays, positions, pad):
        self.arrays = arrays
        self.positions = positions
        self.pad = pad
        self.tasks = []
        self.failed = []
        self.drawn = None  # where the stream of a single thread is after this batch

    def wait(self):
        for task in self.tasks:
            task.result()
        if self.failed:
            self._leave_out()
        return self

    def _leave_out(self):
        """Move the good rows to the front; the tail repeats them and counts as padding."""
        good = [row for row in range(len(self.arrays[0])) if row not in set(self.failed)]
        rows = [good[i % len(good)] for i in range(len(self.arrays[0]))] if good else []
        self.pad += len(self.failed)
        self.arrays = [array[rows] for array in self.arrays] if good else None
        self.positions = [self.positions[row] for row in rows]


class Pipeline:
    """Calls `fill(place, serial, arrays, row)` for each row of each batch, `ahead` batches early.

    `serial` counts all rows ever started, so that random choices do not depend on which thread makes them. A single
    thread may draw from one `stream` instead (`get_state`, `set_state`), which is then part of the position.
    """

    def __init__(self, batches, shapes, fill, describe, threads, ahead, on_error="raise", stream=None):
        self._batches = batches
        self._shapes = shapes
        self._fill = fill
        self._describe = describe
        self._threads = max(1, threads)
        self._ahead = max(1, ahead)
        self._on_error = on_error
        self._stream = stream
        self._pending = collections.deque()
        self._owner = None
        self._serial = 0
        self.fresh = False  # has an epoch been asked for of which nothing is read yet?
        self._done = self._started()

    def _started(self):
        return {"batches": self._batches.state_dict(), "serial": self._serial}

    def state_dict(self):
        """Where it is for whoever takes its batches: those made ahead are not counted."""
        if self._stream is not None and "stream" not in self._done:
            self._done = {**self._done, "stream": self.run(self._stream.get_state)}
        return self._done

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned."""
        self._drop()
        self._batches.load_state_dict(state["batches"])
        self._serial, self._done = state["serial"], state
        if self._stream is not None and "stream" in state:
            self.run(self._stream.set_state, state["stream"])

    def _pool(self):
        """Threads do not survive a fork: the child process starts its own."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._executor = ThreadPoolExecutor(self._threads, thread_name_prefix="mxnet-io")
            weakref.finalize(self, self._executor.shutdown, wait=False, cancel_futures=True)
            self._pending.clear()
        return self._executor

    def restart(self):
        """Drop what was prepared and begin a new epoch. One that nothing was read of counts, as its order is drawn."""
        if self.fresh:
            self._batches.skip()
        self._drop()
        self.fresh = True

    def run(self, work, *arguments):
        """What a thread returns that does this after what it has begun."""
        return self._pool().submit(work, *arguments).result()

    def _drop(self):
        for batch, _ in self._pending:
            if batch is not None:
                for task in batch.tasks:
                    task.cancel()
        self._pending.clear()
        self._batches.restart()
        self._done = self._started()

    def next(self):
        """The next finished batch, or None at the end of an epoch."""
        pool = self._pool()
        while True:
            # not beyond the end of an epoch: random numbers would be drawn for images that a restart drops
            while len(self._pending) <= self._ahead and not (self._pending and self._pending[-1][0] is None):
                self._pending.append((self._start(pool), self._started()))
            batch, self._done = self._pending.popleft()
            self.fresh = batch is None
            if batch is None:
                return None
            batch.wait()
            if self._stream is not None:
                self._done["stream"] = batch.drawn
            if batch.arrays is not None:
                return batch

    def _start(self, pool):
        taken = self._batches.next()
        if taken is None:
            return None
        places, pad = taken
        arrays = [np.empty(shape, dtype) for shape, dtype in self._shapes]
        batch = Batch(arrays, [place.position for place in places], pad)
        for array in arrays:
            array[len(places) :] = 0
        for first in range(0, len(places), _SLICE):
            part = places[first : first + _SLICE]
            batch.tasks.append(pool.submit(self._work, batch, part, first, self._serial))
        if self._stream is not None:
            batch.tasks.append(pool.submit(self._mark, batch))
        self._serial += len(places)
        return batch

    def _mark(self, batch):
        batch.drawn = self._stream.get_state()

    def _work(self, batch, part, first, serial):
        for row, place in enumerate(part, first):
            try:
                self._fill(place, serial + row, batch.arrays, row)
            except Exception as error:  # whatever an image does to its decoder is reported with its place
                self._report(error, place.position)
                batch.failed.append(row)

    def _report(self, error, position):
        message = f"{self._describe(position)}: {error}"
        if self._on_error == "raise":
            raise MXNetError(message) from error
        if self._on_error == "warn":
            warnings.warn(f"left out: {message}", stacklevel=2)
