"""A Gluon DataLoader as an iterator for Module."""

from .. import ndarray as nd
from ..io import DataDesc, DataIter


class DataLoaderIter(DataIter):
    """A DataIter over a Gluon loader of (data, label), for Module; an incomplete batch is filled up, see `getpad`.

    Parameters
    ----------
    loader : DataLoader
        The loader.
    data_name : str, default 'data'
        The name of the data.
    label_name : str, default 'softmax_label'
        The name of the label.
    dtype : str, default 'float32'
        The data type of the batches.

    Examples
    --------
    >>> loader = mx.gluon.data.DataLoader([(np.ones(2), 0), (np.zeros(2), 1)], batch_size=2)
    >>> batch = next(mx.contrib.io.DataLoaderIter(loader))
    >>> batch.data[0].shape, batch.label[0].shape
    ((2, 2), (2,))
    """

    def __init__(self, loader, data_name="data", label_name="softmax_label", dtype="float32"):
        super().__init__()
        self._loader, self._current_batch, self.dtype = loader, None, dtype
        shapes = [array.shape for array in next(iter(loader))]
        described = [DataDesc(name, shape, dtype) for name, shape in zip((data_name, label_name), shapes, strict=True)]
        self.provide_data, self.provide_label = described[:1], described[1:]
        self.batch_size = shapes[0][0]
        self.reset()

    def reset(self):
        self._iter = iter(self._loader)

    def iter_next(self):
        self._current_batch = next(self._iter, None)
        return self._current_batch is not None

    def _filled(self, array):
        array = array.astype(self.dtype)
        if not self.getpad():
            return [array]
        filled = nd.zeros((self.batch_size, *array.shape[1:]), dtype=self.dtype)
        filled[: array.shape[0]] = array
        return [filled]

    def getdata(self):
        return self._filled(self._current_batch[0])

    def getlabel(self):
        return self._filled(self._current_batch[1])

    def getpad(self):
        return self.batch_size - self._current_batch[0].shape[0]

    def getindex(self):
        return None
