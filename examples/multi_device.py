"""Several devices: each batch is split over them, gradients are summed, and every copy gets the same update.

Without GPUs the devices are `cpu(0)` and `cpu(1)`: two contexts that use the same processor.
"""

import common

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


def devices():
    found = mx.context.num_gpus()
    return [mx.gpu(i) for i in range(found)] if found > 1 else [mx.cpu(0), mx.cpu(1)]


def main(arguments=None):
    chosen = common.options(__doc__, arguments, epochs=(3, 2))
    loader, test = common.batches(chosen)
    contexts = devices()
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 5, activation="relu"), nn.MaxPool2D(), nn.Dense(64, activation="relu"), nn.Dense(10))
    net.initialize(mx.init.Xavier(), ctx=contexts)
    net.hybridize()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9}, kvstore="device")
    for epoch in range(chosen.epochs):
        for x, y in loader:
            parts = zip(*(gluon.utils.split_and_load(a, contexts, even_split=False) for a in (x, y)), strict=True)
            with autograd.record():
                losses = [loss_of(net(data), label) for data, label in parts]
            autograd.backward(losses)
            trainer.step(len(x))
        score = common.accuracy(lambda x: net(x.as_in_context(contexts[0])), test)
        print(f"epoch {epoch + 1} on {', '.join(map(str, contexts))}: test accuracy {score:.3f}")
    first, second = (net[0].weight.data(context).as_in_context(mx.cpu()) for context in contexts[:2])
    return nd.abs(first - second).max().asscalar()


if __name__ == "__main__":
    main()
