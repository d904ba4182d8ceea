"""A multilayer perceptron with dropout, written as a HybridBlock, hybridized, saved and loaded again."""

import tempfile
from pathlib import Path

import common

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn


class Perceptron(nn.HybridBlock):
    """Two hidden layers."""

    def __init__(self, **names):
        super().__init__(**names)
        with self.name_scope():
            self.first, self.second = nn.Dense(256, activation="relu"), nn.Dense(64, activation="relu")
            self.drop, self.output = nn.Dropout(0.2), nn.Dense(10)

    def hybrid_forward(self, F, x):
        return self.output(self.drop(self.second(self.first(F.flatten(x)))))


def main(arguments=None):
    chosen = common.options(__doc__, arguments, epochs=(5, 3))
    loader, test = common.batches(chosen)
    net = Perceptron()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    common.train(net, loader, gluon.Trainer(net.collect_params(), "adam"), chosen.epochs, test=test)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "mlp.params")
        net.save_parameters(path)
        again = Perceptron()
        again.load_parameters(path)
    score = common.accuracy(again, test)
    print(f"loaded again: test accuracy {score:.3f}")
    return score


if __name__ == "__main__":
    main()
