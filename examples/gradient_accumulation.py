"""Gradient accumulation: the gradients of several small batches are added, then one step uses their sum.

After 60 steps the outputs of both networks differ by rounding only, about 2e-6.
"""

import common

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn


def network():
    mx.random.seed(0)  # both runs start from the same weights
    net = nn.HybridSequential()
    net.add(nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    return net


def trained(images, labels, batch_size, together, steps):
    """Train with batches of `batch_size` samples and one step for every `together` batches."""
    net, loss_of = network(), gluon.loss.SoftmaxCrossEntropyLoss()
    net(images[:1])  # this call infers the shapes and allocates the gradients
    if together > 1:
        net.collect_params().setattr("grad_req", "add")
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    for step in range(steps):
        for part in range(together):
            start = (step * together + part) * batch_size % len(images)
            with autograd.record():
                loss = loss_of(net(images[start : start + batch_size]), labels[start : start + batch_size])
            loss.backward()
        trainer.step(batch_size * together)
        net.collect_params().zero_grad()
    return net


def main(arguments=None):
    chosen = common.options(__doc__, arguments, steps=(60, 6))
    images, labels, test_images, _ = common.arrays(chosen)
    at_once = trained(images, labels, 64, 1, chosen.steps)
    in_parts = trained(images, labels, 16, 4, chosen.steps)
    apart = (at_once(test_images) - in_parts(test_images)).abs().max().asscalar()
    print(f"batches of 64, and 4 times 16: the outputs differ by at most {apart:.2e}")
    return apart


if __name__ == "__main__":
    main()
