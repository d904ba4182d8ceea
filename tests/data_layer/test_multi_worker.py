"""MXNet's iterator over a pool of workers, extended as gluoncv extends it."""

import multiprocessing
from multiprocessing.pool import ThreadPool

import numpy as np

from mxnet import gluon
from mxnet.gluon.data.dataloader import (
    _MultiWorkerIter,
    _thread_worker_fn,
    _worker_fn,
    _worker_initializer,
    default_batchify_fn,
    default_mp_batchify_fn,
)

DATA = gluon.data.ArrayDataset(np.arange(20, dtype="float32"))
BATCHES = gluon.data.BatchSampler(gluon.data.SequentialSampler(20), 6, "keep")


def test_processes_give_batches_in_order():
    pool = multiprocessing.get_context("fork").Pool(2, _worker_initializer, [DATA])
    batches = [b.asnumpy() for b in _MultiWorkerIter(pool, default_mp_batchify_fn, BATCHES, prefetch=2)]
    pool.close()  # and no signal, which a worker may miss just before it waits for more
    pool.join()
    assert [len(b) for b in batches] == [6, 6, 6, 2]
    np.testing.assert_array_equal(np.concatenate(batches), np.arange(20))


class Numbered(_MultiWorkerIter):
    """Sends more than the base class does, and begins by itself, as gluoncv's loader with random transforms."""

    def __init__(self, *arguments, prefetch=0, **options):
        super().__init__(*arguments, prefetch=0, **options)
        for _ in range(prefetch):
            self._push_next()

    def _push_next(self):
        samples = next(self._iter, None)
        if samples is None:
            return
        shift = self._sent_idx
        work = self._worker_pool.apply_async(
            lambda: _thread_worker_fn(samples, self._batchify_fn, self._dataset) + shift
        )
        self._data_buffer[self._sent_idx] = work
        self._sent_idx += 1


def test_a_subclass_sends_work_of_its_own():
    with ThreadPool(2) as pool:
        iterator = Numbered(pool, default_batchify_fn, BATCHES, prefetch=3, dataset=DATA, worker_fn=_worker_fn)
        assert len(iterator) == 4
        assert [b[0].asscalar() for b in iterator] == [0, 7, 14, 21]
