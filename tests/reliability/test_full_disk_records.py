"""A disk that is full while records are written: the index that was there stays, the records end with a whole one."""

import errno
import os

import pytest

from mxnet import recordio


class Full:
    """A file that takes so many bytes, then none."""

    def __init__(self, file, room):
        self._file, self._room = file, room

    def write(self, data):
        if not self._room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = min(len(data), self._room)
        self._room -= taken
        return self._file.write(data[:taken])

    def __getattr__(self, name):
        return getattr(self._file, name)


def test_the_index_stays(tmp_path):
    index, records = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    writer = recordio.MXIndexedRecordIO(index, records, "w")
    writer.write_idx(1, b"old")
    writer.close()
    before = (tmp_path / "a.idx").read_bytes()
    writer = recordio.MXIndexedRecordIO(index, records, "w")
    writer.write_idx(7, b"whole")
    writer._file = Full(writer._file, 10)
    with pytest.raises(OSError, match="No space left"):
        writer.write_idx(8, b"too long for the disk")
    writer.close()
    assert (tmp_path / "a.idx").read_bytes() == before
    reader = recordio.MXRecordIO(records, "r")
    assert reader.read() == b"whole" and reader.read() is None


def test_writing_may_go_on(tmp_path):
    """Whoever makes room and writes the record again gets an index of all records."""
    index, records = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    writer = recordio.MXIndexedRecordIO(index, records, "w")
    whole, writer._file = writer._file, Full(writer._file, 10)
    with pytest.raises(OSError, match="No space left"):
        writer.write_idx(8, b"too long for the disk")
    writer._file = whole
    writer.write_idx(8, b"short")
    writer.close()
    reader = recordio.MXIndexedRecordIO(index, records, "r")
    assert reader.keys == [8] and reader.read_idx(8) == b"short"
