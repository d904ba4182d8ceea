"""Record files: byte-compatible with MXNet, by key and in order, over fork and pickling, refused when damaged."""

import os
import pickle
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mxnet import recordio
from mxnet._formats import recordio as format_
from mxnet.base import MXNetError
from mxnet.io._records import RecordFile

from .corpus import EXPECTED, FOLDER, cuts, files

MAGIC = format_.MAGIC_BYTES


def everything(path):
    reader, found = recordio.MXRecordIO(str(path), "r"), []
    while (record := reader.read()) is not None:
        found.append(record)
    return found


def write(tmp_path, contents, name="x"):
    writer = recordio.MXIndexedRecordIO(str(tmp_path / f"{name}.idx"), str(tmp_path / f"{name}.rec"), "w")
    for key, content in enumerate(contents):
        writer.write_idx(key * 10, content)
    writer.close()
    return recordio.MXIndexedRecordIO(str(tmp_path / f"{name}.idx"), str(tmp_path / f"{name}.rec"), "r")


@pytest.mark.parametrize("name", files("records"))
def test_recorded_files_read_and_written_alike(name, tmp_path):
    expected = [bytes.fromhex(r) for r in EXPECTED[name]["records"]]
    assert everything(FOLDER / name) == expected
    write(tmp_path, expected)
    assert (tmp_path / "x.rec").read_bytes() == (FOLDER / name).read_bytes()
    assert (tmp_path / "x.idx").read_bytes() == (FOLDER / name).with_suffix(".idx").read_bytes()


@pytest.mark.parametrize("name", files("index"))
def test_recorded_indices(name):
    keys, places = format_.read_index(str(FOLDER / name))
    assert [[k, places[k]] for k in keys] == EXPECTED[name]["index"]
    record = (FOLDER / name).with_suffix(".rec")
    reader = recordio.MXIndexedRecordIO(str(FOLDER / name), str(record), "r")
    expected = EXPECTED[record.name]["records"]
    assert [reader.read_idx(key).hex() for key in reversed(keys)] == expected[::-1]


@given(st.lists(st.lists(st.sampled_from([b"", b"a", b"abcd", MAGIC, MAGIC[:3], b"\0" * 5]), max_size=5), max_size=6))
@settings(max_examples=60, deadline=None)
def test_any_records_come_back(tmp_path_factory, parts):
    contents = [b"".join(p) for p in parts]
    reader = write(tmp_path_factory.mktemp("records"), contents)
    assert [reader.read_idx(key) for key in reader.keys] == contents
    assert everything(reader.uri) == contents
    with open(reader.uri, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        offsets = list(format_.scan_offsets(file.fileno(), size, 0, size, reader.uri))
        assert offsets == [reader.idx[k] for k in reader.keys]
        assert [format_.read_at(file.fileno(), size, o, reader.uri) for o in offsets] == contents


def test_partitions_cover_every_record_once(tmp_path):
    contents = [bytes([i]) * (i * 7 % 90) + MAGIC * (i % 3) for i in range(100)]
    reader = write(tmp_path, contents)
    with open(reader.uri, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        edges = [size * i // 7 // 4 * 4 for i in range(7)] + [size]
        parts = zip(edges[:-1], edges[1:], strict=True)
        found = [o for a, b in parts for o in format_.scan_offsets(file.fileno(), size, a, b, "x")]
    assert found == [reader.idx[k] for k in reader.keys]


@pytest.mark.parametrize("name", ["plain.rec", "cut.rec", "packed.rec"])
def test_a_file_cut_anywhere_gives_whole_records_then_an_error(name, tmp_path):
    data, path = (FOLDER / name).read_bytes(), tmp_path / "cut.rec"
    begins = list(format_.read_index(str((FOLDER / name).with_suffix(".idx")))[1].values())
    records = [bytes.fromhex(r) for r in EXPECTED[name]["records"]]
    for cut in cuts(data, 150):
        path.write_bytes(data[:cut])
        reader = recordio.MXRecordIO(str(path), "r")
        for record, end in zip(records, [*begins[1:], len(data)], strict=True):
            if end <= cut:
                assert reader.read() == record
        if cut in begins:
            assert reader.read() is None
        else:
            with pytest.raises(MXNetError, match=r"cut\.rec: byte"):
                reader.read()


@pytest.mark.parametrize(
    "data",
    [b"not a record file", MAGIC + struct.pack("<I", 0x1FFFFFFF), MAGIC + struct.pack("<I", 2 << 29),
     MAGIC + struct.pack("<I", 1 << 29), MAGIC + struct.pack("<I", 7 << 29 | 4) + b"abcd"],
)  # fmt: skip
def test_damaged_frames(data, tmp_path):
    path = tmp_path / "bad.rec"
    path.write_bytes(data)
    with pytest.raises(MXNetError, match="Invalid RecordIO File"):
        recordio.MXRecordIO(str(path), "r").read()


def test_an_index_of_another_file(tmp_path):
    reader = write(tmp_path, [b"abc"])
    reader.idx[0] = 10**9
    with pytest.raises(MXNetError, match="is this its index"):
        reader.read_idx(0)
    (tmp_path / "x.idx").write_text("0\tsomewhere\n")
    with pytest.raises(MXNetError, match="line 1"):
        recordio.MXIndexedRecordIO(str(tmp_path / "x.idx"), str(tmp_path / "x.rec"), "r")


def test_the_index_appears_when_the_writer_closes(tmp_path):
    writer = recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    writer.write_idx(1, b"one")
    assert writer.tell() == 12 and not (tmp_path / "a.idx").exists()
    writer.close()
    assert (tmp_path / "a.idx").read_text() == "1\t0\n"


def test_missing_files_and_wrong_flags(tmp_path):
    with pytest.raises(MXNetError, match="No such file"):
        recordio.MXRecordIO(str(tmp_path / "none.rec"), "r")
    with pytest.raises(ValueError, match="Invalid flag"):
        recordio.MXRecordIO(str(tmp_path / "none.rec"), "a")
    with pytest.raises(TypeError, match="bytes or integer address expected instead of str instance"):
        recordio.MXRecordIO(str(tmp_path / "text.rec"), "w").write("text")


def test_pickled_readers_open_again(tmp_path):
    reader = write(tmp_path, [b"abc", b"defg"])
    twin = pickle.loads(pickle.dumps(reader))
    assert twin.read_idx(10) == b"defg" and reader.read_idx(0) == b"abc"


def test_a_forked_child_reads_by_key_but_not_in_order(tmp_path):
    reader = write(tmp_path, [b"abc", b"defg"])
    child = os.fork()
    if child == 0:
        try:
            reader.read()
        except RuntimeError:
            os._exit(0 if reader.read_idx(10) == b"defg" else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert reader.read() == b"abc"


def test_a_forked_child_leaves_the_parents_writer_alone(tmp_path):
    writer = recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    writer.write_idx(1, b"one")
    child = os.fork()
    if child == 0:
        writer.close()
        os._exit(0)
    os.waitpid(child, 0)
    writer.write_idx(2, b"two")
    writer.close()
    assert (tmp_path / "a.idx").read_text() == "1\t0\n2\t12\n"
    assert everything(tmp_path / "a.rec") == [b"one", b"two"]


def test_headers_and_labels():
    header, content = recordio.unpack(recordio.pack(recordio.IRHeader(5, 2.5, 3, 4), b"x"))
    assert header == (0, 2.5, 3, 4) and content == b"x"
    header, content = recordio.unpack(recordio.pack(recordio.IRHeader(0, [1, 2], 3, 4), b"x"))
    np.testing.assert_array_equal(header.label, [1, 2])
    assert header.flag == 2 and content == b"x"
    with pytest.raises(MXNetError, match="labels"):
        recordio.unpack(struct.pack("<IfQQ", 2**31, 0, 0, 0) + b"abcd")
    with pytest.raises(MXNetError, match="header"):
        recordio.unpack(b"short")


@pytest.mark.parametrize("form", [".jpg", ".png"])
def test_images_in_records(form):
    pixels = np.linspace(0, 255, 10 * 12 * 3).reshape(10, 12, 3).astype(np.uint8)
    header, back = recordio.unpack_img(recordio.pack_img((0, 1.0, 2, 0), pixels, 9 if form == ".png" else 100, form))
    assert header.id == 2 and back.shape == pixels.shape
    assert np.abs(back.astype(int) - pixels).max() <= (0 if form == ".png" else 8)


def test_the_default_quality_is_for_jpeg_and_png_takes_its_highest(capfd):
    """OpenCV told on the console that 95 is none of PNG's ten levels."""
    image = np.full((4, 4, 3), 7, np.uint8)
    header = recordio.IRHeader(0, 1.0, 2, 0)
    assert recordio.pack_img(header, image, img_fmt=".png") == recordio.pack_img(header, image, 9, ".png")
    assert capfd.readouterr().err == ""


def test_reading_records_loads_no_torch():
    code = "import sys, mxnet; mxnet.recordio; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ}).returncode == 0


def test_a_program_that_never_closes_its_file_leaves_its_index(tmp_path):
    code = (
        "from mxnet import recordio\n"
        "writer = recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'w')\n"
        "writer.write_idx(3, b'abc')\n"
        "writer.write_idx(5, b'defg')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
    assert (tmp_path / "a.idx").read_text() == "3\t0\n5\t12\n"
    reader = recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "r")
    assert reader.read_idx(5) == b"defg"


def test_a_system_without_pread_reads_the_same_from_many_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(format_, "_pread", format_._seek_and_read)
    contents = [bytes([number]) * (1 + 37 * number) for number in range(60)]
    writer = recordio.MXRecordIO(tmp_path / "a.rec", "w")
    for content in contents:
        writer.write(content)
    writer.close()
    records = RecordFile(str(tmp_path / "a.rec"))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(records.read, records.offsets * 5)) == contents * 5


@pytest.mark.parametrize("garbage", [1, 3, 4, 5, 8, 20])
def test_after_damage_reading_goes_on_with_the_next_record(tmp_path, garbage):
    """Frames begin at multiples of four; what is between them is passed over."""
    path = tmp_path / "a.rec"
    frame = lambda data: struct.pack("<II", format_.MAGIC, len(data)) + data + bytes(-len(data) % 4)
    between = b"\xab" * garbage
    path.write_bytes(frame(b"one") + between + bytes(-garbage % 4) + frame(b"three") + frame(b"four"))
    with open(path, "rb") as file:
        reader = format_.Reader(file, "a.rec")
        assert reader.read() == b"one"
        with pytest.raises(MXNetError, match="byte 12: Invalid RecordIO File"):
            reader.read()
        reader.resync()
        assert [reader.read() for _ in range(3)] == [b"three", b"four", None]
        reader.seek(0)
        assert reader.read() == b"one"
        reader.resync()  # the record itself was bad: the next one
        assert reader.read() == b"three"


def test_frames_up_to_the_last_byte_of_a_file(tmp_path):
    path = tmp_path / "a.rec"
    frame = struct.pack("<II", format_.MAGIC, 3) + b"abc"
    path.write_bytes(frame)
    with open(path, "rb") as file:
        assert format_.read_at(file.fileno(), len(frame), 0, "a.rec") == b"abc"
        assert list(format_.scan_offsets(file.fileno(), len(frame), 0, len(frame), "a.rec")) == [0]
        with pytest.raises(MXNetError, match="byte 0: .*a part of 3 bytes, 2 are left"):
            format_.read_at(file.fileno(), len(frame) - 1, 0, "a.rec")
        with pytest.raises(MXNetError, match="a frame was expected, 7 bytes are there"):
            format_.read_at(file.fileno(), len(frame), 4, "a.rec")
    assert format_.LIMIT == 2**29  # a length has 29 bits


@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("window", [8, 12, 1 << 20])
def test_where_a_record_begins(tmp_path, part, window):
    """A magic number with the code of a whole record or of a first part, wherever windows of reading end."""
    path = tmp_path / "a.rec"
    for before in range(0, 32, 4):
        data = bytes(before) + struct.pack("<II", format_.MAGIC, part << 29 | 5)
        path.write_bytes(data)
        with open(path, "rb") as file:
            begins = before if part in (0, 1) else len(data)
            assert format_.next_begin(file.fileno(), 0, len(data), window) == begins
            assert format_.next_begin(file.fileno(), before + 4, len(data), window) == len(data)
        path.write_bytes(data[:-1])
        with open(path, "rb") as file:
            assert format_.next_begin(file.fileno(), 0, len(data) - 1, window) == len(data) - 1
