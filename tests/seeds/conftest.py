"""Small data in place of the downloads, for the code of the seeds."""

import numpy as np
import pytest

import mxnet as mx


@pytest.fixture(autouse=True)
def seeded():
    mx.random.seed(42)
    np.random.seed(42)


@pytest.fixture
def small_mnist(monkeypatch):
    """`gluon.data.vision.FashionMNIST` with a few images: the class is told by where the bright square is."""
    from mxnet import gluon, nd

    class FashionMNIST(gluon.data.Dataset):
        def __init__(self, root=None, train=True, transform=None):
            rng = np.random.RandomState(0 if train else 1)
            number = 192 if train else 64
            self._label = rng.randint(0, 10, number).astype("int32")
            images = rng.randint(0, 60, (number, 28, 28, 1))
            for image, label in zip(images, self._label, strict=True):
                row, column = divmod(label, 4)
                image[row * 7 : row * 7 + 7, column * 7 : column * 7 + 7] += 190
            self._data = nd.array(images.astype("uint8"), dtype="uint8")
            self._transform = transform

        def __getitem__(self, index):
            if self._transform is None:
                return self._data[index], self._label[index]
            return self._transform(self._data[index], self._label[index])

        def __len__(self):
            return len(self._label)

    monkeypatch.setattr(gluon.data.vision, "FashionMNIST", FashionMNIST)
