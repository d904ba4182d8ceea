"""Input pipelines as tutorials of MXNet's time write them, run on small files."""

import os
import shutil

import numpy as np
import pytest

import mxnet as mx
import mxnet.gluon.data as data
from mxnet import gluon, image, nd

PICTURE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "data_layer", "picture.png")


@pytest.fixture
def cifar(tmp_path, monkeypatch):
    rows = np.random.RandomState(0).randint(0, 256, (12, 3073)).astype(np.uint8)
    for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
        rows.tofile(tmp_path / name)
    monkeypatch.setattr(gluon.data.vision.datasets, "check_sha1", lambda path, sha1: True)
    return str(tmp_path)


def apply_aug_list(img, augs):
    for f in augs:
        img = f(img)
    return img


def get_transform(augs):
    def transform(data, label):
        # data: sample x height x width x channel
        data = data.astype("float32")
        if augs is not None:
            data = nd.stack(*[apply_aug_list(d, augs) for d in data])
        data = nd.transpose(data, (0, 3, 1, 2))
        return data, label.astype("float32")

    return transform


def test_transform_of_a_slice_sees_the_whole_batch(cifar):
    augs = [image.HorizontalFlipAug(0.5), image.RandomCropAug((28, 28))]
    train = gluon.data.vision.CIFAR10(root=cifar, train=True, transform=get_transform(augs))
    assert len(train) == 60
    batch, label = train[0:9]
    assert batch.shape == (9, 3, 28, 28) and label.shape == (9,) and label.dtype == np.float32


def test_folder_with_a_closure_as_transform(tmp_path):
    for name in ("hotdog/1.png", "hotdog/2.png", "other/1.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(PICTURE, tmp_path / name)

    def transform(data, label, augs):
        data = data.astype("float32")
        for aug in augs:
            data = aug(data)
        data = nd.transpose(data, (2, 0, 1))
        return data, nd.array([label]).asscalar().astype("float32")

    augs = [image.HorizontalFlipAug(0.5), image.RandomCropAug((16, 16))]
    images = gluon.data.vision.ImageFolderDataset(str(tmp_path), transform=lambda X, y: transform(X, y, augs))
    for workers in (0, 2):  # a closure goes to forked workers
        batches = list(gluon.data.DataLoader(images, 2, shuffle=True, num_workers=workers))
        assert [d.shape for d, _ in batches] == [(2, 3, 16, 16), (1, 3, 16, 16)]
        assert sorted(np.concatenate([y.asnumpy() for _, y in batches])) == [0, 0, 1]


def test_own_dataset_over_an_array_dataset():
    num_examples = 100
    X = nd.random_normal(shape=(num_examples, 2))
    y = 2 * X[:, 0] - 3.4 * X[:, 1] + 4.2
    XY = data.ArrayDataset(X, y)

    class MyFileDataset(data.Dataset):
        def __getitem__(self, item):
            return XY[item]

        def __len__(self):
            return num_examples

    for _, (features, label) in enumerate(gluon.data.DataLoader(MyFileDataset(), batch_size=10, shuffle=True)):
        expected = 2 * features[:, 0] - 3.4 * features[:, 1] + 4.2
        np.testing.assert_allclose(label.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-4)


def test_augmenters_on_float_images():
    img = image.imread(PICTURE)
    for aug in (
        image.HorizontalFlipAug(0.5),
        image.RandomCropAug([10, 10]),
        image.BrightnessJitterAug(0.5),
        image.RandomSizedCropAug((10, 10), 0.1, (0.5, 2)),
        image.HueJitterAug(0.5),
    ):
        shown = nd.stack(*[aug(img.astype("float32")) for _ in range(4)]).clip(0, 255) / 255
        assert shown.shape[0] == 4 and shown.max().asscalar() <= 1


def test_iterator_or_loader_is_told_apart():
    iterator = mx.io.ImageRecordIter(
        path_imgrec=os.path.join(os.path.dirname(PICTURE), "images.rec"), data_shape=(3, 12, 12), batch_size=3
    )
    assert isinstance(iterator, mx.io.MXDataIter)
    assert not isinstance(gluon.data.DataLoader([1, 2], 1), mx.io.MXDataIter)
