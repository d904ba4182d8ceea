"""A Siamese network: one network encodes two images, and a custom loss reduces the distance between equal digits."""

import common
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


class ContrastiveLoss(gluon.loss.Loss):
    """The squared distance for pairs of one class; for other pairs, the square of max(0, margin - distance)."""

    def __init__(self, margin=1.0, weight=1.0, batch_axis=0, **names):
        super().__init__(weight, batch_axis, **names)
        self._margin = margin

    def hybrid_forward(self, F, left, right, same):
        distance = F.sqrt(F.sum(F.square(left - right), axis=1) + 1e-8)  # sqrt has no finite gradient at zero
        apart = F.relu(self._margin - distance)
        return same * F.square(distance) + (1 - same) * F.square(apart)


def pairs(images, labels, count, rng):
    """Return `count` pairs; half of them show the same digit."""
    digits = labels.asnumpy()
    left = rng.integers(0, len(digits), count)
    right = [rng.choice(np.flatnonzero((digits == digits[i]) == bool(n % 2))) for n, i in enumerate(left)]
    same = nd.array(digits[left] == digits[right], dtype="float32")
    return images.take(nd.array(left)), images.take(nd.array(right)), same


def embedding():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 5, activation="relu"), nn.MaxPool2D(), nn.Conv2D(32, 3, activation="relu"), nn.MaxPool2D())
    net.add(nn.Dense(64, activation="relu"), nn.Dense(8))
    return net


def main(arguments=None):
    chosen = common.options(__doc__, arguments, steps=(300, 15), batch=(64, 32))
    images, labels, test_images, test_labels = common.arrays(chosen)
    rng = np.random.default_rng(0)
    net, loss_of = embedding(), ContrastiveLoss()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.002})
    for step in range(chosen.steps):
        left, right, same = pairs(images, labels, chosen.batch, rng)
        with autograd.record():
            loss = loss_of(net(left), net(right), same)
        loss.backward()
        trainer.step(chosen.batch)
        if step % 50 == 0 or step == chosen.steps - 1:
            print(f"step {step + 1}: loss {loss.mean().asscalar():.4f}")
    left, right, same = pairs(test_images, test_labels, 200, rng)
    distance = nd.norm(net(left) - net(right), axis=1)
    score = ((distance < 0.5) == same).mean().asscalar()
    print(f"pairs told apart by their distance: {score:.3f}")
    return score


if __name__ == "__main__":
    main()
