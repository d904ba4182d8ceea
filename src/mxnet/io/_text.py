"""Native iterators over plain files: CSV tables, LibSVM lines, MNIST's IDX files."""

import glob
import os
import re
import warnings
from collections import namedtuple

import numpy as np

from .._core.errors import MXNetError
from .._core.hints import beside
from .._formats import idx
from .._formats.archives import unpacked
from ._order import Batches, Order
from ._random import Engine


def _files(path):
    """The file itself, or every file of a directory in order of names."""
    if os.path.isdir(path):
        return sorted(name for name in glob.glob(os.path.join(path, "*")) if os.path.isfile(name))
    if not os.path.exists(path):
        raise MXNetError(f"{path}: No such file or directory{beside(path)}")
    return [path]


class Arrays:
    """Base: batches of rows from arrays in memory."""

    def __init__(self, batch_size, round_batch, count):
        if batch_size < 1:
            raise MXNetError(f"batch_size must be positive, but is {batch_size}")
        self._batch_size = batch_size
        self._batches = Batches(Order(count), batch_size, round_batch)
        self._previous = [0] * batch_size

    def restart(self):
        self._batches.restart()

    def state_dict(self):
        return {"batches": self._batches.state_dict(), "previous": list(self._previous)}

    def load_state_dict(self, state):
        self._batches.load_state_dict(state["batches"])
        self._previous = state["previous"]

    def next(self):
        taken = self._batches.next()
        if taken is None:
            return None
        places, pad = taken
        positions = [place.position for place in places]
        positions += self._previous[len(positions) :]  # an incomplete batch shows the rows that were there before
        self._previous = positions
        rows = np.array(positions)
        return self.rows(rows, "data"), self.rows(rows, "label"), pad, self.index(rows)

    def index(self, rows):
        """The numbers of the samples in a batch."""
        return rows.astype(np.uint64)

    def rows(self, rows, which):
        """The values of `which` ("data" or "label") at some rows."""
        raise NotImplementedError


class CsvTables(Arrays):
    """CSVIter: one row of the data file is one sample."""

    def __init__(self, parameters):
        p = parameters
        dtype = np.dtype(p.dtype or "float32")
        if dtype.name not in ("float32", "int32", "int64"):
            raise MXNetError(f"CSVIter reads float32, int32 or int64, not {dtype.name}")
        data, bad = self._read(p.data_csv, p.data_shape, dtype, p.on_error)
        label = np.zeros((len(data), 1), dtype)
        if p.label_csv != "NULL":
            label, worse = self._read(p.label_csv, p.label_shape, dtype, p.on_error)
            bad |= worse
        if len(label) != len(data):
            raise MXNetError(f"{p.data_csv} has {len(data)} rows but {p.label_csv} has {len(label)}")
        self._data, self._label = _without(data, bad), _without(label, bad)
        super().__init__(p.batch_size, p.round_batch, len(self._data))

    @staticmethod
    def _read(path, shape, dtype, on_error):
        """All rows of a file or a directory, and the numbers of those that are no rows."""
        tables, bad, count = [], set(), 0
        width = int(np.prod(shape, dtype=np.int64))
        for name in _files(path):
            try:
                table = _table(name, dtype)
                if table.shape[1] != width:
                    raise ValueError(f"rows have {table.shape[1]} values, which is not shape {tuple(shape)}")
            except ValueError as error:
                if on_error == "raise":
                    raise MXNetError(f"{name}: {error}") from error
                table, wrong = _csv_rows(name, width, dtype, on_error)
                bad |= {count + row for row in wrong}
            tables.append(table)
            count += len(table)
        return np.concatenate(tables).reshape(count, *shape), bad

    def rows(self, rows, which):
        values = getattr(self, "_" + which)[rows]
        return values.reshape(len(rows)) if which == "label" and values.shape[1:] == (1,) else values


def _table(name, dtype):
    """The numbers of a file; whole numbers may be written with fractions, which are cut off."""
    try:
        return _loaded(name, dtype)
    except ValueError:
        if np.dtype(dtype).kind != "i":
            raise
        return _loaded(name, np.float64).astype(dtype)


def _loaded(name, dtype):
    """Opened here: by a name that ends in .gz, .bz2 or .xz NumPy would unpack the file, into any size."""
    with open(name, encoding="utf-8", errors="replace") as file:
        return np.loadtxt(file, delimiter=",", dtype=dtype, ndmin=2, comments=None)


def _csv_rows(name, width, dtype, on_error):
    """The rows of a file one by one; where one cannot be read, zeros stand and its number is told."""
    rows, wrong = [], set()
    with open(name, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = np.array(line.split(","), dtype)
                if len(row) != width:
                    raise ValueError(f"{len(row)} values, not {width}")
            except (ValueError, OverflowError) as error:
                _leave_out(f"{name}, line {number}: {error}", on_error)
                wrong.add(len(rows))
                row = np.zeros(width, dtype)
            rows.append(row)
    return np.array(rows, dtype).reshape(len(rows), width), wrong


def _without(table, bad):
    return np.delete(table, sorted(bad), axis=0) if bad else table


def _leave_out(words, on_error):
    if on_error == "warn":
        warnings.warn(f"left out: {words}", stacklevel=3)


class LibSvmRows(Arrays):
    """LibSVMIter: sparse rows, `label index:value …`, with indices from zero; batches are sparse too."""

    def __init__(self, parameters):
        p = parameters
        if len(p.data_shape) != 1 or len(p.label_shape) != 1:
            raise MXNetError("dimension of data_shape and label_shape is expected to be 1")
        if not 0 <= p.part_index < p.num_parts:
            raise MXNetError(f"part_index must be below num_parts, but they are {p.part_index} and {p.num_parts}")
        labels, self._data, bad = _read_libsvm(p.data_libsvm, p.data_shape[0], p.on_error)
        self._label = np.array(labels, np.float32)
        if p.label_libsvm != "NULL":
            _, self._label, worse = _read_libsvm(p.label_libsvm, p.label_shape[0], p.on_error)
            bad |= worse
        if len(self._label) != len(self._data):
            raise MXNetError(f"{p.data_libsvm} has {len(self._data)} rows but {p.label_libsvm} has {len(self._label)}")
        self._data = self._data.without(bad)
        self._label = _without(self._label, bad) if isinstance(self._label, np.ndarray) else self._label.without(bad)
        step = -(-len(self._data) // p.num_parts)
        self._first = min(p.part_index * step, len(self._data))
        super().__init__(p.batch_size, True, min(step, len(self._data) - self._first))

    def rows(self, rows, which):
        return getattr(self, "_" + which)[rows + self._first]


SparseBatch = namedtuple("SparseBatch", ["data", "indices", "indptr", "shape"])


class SparseRows:
    """Rows kept as columns and values; indexing with row numbers gives the parts of a csr array."""

    def __init__(self, width, lengths, columns, values):
        self.width = width
        self._columns, self._values = columns, values
        self._starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])

    def without(self, bad):
        """The same rows but for some."""
        if not bad:
            return self
        kept = self[[row for row in range(len(self)) if row not in bad]]
        return SparseRows(self.width, np.diff(kept.indptr), kept.indices, kept.data)

    def __len__(self):
        return len(self._starts) - 1

    def __getitem__(self, rows):
        rows = np.asarray(rows, np.int64)
        firsts = self._starts[rows]
        lengths = self._starts[rows + 1] - firsts
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(starts[-1]) + np.repeat(firsts - starts[:-1], lengths)
        return SparseBatch(self._values[places], self._columns[places], starts, (len(rows), self.width))


# There is one way only to match any text, so that a line which does not match is refused in linear time.
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_LIBSVM_LINE = re.compile(rf"\s*{_NUMBER}(?:\s+\d+:{_NUMBER})*\s*", re.ASCII)
_BLOCK = 1 << 22  # characters that are parsed at once


class _LibSvmReader:
    """Labels and sparse rows of files, and the numbers of those that are no rows."""

    def __init__(self, width, on_error):
        self._width, self._on_error = width, on_error
        self._labels, self._lengths, self._columns, self._values = [], [], [], []
        self.bad, self._count = set(), 0

    def read(self, name):
        with open(name, encoding="utf-8", errors="replace") as file:
            number = 1
            while lines := file.readlines(_BLOCK):
                if not self._add_block(lines):
                    for place, line in enumerate(lines, number):
                        self._add_line(line, f"{name}, line {place}")
                number += len(lines)

    def _add_block(self, lines):
        """Add lines of plain numbers at once; False: there are others among them, or columns that are out of range."""
        if not all(map(_LIBSVM_LINE.fullmatch, lines)):
            return False
        lengths = np.array([line.count(":") for line in lines])
        words = "".join(lines).replace(":", " ").split()
        numbers = np.fromiter(map(float, words), np.float64, len(words))
        firsts = np.concatenate([[0], np.cumsum(2 * lengths[:-1] + 1)])
        pairs = np.delete(numbers, firsts).reshape(-1, 2)
        if (pairs[:, 0] >= self._width).any():
            return False
        self._add(numbers[firsts], lengths, pairs[:, 0], pairs[:, 1])
        return True

    def _add_line(self, line, place):
        if not line.strip():
            return
        try:
            label, columns, values = _parse_libsvm(line, place, self._width)
        except MXNetError as error:
            if self._on_error == "raise":
                raise
            _leave_out(error, self._on_error)
            self.bad.add(self._count)
            label, columns, values = 0.0, [], []
        self._add([label], [len(columns)], columns, values)

    def _add(self, labels, lengths, columns, values):
        self._count += len(labels)
        self._labels.append(np.asarray(labels, np.float32))
        self._lengths.append(np.asarray(lengths, np.int64))
        self._columns.append(np.asarray(columns, np.int64))
        self._values.append(np.asarray(values, np.float32))

    def rows(self):
        parts = (self._labels, self._lengths, self._columns, self._values)
        labels, *rows = (np.concatenate(part) if part else np.empty(0, np.int64) for part in parts)
        return labels, SparseRows(self._width, *rows)


def _read_libsvm(path, width, on_error):
    """Labels and sparse rows of a file, or of all files of a directory, and the numbers of those that are no rows."""
    reader = _LibSvmReader(width, on_error)
    for name in _files(path):
        reader.read(name)
    return *reader.rows(), reader.bad


def _parse_libsvm(line, place, width):
    try:
        label, *fields = line.split()
        pairs = [field.split(":") for field in fields]
        columns, values = [int(column) for column, _ in pairs], [float(value) for _, value in pairs]
        label = float(label)
    except ValueError as error:
        raise MXNetError(f"{place}: {error}") from error
    if any(not 0 <= column < width for column in columns):
        raise MXNetError(f"{place}: an index is not between 0 and {width - 1}: {columns}")
    return label, columns, values


class MnistImages(Arrays):
    """MNISTIter: digits as floats from 0 to 1."""

    def __init__(self, parameters):
        p = parameters
        images, labels = _idx(p.image), _idx(p.label)
        if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
            raise MXNetError(
                f"{p.image} holds {images.shape} values and {p.label} {labels.shape}: "
                "they are not MNIST's images and labels"
            )
        part = slice(len(images) * p.part_index // p.num_parts, len(images) * (p.part_index + 1) // p.num_parts)
        images, labels = images[part], labels[part]
        order = np.arange(len(images))
        if p.shuffle:  # once: every epoch has the same order
            engine = Engine(p.seed)
            positions = order.tolist()
            engine.shuffle(positions)
            order = np.array(positions, np.int64)
        self._images, self._labels = images[order], labels[order]
        self._shape = (images.shape[1] * images.shape[2],) if p.flat else (1, *images.shape[1:])
        count = len(images) // p.batch_size * p.batch_size  # the incomplete batch is never given
        super().__init__(p.batch_size, False, count)

    def index(self, rows):
        return np.zeros(len(rows), np.uint64)

    def rows(self, rows, which):
        if which == "label":
            return self._labels[rows].astype(np.float32)
        scaled = self._images[rows].astype(np.float32) * np.float32(1.0 / 256.0)
        return scaled.reshape(len(rows), *self._shape)


def _idx(path):
    """The bytes of an IDX file, gzipped or not, in the shape its header says."""
    try:
        content = unpacked(path)
    except OSError as error:
        raise MXNetError(f"{path}: {error.strerror}{beside(path)}") from None
    return idx.array(content, path)
