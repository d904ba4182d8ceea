"""Image lists: what a line holds, and what is none."""

import os

import pytest

import mxnet as mx
from mxnet._formats.image_lists import entries
from mxnet.base import MXNetError


def read(tmp_path, data, **options):
    path = tmp_path / "a.lst"
    path.write_bytes(data)
    return list(entries(str(path), **options))


def test_lines(tmp_path):
    data = "0\t1.5\ta.png\n-3\t1\t2\tüber/b c.png \r\n18446744073709551615\t0\tc".encode()
    assert read(tmp_path, data) == [(0, [1.5], "a.png"), (-3, [1, 2], "über/b c.png"), (2**64 - 1, [0], "c")]
    assert read(tmp_path, b"") == []
    assert read(tmp_path, b"4\ta.png\n", least=2) == [(4, [], "a.png")]


REFUSED = {
    b"0\t1\ta.png\n4\ta.png\n": "a.lst, line 2: expected index, label",
    b"x\t1\ta.png": "a.lst, line 1: invalid literal",
    b"0\tx\ta.png": "line 1: could not convert",
    b"0\t1\ta\0.png": "is no path",
    b"0\t1\t\xff\xfe": "line 1: 'utf-8' codec",
    b"18446744073709551616\t1\ta": "does not fit in 64 bits",
    b"-9223372036854775809\t1\ta": "does not fit in 64 bits",
    b"\n": "expected index",
}


@pytest.mark.parametrize("data", REFUSED)
def test_refused(tmp_path, data):
    with pytest.raises(MXNetError, match=REFUSED[data]):
        read(tmp_path, data)


def test_the_least_index(tmp_path):
    assert read(tmp_path, b"-9223372036854775808\t1\ta")[0][0] == -(2**63)


def test_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(entries(str(tmp_path / "nowhere.lst")))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes in folders are POSIX's")
@pytest.mark.parametrize("name", ["/dev/zero", "pipe"])
def test_a_list_that_names_a_device_or_a_pipe(tmp_path, name):
    """The one took all memory, the other waited for ever."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.lst").write_text(f"0\t1\t{name}\n")
    listed = {"path_imglist": str(tmp_path / "a.lst"), "path_root": str(tmp_path)}
    dataset = mx.gluon.data.vision.ImageListDataset(str(tmp_path), "a.lst")
    for read in (lambda: next(mx.image.ImageIter(1, (3, 8, 8), **listed)), lambda: dataset[0]):
        with pytest.raises(MXNetError, match=f"{name} is a device, a pipe or a socket"):
            read()
