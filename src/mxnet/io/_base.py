"""The base of data iterators, the batches they give, and the iterators that wrap others."""

import atexit
import contextlib
import queue
import threading
import weakref
from collections import namedtuple
from typing import Any

import numpy as np


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Name and shape of an input, as a pair, with dtype and layout as attributes.

    Parameters
    ----------
    name : str
        Name of the input, a variable of the symbol.
    shape : tuple of int
        Shape of a batch of it.
    dtype : numpy.dtype or str
        Type of the elements.
    layout : str
        A letter for each axis; `N` marks the axis of the samples.

    Examples
    --------
    >>> desc = mx.io.DataDesc("data", (32, 3, 28, 28), "float16")
    >>> name, shape = desc
    >>> name, shape, desc.dtype, desc.layout
    ('data', (32, 3, 28, 28), 'float16', 'NCHW')
    """

    def __new__(cls, name, shape, dtype=np.float32, layout="NCHW"):
        described = super().__new__(cls, name, shape)
        described.dtype, described.layout = dtype, layout
        return described

    def __repr__(self):
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    def __reduce__(self):
        return DataDesc, (self.name, self.shape, self.dtype, self.layout)

    @staticmethod
    def get_batch_axis(layout):
        """The axis of the samples: where `N` is in the layout, 0 if the layout is None, -1 if it has no `N`.

        Parameters
        ----------
        layout : str or None
            A letter for each axis, such as "NCHW".

        Returns
        -------
        int

        Examples
        --------
        >>> mx.io.DataDesc.get_batch_axis("TNC")
        1
        """
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes, types):
        """Descriptions from pairs of names and shapes.

        Parameters
        ----------
        shapes : list of (str, tuple)
            Name and shape of each input.
        types : list of (str, dtype) or None
            Name and dtype of each input; None for float32.

        Returns
        -------
        list of DataDesc

        Examples
        --------
        >>> mx.io.DataDesc.get_list([("data", (2, 3))], [("data", "int8")])
        [DataDesc[data,(2, 3),int8,NCHW]]
        """
        dtypes = {pair[0]: np.float32 for pair in shapes} if types is None else dict(types)
        return [DataDesc(pair[0], pair[1], dtypes[pair[0]]) for pair in shapes]


class DataBatch:
    """One batch of samples.

    Parameters
    ----------
    data : list of NDArray
        One array for each input.
    label : list of NDArray, optional
        One array for each label.
    pad : int, optional
        How many samples at the end only fill the batch; `predict` leaves them out.
    index : numpy.ndarray, optional
        Indices of the samples in the dataset.
    bucket_key : int or tuple, optional
        Which bucket the batch belongs to, for :class:`mxnet.mod.BucketingModule`.
    provide_data, provide_label : list of DataDesc, optional
        Descriptions of this batch, if they differ from those of the iterator.

    Examples
    --------
    >>> print(mx.io.DataBatch([mx.nd.ones((2, 3))], label=[mx.nd.zeros((2,))]))
    DataBatch: data shapes: [(2, 3)] label shapes: [(2,)]
    """

    def __init__(self, data, label=None, pad=None, index=None, bucket_key=None, provide_data=None, provide_label=None):
        for kind, arrays in (("Data", data), ("Label", label)):
            assert arrays is None or isinstance(arrays, (list, tuple)), (
                f"{kind} must be list of NDArrays, got {type(arrays)}"
            )
        self.data: Any = data
        self.label: Any = label
        self.pad, self.index, self.bucket_key = pad, index, bucket_key
        self.provide_data, self.provide_label = provide_data, provide_label

    def __str__(self):
        labels = [label.shape for label in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {[d.shape for d in self.data]} label shapes: {labels}"


def is_stateful(source):
    """Whether a source can say where it is, and be set there: it and all that it reads from."""
    able = hasattr(source, "state_dict") and hasattr(source, "load_state_dict")
    return able and all(map(is_stateful, getattr(source, "_sources", ())))


class DataIter:
    """Base of the iterators that give batches.

    A subclass has the attributes `provide_data` and `provide_label`, lists of :class:`DataDesc`, and defines `reset`
    and either `next`, or `iter_next` with the methods `getdata`, `getlabel`, `getpad` and `getindex`.

    Parameters
    ----------
    batch_size : int
        Number of samples in a batch.

    Examples
    --------
    >>> class Counter(mx.io.DataIter):
    ...     count = 0
    ...     def iter_next(self):
    ...         self.count += 1
    ...         return self.count <= 2
    ...     def getdata(self):
    ...         return [mx.nd.full((self.batch_size,), self.count)]
    >>> [batch.data[0].asnumpy().tolist() for batch in Counter(batch_size=2)]
    [[1.0, 1.0], [2.0, 2.0]]
    """

    def __init__(self, batch_size=0):
        self.batch_size = batch_size

    def __next__(self):
        return self.next()

    def next(self):
        """The next batch.

        Returns
        -------
        DataBatch

        Raises
        ------
        StopIteration
            At the end of the epoch; `reset` begins another one.

        Examples
        --------
        >>> batches = mx.io.NDArrayIter(np.arange(4), batch_size=2)
        >>> batches.next().data[0].asnumpy()
        array([0., 1.], dtype=float32)
        """
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())

    def __iter__(self):
        return self

    def reset(self):
        """Begin another epoch; after the last batch an iterator gives nothing until it is reset.

        Examples
        --------
        >>> batches = mx.io.NDArrayIter(np.arange(4), batch_size=2)
        >>> len(list(batches)), len(list(batches))
        (2, 0)
        >>> batches.reset()
        >>> len(list(batches))
        2
        """

    def iter_next(self):
        """Move to the next batch, which `getdata`, `getlabel`, `getpad` and `getindex` then read.

        Returns
        -------
        bool
            Whether there is one.

        Examples
        --------
        >>> batches = mx.io.NDArrayIter(np.arange(4), batch_size=2)
        >>> batches.iter_next(), batches.getdata()[0].asnumpy().tolist()
        (True, [0.0, 1.0])
        """

    def getdata(self):
        """The data of the current batch, a list of NDArray; after `iter_next`.

        Examples
        --------
        >>> batches = mx.io.NDArrayIter(np.arange(4), batch_size=2)
        >>> batches.iter_next(), batches.getdata()[0].asnumpy().tolist()
        (True, [0.0, 1.0])
        """

    def getlabel(self):
        """The labels of the current batch, a list of NDArray; after `iter_next`.

        Examples
        --------
        >>> batches = mx.io.NDArrayIter(np.zeros(4), np.arange(4), batch_size=2)
        >>> batches.iter_next(), batches.getlabel()[0].asnumpy().tolist()
        (True, [0.0, 1.0])
        """

    def getindex(self):
        """The indices of the samples of the current batch, or None if the iterator does not know them.

        Examples
        --------
        >>> batches = mx.io.NDArrayIter(np.arange(4), batch_size=2)
        >>> batches.iter_next(), batches.getindex()
        (True, None)
        """
        return

    def getpad(self):
        """The number of samples at the end of the current batch that only complete it and are not to be counted.

        Examples
        --------
        >>> batches = mx.io.NDArrayIter(np.arange(3), batch_size=2)
        >>> [batch.pad for batch in batches]
        [0, 1]
        """


def _from_batch(attribute):
    """A method that reads an attribute of the current batch."""

    def get(self):
        return getattr(self.current_batch, attribute)

    get.__doc__ = f"The {attribute} of the current batch."
    return get


class _HoldsBatch(DataIter):
    """An iterator whose current batch is a DataBatch in `current_batch`."""

    current_batch = None
    getdata, getlabel, getindex, getpad = map(_from_batch, ("data", "label", "index", "pad"))


class ResizeIter(_HoldsBatch):
    """Gives another iterator a fixed number of batches per epoch.

    Where the other one ends earlier, it is reset and read again; where it is longer, the rest is left for the next
    epoch or, with `reset_internal`, is not read.

    Parameters
    ----------
    data_iter : DataIter
        Iterator that is read.
    size : int
        Number of batches of an epoch.
    reset_internal : bool
        Whether `reset` also resets the other iterator.

    Examples
    --------
    >>> short = mx.io.NDArrayIter(np.arange(4), batch_size=2)
    >>> [batch.data[0].asnumpy().tolist() for batch in mx.io.ResizeIter(short, 3)]
    [[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]]
    """

    def __init__(self, data_iter, size, reset_internal=True):
        super().__init__(data_iter.batch_size)
        self.data_iter, self.size, self.reset_internal = data_iter, size, reset_internal
        self.cur = 0
        self.provide_data, self.provide_label = data_iter.provide_data, data_iter.provide_label
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    @property
    def _sources(self):
        return [self.data_iter]

    def state_dict(self):
        """The position of this iterator and of the one it reads, for `load_state_dict`. Not in MXNet.

        Examples
        --------
        >>> batches = mx.io.ResizeIter(mx.io.NDArrayIter(np.arange(4), batch_size=2), 3)
        >>> first = batches.next()
        >>> batches.state_dict()["cur"]
        1
        """
        return {"cur": self.cur, "inner": self.data_iter.state_dict()}

    def load_state_dict(self, state):
        """Continue at a position that `state_dict` returned. Not in MXNet.

        Parameters
        ----------
        state : dict
            The position.

        Examples
        --------
        >>> batches = mx.io.ResizeIter(mx.io.NDArrayIter(np.arange(4), batch_size=2), 3)
        >>> position = batches.state_dict()
        >>> first = batches.next()
        >>> batches.load_state_dict(position)
        >>> batches.next().data[0].asnumpy()
        array([0., 1.], dtype=float32)
        """
        self.cur = state["cur"]
        self.data_iter.load_state_dict(state["inner"])

    def reset(self):
        """Begin another epoch."""
        if self.reset_internal:
            self.data_iter.reset()
        self.cur = 0

    def iter_next(self):
        """Move to the next batch; returns whether the epoch has one."""
        more = self.cur != self.size
        if more:
            self.current_batch = self._next_around()
            self.cur += 1
        return more

    def _next_around(self):
        """The next batch of the other iterator, its first one after its last one."""
        with contextlib.suppress(StopIteration):
            return self.data_iter.next()
        self.data_iter.reset()
        return self.data_iter.next()


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
    """Reads the next batch of one or several iterators in threads while the current one is used.

    Parameters
    ----------
    iters : DataIter or list of DataIter
        Iterators with equally many batches; the arrays of several are put together in one batch.
    rename_data, rename_label : list of dict of str to str, optional
        For each iterator, new names of its inputs.

    Examples
    --------
    >>> ahead = mx.io.PrefetchingIter(mx.io.NDArrayIter(np.arange(4), batch_size=2))
    >>> [batch.data[0].asnumpy().tolist() for batch in ahead]
    [[0.0, 1.0], [2.0, 3.0]]
    """

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
        """The positions of the iterators it reads, before the batch that is being read ahead. Not in MXNet.

        Examples
        --------
        >>> batches = mx.io.PrefetchingIter(mx.io.NDArrayIter(np.arange(4), batch_size=2))
        >>> sorted(batches.state_dict())
        ['inner', 'waiting']
        """
        return {"inner": self._before if self._waiting else self._states(), "waiting": self._waiting}

    def load_state_dict(self, state):
        """Continue at a position that `state_dict` returned. Not in MXNet.

        Parameters
        ----------
        state : dict
            The position.

        Examples
        --------
        >>> batches = mx.io.PrefetchingIter(mx.io.NDArrayIter(np.arange(4), batch_size=2))
        >>> position = batches.state_dict()
        >>> first = batches.next()
        >>> batches.load_state_dict(position)
        >>> batches.next().data[0].asnumpy()
        array([0., 1.], dtype=float32)
        """
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
        """Descriptions of the inputs of a batch, a list of DataDesc.

        Examples
        --------
        >>> mx.io.PrefetchingIter(mx.io.NDArrayIter(np.arange(4), batch_size=2)).provide_data
        [DataDesc[data,(2,),<class 'numpy.float32'>,NCHW]]
        """
        return self._described("provide_data", self.rename_data)

    @property
    def provide_label(self):
        """Descriptions of the labels of a batch, a list of DataDesc.

        Examples
        --------
        >>> mx.io.PrefetchingIter(mx.io.NDArrayIter(np.arange(4), batch_size=2)).provide_label
        []
        """
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
        """The next batch; raises StopIteration at the end of the epoch."""
        if not self.iter_next():
            raise StopIteration
        return self.current_batch
