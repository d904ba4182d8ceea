"""A multilayer perceptron with dropout, written as a HybridBlock, hybridized, saved and loaded again.

`mlp.png` shows the loss and the test accuracy of each epoch. After five epochs the accuracy is about 0.93.
"""

import tempfile
from pathlib import Path

import common

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn


class Perceptron(nn.HybridBlock):
    """A multilayer perceptron with two hidden layers."""

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
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    history = {"training loss": [], "test accuracy": []}
    for epoch in range(chosen.epochs):
        total = count = 0
        for x, y in loader:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(len(x))
            total, count = total + loss.sum().asscalar(), count + len(x)
        history["training loss"].append(total / count)
        history["test accuracy"].append(common.accuracy(net, test))
        print(f"epoch {epoch + 1}: loss {total / count:.4f}, test accuracy {history['test accuracy'][-1]:.3f}")
    mx.viz.plot_curves(history).savefig("mlp.png")
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
