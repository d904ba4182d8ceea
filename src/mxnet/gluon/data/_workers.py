"""Worker processes and threads of the loader: torch's loader machinery behind MXNet's contract."""

import collections
import contextlib
import glob
import multiprocessing.util
import os
import random
import threading
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from multiprocessing.reduction import ForkingPickler

import numpy as np
import torch.multiprocessing
import torch.utils.data

from ..._core import streams
from ..._core.on_error import checked_on_error
from ..._core.writes import lend
from ...ndarray import NDArray
from ...util import is_np_array, is_np_shape, set_np
from . import _sharing
from ._process_run import POLL, DataLoaderTimeout, DataLoaderWorkerError, ProcessRun, Raised, note, plain


class Fetcher:
    """Reads the samples at some indices and merges them; the same object works in any process or thread."""

    def __init__(self, dataset, batchify, on_error):
        self.dataset = dataset
        self.batchify = batchify
        self.on_error = checked_on_error(on_error)

    def __call__(self, indices):
        batch, warned = self.fetch(indices)
        for words in warned:
            warnings.warn(words, stacklevel=2)
        return batch

    def fetch(self, indices):
        """The batch, None if no sample of it can be read, and what to warn about."""
        if self.on_error == "raise":
            return self.batchify([self._read(index) for index in indices]), []
        samples, warned = [], []
        for index in indices:
            try:
                samples.append(self.dataset[index])
            except Exception as error:  # whatever a dataset raises is what the caller asked to pass over
                if self.on_error == "warn":
                    warned.append(f"sample {plain(index)} left out: {type(error).__name__}: {error}")
        return (self.batchify(samples) if samples else None), warned

    def _read(self, index):
        try:
            return self.dataset[index]
        except Exception as error:
            note(error, f"while reading sample {plain(index)} of {type(self.dataset).__name__}")
            raise


class _Positions(torch.utils.data.Dataset):
    """The fetcher as torch sees a dataset: `__getitems__` takes a batch of indices and gives the batch."""

    def __init__(self, fetcher):
        self.fetcher = fetcher

    def __getitems__(self, numbered):
        seed, indices = numbered
        _seed_all(seed)
        try:
            return self._shared_batch(indices)
        except Exception as error:  # whatever a dataset raises goes to the parent as it is
            sent = Raised.of(error)
            if sent is None:
                raise
            return sent, []

    def _shared_batch(self, indices):
        try:
            batch, warned = self.fetcher.fetch(indices)
            _share(batch)
        except RuntimeError as error:
            if not any(words in str(error) for words in ("shared memory", "unable to resize file")):
                raise
            raise DataLoaderWorkerError(
                f"A data loader worker is out of shared memory ({error}): use fewer workers or smaller batches, "
                "give /dev/shm more room, or use thread_pool=True"
            ) from error
        return batch, warned

    def __len__(self):
        return len(self.fetcher.dataset)


def _seed_all(seed):
    """Seed every stream that a transform may draw from."""
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    torch.manual_seed(seed)
    streams.seed_all(seed % (1 << 31))


def _unchanged(batch):
    return batch


def _share(batch):
    """Move arrays to shared memory here, where a failure is an error; the queue's own thread would only print it."""
    if isinstance(batch, NDArray):
        if batch.stype == "default" and not batch._t.is_cuda:
            batch._t.data.share_memory_()
            lend(batch._t)
            ForkingPickler.register(type(batch), _sharing.reduce_ndarray)  # `mx.np.ndarray` is known once it is used
    elif isinstance(batch, dict):
        _share(list(batch.values()))
    elif isinstance(batch, (list, tuple)):
        for part in batch:
            _share(part)


def _sweep(worker):
    """Remove shared memory that a worker created but could not remove itself, because it died or memory was full."""
    if torch.multiprocessing.get_sharing_strategy() == "file_descriptor":
        for path in glob.glob(f"/dev/shm/torch_{worker.pid}_*"):
            with contextlib.suppress(OSError):
                os.unlink(path)


def _live_with_parent(number):
    """Start a thread that ends this worker when the process that started it is gone, however busy the worker is."""
    parent = os.getppid()

    def look():
        while os.getppid() == parent:
            time.sleep(POLL)
        os._exit(1)

    threading.Thread(target=look, daemon=True, name="mxnet-data-parent").start()


class _Journal:
    """A batch sampler that remembers which batches were handed out and not yet received."""

    def __init__(self, sampler):
        self.sampler = sampler
        self.in_flight = collections.deque()

    def __iter__(self):
        """(seed, indices) of each batch: what is drawn for a batch depends on its place, not on who reads it."""
        self.in_flight.clear()
        seed = torch.empty((), dtype=torch.int64).random_().item()  # one draw for a pass, for resuming inside it
        for number, batch in enumerate(self.sampler, getattr(self.sampler, "skip", 0)):
            self.in_flight.append(batch)
            yield seed + number, batch

    def __len__(self):
        return len(self.sampler)

    def describe(self, limit=8):
        shown = [[plain(index) for index in batch] for batch in list(self.in_flight)[:limit]]
        more = len(self.in_flight) - len(shown)
        return f"batches of sample indices in flight: {shown}" + (f" and {more} more" if more > 0 else "")


class _Loader(torch.utils.data.DataLoader):
    def check_worker_number_rationality(self):
        """More workers than cores are the user's choice: torch would warn whenever a pass begins."""


class ProcessPool:
    """Worker processes that stay alive between epochs. A second iterator that runs at the same time gets its own."""

    def __init__(self, fetcher, batch_sampler, num_workers, prefetch, timeout):
        self._arguments = (fetcher, batch_sampler, num_workers, prefetch, timeout)
        self._loader, self._journal = self._build(keep=True)
        self._current = None
        self._owner = os.getpid()

    def _build(self, keep):
        fetcher, batch_sampler, num_workers, prefetch, _ = self._arguments
        journal = _Journal(batch_sampler)
        loader = _Loader(
            _Positions(fetcher),
            batch_sampler=journal,
            num_workers=num_workers,
            collate_fn=_unchanged,
            prefetch_factor=max(1, -(-prefetch // num_workers)),
            timeout=POLL,
            persistent_workers=keep,
            worker_init_fn=_live_with_parent,
            generator=torch.Generator(),  # else starting workers would draw from the program's own stream
        )
        return loader, journal

    def __iter__(self):
        busy = self._current is not None and self._current() is not None and not self._current().finished
        if busy:
            loader, journal = self._build(keep=False)
            return ProcessRun(_started(loader), journal, self._arguments[-1], self)
        run = ProcessRun(self._restarted(), self._journal, self._arguments[-1], self)
        self._current = weakref.ref(run)
        return run

    def _restarted(self):
        """The kept workers at the beginning of a pass; new ones if they are still busy with one that was given up."""
        try:
            return _started(self._loader)
        except RuntimeError:
            self.close()
            return _started(self._loader)

    def close(self, iterator=None, kill=False):
        """Stop the workers of an iterator, or of the one that is kept between epochs; `kill` does not ask them."""
        kept = getattr(self._loader, "_iterator", None)
        iterator = iterator or kept
        if iterator is not None and os.getpid() == self._owner:
            for worker in iterator._workers if kill else ():
                worker.kill()
            iterator._shutdown_workers()
            for worker in iterator._workers:
                _sweep(worker)
        if iterator is kept:
            self._loader._iterator = None


def _started(loader):
    """The loader's iterator. Its workers are looked after here, where the batches are awaited, and nowhere else.

    torch would raise from a signal handler, in the middle of whatever the program is doing when a worker dies.
    Workers send through sockets in the directory of this process: one of their own would stay when they are ended.
    """
    multiprocessing.util.get_temp_dir()
    iterator = iter(loader)
    if getattr(iterator, "_worker_pids_set", False):
        torch._C._remove_worker_pids(id(iterator))
        iterator._worker_pids_set = False
    return iterator


class ThreadPool:
    """Worker threads: no copies and nothing to send, for work that leaves the GIL."""

    def __init__(self, fetcher, batch_sampler, num_workers, prefetch, timeout):
        self._fetcher = fetcher
        self._batch_sampler = batch_sampler
        self._ahead = max(1, prefetch)
        self._timeout = timeout
        rules = {"initializer": set_np, "initargs": (True, is_np_array())} if is_np_shape() else {}
        self._executor = ThreadPoolExecutor(num_workers, thread_name_prefix="mxnet-data", **rules)

    def __iter__(self):
        return _ThreadRun(self, self._executor, self._fetcher, self._batch_sampler, self._ahead, self._timeout)

    def close(self):
        self._executor.shutdown(wait=False, cancel_futures=True)


class _ThreadRun:
    """One pass over the data by worker threads, in order, a fixed number of batches ahead."""

    def __init__(self, pool, executor, fetcher, batch_sampler, ahead, timeout):
        self._pool = pool
        self._executor = executor
        self._fetcher = fetcher
        self._batches = iter(batch_sampler)
        self._timeout = timeout
        self._pending = collections.deque()
        for _ in range(ahead):
            self._submit()

    def _submit(self):
        batch = next(self._batches, None)
        if batch is not None:
            self._pending.append((batch, self._executor.submit(self._fetcher, batch)))

    def __iter__(self):
        return self

    def __next__(self):
        if not self._pending:
            raise StopIteration
        indices, future = self._pending.popleft()
        self._submit()
        try:
            return future.result(self._timeout)
        except FutureTimeout as error:
            raise DataLoaderTimeout(
                f"Worker timed out after {self._timeout} seconds at the samples "
                f"{[plain(index) for index in indices]}; use a larger timeout"
            ) from error
