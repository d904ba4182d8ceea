"""Fine-tuning: a network trained on the digits 0 to 4 keeps its features and learns 5 to 9 from few examples.

`fine_tuning.png` shows the test accuracy of both training runs.
"""

import tempfile
from pathlib import Path

import common

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn


class Network(nn.HybridBlock):
    """A network with `features` and `output`, like the networks of the model zoo."""

    def __init__(self, classes):
        super().__init__()
        with self.name_scope():
            self.features = nn.HybridSequential()
            self.features.add(nn.Conv2D(16, 5, activation="relu"), nn.MaxPool2D(), nn.Conv2D(32, 3, activation="relu"),
                              nn.MaxPool2D(), nn.Dense(64, activation="relu"))  # fmt: skip
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


def loaders(chosen, wanted, most=None):
    """Return batches of the digits in `wanted`, with labels from 0; `most` limits the number of training examples."""
    x, y, test_x, test_y = common.arrays(chosen)
    made = []
    for images, labels, limit in ((x, y, most), (test_x, test_y, None)):
        keep = [i for i, label in enumerate(labels.asnumpy()) if label in wanted][:limit]
        dataset = gluon.data.ArrayDataset(images.take(mx.nd.array(keep)), labels.take(mx.nd.array(keep)) - wanted[0])
        made.append(gluon.data.DataLoader(dataset, 32, shuffle=True))
    return made


def train(net, loader, test, trainer, epochs):
    """Train and return the test accuracy after each epoch; both training runs use this loop."""
    loss_of, scores = gluon.loss.SoftmaxCrossEntropyLoss(), []
    for epoch in range(epochs):
        for x, y in loader:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(len(x))
        scores.append(common.accuracy(net, test))
        print(f"epoch {epoch + 1}: test accuracy {scores[-1]:.3f}")
    return scores


def pretrained(chosen, path):
    """Train on the digits 0 to 4 and save the parameters."""
    loader, test = loaders(chosen, range(5))
    net = Network(5)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    scores = train(net, loader, test, gluon.Trainer(net.collect_params(), "adam"), chosen.epochs)
    net.save_parameters(path)
    return scores


def main(arguments=None):
    chosen = common.options(__doc__, arguments, epochs=(3, 4), examples=(200, 80))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "net.params")
        before = pretrained(chosen, path)
        net = Network(5)
        net.load_parameters(path)
    net.output.initialize(mx.init.Xavier(), force_reinit=True)
    net.features.collect_params().setattr("lr_mult", 0.1)  # pretrained layers learn slowly, the new layer fast
    net.hybridize()
    loader, test = loaders(chosen, range(5, 10), chosen.examples)
    print(f"fine-tuning with {chosen.examples} examples of the digits 5 to 9")
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    after = train(net, loader, test, trainer, 2 * chosen.epochs)
    curves = {"0 to 4, pretraining": before, "5 to 9, fine-tuning": after}
    mx.viz.plot_curves(curves).savefig("fine_tuning.png")
    return after[-1]


if __name__ == "__main__":
    main()
