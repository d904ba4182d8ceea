"""Convolutional networks of the textbooks, from LeNet to DenseNet, with a width that suits 28x28 digits.

`--width` 1.0 gives the numbers of channels in the books; `--network` selects one network, by default all are trained.
"""

import argparse

import common

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn


def chain(*layers):
    net = nn.HybridSequential()
    net.add(*layers)
    return net


def conv(channels, kernel, stride=1, pad=0):
    return nn.Conv2D(channels, kernel, stride, pad, activation="relu")


def lenet(w):
    """The smallest network; its width is not changed."""
    return chain(
        nn.Conv2D(6, 5, padding=2, activation="tanh"), nn.AvgPool2D(2, 2),
        nn.Conv2D(16, 5, activation="tanh"), nn.AvgPool2D(2, 2),
        nn.Dense(120, activation="tanh"), nn.Dense(84, activation="tanh"), nn.Dense(10),
    )  # fmt: skip


def alexnet(w):
    return chain(
        conv(w(96), 5, 1, 2), nn.MaxPool2D(3, 2), conv(w(256), 5, 1, 2), nn.MaxPool2D(3, 2),
        conv(w(384), 3, 1, 1), conv(w(384), 3, 1, 1), conv(w(256), 3, 1, 1), nn.MaxPool2D(3, 2),
        nn.Dense(w(4096), activation="relu"), nn.Dropout(0.5),
        nn.Dense(w(4096), activation="relu"), nn.Dropout(0.5), nn.Dense(10),
    )  # fmt: skip


def vgg(w):
    net = nn.HybridSequential()
    for convolutions, channels in ((1, 64), (1, 128), (2, 256)):
        net.add(*(conv(w(channels), 3, 1, 1) for _ in range(convolutions)), nn.MaxPool2D(2, 2))
    for _ in range(2):
        net.add(nn.Dense(w(4096), activation="relu"), nn.Dropout(0.5))
    net.add(nn.Dense(10))
    return net


def nin(w):
    """Network in network: 1x1 convolutions after each large one, and no dense layer."""

    def block(channels, kernel, stride, pad):
        return conv(channels, kernel, stride, pad), conv(channels, 1), conv(channels, 1)

    return chain(
        *block(w(96), 5, 1, 2), nn.MaxPool2D(3, 2), *block(w(256), 5, 1, 2), nn.MaxPool2D(3, 2),
        *block(w(384), 3, 1, 1), nn.Dropout(0.5), *block(10, 3, 1, 1), nn.GlobalAvgPool2D(), nn.Flatten(),
    )  # fmt: skip


class Inception(nn.HybridBlock):
    """Four parallel paths whose outputs are concatenated along the channels."""

    def __init__(self, one, three, five, pooled):
        super().__init__()
        with self.name_scope():
            self.ways = [
                conv(one, 1),
                chain(conv(three[0], 1), conv(three[1], 3, 1, 1)),
                chain(conv(five[0], 1), conv(five[1], 5, 1, 2)),
                chain(nn.MaxPool2D(3, 1, 1), conv(pooled, 1)),
            ]
            for way in self.ways:
                self.register_child(way)

    def hybrid_forward(self, F, x):
        return F.concat(*(way(x) for way in self.ways), dim=1)


def googlenet(w):
    return chain(
        conv(w(64), 3, 1, 1), nn.MaxPool2D(3, 2, 1), conv(w(192), 3, 1, 1), nn.MaxPool2D(3, 2, 1),
        Inception(w(64), (w(96), w(128)), (w(16), w(32)), w(32)),
        Inception(w(128), (w(128), w(192)), (w(32), w(96)), w(64)), nn.MaxPool2D(3, 2, 1),
        Inception(w(192), (w(96), w(208)), (w(16), w(48)), w(64)), nn.GlobalAvgPool2D(), nn.Dense(10),
    )  # fmt: skip


class Residual(nn.HybridBlock):
    """Two convolutions with a shortcut connection."""

    def __init__(self, channels, stride=1):
        super().__init__()
        with self.name_scope():
            self.body = chain(
                nn.Conv2D(channels, 3, stride, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"),
                nn.Conv2D(channels, 3, 1, 1, use_bias=False), nn.BatchNorm(),
            )  # fmt: skip
            self.shortcut = nn.Conv2D(channels, 1, stride) if stride > 1 else None

    def hybrid_forward(self, F, x):
        return F.relu(self.body(x) + (self.shortcut(x) if self.shortcut is not None else x))


def resnet(w):
    net = chain(nn.Conv2D(w(64), 3, 1, 1), nn.BatchNorm(), nn.Activation("relu"), Residual(w(64)))
    net.add(Residual(w(128), 2), Residual(w(128)), Residual(w(256), 2), Residual(w(256)))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(10))
    return net


class DenseBlock(nn.HybridBlock):
    """Each convolution receives the outputs of all convolutions before it."""

    def __init__(self, count, growth):
        super().__init__()
        with self.name_scope():
            self.layers = [
                chain(nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(growth, 3, 1, 1)) for _ in range(count)
            ]
            for layer in self.layers:
                self.register_child(layer)

    def hybrid_forward(self, F, x):
        for layer in self.layers:
            x = F.concat(x, layer(x), dim=1)
        return x


def densenet(w):
    def transition(channels):
        return nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(channels, 1), nn.AvgPool2D(2, 2)

    return chain(
        nn.Conv2D(w(64), 3, 1, 1), DenseBlock(3, w(32)), *transition(w(80)), DenseBlock(3, w(32)), *transition(w(88)),
        DenseBlock(3, w(32)), nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Dense(10),
    )  # fmt: skip


NETWORKS = {f.__name__: f for f in (lenet, alexnet, vgg, nin, googlenet, resnet, densenet)}
RATES = {"lenet": 0.003, "alexnet": 0.001, "vgg": 0.001, "nin": 0.002}


def trained(name, chosen, loader, test):
    """Train one network and return its score."""
    net = NETWORKS[name](lambda channels: max(4, int(channels * chosen.width)))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": RATES.get(name, 0.003)})
    count = sum(p.data().size for p in _with_shapes(net).collect_params().values())
    print(f"{name}: {count:,} parameters")
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for epoch in range(chosen.epochs):
        for x, y in loader:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(len(x))
        score = common.accuracy(net, test)
        print(f"{name}, epoch {epoch + 1}: test accuracy {score:.3f}")
    return score


def _with_shapes(net):
    """Run one image through the network, which infers the unknown shapes."""
    net(mx.nd.zeros((1, 1, 28, 28)))
    return net


def main(arguments=None):
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--network", choices=list(NETWORKS))
    picked, rest = first.parse_known_args(arguments)
    chosen = common.options(__doc__, rest, epochs=(3, 1), width=(0.25, 0.06))
    loader, test = common.batches(chosen)
    names = [picked.network] if picked.network else list(NETWORKS)
    scores = {name: trained(name, chosen, loader, test) for name in names}
    for name, score in scores.items():
        print(f"{name:10s} test accuracy {score:.3f}")
    return scores


if __name__ == "__main__":
    main()
