"""Feature maps: a picture of the outputs of the inner layers of a trained network for one digit."""

import common
import matplotlib.pyplot as plt

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn


def network():
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(8, 5, activation="relu"), nn.MaxPool2D(), nn.Conv2D(16, 3, activation="relu"))
        net.add(nn.MaxPool2D(), nn.Dense(10))
    return net


def inner(net, wanted):
    """Return a network with the same weights whose outputs are the internal outputs that `wanted(name)` selects."""
    graph = net(mx.sym.var("data"))
    names = [name for name in graph.get_internals().list_outputs() if wanted(name)]
    outputs = mx.sym.Group([graph.get_internals()[name] for name in names])
    return names, gluon.SymbolBlock(outputs, mx.sym.var("data"), params=net.collect_params())


def draw(image, names, maps, path):
    """Draw one row for each layer, with the digit itself first."""
    columns = max(m.shape[1] for m in maps)
    figure, axes = plt.subplots(len(maps) + 1, columns, figsize=(columns, len(maps) + 1))
    for axis in axes.flat:
        axis.axis("off")
    axes[0][0].imshow(image.asnumpy()[0, 0], cmap="gray")
    for row, name, layer in zip(axes[1:], names, maps, strict=True):
        row[0].set_title(name, loc="left", fontsize=8)
        for axis, channel in zip(row, layer.asnumpy()[0], strict=False):
            axis.imshow(channel, cmap="viridis")
    figure.savefig(path, dpi=80, bbox_inches="tight")
    plt.close(figure)


def main(arguments=None):
    plt.switch_backend("Agg")
    chosen = common.options(__doc__, arguments, epochs=(2, 1), output=("feature_maps.png", "feature_maps.png"))
    loader, test = common.batches(chosen)
    net = network()
    net.initialize(mx.init.Xavier())
    loss_of, trainer = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.Trainer(net.collect_params(), "adam")
    for epoch in range(chosen.epochs):
        for x, y in loader:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(len(x))
        print(f"epoch {epoch + 1}: test accuracy {common.accuracy(net, test):.3f}")
    image = next(iter(test))[0][:1]
    names, features = inner(net, lambda name: name.endswith("relu_fwd_output"))
    draw(image, names, features(image), chosen.output)
    print(f"wrote {chosen.output}: {', '.join(names)}")
    return names


if __name__ == "__main__":
    main()
