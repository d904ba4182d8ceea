"""The loader: batches from a dataset, read in this process, by worker processes or by threads."""

import multiprocessing
import multiprocessing.queues
import pickle
from multiprocessing.reduction import ForkingPickler

import numpy as np
import torch.utils.data

from ... import context
from ... import ndarray as nd
from ..._core.advice.constructors import ExplainsArguments
from ..._core.errors import ValueRefused
from ...ndarray.ndarray import wrap
from ...util import active, default_array, is_np_array, is_np_shape, set_np  # noqa: F401  (MXNet's module shows some)
from . import sampler as _sampler
from ._multi_worker import (  # noqa: F401  (other packages extend them)
    _MultiWorkerIter,
    _thread_worker_fn,
    _worker_fn,
    _worker_initializer,
)
from ._sharing import rebuild_ndarray, reduce_ndarray  # noqa: F401  (MXNet's public names)
from ._workers import Fetcher, ProcessPool, ThreadPool

__all__ = ["DataLoader"]


class ConnectionWrapper:
    """A pipe end whose messages may hold NDArrays, which go through shared memory."""

    def __init__(self, conn):
        self._conn = conn

    def send(self, obj):
        self._conn.send_bytes(ForkingPickler.dumps(obj, pickle.HIGHEST_PROTOCOL))

    def recv(self):
        return pickle.loads(self._conn.recv_bytes())

    def __getattr__(self, name):
        return getattr(self.__dict__.get("_conn"), name)


class _Wrapped:
    """Puts both pipe ends of a multiprocessing queue into a ConnectionWrapper."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, ctx=multiprocessing.get_context(), **kwargs)
        self._reader = ConnectionWrapper(self._reader)
        self._writer = ConnectionWrapper(self._writer)


class Queue(_Wrapped, multiprocessing.queues.Queue):
    """A multiprocessing queue that carries NDArrays through shared memory."""


class SimpleQueue(_Wrapped, multiprocessing.queues.SimpleQueue):
    """A queue without a feeder thread that carries NDArrays through shared memory."""


def _check_shapes(shapes):
    """Samples of one batch are stacked, so they must be of one shape."""
    other = next((i for i, shape in enumerate(shapes) if shape != shapes[0]), None)
    if other is not None:
        raise ValueRefused(
            f"samples of different shapes cannot be one batch: sample 0 has {shapes[0]}, sample {other} has "
            f"{shapes[other]}; resize them in a transform, or pad them with batchify_fn=gluon.data.batchify.Pad()"
        )


def _merge(data, array_context):
    first = data[0]
    if isinstance(first, nd.NDArray):
        # torch's collate writes straight into shared memory when it runs in a worker process
        _check_shapes([sample.shape for sample in data])
        stacked = torch.utils.data.default_collate([sample._t.detach() for sample in data])
        return active(wrap(stacked, array_context or first.context))
    if isinstance(first, tuple):
        return [_merge(field, array_context) for field in zip(*data, strict=False)]
    if isinstance(first, np.ndarray):
        _check_shapes([np.shape(sample) for sample in data])
    values = np.asarray(data)
    return default_array(values, dtype=values.dtype, ctx=array_context)


def default_batchify_fn(data):
    """Stacks arrays, makes an array of anything else, and does so field by field for tuples."""
    return _merge(data, None)


def default_mp_batchify_fn(data):
    """`default_batchify_fn` for worker processes: the batch lies in shared memory."""
    return _merge(data, context.Context("cpu_shared", 0))


def _as_in_context(data, ctx):
    if isinstance(data, nd.NDArray):
        return data.as_in_context(ctx)
    if isinstance(data, (list, tuple)):
        return [_as_in_context(item, ctx) for item in data]
    return data


def _batches(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler):
    """The batch sampler that the loader's arguments describe."""
    if batch_sampler is not None:
        if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError(
                "batch_size, shuffle, sampler and last_batch must not be specified if batch_sampler is specified."
            )
        return batch_sampler
    if batch_size is None:
        raise ValueError("batch_size must be specified unless batch_sampler is specified")
    if sampler is None:
        sampler = (_sampler.RandomSampler if shuffle else _sampler.SequentialSampler)(len(dataset))
    elif shuffle:
        raise ValueError("shuffle must not be specified if sampler is specified")
    return _sampler.BatchSampler(sampler, batch_size, last_batch or "keep")


class _FromBatch:
    """A batch sampler that leaves out the first `skip` batches of its next pass, for going on inside an epoch."""

    def __init__(self, sampler):
        self.sampler = sampler
        self.skip = 0

    def __iter__(self):
        """If batches are left out the order is drawn at once, while the random streams are as when the epoch began."""
        skip, self.skip = self.skip, 0
        batches = iter(self.sampler)
        for _ in range(skip):
            next(batches, None)
        return batches

    def __len__(self):
        return len(self.sampler)


class DataLoader(ExplainsArguments):
    """Batches of a data set, in order.

    Samples are read in this process, by `num_workers` processes, or by as many threads with `thread_pool`. An exception
    of the data set is raised as it was, with the index of the sample.

    Parameters
    ----------
    dataset : Dataset or sequence
        Anything with `len` and indexing.
    batch_size : int, optional
        The number of samples in a batch.
    shuffle : bool, default False
        Whether samples come in random order.
    sampler : Sampler, optional
        The order of the samples, instead of `shuffle`.
    last_batch : str, optional
        What becomes of an incomplete last batch: keep (the default), discard, or rollover into the next epoch.
    batch_sampler : Sampler, optional
        Gives the indices of whole batches, instead of the four arguments before.
    batchify_fn : callable, optional
        Makes a batch of a list of samples; without it arrays are stacked.
    num_workers : int, default 0
        The number of processes or threads; 0 reads in this thread.
    pin_memory : bool, default False
        Whether batches are copied to pinned memory, from which a GPU copies quickly.
    pin_device_id : int, default 0
        The GPU that they are for.
    prefetch : int, optional
        The number of batches that are read ahead; None: twice the workers.
    thread_pool : bool, default False
        Whether workers are threads instead of processes.
    timeout : int, default 120
        The seconds that a batch may take.
    auto_reload : bool, default False
        Whether the next epoch starts loading as soon as one ends.
    on_error : str, default 'raise'
        What to do with a sample that cannot be read: 'raise', or 'warn' and 'skip', which leave it out of its batch.

    Examples
    --------
    >>> dataset = mx.gluon.data.ArrayDataset(np.arange(10).reshape(5, 2), np.arange(5))
    >>> loader = mx.gluon.data.DataLoader(dataset, batch_size=2, last_batch="discard")
    >>> [(data.shape, label.asnumpy().tolist()) for data, label in loader]
    [((2, 2), [0, 1]), ((2, 2), [2, 3])]
    """

    def __init__(
        self,
        dataset,
        batch_size=None,
        shuffle=False,
        sampler=None,
        last_batch=None,
        batch_sampler=None,
        batchify_fn=None,
        num_workers=0,
        pin_memory=False,
        pin_device_id=0,
        prefetch=None,
        thread_pool=False,
        timeout=120,
        auto_reload=False,
        on_error="raise",
    ):
        assert timeout > 0, f"timeout must be positive, given {timeout}"
        self._pool = None
        self._iter = None
        self._dataset = dataset
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._batch_sampler = _batches(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler)
        self._num_workers = max(num_workers, 0)
        self._prefetch = max(0, 2 * self._num_workers if prefetch is None else int(prefetch))
        self._order = _FromBatch(self._batch_sampler)
        shared = self._num_workers > 0 and not thread_pool
        self._batchify_fn = batchify_fn or (default_mp_batchify_fn if shared else default_batchify_fn)
        self._fetcher = Fetcher(dataset, self._batchify_fn, on_error)
        if self._num_workers > 0:
            pool = ThreadPool if thread_pool else ProcessPool
            self._pool = pool(self._fetcher, self._order, self._num_workers, self._prefetch, timeout)
        self.auto_reload = auto_reload
        if auto_reload:
            self.refresh()

    def __iter__(self):
        if self._iter is None:
            self.refresh()
        batches, self._iter = self._iter, None
        self._taken = self._begun_at
        for batch in batches:
            self._taken += 1
            if batch is not None:  # None: every sample of the batch was left out
                yield _as_in_context(batch, context.cpu_pinned(self._pin_device_id)) if self._pin_memory else batch
        if self._iter is None and self.auto_reload:
            self.refresh()

    def __len__(self):
        return len(self._batch_sampler)

    def __del__(self):
        if getattr(self, "_pool", None) is not None:
            self._iter = None
            self._pool.close()

    def refresh(self):
        """Start a new pass over the dataset now, so that workers load while the program does something else. Not in
        MXNet.

        Examples
        --------
        >>> loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(np.arange(4)), batch_size=2)
        >>> loader.refresh()
        >>> len(list(loader))
        2
        """
        self._begun_at = self._order.skip
        self._iter = iter(self._pool) if self._pool is not None else map(self._fetcher, self._order)

    def _iterate_from(self, count):
        """A pass over the dataset without its first `count` batches, which are not read."""
        self._order.skip = count
        self.refresh()
        return iter(self)

    def clean(self):
        """Drop a pass that `refresh` started and nobody used. Not in MXNet.

        Examples
        --------
        >>> loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(np.arange(4)), batch_size=2)
        >>> loader.refresh()
        >>> loader.clean()
        """
        self._iter = None


class DataLoaderV1(DataLoader):
    """MXNet's first loader: the same batches with fewer options."""

    def __init__(
        self,
        dataset,
        batch_size=None,
        shuffle=False,
        sampler=None,
        last_batch=None,
        batch_sampler=None,
        batchify_fn=None,
        num_workers=0,
        pin_memory=False,
        pin_device_id=0,
    ):
        super().__init__(
            dataset,
            batch_size,
            shuffle,
            sampler,
            last_batch,
            batch_sampler,
            batchify_fn,
            num_workers,
            pin_memory,
            pin_device_id,
        )


def worker_loop_v1(dataset, key_queue, data_queue, batchify_fn):
    """Serve batches: take (number, indices) from one queue, put (number, batch) into the other, until told None."""
    while True:
        number, indices = key_queue.get()
        if number is None:
            break
        data_queue.put((number, batchify_fn([dataset[i] for i in indices])))


def fetcher_loop_v1(data_queue, data_buffer, pin_memory=False, pin_device_id=0, data_buffer_lock=None):
    """Move (number, batch) pairs from a queue into a dict, until told None."""
    target = context.cpu_pinned(pin_device_id) if pin_memory else context.cpu()
    while True:
        number, batch = data_queue.get()
        if number is None:
            break
        batch = _as_in_context(batch, target)
        if data_buffer_lock is None:
            data_buffer[number] = batch
        else:
            with data_buffer_lock:
                data_buffer[number] = batch
