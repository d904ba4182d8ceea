"""The demonstration: a convolution net learns handwritten digits; its curve, mistakes and files stay in a folder."""

import math
import time

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn
from mxnet.tools.digits import digits
from mxnet.tools.progress import progress

from .._core.errors import MXNetError
from .._kernels.runtime.first_run import FIRST_RUN
from . import demo_options, demo_pictures

SEED, RATE = 42, 0.003


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


def prepared(images):
    """Images between 0 and 1, of shape (n, 1, 28, 28)."""
    return nd.array(images[:, None], dtype="float32") / 255


def moved(images):
    """Each image turned, scaled, sheared and shifted a little at random: 4,000 digits are few."""
    n = len(images)
    angle, shear = nd.random.uniform(-0.26, 0.26, shape=(n,)), nd.random.uniform(-0.15, 0.15, shape=(n,))
    scale, shift = nd.random.uniform(0.88, 1.12, shape=(n,)), nd.random.uniform(-0.16, 0.16, shape=(2, n))
    cosine, sine = angle.cos() * scale, angle.sin() * scale
    affine = nd.stack(cosine, shear - sine, shift[0], sine, cosine, shift[1], axis=1)
    grid = nd.GridGenerator(affine, transform_type="affine", target_shape=images.shape[2:])
    return nd.BilinearSampler(images, grid)


def batches(images, labels, size):
    """One epoch: shuffled, moved images and their labels."""
    order = nd.random.shuffle(nd.arange(len(images)))
    for begin in range(0, len(images), size):
        chosen = order[begin : begin + size]
        yield moved(images.take(chosen)), labels.take(chosen)


def rate_at(step, steps):
    """A linear rise over the first 15 %, then half a cosine down to 0."""
    return RATE * min(1, (step + 1) / (0.15 * steps)) * 0.5 * (1 + math.cos(math.pi * step / steps))


def train_epoch(net, trainer, loss_of, data, rate_of):
    """The loss of each batch of one epoch."""
    for batch, (images, labels) in enumerate(data):
        trainer.set_learning_rate(rate_of(batch))
        with autograd.record():
            loss = loss_of(net(images), labels)
        loss.backward()
        trainer.step(len(images))
        value = float(loss.mean().asscalar())
        if not math.isfinite(value):
            raise MXNetError(f"the training diverged: the loss of batch {batch + 1} is {value}")
        yield value


def predictions(net, images):
    """The network's answer for each image, as a NumPy array of digits."""
    return net(images).argmax(axis=1).asnumpy().astype(int)


def train(net, images, labels, test, epochs, size):
    """Train with Adam; returns (loss per batch, test accuracy per epoch)."""
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": RATE})
    losses, scores, each = [], [], math.ceil(len(images) / size)
    for epoch in range(epochs):

        def rate_of(batch, done=epoch * each):
            return rate_at(done + batch, epochs * each)

        values = train_epoch(net, trainer, loss_of, batches(images, labels, size), rate_of)
        losses += progress(values, total=each, desc=f"epoch {epoch + 1}/{epochs}", unit="batch", leave=False)
        scores.append(float((predictions(net, test[0]) == test[1]).mean()))
        print(f"epoch {epoch + 1}: training loss {sum(losses[-each:]) / each:.4f}, test accuracy {scores[-1]:.4f}")
    return losses, scores


def exported(net, prefix, epochs):
    """The network as it comes back from its two files."""
    net.export(prefix, epoch=epochs)
    symbol = mx.sym.load(f"{prefix}-symbol.json")
    found = gluon.SymbolBlock(symbol, mx.sym.var("data", dtype="float32"))
    found.load_parameters(f"{prefix}-{epochs:04d}.params")
    return found


def run(options):
    """Train and write everything; the exported network and its test accuracy."""
    mx.random.seed(SEED)  # initial weights, the order of examples and their moves
    images, labels, test_images, truth = digits()
    net, test = lenet(), (prepared(test_images), truth)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    started = time.monotonic()
    images, labels = prepared(images[: options.examples]), nd.array(labels[: options.examples])
    with FIRST_RUN.waiting():  # the same figure, whether kernels were compiled before or not
        losses, scores = train(net, images, labels, test, options.epochs, options.batch_size)
    print(f"{options.epochs} epochs in {time.monotonic() - started:.1f} s, test accuracy {scores[-1]:.4f}")
    prefix = str(options.output / "lenet")
    net = exported(net, prefix, options.epochs)
    print(f"wrote {prefix}-symbol.json and {prefix}-{options.epochs:04d}.params")
    print(demo_pictures.draw(options.output, losses, scores, test_images, truth, predictions(net, test[0])))
    return net, scores[-1]


def main(arguments=None):
    """Train, and write the results into a folder."""
    options = demo_options.parser().parse_args(arguments)
    if options.output.is_file():
        demo_options.parser().error(f"{options.output} is a file, not a folder")
    options.output.mkdir(parents=True, exist_ok=True)
    net, score = run(options)
    if options.serve:
        from .demo_page import serve

        serve(net, options.port, not options.no_browser)
    return score


if __name__ == "__main__":
    main()
