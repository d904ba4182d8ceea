"""NumPy's archives: arrays come out as NumPy reads them; damage and false claims are refused."""

import io
import struct
import zipfile

import numpy as np
import pytest

from mxnet._formats import npz
from mxnet.base import MXNetError

ARRAYS = {
    "a": np.arange(6).reshape(2, 3),
    "b": np.float32(3),
    "c": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "d": np.zeros((0, 3)),
    "e": np.arange(3, dtype=">i4"),
}


def stored(tmp_path, data):
    path = tmp_path / "a.npz"
    path.write_bytes(data)
    return str(path)


def zipped(name, data, **options):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, data)
    return memory.getvalue()


def member(shape, data=b"", descr="<f4", version=b"\x01\x00"):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}}}".encode()
    length = struct.pack("<H" if version == b"\x01\x00" else "<I", len(text))
    return b"\x93NUMPY" + version + length + text + data


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays(tmp_path, save):
    path = str(tmp_path / "a.npz")
    save(path, **ARRAYS)
    found = npz.read(path)
    assert found.keys() == ARRAYS.keys()
    for name, wanted in np.load(path).items():
        np.testing.assert_array_equal(found[name], wanted)
        assert (found[name].dtype, found[name].shape) == (wanted.dtype, wanted.shape)
        found[name][...] = 0  # the arrays are the caller's own


REFUSED = {
    "File is not a zip file": b"no archive",
    "claims an array of shape": zipped("a.npy", member((1 << 40,))),
    "claims an array of shape (-1": zipped("a.npy", member((-1, 4))),
    "decompression bomb": zipped("a.npy", member((1 << 23,), bytes(1 << 25))),
    "magic string": zipped("a.npy", b"nonsense"),
    "Python objects": zipped("a.npy", member((1,), bytes(8), "|O")),
    "expected": zipped("a.npy", b"\x93NUM"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refused(tmp_path, words):
    with pytest.raises(MXNetError) as caught:
        npz.read(stored(tmp_path, REFUSED[words]))
    assert words in str(caught.value) and "a.npz" in str(caught.value)


def test_the_second_version_of_the_header(tmp_path):
    found = npz.read(stored(tmp_path, zipped("a.npy", member((2,), bytes(8), version=b"\x02\x00"))))
    assert found["a"].tolist() == [0, 0]


def test_encrypted(tmp_path):
    data = bytearray(zipped("a.npy", member((1,), bytes(4))))
    for at, signature in ((6, b"PK\x03\x04"), (8, b"PK\x01\x02")):
        data[data.index(signature) + at] |= 1
    with pytest.raises(MXNetError, match="a.npy is encrypted; save it without a password"):
        npz.read(stored(tmp_path, bytes(data)))


def test_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        npz.read(str(tmp_path / "nowhere.npz"))


def test_cut_at_every_byte(tmp_path):
    memory = io.BytesIO()
    np.savez_compressed(memory, **ARRAYS)
    data = memory.getvalue()
    for cut in range(0, len(data), 7):
        with pytest.raises(MXNetError):
            npz.read(stored(tmp_path, data[:cut]))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_numpy_does_not_write(tmp_path, method):
    """What zipfile decompresses of them at a time has no bound."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", method) as file:
        file.writestr("a.npy", member((3,), bytes(12)))
    with pytest.raises(MXNetError, match=f"a.npy is compressed by method {method}; only stored and deflated"):
        npz.read(stored(tmp_path, memory.getvalue()))
