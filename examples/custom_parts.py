"""Custom parts: a layer, an initializer, a dataset, and a function with a custom gradient."""

import common

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


class Centered(nn.HybridBlock):
    """Subtract the mean of each row and multiply by a learned factor."""

    def __init__(self, units, **names):
        super().__init__(**names)
        with self.name_scope():
            self.scale = self.params.get("scale", shape=(units,), init=mx.init.One())

    def hybrid_forward(self, F, x, scale):
        return F.broadcast_mul(x - F.mean(x, axis=1, keepdims=True), scale)


@mx.init.register
class Checkered(mx.init.Initializer):
    """Values of alternating sign, which are smaller for more inputs."""

    def _init_weight(self, name, array):
        rows, columns = array.shape
        signs = nd.arange(rows).reshape((-1, 1)) + nd.arange(columns).reshape((1, -1))
        noise = nd.random.uniform(0.5, 1.5, shape=array.shape)
        array[:] = ((signs % 2) * 2 - 1) * noise / columns**0.5


class Brightest(gluon.data.Dataset):
    """Images and the column of their brightest pixel, which is computed on access."""

    def __init__(self, images):
        self._images = images

    def __len__(self):
        return len(self._images)

    def __getitem__(self, index):
        image = self._images[index]
        return image, nd.floor(image.max(axis=(0, 1)).argmax(axis=0)[0] * 10 / 28)


class Straight(autograd.Function):
    """Round in the forward pass and pass the gradient through unchanged (straight-through estimator)."""

    def forward(self, x):
        return nd.round(x)

    def backward(self, dy):
        return dy


class Rounded(gluon.Block):
    """A layer that creates a new function object for each call, because the object stores the values of that call."""

    def forward(self, x):
        return Straight()(x * 8) / 8


def main(arguments=None):
    chosen = common.options(__doc__, arguments, epochs=(4, 2))
    images, *_ = common.arrays(chosen)
    loader = gluon.data.DataLoader(Brightest(images[:1000]), 50, shuffle=True)
    net = nn.Sequential()
    net.add(nn.Flatten(), nn.Dense(64, activation="relu"), Centered(64), Rounded(), nn.Dense(10))
    net.initialize("checkered")
    loss_of, trainer = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.Trainer(net.collect_params(), "adam")
    history = []
    for epoch in range(chosen.epochs):
        total = count = 0
        for x, y in loader:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(len(x))
            total, count = total + loss.sum().asscalar(), count + len(x)
        history.append(total / count)
        print(f"epoch {epoch + 1}: loss {history[-1]:.4f}")
    return history


if __name__ == "__main__":
    main()
