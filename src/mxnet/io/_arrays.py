"""NDArrayIter: batches cut from arrays in memory."""

import numpy as np

from ..ndarray import NDArray, array, concat, tile
from ..ndarray.sparse import CSRNDArray
from ._base import DataBatch, DataDesc, DataIter
from .utils import _getdata_by_idx, _has_instance, _init_data, _slice_along_batch_axis


class NDArrayIter(DataIter):
    """Batches of arrays.

    Parameters
    ----------
    data : array, list of arrays or dict of str to array
        The data: NDArrays, NumPy arrays, sparse matrices or h5py datasets.
    label : array, list of arrays or dict of str to array, optional
        The labels.
    batch_size : int, default 1
        The number of samples in a batch.
    shuffle : bool, default False
        Whether samples come in random order.
    last_batch_handle : str, default 'pad'
        What becomes of an incomplete last batch: pad completes it from the beginning, discard drops it, roll_over gives
        it with the next epoch.
    data_name : str, default 'data'
        The name of the data, if it is one array.
    label_name : str, default 'softmax_label'
        The name of the label, if it is one array.
    layout : str, default 'NCHW'
        The order of the axes, which tells where the batch axis is.

    Examples
    --------
    >>> batches = mx.io.NDArrayIter(np.arange(6).reshape(3, 2), np.arange(3), batch_size=2)
    >>> for batch in batches:
    ...     print(batch.data[0].asnumpy().tolist(), batch.label[0].asnumpy().tolist(), batch.pad)
    [[0.0, 1.0], [2.0, 3.0]] [0.0, 1.0] 0
    [[4.0, 5.0], [0.0, 1.0]] [2.0, 0.0] 1
    """

    def __init__(
        self,
        data,
        label=None,
        batch_size=1,
        shuffle=False,
        last_batch_handle="pad",
        data_name="data",
        label_name="softmax_label",
        layout="NCHW",
    ):
        super().__init__(batch_size)
        self.data = _init_data(data, allow_empty=False, default_name=data_name)
        self.label = _init_data(label, allow_empty=True, default_name=label_name)
        if _has_instance(self.data + self.label, CSRNDArray) and last_batch_handle != "discard":
            raise NotImplementedError(
                "`NDArrayIter` only supports ``CSRNDArray`` with `last_batch_handle` set to `discard`."
            )
        self.idx = np.arange(self.data[0][1].shape[0])
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self._axis = layout.find("N")
        self.num_data = self.idx.shape[0]
        self._order = self.idx.copy()  # where each row came from, after all shuffles
        self._cache_data = None
        self._cache_label = None
        self.cursor = -self.batch_size
        self.reset()
        self.data_list = [value for _, value in self.data + self.label]
        self.num_source = len(self.data_list)

    def _described(self, pairs):
        axis = self._axis
        return [
            DataDesc(
                name, (*value.shape[:axis], self.batch_size, *value.shape[axis + 1 :]), value.dtype, layout=self.layout
            )
            for name, value in pairs
        ]

    @property
    def provide_data(self):
        """Descriptions of the inputs of a batch, a list of DataDesc; `Module.bind` takes it.

        Examples
        --------
        >>> mx.io.NDArrayIter(np.zeros((6, 3)), batch_size=2).provide_data
        [DataDesc[data,(2, 3),<class 'numpy.float32'>,NCHW]]
        """
        return self._described(self.data)

    @property
    def provide_label(self):
        """Descriptions of the labels of a batch, a list of DataDesc; `Module.bind` takes it.

        Examples
        --------
        >>> mx.io.NDArrayIter(np.zeros((6, 3)), np.zeros(6), batch_size=2).provide_label
        [DataDesc[softmax_label,(2,),<class 'numpy.float32'>,NCHW]]
        """
        return self._described(self.label)

    def hard_reset(self):
        """Go back to the first sample; with `last_batch_handle="roll_over"`, drop the samples that would begin the next
        epoch.

        Examples
        --------
        >>> batches = mx.io.NDArrayIter(np.arange(3), batch_size=2, last_batch_handle="roll_over")
        >>> epoch = list(batches)
        >>> batches.hard_reset()
        >>> batches.next().data[0].asnumpy()
        array([0., 1.], dtype=float32)
        """
        self.cursor = -self.batch_size  # nothing rolls over from here
        self.reset()
        self._cache_data = self._cache_label = None

    def reset(self):
        if self.shuffle:
            self._shuffle_data()
        rolls = self.last_batch_handle == "roll_over" and self.num_data - self.batch_size < self.cursor < self.num_data
        self.cursor = (self.cursor - self.num_data if rolls else 0) - self.batch_size

    def state_dict(self):
        """The position: give it to `load_state_dict` of an iterator over the same data to continue there. Not in MXNet.

        Examples
        --------
        >>> batches = mx.io.NDArrayIter(np.arange(4), batch_size=2)
        >>> first = batches.next()
        >>> batches.state_dict()["cursor"]
        0
        """
        cache = [part and list(part) for part in (self._cache_data, self._cache_label)]
        return {"cursor": self.cursor, "idx": self.idx.copy(), "order": self._order, "cache": cache}

    def load_state_dict(self, state):
        """Continue at a position that `state_dict` returned, in the same order of samples. Not in MXNet.

        Parameters
        ----------
        state : dict
            The position.

        Examples
        --------
        >>> data = np.arange(4)
        >>> batches = mx.io.NDArrayIter(data, batch_size=2)
        >>> first = batches.next()
        >>> again = mx.io.NDArrayIter(data, batch_size=2)
        >>> again.load_state_dict(batches.state_dict())
        >>> again.next().data[0].asnumpy()
        array([2., 3.], dtype=float32)
        """
        self.cursor, self.idx = state["cursor"], state["idx"].copy()
        self._cache_data, self._cache_label = state["cache"]
        if not np.array_equal(self._order, state["order"]):
            self._reorder(np.argsort(self._order)[state["order"]])

    def iter_next(self):
        self.cursor += self.batch_size
        return self.cursor < self.num_data

    def next(self):
        if not self.iter_next():
            raise StopIteration
        data, label = self.getdata(), self.getlabel()
        if data[0].shape[self._axis] != self.batch_size:  # incomplete: kept for the next epoch
            self._cache_data, self._cache_label = data, label
            raise StopIteration
        return DataBatch(data=data, label=label, pad=self.getpad(), index=None)

    def _getdata(self, source, start=0, end=None):
        end = self.num_data if end is None else end
        return [self._slice(value, start, end) for _, value in source]

    def _slice(self, value, start, end):
        if isinstance(value, NDArray):
            return _slice_along_batch_axis(value, slice(start, end), self._axis)
        rows = self.idx[start:end]  # h5py reads rows in increasing order only
        order = np.argsort(rows)
        return array(value[rows[order]][np.argsort(order)])

    def _concat(self, first, second):
        if not first or not second:
            return first or second
        assert len(first) == len(second), "data source should contain the same size"
        return [concat(a, b, dim=self._axis) for a, b in zip(first, second, strict=True)]

    def _batchify(self, source, cached):
        assert self.cursor < self.num_data, "DataIter needs reset."
        if self.last_batch_handle == "roll_over" and -self.batch_size < self.cursor < 0:
            assert cached is not None, "next epoch should have cached data"
            return self._concat(cached, self._getdata(source, end=self.cursor + self.batch_size))
        end = self.cursor + self.batch_size
        if self.last_batch_handle == "pad" and end > self.num_data:
            return self._concat(self._getdata(source, self.cursor), self._padding(source, end - self.num_data))
        return self._getdata(source, self.cursor, min(end, self.num_data))

    def _padding(self, source, count):
        """The first `count` rows, around as often as needed."""
        times, rest = divmod(count, self.num_data)
        if not times or not source:
            return self._getdata(source, end=count)
        whole = [
            tile(value, [times if axis == self._axis else 1 for axis in range(len(value.shape))])
            for value in self._getdata(source)
        ]
        return self._concat(whole, self._getdata(source, end=rest)) if rest else whole

    def getdata(self):
        data = self._batchify(self.data, self._cache_data)
        if self.cursor < 0:
            self._cache_data = None
        return data

    def getlabel(self):
        label = self._batchify(self.label, self._cache_label)
        if self.cursor < 0:
            self._cache_label = None
        return label

    def getpad(self):
        if self.last_batch_handle == "pad" and self.cursor + self.batch_size > self.num_data:
            return self.cursor + self.batch_size - self.num_data
        if self.last_batch_handle == "roll_over" and -self.batch_size < self.cursor < 0:
            return -self.cursor
        return 0

    def _shuffle_data(self):
        """A new random order; arrays are reordered now, h5py datasets when they are read."""
        np.random.shuffle(self.idx)
        self._reorder(self.idx)

    def _reorder(self, rows):
        self._order = self._order[rows]
        self.data = _getdata_by_idx(self.data, rows)
        self.label = _getdata_by_idx(self.label, rows)
