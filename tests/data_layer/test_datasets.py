"""Datasets and samplers as programs use them."""

import gzip
import hashlib
import os
import struct

import numpy as np
import pytest
import requests

import mxnet as mx
from mxnet import gluon
from mxnet.gluon.data import vision
from mxnet.gluon.data.vision import _files

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "data_layer")


def numbers(count=10):
    return gluon.data.SimpleDataset(list(range(count)))


def test_derived_datasets():
    data = numbers()
    assert list(data.filter(lambda x: x % 3 == 0)) == [0, 3, 6, 9]
    assert [list(data.shard(3, i)) for i in range(3)] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert list(data.take(3)) == [0, 1, 2]
    assert len(data.take(None)) == 10
    assert list(data.sample(gluon.data.SequentialSampler(2, start=4))) == [4, 5]
    assert list(data.transform(lambda x: -x).take(2)) == [0, -1]
    with pytest.raises(TypeError, match="Invalid sampler type"):
        data.sample([1, 2])
    with pytest.raises(AssertionError, match="Shard index"):
        data.shard(2, 2)


def test_transform_of_pairs_takes_two_arguments():
    pairs = gluon.data.ArrayDataset(np.arange(3), mx.nd.array([5, 6, 7]))
    assert pairs.transform(lambda x, y: x + y)[1] == 7
    assert pairs.transform_first(lambda x: x * 10)[2] == (20, 7)
    calls = []
    eager = pairs.transform(lambda x, y: calls.append(x) or x, lazy=False)
    assert len(calls) == 3 and list(eager) == [0, 1, 2]


def test_arrays_must_have_one_length():
    with pytest.raises(AssertionError, match="same length"):
        gluon.data.ArrayDataset([1, 2], [1])


def test_batch_sampler_modes():
    def batches(mode, epochs=1):
        sampler = gluon.data.BatchSampler(gluon.data.SequentialSampler(5), 2, mode)
        return [list(sampler) for _ in range(epochs)], len(sampler)

    assert batches("keep") == ([[[0, 1], [2, 3], [4]]], 3)
    assert batches("discard") == ([[[0, 1], [2, 3]]], 2)
    assert batches("rollover", 2) == ([[[0, 1], [2, 3]], [[4, 0], [1, 2], [3, 4]]], 2)
    with pytest.raises(ValueError, match="last_batch must be one of"):
        batches("drop")


def write_mnist(folder, monkeypatch):
    """Small files of MNIST's names, with the hashes that the class expects changed to theirs."""
    images = np.arange(20 * 784, dtype=np.uint32).astype(np.uint8).reshape(20, 28, 28)
    contents = {
        "t10k-images-idx3-ubyte.gz": struct.pack(">IIII", 2051, 20, 28, 28) + images.tobytes(),
        "t10k-labels-idx1-ubyte.gz": struct.pack(">II", 2049, 20) + bytes(range(20)),
    }
    for name, content in contents.items():
        with gzip.open(folder / name, "wb") as file:
            file.write(content)
    monkeypatch.setattr(_files, "is_right", lambda path, namespace, name, sha1: True)
    return images


def test_mnist_slice_goes_through_the_transform_as_a_batch(tmp_path, monkeypatch):
    images = write_mnist(tmp_path, monkeypatch)

    def transform(data, label):
        return data.astype("float32") / 255, label.astype("float32")

    digits = vision.MNIST(root=str(tmp_path), train=False, transform=transform)
    data, label = digits[0:9]
    assert data.shape == (9, 28, 28, 1) and label.dtype == np.float32
    np.testing.assert_allclose(data.asnumpy()[..., 0], images[:9] / np.float32(255), rtol=1e-6)
    plain = vision.MNIST(root=str(tmp_path), train=False)
    image, label = plain[3]
    assert image.dtype == np.uint8 and image.shape == (28, 28, 1) and label == 3 and label.dtype == np.int32
    batch, labels = next(iter(gluon.data.DataLoader(plain, 4)))
    assert batch.dtype == np.uint8 and labels.dtype == np.int32


def test_mnist_holds_arrays_of_mx_np_where_it_is_active(tmp_path, monkeypatch):
    write_mnist(tmp_path, monkeypatch)
    with mx.util.np_shape(), mx.util.np_array():
        image, label = vision.MNIST(root=str(tmp_path), train=False)[3]
    assert type(image) is type(label) is mx.np.ndarray
    assert (image.shape, image.dtype, label.shape, label.dtype, label.item()) == ((28, 28, 1), "uint8", (), "int32", 3)


def test_missing_dataset_offline(tmp_path, monkeypatch):
    def no_network(*args, **kwargs):
        raise requests.ConnectionError("Network is unreachable")

    monkeypatch.setattr(requests, "get", no_network)
    with pytest.raises(mx.MXNetError) as caught:
        vision.FashionMNIST(root=str(tmp_path))
    for part in (
        "train-images-idx3-ubyte.gz",
        "0cf37b0d40ed5169c6b3aba31069a9770ac9043d",
        str(tmp_path),
        "cannot be reached",
    ):
        assert part in str(caught.value)


def test_cifar_reads_the_binary_files(tmp_path, monkeypatch):
    rows = np.random.RandomState(0).randint(0, 256, (6, 3074)).astype(np.uint8)
    for name in ("train.bin", "test.bin"):
        rows.tofile(tmp_path / name)
    monkeypatch.setattr(vision.datasets, "check_sha1", lambda path, sha1: True)
    for fine in (False, True):
        data = vision.CIFAR100(root=str(tmp_path), fine_label=fine, train=False)
        image, label = data[2]
        assert label == rows[2, int(fine)]
        np.testing.assert_array_equal(image.asnumpy(), rows[2, 2:].reshape(3, 32, 32).transpose(1, 2, 0))


def test_damaged_dataset_files(tmp_path, monkeypatch):
    write_mnist(tmp_path, monkeypatch)
    with gzip.open(tmp_path / "t10k-images-idx3-ubyte.gz", "wb") as file:
        file.write(struct.pack(">IIII", 2051, 1 << 30, 28, 28) + b"few")
    with pytest.raises(mx.MXNetError, match="t10k-images-idx3-ubyte.gz"):
        vision.MNIST(root=str(tmp_path), train=False)


def test_image_record_dataset():
    data = vision.ImageRecordDataset(os.path.join(FOLDER, "images.rec"))
    image, label = data[4]
    assert len(data) == 7 and label == 4 and image.shape == (24, 22, 3)
    gray, _ = vision.ImageRecordDataset(os.path.join(FOLDER, "images.rec"), flag=0)[4]
    assert gray.shape == (24, 22, 1)


def test_damaged_record_names_file_and_record(tmp_path):
    writer = mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    writer.write_idx(7, mx.recordio.pack(mx.recordio.IRHeader(0, 1.0, 7, 0), b"\xff\xd8\xff not a picture"))
    writer.close()
    with pytest.raises(mx.MXNetError, match=r"a\.rec, record 7"):
        vision.ImageRecordDataset(str(tmp_path / "a.rec"))[0]


def test_missing_index_is_named(tmp_path):
    (tmp_path / "a.rec").write_bytes(b"")
    with pytest.raises((mx.MXNetError, FileNotFoundError), match=r"a\.idx"):
        gluon.data.RecordFileDataset(str(tmp_path / "a.rec"))


@pytest.fixture
def folder(tmp_path):
    with open(os.path.join(FOLDER, "picture.png"), "rb") as file:
        content = file.read()
    for name in ("cat/1.png", "cat/2.png", "dog/1.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_image_folder(folder):
    (folder / "dog" / "notes.txt").write_text("woof")
    with pytest.warns(UserWarning, match="Ignoring .*notes.txt of type .txt"):
        data = vision.ImageFolderDataset(str(folder))
    assert data.synsets == ["cat", "dog"] and [label for _, label in data.items] == [0, 0, 1]
    assert data[2][0].shape == (18, 22, 3) and data[2][1] == 1
    assert data.transform_first(len)[0] == (18, 0)


def test_unreadable_image_in_a_folder_is_named(folder):
    (folder / "cat" / "2.png").write_bytes(b"broken")
    data = vision.ImageFolderDataset(str(folder))
    with pytest.raises(mx.MXNetError, match=r"2\.png"):
        data[1]
    kept = [label.shape[0] for _, label in gluon.data.DataLoader(data, 3, on_error="skip")]
    assert kept == [2]


def test_image_list(folder):
    (folder / "two.lst").write_text("0\t1\tcat/1.png\n1\t2\t3\tdog/1.png\n")
    data = vision.ImageListDataset(str(folder), "two.lst")
    assert data[0][1] == 1 and list(data[1][1]) == [2, 3] and len(data) == 2
    assert vision.ImageListDataset(str(folder), [[4, "cat/2.png"]])[0][1] == 4


def test_hash_check(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    assert gluon.utils.check_sha1(str(tmp_path / "x"), hashlib.sha1(b"abc").hexdigest())


def test_pad_and_group_batchify():
    pad = gluon.data.batchify.Pad(val=-1, ret_length=True)
    group = gluon.data.batchify.Group(pad, gluon.data.batchify.Stack())
    (data, lengths), labels = group([([1, 2, 3], 0), ([4], 1)])
    np.testing.assert_array_equal(data.asnumpy(), [[1, 2, 3], [4, -1, -1]])
    assert lengths.asnumpy().tolist() == [3, 1] and labels.asnumpy().tolist() == [0, 1]
    with mx.util.np_shape(), mx.util.np_array():
        (data, lengths), labels = group([([1, 2, 3], 0), ([4], 1)])
    assert type(data) is type(lengths) is type(labels) is mx.np.ndarray
