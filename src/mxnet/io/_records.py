"""A record file as an iterator sees it: the offsets of its records, or of one part of them, and their content."""

import bisect
import os
import warnings

from .._core.errors import MXNetError
from .._core.hints import beside
from .._formats import recordio as format_

_WINDOW = 2 << 20  # words of 4 bytes that MXNet reads at a time


def _warn(error):
    warnings.warn(f"left out: {error}", stacklevel=2)


def _pass_over(error):
    """What is damaged is not spoken about."""


def chunk_starts(offsets, end):
    """Which records begin MXNet's chunks: each ends before the last record that begins in the window."""
    starts, words = [0], _WINDOW
    while offsets and end - offsets[starts[-1]] >= 4 * words:
        found = bisect.bisect_right(offsets, offsets[starts[-1]] + 4 * words - 8) - 1
        if found > starts[-1]:
            starts.append(found)
            words = _WINDOW
        else:  # a record larger than the window
            words = 2 * words + 1
    return starts


class RecordFile:
    """A record file as a list of byte offsets, read from any thread; `on_error` rules what is between records.

    `starts` are the numbers of the records that begin MXNet's chunks; None with an index, where it reads by batches.
    """

    def __init__(self, path, index_path="", part=0, parts=1, on_error="raise"):
        if not 0 <= part < parts:
            raise MXNetError(f"part_index must be at least 0 and below num_parts, but they are {part} and {parts}")
        self.path = path
        self._report = {"raise": None, "warn": _warn, "skip": _pass_over}[on_error]
        try:
            self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise MXNetError(f"{path}: {error.strerror}{beside(path)}") from None
        self.size = os.fstat(self._descriptor).st_size
        self.starts = None
        if index_path:
            self.offsets = self._indexed(index_path, part, parts)
        else:
            self._scan(part, parts)

    def __del__(self):
        descriptor = getattr(self, "_descriptor", None)
        if descriptor is not None:
            os.close(descriptor)

    def _indexed(self, index_path, part, parts):
        """Partition by number of records, as the index file counts them."""
        try:
            _, places = format_.read_index(index_path)
        except OSError as error:
            raise MXNetError(f"{index_path}: {error.strerror}; it should be the index of {self.path}") from None
        offsets = sorted(places.values())
        step = -(-len(offsets) // parts)
        return offsets[part * step : (part + 1) * step]

    def _scan(self, part, parts):
        """Partition by bytes: a record belongs to the part in which it begins."""
        step = -(-self.size // parts)
        step += -step % 4
        begin, end = min(step * part, self.size), min(step * (part + 1), self.size)
        self.offsets = list(format_.scan_offsets(self._descriptor, self.size, begin, end, self.path, self._report))
        self.starts = chunk_starts(self.offsets, format_.next_begin(self._descriptor, end, self.size))

    def read(self, offset):
        """The record's content."""
        return format_.read_at(self._descriptor, self.size, offset, self.path)
