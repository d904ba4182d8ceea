"""Training in several processes, each with its part of the digits: `remx launch -n 2 python examples/distributed.py`.

Without a launcher the program is a single worker. Gradients are summed before each step, so all workers end with the
same weights.
"""

import os

import common

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn


def store():
    """Return the distributed store if a launcher started this process, else the store of a single process."""
    return mx.kv.create("dist_sync" if int(os.environ.get("DMLC_NUM_WORKER", "1")) > 1 else "local")


def main(arguments=None):
    chosen = common.options(__doc__, arguments, epochs=(3, 2))
    kv = store()
    images, labels, test_images, test_labels = common.arrays(chosen)
    mine = slice(kv.rank, None, kv.num_workers)
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(images[mine], labels[mine]), 32, shuffle=True)
    test = gluon.data.DataLoader(gluon.data.ArrayDataset(test_images, test_labels), 100)
    net = nn.HybridSequential()
    net.add(nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    rate = 0.1 / kv.num_workers  # summed gradients are larger
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": rate, "momentum": 0.9}, kvstore=kv)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for epoch in range(chosen.epochs):
        for x, y in loader:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(len(x))
        print(f"worker {kv.rank}, epoch {epoch + 1}: test accuracy {common.accuracy(net, test):.3f}")
    checksum = sum(p.data().abs().sum().asscalar() for p in net.collect_params().values())
    print(f"worker {kv.rank} of {kv.num_workers}: the weights sum up to {checksum:.4f}")
    return checksum


if __name__ == "__main__":
    main()
