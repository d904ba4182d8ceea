"""The bounds of the readers, each met exactly and passed by one."""

import io
import json
import struct
import tarfile

import numpy as np
import pytest

from mxnet._formats import archives, manifest, params, recordio, source, state_pickles, state_trees
from mxnet.base import MXNetError


def test_bounds_that_are_promised():
    """docs/threats.md and docs/reliability.md name them."""
    assert (archives.RATIO, archives.ALWAYS, archives.LARGEST) == (200, 16 * 2**20, 4 * 2**30)
    assert (params.MOST_DIMENSIONS, params.LONGEST_NAME, manifest.LARGEST) == (32, 2**20, 2**20)
    assert state_trees.DEEPEST == 64 and source.MOST == 2**62 and archives.MOST_MEMBERS == 100_000


def named(length):
    blob = params.dumps_blob(params.Blob.dense(np.ones(1, np.float32), "float32"))
    return struct.pack("<QQQ", 0x112, 0, 1) + blob + struct.pack("<QQ", 1, length) + b"a" * length


def test_the_longest_name():
    assert len(params.loads(named(params.LONGEST_NAME))[0][0]) == params.LONGEST_NAME
    with pytest.raises(MXNetError, match="a name of 1048577 bytes is not believable"):
        params.loads(named(params.LONGEST_NAME + 1))


def test_one_array_comes_back():
    blob = params.loads_blob(params.dumps_blob(params.Blob.dense(np.arange(3, dtype=np.float32), "float32")))
    np.testing.assert_array_equal(blob.values, [0, 1, 2])


def test_sizes_of_an_array_without_elements():
    read = lambda *shape: source.from_buffer(b"", "a").array(shape, np.dtype("uint8"), "an array")
    assert read(0, 2**62).shape == (0, 2**62)
    with pytest.raises(MXNetError, match="yet sizes that no array can have"):
        read(0, 2**62 + 1)


def test_the_deepest_structure():
    build = lambda value: state_pickles._Builder(None, None).build(value)

    def nested(levels):
        value = 1
        for _ in range(levels):
            value = [value]
        return value

    assert build(nested(64)) == nested(64)
    with pytest.raises(MXNetError, match="more than 64 levels of nesting"):
        build(nested(65))


def test_what_a_stream_may_give():
    capped = lambda limit: archives._Capped(io.BytesIO(b"abcd"), limit, "a.zip")
    assert capped(4).read() == b"abcd" and capped(4).read(2) == b"ab"
    for number in (-1, 4, 9):
        with pytest.raises(MXNetError, match="a.zip: it unpacks to more than is allowed"):
            capped(3).read(number)


def test_the_most_members(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_MEMBERS", 2)
    for count in (2, 3):
        with tarfile.open(tmp_path / "a.tar", "w") as file:
            for number in range(count):
                file.addfile(tarfile.TarInfo(f"{number}.txt"))
        if count == 2:
            assert len(archives.extract_all(tmp_path / "a.tar", tmp_path / "out")) == 2
        else:
            with pytest.raises(MXNetError, match="more than 2 members"):
                archives.extract_all(tmp_path / "a.tar", tmp_path / "out")


@pytest.mark.parametrize("flag, labels, fits", [(1, 1, True), (2, 2, True), (2, 1, False), (1, 0, False)])
def test_labels_of_an_image_record(flag, labels, fits):
    record = struct.pack("<IfQQ", flag, 0.0, 7, 0) + np.arange(labels, dtype=np.float32).tobytes()
    if fits:
        header, rest = recordio.unpack_header(record)
        assert header.label.tolist() == list(range(labels)) and rest == b""
    else:
        with pytest.raises(MXNetError, match=f"claims {flag} labels, only {4 * labels} bytes follow"):
            recordio.unpack_header(record)


def test_a_record_that_was_appended_is_read(tmp_path):
    frame = lambda data: struct.pack("<II", recordio.MAGIC, len(data)) + data + bytes(-len(data) % 4)
    path = tmp_path / "a.rec"
    path.write_bytes(frame(b"one"))
    with open(path, "rb") as file:
        reader = recordio.Reader(file, "a.rec")
        assert reader.read() == b"one"
        with open(path, "ab") as more:
            more.write(frame(b"two") + frame(b"three")[:-4])
        assert reader.read() == b"two"
        reader.seek(12)
        assert reader.read() == b"two"
        with pytest.raises(MXNetError, match="a part of 5 bytes, 4 are left"):
            reader.read()
        with pytest.raises(MXNetError, match="the file has only 36 bytes"):
            reader.seek(37)


def test_the_newest_set_whose_files_are_there(tmp_path):
    """Each under its own name, or under the temporary one that the manifest tells."""

    def saved(epoch, name, **facts):
        text = json.dumps({"files": {name: {"size": 1, "sha256": "0" * 64, **facts}}})
        (tmp_path / f"net-{epoch:04d}.manifest.json").write_text(text)

    prefix = str(tmp_path / "net")
    saved(1, "net-0001.params")
    (tmp_path / "net-0001.params").touch()
    saved(2, "net-0002.params", **{"from": "net-0002.tmp"})
    saved(3, "net-0003.params")
    facts = manifest.read(str(tmp_path / "net-0002"))
    assert facts is not None and manifest.latest(prefix) == 1
    (tmp_path / "net-0002.tmp").touch()
    assert manifest.latest(prefix) == 2
    (tmp_path / "net-0003.params").touch()
    assert manifest.latest(prefix) == 3
