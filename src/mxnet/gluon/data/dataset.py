"""Datasets: things with a length and an index, and the ways to derive one from another."""

import os

from ... import ndarray, recordio
from ..._core.on_error import checked_on_error
from ..._formats.recordio import read_at
from ._tolerance import Tolerant
from .sampler import FilterSampler, Sampler, SequentialSampler

__all__ = ["Dataset", "SimpleDataset", "ArrayDataset", "RecordFileDataset"]


class Dataset:
    """The interface of all datasets: `dataset[i]` gives a sample, `len(dataset)` their number."""

    def __getitem__(self, idx):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def filter(self, fn):
        """The samples that `fn` accepts. All samples are read now; transforms run again at access."""
        return _SampledDataset(self, FilterSampler(fn, self))

    def shard(self, num_shards, index):
        """The contiguous part `index` of `num_shards` parts whose sizes differ by at most one."""
        assert index < num_shards, f"Shard index of out bound: {index} out of {num_shards}"
        assert num_shards > 0, "Number of shards must be greater than 0"
        assert index >= 0, "Index must be non-negative"
        size, rest = divmod(len(self), num_shards)
        start = size * index + min(index, rest)
        return _SampledDataset(self, SequentialSampler(size + (index < rest), start))

    def take(self, count):
        """The first `count` samples; all of them when `count` is None or too large."""
        if count is None or count > len(self):
            count = len(self)
        return _SampledDataset(self, SequentialSampler(count))

    def sample(self, sampler):
        """The samples whose indices `sampler` gives, in its order."""
        if not isinstance(sampler, Sampler):
            raise TypeError(f"Invalid sampler type: {type(sampler)}. Expected gluon.data.Sampler instead.")
        return _SampledDataset(self, sampler)

    def transform(self, fn, lazy=True):
        """Each sample passed through `fn` (a tuple as separate arguments), at access or, if not lazy, now."""
        transformed = _LazyTransformDataset(self, fn)
        return transformed if lazy else SimpleDataset([transformed[i] for i in range(len(transformed))])

    def transform_first(self, fn, lazy=True):
        """Each sample with only its first element passed through `fn`."""
        return self.transform(_TransformFirstClosure(fn), lazy)


class SimpleDataset(Dataset):
    """Any object with a length and an index, as a dataset."""

    def __init__(self, data):
        self._data = data

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx):
        return self._data[idx]


class _LazyTransformDataset(Dataset):
    """A dataset whose samples go through a function when they are read."""

    def __init__(self, data, fn):
        self._data = data
        self._fn = fn

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx):
        item = self._data[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _TransformFirstClosure:
    """Applies a function to the first of several values; a class, so that it can be sent to a worker process."""

    def __init__(self, fn):
        self._fn = fn

    def __call__(self, x, *args):
        return (self._fn(x), *args) if args else self._fn(x)


class _SampledDataset(Dataset):
    """The samples of a dataset at the indices a sampler gave."""

    def __init__(self, dataset, sampler):
        self._dataset = dataset
        self._sampler = sampler
        self._indices = list(sampler)

    def __len__(self):
        return len(self._sampler)

    def __getitem__(self, idx):
        return self._dataset[self._indices[idx]]


class _FilteredDataset(_SampledDataset):
    """The samples of a dataset that `fn` accepts."""

    def __init__(self, dataset, fn):
        super().__init__(dataset, FilterSampler(fn, dataset))


class ArrayDataset(Dataset):
    """Several arrays, lists or datasets of the same length, zipped: sample i is `(x1[i], x2[i], …)`."""

    def __init__(self, *args):
        assert len(args) > 0, "Needs at least 1 arrays"
        self._length = len(args[0])
        for i, data in enumerate(args):
            assert len(data) == self._length, (
                "All arrays must have the same length; "
                f"array[0] has length {self._length} while array[{i}] has {len(data)}."
            )
        # a 1-D NDArray holds labels: plain NumPy scalars are cheaper samples than NDArrays of one element
        self._data = [d.asnumpy() if isinstance(d, ndarray.NDArray) and len(d.shape) == 1 else d for d in args]

    def __getitem__(self, idx):
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)

    def __len__(self):
        return self._length


class RecordFileDataset(Tolerant, Dataset):
    """The raw records of a RecordIO file that has an index file of the same name beside it.

    `on_error` "warn" and "skip" put the next readable record in the place of one that cannot be read.
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
