"""Datasets: things with a length and an index, and the ways to derive one from another."""

import os

from ... import ndarray, recordio
from ..._core.on_error import checked_on_error
from ..._formats.recordio import read_at
from ._tolerance import Tolerant
from .sampler import FilterSampler, Sampler, SequentialSampler

__all__ = ["Dataset", "SimpleDataset", "ArrayDataset", "RecordFileDataset"]


class Dataset:
    """Base of all datasets: `dataset[i]` gives a sample and `len(dataset)` the number of samples.

    Subclasses define `__getitem__` and `__len__`.

    Examples
    --------
    >>> class Squares(mx.gluon.data.Dataset):
    ...     def __getitem__(self, idx):
    ...         return idx**2
    ...     def __len__(self):
    ...         return 10
    >>> list(Squares().filter(lambda x: x % 2 == 0).take(3))
    [0, 4, 16]
    """

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__} must define __len__, the number of samples")

    def __getitem__(self, idx):
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__, which returns a sample")

    def filter(self, fn):
        """The samples that a function accepts.

        Every sample is read now, to ask the function; transforms run again when a sample is used.

        Parameters
        ----------
        fn : callable
            Takes a sample and returns whether to keep it.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> list(mx.gluon.data.SimpleDataset([3, -1, 2]).filter(lambda x: x > 0))
        [3, 2]
        """
        return _SampledDataset(self, FilterSampler(fn, self))

    def shard(self, num_shards, index):
        """One of several contiguous parts whose sizes differ by at most one, as for distributed training.

        Parameters
        ----------
        num_shards : int
            Number of parts.
        index : int
            Which part, from 0.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> data = mx.gluon.data.SimpleDataset(range(5))
        >>> [list(data.shard(2, index)) for index in range(2)]
        [[0, 1, 2], [3, 4]]
        """
        assert 0 <= index < num_shards, (
            f"Shard index out of range: it must be from 0 to num_shards - 1, got shard {index} of {num_shards}"
        )
        size, rest = divmod(len(self), num_shards)
        start = size * index + min(index, rest)
        return _SampledDataset(self, SequentialSampler(size + (index < rest), start))

    def take(self, count):
        """The first samples.

        Parameters
        ----------
        count : int or None
            How many; None, or more than there are, means all.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> list(mx.gluon.data.SimpleDataset("abc").take(2))
        ['a', 'b']
        """
        total = len(self)
        return _SampledDataset(self, SequentialSampler(total if count is None else min(count, total)))

    def sample(self, sampler):
        """The samples whose indices a sampler gives, in its order.

        Parameters
        ----------
        sampler : Sampler
            Iterated once, now.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> data = mx.gluon.data.SimpleDataset("abcd")
        >>> list(data.sample(mx.gluon.data.SequentialSampler(2, start=1)))
        ['b', 'c']
        """
        if not isinstance(sampler, Sampler):
            raise TypeError(f"Invalid sampler type: {type(sampler)}. sample takes a gluon.data.Sampler")
        return _SampledDataset(self, sampler)

    def transform(self, fn, lazy=True):
        """Each sample passed through a function.

        Parameters
        ----------
        fn : callable
            Takes a sample; a sample that is a tuple arrives as separate arguments.
        lazy : bool
            Whether the function runs each time a sample is read, or now and only once, keeping the results in memory.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> list(mx.gluon.data.SimpleDataset([1, 2]).transform(lambda x: 10 * x))
        [10, 20]
        """
        transformed = _LazyTransformDataset(self, fn)
        return transformed if lazy else SimpleDataset([transformed[i] for i in range(len(transformed))])

    def transform_first(self, fn, lazy=True):
        """Each sample with only its first element passed through a function: the image, not its label.

        Parameters
        ----------
        fn : callable
            Takes the first element of a sample.
        lazy : bool
            As for `transform`.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> list(mx.gluon.data.ArrayDataset([1, 2], ["a", "b"]).transform_first(lambda x: 10 * x))
        [(10, 'a'), (20, 'b')]
        """
        return self.transform(_TransformFirstClosure(fn), lazy)


class SimpleDataset(Dataset):
    """A list, or any object with a length and an index, as a dataset.

    Parameters
    ----------
    data : list or array
        The samples.

    Examples
    --------
    >>> mx.gluon.data.SimpleDataset("abc")[1]
    'b'
    """

    def __init__(self, data):
        self._data = data

    def __getitem__(self, idx):
        return self._data[idx]

    def __len__(self):
        return len(self._data)


class _LazyTransformDataset(SimpleDataset):
    """A dataset whose samples go through a function when they are read."""

    def __init__(self, data, fn):
        super().__init__(data)
        self._fn = fn

    def __getitem__(self, idx):
        sample = super().__getitem__(idx)
        return self._fn(*sample) if isinstance(sample, tuple) else self._fn(sample)


class _TransformFirstClosure:
    """Applies a function to the first of several values; a class, so that it can be sent to a worker process."""

    def __init__(self, fn):
        self._fn = fn

    def __call__(self, x, *args):
        return (self._fn(x), *args) if args else self._fn(x)


class _SampledDataset(Dataset):
    """The samples of a dataset at the indices a sampler gave."""

    def __init__(self, dataset, sampler):
        self._dataset, self._indices = dataset, list(sampler)

    def __len__(self):
        return len(self._indices)

    def __getitem__(self, idx):
        return self._dataset[self._indices[idx]]


class _FilteredDataset(_SampledDataset):
    """The samples of a dataset that `fn` accepts."""

    def __init__(self, dataset, fn):
        super().__init__(dataset, FilterSampler(fn, dataset))


class ArrayDataset(Dataset):
    """Arrays of one length side by side: sample i is `(x1[i], x2[i], …)`, and just `x1[i]` of a single array.

    Parameters
    ----------
    *args : array, list or Dataset
        What is put together, data and labels for example. A 1-D NDArray gives NumPy scalars as samples.

    Examples
    --------
    >>> data = mx.gluon.data.ArrayDataset([[1, 2], [3, 4]], ["a", "b"])
    >>> data[1]
    ([3, 4], 'b')
    """

    def __init__(self, *args):
        assert args, "ArrayDataset needs at least one array"
        lengths = [len(data) for data in args]
        assert len(set(lengths)) == 1, f"All arrays must have the same length, got {lengths}"
        self._length = lengths[0]
        # a 1-D NDArray holds labels: plain NumPy scalars are cheaper samples than NDArrays of one element
        self._data = [d.asnumpy() if isinstance(d, ndarray.NDArray) and len(d.shape) == 1 else d for d in args]

    def __getitem__(self, idx):
        sample = tuple(data[idx] for data in self._data)
        return sample if len(sample) > 1 else sample[0]

    def __len__(self):
        return self._length


class RecordFileDataset(Tolerant, Dataset):
    """The raw records of a RecordIO file that has an index file of the same name beside it.

    Parameters
    ----------
    filename : str
        The `.rec` file; `.idx` beside it is its index.
    on_error : {"raise", "warn", "skip"}
        What to do with a record that cannot be read: raise, or use the next readable one instead, with a warning or
        without.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "data")
    >>> record = mx.recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w")
    >>> record.write_idx(0, b"first")
    >>> record.close()
    >>> mx.gluon.data.RecordFileDataset(path + ".rec")[0]
    b'first'
    """

    def __init__(self, filename, on_error="raise"):
        self._on_error = checked_on_error(on_error)
        self.idx_file = os.path.splitext(filename)[0] + ".idx"
        self.filename = filename
        self._record = recordio.MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def _read(self, idx):
        # by offset, without a position in the file: worker threads and forked workers read at the same time
        record = self._record
        return read_at(record._file.fileno(), record._reader.size, self._offset(idx), self._place(idx))

    def _offset(self, idx):
        return self._record.idx[self._record.keys[idx]]

    def _place(self, idx):
        """File and record of a sample, for messages."""
        return f"{self.filename}, record {self._record.keys[idx]}"

    def __len__(self):
        return len(self._record.keys)


class _DownloadedDataset(Dataset):
    """Base of the datasets that come as files: images in `_data`, labels in `_label`, an optional transform."""

    def __init__(self, root, transform):
        self._transform = transform
        self._data = None
        self._label = None
        self._root = os.path.expanduser(root)
        os.makedirs(self._root, exist_ok=True)
        self._get_data()

    def __getitem__(self, idx):
        sample = self._data[idx], self._label[idx]
        return sample if self._transform is None else self._transform(*sample)

    def __len__(self):
        return len(self._label)

    def _get_data(self):
        raise NotImplementedError
