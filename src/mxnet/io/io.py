"""The iterators under MXNet's module name: those written in Python and those that were native in MXNet."""

import logging

import torch

from .._core.errors import MXNetError
from .._core.extras import opencv
from .._device.copies import can_pin, pinned
from ..base import c_str_array, check_call, py_str  # noqa: F401  (MXNet's module shows these names)
from ..context import cpu, cpu_pinned
from ..ndarray import NDArray, array  # noqa: F401
from ..ndarray.ndarray import wrap
from ..ndarray.sparse import CSRNDArray, csr_matrix  # noqa: F401
from ..util import is_np_array
from . import _parameters
from ._arrays import NDArrayIter
from ._base import DataBatch, DataDesc, DataIter, PrefetchingIter, ResizeIter
from ._meanings import example
from ._text import CsvTables, LibSvmRows, MnistImages, SparseBatch
from .utils import _getdata_by_idx, _has_instance, _init_data  # noqa: F401 - MXNet has them here

__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordIter_v1",
    "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1",
    "LibSVMIter",
    "MNISTIter",
    "MXDataIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]


def _as_ndarray(values, ctx):
    """An array of the active kind over a batch, without a copy where the memory allows; sparse rows stay sparse."""
    if isinstance(values, SparseBatch):
        return csr_matrix((values.data, values.indices, values.indptr), shape=values.shape)
    if is_np_array():
        from .. import numpy

        return numpy.array(values, dtype=values.dtype)
    tensor = torch.from_numpy(values)
    return wrap(tensor if ctx is cpu() else pinned(tensor), ctx)


def _place(parameters):
    """Where batches go: pinned memory if a GPU will take them, unless `ctx` or `device_id` say otherwise."""
    number = getattr(parameters, "device_id", 0)
    wanted = getattr(parameters, "ctx", "cpu") == "gpu" and number >= 0
    return cpu_pinned(number) if wanted and can_pin() else cpu()


class MXDataIter(DataIter):
    """An iterator that prepares batches ahead: what `ImageRecordIter`, `CSVIter` and the others return.

    Parameters
    ----------
    handle : object
        The source of (data, label, pad, index).
    data_name : str, default 'data'
        The name of the data.
    label_name : str, default 'softmax_label'
        The name of the label.
    ctx : Context, optional
        The device of the batches.

    Examples
    --------
    >>> with open("data.csv", "w") as file:
    ...     _ = file.write("1,2" + chr(10))
    >>> batches = mx.io.CSVIter(data_csv="data.csv", data_shape=(2,), batch_size=1)
    >>> isinstance(batches, mx.io.MXDataIter), batches.provide_data[0].shape
    (True, (1, 2))
    """

    def __init__(self, handle, data_name="data", label_name="softmax_label", ctx=None, **_):
        super().__init__()
        self.handle = handle
        self._ctx = ctx or cpu()
        self._debug_skip_load = False
        self._debug_at_begin = True
        self._current = None
        self._ended = False
        self.first_batch = None
        self._first_state = self.state_dict()
        self.first_batch = next(self, None)  # shapes and dtypes are known from a batch
        if self.first_batch is None:
            raise MXNetError(f"{getattr(handle, 'name', 'The iterator')} holds nothing to read, not even one batch")
        data, label = self.first_batch.data[0], self.first_batch.label[0]
        self.provide_data = [DataDesc(data_name, data.shape, data.dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, label.dtype)]
        self.batch_size = data.shape[0]

    def debug_skip_load(self):
        """Give the first batch again and again, to measure a network without the cost of loading.

        Examples
        --------
        >>> with open("data.csv", "w") as file:
        ...     _ = file.write("1,2" + chr(10) + "3,4" + chr(10))
        >>> batches = mx.io.CSVIter(data_csv="data.csv", data_shape=(2,), batch_size=1)
        >>> first = next(batches)
        >>> batches.debug_skip_load()
        >>> next(batches).data[0].asnumpy().tolist() == first.data[0].asnumpy().tolist()
        True
        """
        self._debug_skip_load = True
        logging.info("Set debug_skip_load to be true, will simply return first batch")

    def reset(self):
        self._debug_at_begin = True
        self.first_batch = None
        if self._ended:  # what is being prepared already belongs to the next epoch
            self._ended = False
        else:
            self.handle.restart()

    def state_dict(self):
        """The position: give it to `load_state_dict` of an iterator with the same arguments to continue there. Not in
        MXNet.

        Examples
        --------
        >>> with open("data.csv", "w") as file:
        ...     _ = file.write("1,2" + chr(10) + "3,4" + chr(10))
        >>> batches = mx.io.CSVIter(data_csv="data.csv", data_shape=(2,), batch_size=1)
        >>> isinstance(batches.state_dict(), dict)
        True
        """
        if self.first_batch is not None:
            return self._first_state
        return {"handle": self.handle.state_dict(), "ended": self._ended}

    def load_state_dict(self, state):
        """Continue at a position that `state_dict` returned. Not in MXNet.

        Parameters
        ----------
        state : dict
            The position.

        Examples
        --------
        >>> with open("data.csv", "w") as file:
        ...     _ = file.write("1,2" + chr(10) + "3,4" + chr(10))
        >>> batches = mx.io.CSVIter(data_csv="data.csv", data_shape=(2,), batch_size=1)
        >>> position = batches.state_dict()
        >>> first = next(batches)
        >>> batches.load_state_dict(position)
        >>> next(batches).data[0].asnumpy()
        array([[1., 2.]], dtype=float32)
        """
        self.first_batch = None
        self.handle.load_state_dict(state["handle"])
        self._ended = state["ended"]

    def _batch(self):
        return DataBatch(data=[self.getdata()], label=[self.getlabel()], pad=self.getpad(), index=self.getindex())

    def next(self):
        if self._debug_skip_load and not self._debug_at_begin:
            return self._batch()
        if self.first_batch is not None:
            batch, self.first_batch = self.first_batch, None
            return batch
        self._debug_at_begin = False
        if not self._advance():
            raise StopIteration
        return self._batch()

    def iter_next(self):
        return True if self.first_batch is not None else self._advance()

    def _advance(self):
        if self._ended:
            return False
        taken = self.handle.next()
        if taken is None:
            self._ended = True
            return False
        data, label, pad, index = taken
        self._current = _as_ndarray(data, self._ctx), _as_ndarray(label, self._ctx), pad, index
        return True

    def getdata(self):
        return self._current[0]

    def getlabel(self):
        return self._current[1]

    def getpad(self):
        return self._current[2]

    def getindex(self):
        return None if self._current[3] is None else self._current[3].copy()


def _creator(name, table, source, about, **forced):
    """A function of MXNet's name that reads its keywords and builds the iterator."""

    def create(*args, **kwargs):
        if args:
            raise TypeError(f"{name} can only accept keyword arguments")
        parameters = table(name, {**kwargs, **forced})
        names = {k: kwargs[k] for k in ("data_name", "label_name") if k in kwargs}
        return MXDataIter(source()(parameters), ctx=_place(parameters), **names)

    create.__name__ = create.__qualname__ = name
    shown = example(name, forced.get("dtype", "float32"))
    create.__doc__ = (
        f"{about} All parameters are given by keyword.\n\nParameters\n----------\n{table.describe()}\n\n"
        f"Returns\n-------\nMXDataIter\n\nExamples\n--------\n{shown}\n"
    )
    return create


def _image_records():
    opencv()  # loads with the first image iterator, or tells how to get it
    from ._images import ImageRecords

    return ImageRecords


def _detection_records():
    opencv()
    from ._detection import DetectionRecords

    return DetectionRecords


_RECORDS = "Images and labels from a record file, decoded, augmented and normalized by threads, ahead of time"
CSVIter = _creator("CSVIter", _parameters.Csv, lambda: CsvTables, "Rows of CSV files.")
LibSVMIter = _creator("LibSVMIter", _parameters.LibSvm, lambda: LibSvmRows, "Sparse rows of LibSVM files.")
MNISTIter = _creator("MNISTIter", _parameters.Mnist, lambda: MnistImages, "Digits of MNIST's files.")
ImageRecordIter = _creator("ImageRecordIter", _parameters.ImageRecord, _image_records, _RECORDS + ".")
ImageRecordUInt8Iter = _creator(
    "ImageRecordUInt8Iter", _parameters.ImageRecord, _image_records, _RECORDS + ", as uint8.", dtype="uint8"
)
ImageRecordInt8Iter = _creator(
    "ImageRecordInt8Iter", _parameters.ImageRecord, _image_records, _RECORDS + ", as int8.", dtype="int8"
)
ImageRecordIter_v1 = _creator("ImageRecordIter_v1", _parameters.ImageRecord, _image_records, _RECORDS + ".")
ImageRecordUInt8Iter_v1 = _creator(
    "ImageRecordUInt8Iter_v1", _parameters.ImageRecord, _image_records, _RECORDS + ", as uint8.", dtype="uint8"
)
ImageDetRecordIter = _creator(
    "ImageDetRecordIter",
    _parameters.ImageDetRecord,
    _detection_records,
    "Images with bounding boxes from a record file.",
)
