"""Code that the examples share: command-line options, batches of digits, the accuracy of a network."""

import argparse

import numpy as np

import mxnet as mx
from mxnet import gluon, nd
from mxnet.tools.digits import digits


def options(text, arguments=None, **numbers):
    """Parse `--quick`, `--data` and the numeric options of an example, each given as name=(default, quick)."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--quick", action="store_true", help="a small setting that shows only that it runs")
    parser.add_argument("--data", help="folder of MNIST's four .gz files; the bundled digits if left out")
    for name, (usual, quick) in numbers.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(usual), help=f"{usual}, or {quick} with --quick")
    parsed = parser.parse_args(arguments)
    for name, (usual, quick) in numbers.items():
        if getattr(parsed, name) is None:
            setattr(parsed, name, quick if parsed.quick else usual)
    mx.random.seed(42)
    np.random.seed(42)  # shuffling samplers draw from NumPy
    return parsed


def arrays(chosen, size=28):
    """Return (train images, train labels, test images, test labels); images are in [0, 1], shape (n, 1, size, size)."""
    if chosen.data:
        parts = [gluon.data.vision.MNIST(chosen.data, train)[:] for train in (True, False)]
        images, labels, test_images, test_labels = (part for pair in parts for part in pair)
    else:
        images, labels, test_images, test_labels = digits()
    if chosen.quick:
        images, labels, test_images, test_labels = images[:192], labels[:192], test_images[:64], test_labels[:64]
    return _pictures(images, size), nd.array(labels), _pictures(test_images, size), nd.array(test_labels)


def _pictures(images, size):
    pictures = nd.array(images, dtype="float32").reshape((-1, 1, 28, 28)) / 255
    return pictures if size == 28 else nd.contrib.BilinearResize2D(pictures, height=size, width=size)


def batches(chosen, batch_size=64, size=28):
    """Return the loaders of (training, test) batches."""
    x, y, test_x, test_y = arrays(chosen, size)
    train = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), batch_size, shuffle=True)
    return train, gluon.data.DataLoader(gluon.data.ArrayDataset(test_x, test_y), batch_size)


def accuracy(net, loader):
    """Return the fraction of a loader's samples that the network classifies correctly."""
    metric = mx.metric.Accuracy()
    for x, y in loader:
        metric.update(y, net(x))
    return metric.get()[1]
