"""Iterators beyond recorded batches: faults, wrappers, prefetching, forks."""

import gzip
import os
import shutil
import struct
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "data_layer")


def records(path=None, **parameters):
    return mx.io.ImageRecordIter(
        path_imgrec=str(path or os.path.join(FOLDER, "images.rec")),
        **{"data_shape": (3, 12, 12), "batch_size": 3, **parameters},
    )


@pytest.fixture
def damaged(tmp_path):
    """A record file whose image 2 of 5 is cut off."""
    reader = mx.recordio.MXRecordIO(os.path.join(FOLDER, "images.rec"), "r")
    writer = mx.recordio.MXRecordIO(str(tmp_path / "damaged.rec"), "w")
    for number in range(5):
        header, content = mx.recordio.unpack(reader.read())
        writer.write(mx.recordio.pack(header, content[:20] if number == 2 else content))
    writer.close()
    return tmp_path / "damaged.rec"


def labels(iterator):
    return [(batch.label[0].asnumpy()[: len(batch.label[0]) - batch.pad].astype(int).tolist()) for batch in iterator]


def test_it_is_an_mxdataiter_with_descriptions():
    iterator = records(data_name="image", label_name="kind")
    assert isinstance(iterator, mx.io.MXDataIter) and isinstance(iterator, mx.io.DataIter)
    assert repr(iterator.provide_data[0]) == "DataDesc[image,(3, 3, 12, 12),<class 'numpy.float32'>,NCHW]"
    assert iterator.provide_label[0].name == "kind" and iterator.batch_size == 3
    assert iterator.iter_next() and iterator.getdata().shape == (3, 3, 12, 12) and iterator.getpad() == 0


def test_many_threads_give_the_same_batches_as_one():
    settings = {"rand_crop": True, "rand_mirror": True, "seed_aug": 3, "batch_size": 7}
    one, many = records(preprocess_threads=1, **settings).next(), records(preprocess_threads=4, **settings).next()
    np.testing.assert_array_equal(one.data[0].asnumpy(), many.data[0].asnumpy())
    runs = [records(preprocess_threads=4, rand_crop=True, batch_size=7).next().data[0].asnumpy() for _ in range(2)]
    np.testing.assert_array_equal(*runs)


def test_reset_in_the_middle_begins_again():
    iterator = records()
    iterator.next()
    iterator.next()
    iterator.reset()
    assert labels(iterator) == [[0, 1, 2], [3, 4, 5], [6]]


def test_damaged_record_names_file_record_and_byte(damaged):
    iterator = records(damaged, batch_size=2)
    iterator.next()
    with pytest.raises(mx.MXNetError, match=r"damaged\.rec, record 2 at byte \d+"):
        iterator.next()


def test_damaged_record_can_be_left_out(damaged):
    assert labels(records(damaged, on_error="skip", batch_size=5)) == [[0, 1, 3, 4]]
    with pytest.warns(UserWarning, match="left out: .*record 2"):
        assert labels(records(damaged, on_error="warn", batch_size=5)) == [[0, 1, 3, 4]]
    shuffled = records(damaged, on_error="skip", batch_size=5, shuffle=True, preprocess_threads=1)
    assert sorted(labels(shuffled)[0]) == [0, 1, 3, 4]


def test_truncated_jpeg_is_named(tmp_path):
    import cv2

    picture = cv2.imread(os.path.join(FOLDER, "picture.png"))
    whole = mx.recordio.pack_img(mx.recordio.IRHeader(0, 1.0, 0, 0), picture, quality=90, img_fmt=".jpg")
    writer = mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    for number, record in enumerate((whole, whole[:-100])):
        writer.write_idx(number, record)
    writer.close()
    with pytest.raises(mx.MXNetError, match=r"a\.rec, record 1"):
        records(tmp_path / "a.rec", batch_size=2)
    with pytest.raises(mx.MXNetError, match=r"a\.rec, record 1"):
        mx.gluon.data.vision.ImageRecordDataset(str(tmp_path / "a.rec"))[1]
    assert labels(records(tmp_path / "a.rec", batch_size=2, on_error="skip")) == [[1]]


def test_truncated_file(tmp_path):
    with open(os.path.join(FOLDER, "images.rec"), "rb") as file:
        (tmp_path / "cut.rec").write_bytes(file.read()[:-30])
    with pytest.raises(mx.MXNetError, match=r"cut\.rec"):
        labels(records(tmp_path / "cut.rec"))


def test_wrong_parameters_say_which():
    for parameters, words in [
        ({"path": "missing.rec"}, "missing.rec"),
        ({"data_shape": (5, 12, 12)}, "shape"),
        ({"batch_size": "many"}, "batch_size"),
        ({"dtype": "int32"}, "dtype"),
        ({"path_imgidx": "missing.idx"}, "missing.idx"),
        ({"label_width": 2}, "label_width"),
        ({"part_index": 3, "num_parts": 2}, "part_index"),
        ({"on_error": "ignore"}, "on_error"),
    ]:
        with pytest.raises(mx.MXNetError, match=words):
            records(**parameters)
    with pytest.raises(mx.MXNetError, match="data_shape"):
        mx.io.ImageRecordIter(batch_size=2)
    with pytest.raises(TypeError, match="keyword"):
        mx.io.CSVIter("data.csv")


def test_an_empty_part_says_so():
    with pytest.raises(mx.MXNetError, match=r"Part 30 of 40 of .*images\.rec holds nothing"):
        records(part_index=30, num_parts=40)


def test_decompression_bomb_is_refused(monkeypatch):
    monkeypatch.setenv("MXNET_MAX_IMAGE_PIXELS", "100")
    with pytest.raises(mx.MXNetError, match="record 0.*MXNET_MAX_IMAGE_PIXELS"):
        records()
    with pytest.raises(mx.MXNetError, match="picture.png.*MXNET_MAX_IMAGE_PIXELS"):
        mx.image.imread(os.path.join(FOLDER, "picture.png"))


def test_mean_image_is_made_and_used(tmp_path):
    mean = tmp_path / "mean.bin"
    plain = records(batch_size=7).next().data[0].asnumpy()
    first = records(batch_size=7, mean_img=str(mean)).next().data[0].asnumpy()
    np.testing.assert_allclose(mx.nd.load(str(mean))["mean_img"].asnumpy(), plain.mean(0), atol=1e-3)
    np.testing.assert_allclose(first, plain - plain.mean(0), atol=1e-3)
    np.testing.assert_array_equal(records(batch_size=7, mean_img=str(mean)).next().data[0].asnumpy(), first)


def test_iterator_works_in_a_forked_child():
    iterator = records()
    iterator.next()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        iterator.reset()
        os.write(writer, bytes(str(labels(iterator)), "ascii"))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1000) == b"[[0, 1, 2], [3, 4, 5], [6]]"


def test_image_iter_over_a_list_of_files(tmp_path):
    for name in "ab":
        shutil.copy(os.path.join(FOLDER, "picture.png"), tmp_path / f"{name}.png")
    (tmp_path / "bad.png").write_bytes(b"bad")
    listed = [[1, "a.png"], [2, "bad.png"], [3, "b.png"]]
    iterator = mx.image.ImageIter(1, (3, 12, 12), imglist=listed, path_root=str(tmp_path))
    iterator.next()
    with pytest.raises(RuntimeError, match=r"Broken image filename: bad\.png"):
        iterator.next()
    skipping = mx.image.ImageIter(1, (3, 12, 12), imglist=listed, path_root=str(tmp_path), on_error="skip")
    assert [int(batch.label[0].asscalar()) for batch in skipping] == [1, 3]


def test_wrong_detection_label_is_reported(tmp_path):
    writer = mx.recordio.MXRecordIO(str(tmp_path / "boxes.rec"), "w")
    with open(os.path.join(FOLDER, "picture.png"), "rb") as file:
        writer.write(mx.recordio.pack(mx.recordio.IRHeader(0, [2, 5, 0, 0.1, 0.1, 0.5, 0.5, 9], 0, 0), file.read()))
    writer.close()
    with pytest.raises(mx.MXNetError, match=r"boxes\.rec, record 0.*object width 5"):
        mx.io.ImageDetRecordIter(path_imgrec=str(tmp_path / "boxes.rec"), data_shape=(3, 8, 8), batch_size=1)


def test_an_epoch_of_which_nothing_is_read_draws_its_random_numbers(tmp_path):
    """As in MXNet, whose threads have read ahead when `reset` is called a second time."""
    with open(os.path.join(FOLDER, "picture.png"), "rb") as file:
        picture = file.read()
    writer = mx.recordio.MXRecordIO(str(tmp_path / "boxes.rec"), "w")
    for number in range(8):
        writer.write(mx.recordio.pack(mx.recordio.IRHeader(0, [2, 5, number, 0.1, 0.1, 0.5, 0.5], number, 0), picture))
    writer.close()

    def labels(calls, **options):
        boxes = mx.io.ImageDetRecordIter(
            path_imgrec=str(tmp_path / "boxes.rec"), data_shape=(3, 8, 8), batch_size=2, preprocess_threads=1, **options
        )
        for call in calls:
            call(boxes)
        return np.concatenate([batch.label[0].asnumpy() for batch in boxes])

    read, reset = list, lambda boxes: boxes.reset()
    for options in ({"shuffle": True}, {"rand_mirror_prob": 0.5}, {"shuffle": True, "rand_mirror_prob": 0.5}):
        twice = labels([reset, read, reset], **options)
        np.testing.assert_array_equal(labels([reset, reset], **options), twice)
        np.testing.assert_array_equal(labels([next, reset, reset], **options), twice)
        np.testing.assert_array_equal(labels([read, reset, reset], **options), twice)
        assert (labels([reset], **options) != twice).any()


def test_lines_of_plain_numbers_and_others_give_the_same_rows(tmp_path):
    """Blocks of plain lines are parsed at once, others line by line."""
    lines = ["1 0:1.5 2:-3e-1\n", "0\n", "-1.5\t1:.25 \n", "2 0:1 1:2 2:3\n"]
    (tmp_path / "plain").write_text("".join(lines))
    (tmp_path / "other").write_text("\n" + "".join(lines))  # an empty line is no row
    want = np.array([[1.5, 0, -0.3], [0, 0, 0], [0, 0.25, 0], [1, 2, 3]], np.float32)
    for name in ("plain", "other"):
        batch = mx.io.LibSVMIter(data_libsvm=str(tmp_path / name), data_shape=(3,), batch_size=4).next()
        np.testing.assert_array_equal(batch.data[0].asnumpy(), want)
        np.testing.assert_array_equal(batch.label[0].asnumpy(), np.float32([1, 0, -1.5, 2]))


def test_bad_text_files_name_the_line(tmp_path):
    (tmp_path / "rows").write_text("1 0:1\n2 7:1\n")
    with pytest.raises(mx.MXNetError, match="rows, line 2"):
        mx.io.LibSVMIter(data_libsvm=str(tmp_path / "rows"), data_shape=(3,), batch_size=1)
    (tmp_path / "table.csv").write_text("1,2\n3,x\n")
    with pytest.raises(mx.MXNetError, match=r"table\.csv"):
        mx.io.CSVIter(data_csv=str(tmp_path / "table.csv"), data_shape=(2,), batch_size=1)
    (tmp_path / "digits").write_bytes(b"\0\0\x08\x03" + b"\xff" * 12)
    with pytest.raises(mx.MXNetError, match="digits"):
        mx.io.MNISTIter(image=str(tmp_path / "digits"), label=str(tmp_path / "digits"))


def test_resize_iter_goes_around():
    inner = mx.io.NDArrayIter(np.arange(6), batch_size=2)
    sizes = mx.io.ResizeIter(inner, 5)
    assert [batch.data[0].asnumpy()[0] for batch in sizes] == [0, 2, 4, 0, 2]
    sizes.reset()
    assert len(list(sizes)) == 5


def test_prefetching_iter_joins_and_renames():
    def source(start):
        return mx.io.NDArrayIter({"data": np.arange(4) + start}, np.arange(4), batch_size=2)

    joined = mx.io.PrefetchingIter(
        [source(0), source(10)],
        rename_data=[{"data": "a"}, {"data": "b"}],
        rename_label=[{"softmax_label": "x"}, {"softmax_label": "y"}],
    )
    assert [d.name for d in joined.provide_data + joined.provide_label] == ["a", "b", "x", "y"]
    for _ in range(2):
        values = [[array.asnumpy().tolist() for array in batch.data] for batch in joined]
        assert values == [[[0, 1], [10, 11]], [[2, 3], [12, 13]]]
        joined.reset()


def test_prefetching_iter_passes_errors_on(damaged):
    iterator = mx.io.PrefetchingIter(records(damaged, batch_size=2))
    with pytest.raises(mx.MXNetError, match="record 2"):
        list(iterator)


def test_inputs_that_are_no_arrays():
    with pytest.raises(TypeError, match="Invalid type|Input must be"):
        mx.io.NDArrayIter({"data": object()})
    with pytest.raises(TypeError, match="Input must be"):
        mx.io.NDArrayIter("data")


def test_loader_as_iterator():
    from mxnet.contrib.io import DataLoaderIter

    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(np.arange(10).reshape(5, 2), np.arange(5)), 2)
    iterator = DataLoaderIter(loader)
    assert iterator.provide_data[0].shape == (2, 2)
    assert [batch.pad for batch in iterator] == [0, 0, 1]
    iterator.reset()
    assert iterator.next().data[0].dtype == np.float32


def test_sparse_rows():
    rows = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 3], [4, 0, 5]], np.float32)
    sparse = mx.nd.array(rows).tostype("csr")
    with pytest.raises(NotImplementedError, match="CSRNDArray"):
        mx.io.NDArrayIter(sparse, batch_size=2)
    np.random.seed(0)
    iterator = mx.io.NDArrayIter(sparse, np.arange(4), 2, shuffle=True, last_batch_handle="discard")
    for batch in iterator:
        assert batch.data[0].stype == "csr"
        np.testing.assert_array_equal(batch.data[0].asnumpy(), rows[batch.label[0].asnumpy().astype(int)])
    lines = mx.io.LibSVMIter(data_libsvm=os.path.join(FOLDER, "rows.libsvm"), data_shape=(3,), batch_size=2)
    assert lines.next().data[0].stype == "csr"


def test_a_program_may_end_while_batches_are_read_ahead():
    code = (
        "import mxnet as mx, numpy as np;"
        "rows = mx.io.NDArrayIter(np.zeros((400000, 8), 'float32'), np.zeros(400000), 100000, shuffle=True);"
        "ahead = mx.io.PrefetchingIter(rows); ahead.next()"
    )
    for _ in range(2):  # in a thread that Python ends by force, torch aborts the process more often than not
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_tables_are_not_unpacked_because_of_their_names(tmp_path, suffix):
    """The bytes of a file are its text, as in MXNet; packed ones could have any size."""
    plain, packed = tmp_path / f"plain.csv{suffix}", tmp_path / f"packed.csv{suffix}"
    plain.write_text("1,2,3\n")
    packed.write_bytes(gzip.compress(b"0,0,0\n" * 100_000))
    (batch,) = mx.io.CSVIter(data_csv=str(plain), data_shape=(3,), batch_size=1)
    assert batch.data[0].asnumpy().tolist() == [[1, 2, 3]]
    with pytest.raises(mx.MXNetError, match=f"packed.csv{suffix}: could not convert string"):
        mx.io.CSVIter(data_csv=str(packed), data_shape=(3,), batch_size=1)


def test_digits_without_any(tmp_path):
    for name, sizes in (("images", (0, 4, 4)), ("labels", (0,))):
        (tmp_path / name).write_bytes(struct.pack(f">BBBB{len(sizes)}I", 0, 0, 8, len(sizes), *sizes))
    paths = {"image": str(tmp_path / "images"), "label": str(tmp_path / "labels")}
    with pytest.raises(mx.MXNetError, match="holds nothing to read"):
        mx.io.MNISTIter(**paths, batch_size=1, shuffle=True, silent=True)
