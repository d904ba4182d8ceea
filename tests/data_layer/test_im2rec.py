"""im2rec: lists and records like MXNet's tool makes them."""

import os
import shutil

import numpy as np
import pytest

import mxnet as mx
from mxnet.tools import im2rec

PICTURE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "data_layer", "picture.png")


@pytest.fixture
def root(tmp_path):
    for name in ("cat/a.png", "cat/b.png", "cat/deep/c.png", "dog/d.png", "dog/e.PNG"):
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PICTURE, path)
    (tmp_path / "images" / "dog" / "notes.txt").write_text("woof")
    return tmp_path


def run(root, *options):
    return im2rec.main([str(root / "all"), str(root / "images"), "--quiet", *options])


def lines(path):
    return path.read_text().splitlines()


def records(stem):
    reader = mx.recordio.MXIndexedRecordIO(f"{stem}.idx", f"{stem}.rec", "r")
    return {key: mx.recordio.unpack_img(reader.read_idx(key)) for key in reader.keys}


def test_recursive_list_labels_folders(root):
    assert run(root, "--list", "--recursive", "--no-shuffle") == 0
    assert lines(root / "all.lst") == [
        "0\t0.000000\tcat/a.png",
        "1\t0.000000\tcat/b.png",
        "2\t1.000000\tcat/deep/c.png",
        "3\t2.000000\tdog/d.png",
        "4\t2.000000\tdog/e.PNG",
    ]


def test_shuffled_list_is_mxnets(root):
    run(root, "--list", "--recursive")
    assert [line.split("\t")[0] for line in lines(root / "all.lst")] == ["2", "0", "4", "3", "1"]


def test_ratios_and_chunks(root):
    run(root, "--list", "--recursive", "--no-shuffle", "--train-ratio", "0.4", "--test-ratio", "0.2")
    assert [len(lines(root / f"all_{part}.lst")) for part in ("test", "train", "val")] == [1, 2, 2]
    run(root, "--list", "--recursive", "--no-shuffle", "--chunks", "2")
    assert [len(lines(root / f"all_{chunk}.lst")) for chunk in (0, 1)] == [3, 2]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_records(root, threads):
    run(root, "--list", "--recursive")
    assert run(root, "--encoding", ".png", "--quality", "3", "--resize", "12", "--num-thread", threads) == 0
    packed = records(root / "all")
    assert list(packed) == [2, 0, 4, 3, 1]
    assert {key: header.label for key, (header, _) in packed.items()} == {0: 0, 1: 0, 2: 1, 3: 2, 4: 2}
    assert packed[0][1].shape == (12, 14, 3)


def test_pass_through_keeps_the_bytes_and_labels_are_packed(root):
    (root / "all.lst").write_text("5\t1.5\t2.5\tcat/a.png\n")
    run(root, "--pass-through", "--pack-label")
    reader = mx.recordio.MXRecordIO(str(root / "all.rec"), "r")
    header, content = mx.recordio.unpack(reader.read())
    assert header.id == 5 and header.label.tolist() == [1.5, 2.5]
    with open(PICTURE, "rb") as file:
        assert content == file.read()


def test_center_crop_and_gray(root):
    (root / "all.lst").write_text("0\t1\tcat/a.png\n")
    run(root, "--center-crop", "--color", "0", "--encoding", ".png")
    assert mx.recordio.unpack_img(mx.recordio.MXRecordIO(str(root / "all.rec"), "r").read())[1].shape == (18, 18)


def test_damaged_images_are_skipped_and_counted(root, capsys):
    (root / "images" / "cat" / "b.png").write_bytes(b"not an image")
    (root / "all.lst").write_text("0\t1\tcat/a.png\n1\t1\tcat/b.png\n2\t1\tcat/gone.png\nnonsense\n3\t1\tdog/d.png\n")
    assert run(root) == 0
    out, err = capsys.readouterr()
    assert "2 images written, 2 skipped" in out and "line 4" in out
    assert "cat/b.png (number 1)" in err and "cat/gone.png (number 2)" in err
    assert list(records(root / "all")) == [0, 3]


def test_decompression_bomb_is_skipped(root, capsys, monkeypatch):
    monkeypatch.setenv("MXNET_MAX_IMAGE_PIXELS", "100")
    (root / "all.lst").write_text("0\t1\tcat/a.png\n")
    run(root)
    assert "0 images written, 1 skipped" in capsys.readouterr().out


def test_no_list(root, capsys):
    assert run(root) == 1
    assert "Did not find" in capsys.readouterr().err


def test_iterator_reads_what_it_writes(root):
    run(root, "--list", "--recursive")
    run(root, "--encoding", ".png", "--quality", "3")
    iterator = mx.io.ImageRecordIter(path_imgrec=str(root / "all.rec"), data_shape=(3, 18, 22), batch_size=5)
    batch = iterator.next()
    assert batch.label[0].asnumpy().tolist() == [1, 0, 2, 2, 0]
    np.testing.assert_array_equal(batch.data[0][0].transpose((1, 2, 0)).asnumpy(), mx.image.imread(PICTURE).asnumpy())


def test_lines_that_no_record_can_have_are_passed_over(root, capsys):
    name = "cat/a.png\n"
    (root / "all.lst").write_bytes(
        f"0\t1\t{name}-1\t1\t{name}{1 << 64}\t1\t{name}3\t1e308\t{name}".encode()
        + b"4\t1\t\xab.png\n5\t2\t"
        + name.encode()
    )
    run(root)
    said = capsys.readouterr()
    assert "line 2: " in said.out and "line 3: " in said.out and "does not fit in 64 bits" in said.out
    assert "(number 3)" in said.err and "(number 4)" in said.err
    assert mx.recordio.MXIndexedRecordIO(str(root / "all.idx"), str(root / "all.rec"), "r").keys == [0, 5]


def test_a_list_is_whole_or_the_old_one(tmp_path):
    path = str(tmp_path / "all.lst")
    im2rec.write_list(path, [(0, "a.png", 1)])

    def broken():
        yield 0, "b.png", 2
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        im2rec.write_list(path, broken())
    assert lines(tmp_path / "all.lst") == ["0\t1.000000\ta.png"] and os.listdir(tmp_path) == ["all.lst"]
