"""The demonstration: a convolution net learns handwritten digits, and leaves a checkpoint and a curve."""

import argparse
import importlib.util
import time
from pathlib import Path

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn
from mxnet.tools.digits import digits
from mxnet.tools.progress import progress

from .._core.arguments import at_least


def lenet():
    """The network of the books: two convolutions with pooling, two dense layers."""
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(
            nn.Conv2D(channels=20, kernel_size=5, activation="relu"),
            nn.MaxPool2D(pool_size=2, strides=2),
            nn.Conv2D(channels=50, kernel_size=3, activation="relu"),
            nn.MaxPool2D(pool_size=2, strides=2),
            nn.Flatten(),
            nn.Dense(128, activation="relu"),
            nn.Dense(10),
        )
    return net


def loader(images, labels, batch_size, shuffle):
    """Batches of images between 0 and 1, of shape (n, 1, 28, 28)."""
    data = nd.array(images[:, None], dtype="float32") / 255
    dataset = gluon.data.ArrayDataset(data, nd.array(labels))
    return gluon.data.DataLoader(dataset, batch_size, shuffle=shuffle)


def accuracy(net, batches):
    """The share of digits the network names correctly."""
    metric = mx.metric.Accuracy()
    for data, label in batches:
        metric.update(label, net(data))
    return metric.get()[1]


def train(net, batches, test, epochs):
    """Train with momentum SGD; returns (loss per batch, test accuracy per epoch)."""
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    losses, scores = [], []
    for epoch in range(epochs):
        bar = progress(batches, desc=f"epoch {epoch + 1}/{epochs}", unit="batch")
        for data, label in bar:
            with autograd.record():
                loss = loss_of(net(data), label)
            loss.backward()
            trainer.step(data.shape[0])
            losses.append(float(loss.mean().asscalar()))
            bar.set_postfix(loss=f"{losses[-1]:.3f}")
        scores.append(accuracy(net, test))
        print(f"epoch {epoch + 1}: test accuracy {scores[-1]:.4f}")
    return losses, scores


def draw(losses, scores, path):
    """The curve of the training, as a picture; the sentence that tells of it."""
    if importlib.util.find_spec("matplotlib") is None:
        return "no curve: that needs pip install 'remx[plot]'"
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    left.plot(losses, linewidth=0.8)
    left.set(xlabel="batch", ylabel="training loss", yscale="log")
    right.plot(range(1, len(scores) + 1), scores, marker="o")
    right.set(xlabel="epoch", ylabel="test accuracy", xticks=range(1, len(scores) + 1))
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    return f"wrote {path}"


def main(arguments=None):
    """Train, and write the results into a folder."""
    parser = argparse.ArgumentParser(prog="remx demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo"), help="folder for the results")
    parser.add_argument("--epochs", type=at_least(1), default=4)
    parser.add_argument("--batch-size", type=at_least(1), default=64)
    parser.add_argument(
        "--examples", type=at_least(1), default=4000, help="how many of the 4,000 training digits to use"
    )
    options = parser.parse_args(arguments)
    if options.output.is_file():
        parser.error(f"{options.output} is a file, not a folder")
    options.output.mkdir(parents=True, exist_ok=True)
    mx.random.seed(42)
    train_images, train_labels, test_images, test_labels = digits()
    batches = loader(train_images[: options.examples], train_labels[: options.examples], options.batch_size, True)
    test = loader(test_images, test_labels, 250, False)
    net = lenet()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    started = time.time()
    losses, scores = train(net, batches, test, options.epochs)
    prefix = str(options.output / "lenet")
    net.export(prefix, epoch=options.epochs)
    drawn = draw(losses, scores, options.output / "curve.png")
    print(f"{options.epochs} epochs in {time.time() - started:.1f} s, test accuracy {scores[-1]:.4f}")
    print(f"wrote {prefix}-symbol.json and {prefix}-{options.epochs:04d}.params; {drawn}")
    return scores[-1]


if __name__ == "__main__":
    main()
