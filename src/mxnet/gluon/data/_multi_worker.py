"""Batches from a `multiprocessing` pool, as MXNet's loader made them: other packages (gluoncv, gluonnlp) extend it."""

import io
import pickle
from itertools import islice
from multiprocessing.reduction import ForkingPickler

from ... import context
from ...util import set_np

_worker_dataset = None  # in a worker process: the data set it reads from


def _worker_initializer(dataset, active_shape=False, active_array=False):
    """Run once in each worker of a pool: remember the data set, so that it is not sent with every batch."""
    global _worker_dataset
    _worker_dataset = dataset
    if active_shape or active_array:
        set_np(shape=active_shape, array=active_array)


def _worker_fn(samples, batchify_fn, dataset=None):
    """One batch, pickled in the worker; arrays travel through shared memory."""
    source = dataset if dataset is not None else _worker_dataset
    buffer = io.BytesIO()
    ForkingPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(batchify_fn([source[i] for i in samples]))
    return buffer.getvalue()


def _thread_worker_fn(samples, batchify_fn, dataset):
    """One batch, made by a thread: nothing is pickled."""
    return batchify_fn([dataset[i] for i in samples])


class _MultiWorkerIter:
    """An iterator that keeps `prefetch` batches of a pool under way and gives them out in order.

    A subclass may send other work in `_push_next`; `dataset` is given only where the workers are threads.
    """

    def __init__(
        self,
        worker_pool,
        batchify_fn,
        batch_sampler,
        pin_memory=False,
        pin_device_id=0,
        worker_fn=_worker_fn,
        prefetch=0,
        dataset=None,
        data_loader=None,
        timeout=120,
    ):
        self._worker_pool, self._worker_fn, self._batchify_fn = worker_pool, worker_fn, batchify_fn
        self._batch_sampler, self._dataset, self._timeout = batch_sampler, dataset, timeout
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        self._data_loader = data_loader  # kept alive: the pool is its own
        self._data_buffer, self._sent_idx, self._rcvd_idx = {}, 0, 0
        self._iter = iter(batch_sampler)
        for _ in range(prefetch):
            self._push_next()

    def __len__(self):
        return len(self._batch_sampler)

    def __iter__(self):
        return self

    def _push_next(self):
        """Give the next batch to a worker, if there is one."""
        for samples in islice(self._iter, 1):
            arguments = (samples, self._batchify_fn, self._dataset)
            self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(self._worker_fn, arguments)
            self._sent_idx += 1

    def __next__(self):
        self._push_next()
        if self._sent_idx == self._rcvd_idx:  # every batch has been given out
            raise StopIteration
        work = self._data_buffer.pop(self._rcvd_idx)
        self._rcvd_idx += 1
        result = work.get(self._timeout)
        batch = pickle.loads(result) if self._dataset is None else result
        return self._pinned(batch) if self._pin_memory else batch

    next = __next__

    def _pinned(self, batch):
        from .dataloader import _as_in_context

        return _as_in_context(batch, context.cpu_pinned(self._pin_device_id))
