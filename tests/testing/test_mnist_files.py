"""`get_mnist` and its kin use the files that are in the working folder, and return MXNet's dtypes."""

import gzip
import struct
import zipfile

import numpy as np
import pytest

from mxnet import test_utils as tu

IMAGES = np.arange(20 * 784, dtype=np.uint32).astype(np.uint8).reshape(20, 28, 28)
LABELS = np.arange(20, dtype=np.uint8) % 10
CONTENTS = {
    f"{part}-{name}": content
    for part in ("train", "t10k")
    for name, content in (
        ("images-idx3-ubyte", struct.pack(">IIII", 2051, 20, 28, 28) + IMAGES.tobytes()),
        ("labels-idx1-ubyte", struct.pack(">II", 2049, 20) + LABELS.tobytes()),
    )
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty working folder, and an empty cache that nothing can be fetched into."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("MXNET_GLUON_REPO", "http://127.0.0.1:9/")
    return tmp_path


def check_iterator():
    train, val = tu.get_mnist_iterator(batch_size=10, input_shape=(1, 28, 28))
    assert val.provide_data[0].shape == (10, 1, 28, 28)
    for iterator in (train, val):  # both are shuffled
        found = {
            (image.tobytes(), label)
            for b in iterator
            for image, label in zip(b.data[0].asnumpy(), b.label[0].asnumpy(), strict=True)
        }
        assert found == {
            ((image / np.float32(256)).tobytes(), label) for image, label in zip(IMAGES, LABELS, strict=True)
        }


def test_packed_files_of_the_working_folder():
    for name, content in CONTENTS.items():
        with gzip.open(f"{name}.gz", "wb") as file:
            file.write(content)
    parts = tu.get_mnist()
    assert sorted(parts) == ["test_data", "test_label", "train_data", "train_label"]
    assert (parts["train_data"].dtype, parts["train_label"].dtype) == (np.float32, np.int8)
    np.testing.assert_array_equal(parts["test_data"], np.float32(IMAGES[:, None]) / 255)
    np.testing.assert_array_equal(parts["test_label"], LABELS)
    check_iterator()


def test_raw_files_in_data(folder):
    (folder / "data").mkdir()
    for name, content in CONTENTS.items():
        (folder / "data" / name).write_bytes(content)
    check_iterator()


def test_an_archive_in_data(folder):
    (folder / "data").mkdir()
    with zipfile.ZipFile(folder / "data" / "mnist.zip", "w") as archive:
        for name, content in CONTENTS.items():
            archive.writestr(name, content)
    check_iterator()


def test_cifar_records_are_unpacked_from_an_archive_that_is_there(folder):
    (folder / "data").mkdir()
    with zipfile.ZipFile(folder / "data" / "cifar10.zip", "w") as archive:
        for name in ("train.rec", "train.lst", "test.rec", "test.lst"):
            archive.writestr(f"cifar/{name}", name)
    tu.get_cifar10()
    assert (folder / "data/cifar/test.rec").read_text() == "test.rec"
