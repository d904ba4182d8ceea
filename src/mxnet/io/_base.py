"""What an iterator is, what it gives, and the iterators that wrap others."""

import atexit
import queue
import threading
import weakref
from collections import namedtuple
from typing import Any

import numpy as np


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Name and shape of one input, as a tuple, with its dtype and layout as attributes."""

    def __new__(cls, name, shape, dtype=np.float32, layout="NCHW"):
        described = super().__new__(cls, name, shape)
        described.dtype = dtype
        described.layout = layout
        return described

    def __repr__(self):
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    def __reduce__(self):
        return DataDesc, (self.name, self.shape, self.dtype, self.layout)

    @staticmethod
    def get_batch_axis(layout):
        """The axis that counts samples: where N stands in the layout, 0 without one, -1 if it has no N."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes, types):
        """Descriptions from (name, shape) pairs and, if given, (name, dtype) pairs."""
        if types is None:
            return [DataDesc(pair[0], pair[1]) for pair in shapes]
        dtypes = dict(types)
        return [DataDesc(pair[0], pair[1], dtypes[pair[0]]) for pair in shapes]


class DataBatch:
    """One batch: lists of arrays for data and label, how many samples at its end are padding, their indices."""

    def __init__(self, data, label=None, pad=None, index=None, bucket_key=None, provide_data=None, provide_label=None):
        if data is not None:
            assert isinstance(data, (list, tuple)), "Data must be list of NDArrays"
        if label is not None:
            assert isinstance(label, (list, tuple)), "Label must be list of NDArrays"
        self.data: Any = data
        self.label: Any = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self):
        labels = [label.shape for label in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {[d.shape for d in self.data]} label shapes: {labels}"


def is_stateful(source):
    """Whether a source can say where it is, and be set there: it and all that it reads from."""
    able = hasattr(source, "state_dict") and hasattr(source, "load_state_dict")
    return able and all(map(is_stateful, getattr(source, "_sources", ())))


class DataIter:
    """The base of iterators: `iter_next` moves on, the `get…` methods give the current batch, `next` both."""

    def __init__(self, batch_size=0):
        self.batch_size = batch_size

    def __iter__(self):
        return self

    def reset(self):
        """Go back to the first batch."""

    def next(self):
        """The next batch; StopIteration at the end of the epoch."""
        if self.iter_next():
            return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex())
        raise StopIteration

    def __next__(self):
        return self.next()

    def iter_next(self):
        """Move to the next batch; whether there is one."""

    def getdata(self):
        """The data of the current batch."""

    def getlabel(self):
        """The labels of the current batch."""

    def getindex(self):
        """The indices of the samples of the current batch, if known."""
        return

    def getpad(self):
        """How many samples at the end of the current batch are padding."""


class _HoldsBatch(DataIter):
    """An iterator whose current batch is a DataBatch in `current_batch`."""

    current_batch = None

    def getdata(self):
        return self.current_batch.data

    def getlabel(self):
        return self.current_batch.label

    def getindex(self):
        return self.current_batch.index

    def getpad(self):
        return self.current_batch.pad


class ResizeIter(_HoldsBatch):
    """Another iterator with `size` batches an epoch, going around or stopping early as needed."""

    def __init__(self, data_iter, size, reset_internal=True):
        super().__init__()
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        self.batch_size = data_iter.batch_size
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self):
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    @property
    def _sources(self):
        return [self.data_iter]

    def state_dict(self):
        """Where it and the other iterator are, if that one can say."""
        return {"cur": self.cur, "inner": self.data_iter.state_dict()}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned."""
        self.cur = state["cur"]
        self.data_iter.load_state_dict(state["inner"])

    def iter_next(self):
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True


_RUNNING = weakref.WeakSet()


class _Reader(threading.Thread):
    """Fetches batches of one iterator on request: a batch, None at the end, or the exception it raised."""

    def __init__(self, source):
        super().__init__(daemon=True, name="mxnet-prefetch")
        self._source = source
        self._requests = queue.SimpleQueue()
        self._results = queue.SimpleQueue()
        _RUNNING.add(self)
        self.start()

    def run(self):
        while self._requests.get():
            try:
                self._results.put(self._source.next())
            except StopIteration:
                self._results.put(None)
            except Exception as error:  # raised again where the batch is asked for
                self._results.put(error)

    def request(self):
        self._requests.put(True)

    def stop(self):
        self._requests.put(False)

    def result(self):
        return self._results.get()


def _stop_all(readers):
    for reader in readers:
        reader.stop()


@atexit.register
def _wait_for_readers():
    """A thread that is still inside torch when Python ends would take the process down with it."""
    running = list(_RUNNING)
    _stop_all(running)
    for reader in running:
        reader.join(timeout=10)


class PrefetchingIter(_HoldsBatch):
    """Reads the next batch of one or several iterators in threads while the current one is used."""

    def __init__(self, iters, rename_data=None, rename_label=None):
        super().__init__()
        self.iters = iters if isinstance(iters, list) else [iters]
        self.n_iter = len(self.iters)
        assert self.n_iter > 0
        self.rename_data = rename_data
        self.rename_label = rename_label
        self.batch_size = self.provide_data[0][1][0]
        self._readers = [_Reader(source) for source in self.iters]
        weakref.finalize(self, _stop_all, self._readers)
        self._request()

    @property
    def _sources(self):
        return self.iters

    def state_dict(self):
        """Where the iterators were before the batch that is being read ahead, if they can say."""
        return {"inner": self._before if self._waiting else self._states(), "waiting": self._waiting}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned."""
        if self._waiting:
            self._results()
        for source, inner in zip(self.iters, state["inner"], strict=True):
            source.load_state_dict(inner)
        if state["waiting"]:
            self._request()

    def _states(self):
        return [source.state_dict() if is_stateful(source) else None for source in self.iters]

    def _request(self):
        self._before = self._states()
        self._waiting = True
        for reader in self._readers:
            reader.request()

    def _results(self):
        self._waiting = False
        return [reader.result() for reader in self._readers]

    def _described(self, which, renames):
        if renames is None:
            return sum([getattr(source, which) for source in self.iters], [])
        return [
            DataDesc(rename[d.name], d.shape, d.dtype) if isinstance(d, DataDesc) else DataDesc(*d)
            for rename, source in zip(renames, self.iters, strict=True)
            for d in getattr(source, which)
        ]

    @property
    def provide_data(self):
        return self._described("provide_data", self.rename_data)

    @property
    def provide_label(self):
        return self._described("provide_label", self.rename_label)

    def reset(self):
        if self._waiting:
            self._results()
        for source in self.iters:
            source.reset()
        self._request()

    def iter_next(self):
        if not self._waiting:  # the end was reached and nobody called reset
            return False
        batches = self._results()
        for batch in batches:
            if isinstance(batch, Exception):
                raise batch
        if any(batch is None for batch in batches):
            assert all(batch is None for batch in batches), "Number of entry mismatches between iterators"
            return False
        first = batches[0]
        assert all(batch.pad == first.pad for batch in batches), "Number of entry mismatches between iterators"
        self.current_batch = DataBatch(
            sum([batch.data for batch in batches], []),
            sum([batch.label for batch in batches], []),
            first.pad,
            first.index,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )
        self._request()
        return True

    def next(self):
        if self.iter_next():
            return self.current_batch
        raise StopIteration
