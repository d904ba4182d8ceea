"""`on_error` in everything that reads records, images or rows: raised with its place, warned about, or passed over."""

import struct
import warnings

import cv2
import numpy as np
import pytest

import mxnet as mx
from mxnet import recordio
from mxnet.gluon.data import vision

COUNT, BAD = 6, 2


def picture(label):
    return np.full((8, 8, 3), 20 * label, np.uint8)


def detection(label):
    return [2, 5, label, 0.1, 0.1, 0.9, 0.9]


@pytest.fixture(params=["image", "frame"])
def records(request, tmp_path):
    """(record file, index, byte) of six records, one of them damaged: in its image, or in the frame around it."""
    return written(tmp_path, request.param, lambda label: float(label))


def written(folder, damage, label_of):
    path, index = str(folder / "a.rec"), str(folder / "a.idx")
    writer = recordio.MXIndexedRecordIO(index, path, "w")
    for number in range(COUNT):
        record = recordio.pack_img((0, label_of(number), number, 0), picture(number), 1, ".png")
        writer.write_idx(number, record[:-60] + b"\0" * 60 if (number, damage) == (BAD, "image") else record)
    offset = writer.idx[BAD]
    writer.close()
    if damage == "frame":
        with open(path, "r+b") as file:
            file.seek(offset)
            file.write(struct.pack("<I", 0xDEADBEEF))
    return path, index, offset


def batches(make, on_error):
    """Labels of all samples but for padding."""
    found = []
    for batch in make(on_error):
        label = batch.label[0].asnumpy()
        found += list((label[:, 0, 0] if label.ndim == 3 else label)[: len(label) - batch.pad])
    return [int(value) for value in found]


def check(make, place):
    """One iterator or dataset in its three moods."""
    with pytest.raises((mx.MXNetError, RuntimeError, OSError), match=place):
        batches(make, "raise")
    with pytest.warns(UserWarning, match=f"left out: .*{place}"):
        assert batches(make, "warn") == [0, 1, 3, 4, 5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert batches(make, "skip") == [0, 1, 3, 4, 5]
    with pytest.raises((mx.MXNetError, ValueError), match="on_error"):
        make("ignore")


@pytest.mark.parametrize("indexed", [False, True])
def test_image_record_iterators(records, indexed):
    path, index, offset = records
    more = {"path_imgidx": index} if indexed else {}
    place = rf"a\.rec.*byte {offset}"
    settings = dict(path_imgrec=path, data_shape=(3, 8, 8), batch_size=5, round_batch=False, **more)
    check(lambda mood: mx.io.ImageRecordIter(on_error=mood, **settings), place)
    check(lambda mood: mx.io.ImageRecordUInt8Iter(on_error=mood, **settings), place)


@pytest.mark.parametrize("indexed", [False, True])
def test_image_iterator_over_records(records, indexed):
    path, index, offset = records
    more = {"path_imgidx": index} if indexed else {}
    make = lambda mood: mx.image.ImageIter(5, (3, 8, 8), path_imgrec=path, on_error=mood, **more)
    check(make, rf"a\.rec.*byte {offset}")


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("damage", ["image", "frame"])
def test_detection_iterators(tmp_path, indexed, damage):
    path, index, offset = written(tmp_path, damage, detection)
    more = {"path_imgidx": index} if indexed else {}
    make = lambda mood: mx.image.ImageDetIter(5, (3, 8, 8), path_imgrec=path, on_error=mood, **more)
    check(make, rf"a\.rec.*byte {offset}")
    native = lambda mood: mx.io.ImageDetRecordIter(
        path_imgrec=path, data_shape=(3, 8, 8), batch_size=1, round_batch=False, on_error=mood, **more
    )
    with pytest.raises(mx.MXNetError, match=rf"a\.rec.*byte {offset}"):
        len(list(native("raise")))
    assert len(list(native("skip"))) == COUNT - 1


@pytest.fixture
def folder(tmp_path):
    """Six image files in two classes, one of them damaged."""
    for number in range(COUNT):
        place = tmp_path / f"class{number % 2}"
        place.mkdir(exist_ok=True)
        data = cv2.imencode(".png", picture(number))[1].tobytes()
        (place / f"{number}.png").write_bytes(data[:30] if number == BAD else data)
    lines = [f"{i}\t{i}\tclass{i % 2}/{i}.png\n" for i in range(COUNT)]
    (tmp_path / "a.lst").write_text("".join(lines))
    return tmp_path


def test_image_iterator_over_files(folder):
    make = lambda mood: mx.image.ImageIter(
        5, (3, 8, 8), path_imglist=str(folder / "a.lst"), path_root=str(folder), on_error=mood
    )
    check(make, r"class0/2\.png")


def check_dataset(make, place, first):
    """A dataset keeps its length: the next readable sample takes the place."""
    with pytest.raises((mx.MXNetError, RuntimeError, OSError), match=place):
        [make("raise")[i] for i in range(COUNT)]
    with pytest.warns(UserWarning, match=f"replaced by the next: .*{place}"):
        read = [make("warn")[i] for i in range(COUNT)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = [make("skip")[i] for i in range(COUNT)]
    assert [first(sample) for sample in read] == [first(sample) for sample in again]
    with pytest.raises(ValueError, match="on_error"):
        make("ignore")
    with pytest.raises(IndexError):
        make("skip")[COUNT]
    return [first(sample) for sample in read]


def test_record_datasets(records):
    path, _, offset = records
    place = rf"a\.rec, record 2.*byte {offset}"
    make = lambda mood: vision.ImageRecordDataset(path, on_error=mood)
    assert check_dataset(make, place, lambda sample: int(sample[1])) == [0, 1, 3, 3, 4, 5]


def test_raw_records(tmp_path):
    path, _, offset = written(tmp_path, "frame", float)
    make = lambda mood: mx.gluon.data.RecordFileDataset(path, on_error=mood)
    label = lambda record: int(recordio.unpack(record)[0].label)
    assert check_dataset(make, rf"a\.rec, record 2.*byte {offset}", label) == [0, 1, 3, 3, 4, 5]


def test_folders_and_lists(folder):
    make = lambda mood: vision.ImageListDataset(str(folder), "a.lst", on_error=mood)
    assert check_dataset(make, r"2\.png", lambda sample: int(sample[1])) == [0, 1, 3, 3, 4, 5]
    (folder / "a.lst").unlink()
    make = lambda mood: vision.ImageFolderDataset(str(folder), on_error=mood)
    assert check_dataset(make, r"2\.png", lambda sample: sample[1]) == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("workers", [{}, {"num_workers": 1}, {"num_workers": 1, "thread_pool": True}])
def test_the_loader(tmp_path, workers):
    path, _, offset = written(tmp_path, "image", float)

    def labels(mood):
        loader = mx.gluon.data.DataLoader(vision.ImageRecordDataset(path), 3, on_error=mood, **workers)
        return [int(label) for _, batch in loader for label in batch.asnumpy()]

    with pytest.raises(mx.MXNetError, match=rf"a\.rec, record 2 at byte {offset}"):
        labels("raise")
    with pytest.warns(UserWarning, match=f"sample 2 left out: .*byte {offset}"):
        assert labels("warn") == [0, 1, 3, 4, 5]
    assert labels("skip") == [0, 1, 3, 4, 5]


@pytest.mark.parametrize("bad", ["2,x", "2", "2,2,2", "\udcff"])
def test_rows_of_numbers(tmp_path, bad):
    rows = [f"{i},{i}" for i in range(COUNT)]
    (tmp_path / "label.csv").write_text("\n".join(str(i) for i in range(COUNT)))
    (tmp_path / "data.csv").write_text("\n".join([*rows[:BAD], bad, *rows[BAD + 1 :]]), errors="surrogateescape")
    make = lambda mood: mx.io.CSVIter(
        data_csv=str(tmp_path / "data.csv"), label_csv=str(tmp_path / "label.csv"), data_shape=(2,), batch_size=5,
        round_batch=False, on_error=mood)  # fmt: skip
    check(make, r"data\.csv")
    with pytest.warns(UserWarning, match=r"data\.csv, line 3"):
        make("warn")


@pytest.mark.parametrize("bad", ["2 0:x", "2 99:1", "x 0:1", "2 0"])
def test_sparse_rows(tmp_path, bad):
    rows = [f"{i} 0:{i}" for i in range(COUNT)]
    (tmp_path / "a.libsvm").write_text("\n".join([*rows[:BAD], bad, *rows[BAD + 1 :]]))
    make = lambda mood: mx.io.LibSVMIter(data_libsvm=str(tmp_path / "a.libsvm"), data_shape=(3,), batch_size=5,
                                         on_error=mood)  # fmt: skip
    check(make, r"a\.libsvm, line 3")
