"""Symbol and Module: the network as a graph, `fit`, a checkpoint, and predictions from it."""

import logging
import tempfile
from pathlib import Path

import common

import mxnet as mx


def lenet():
    net = mx.sym.Variable("data")
    for channels in (8, 16):
        net = mx.sym.Convolution(net, kernel=(5, 5), num_filter=channels)
        net = mx.sym.Activation(net, act_type="tanh")
        net = mx.sym.Pooling(net, pool_type="max", kernel=(2, 2), stride=(2, 2))
    net = mx.sym.Activation(mx.sym.FullyConnected(net, num_hidden=64), act_type="tanh")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=10), name="softmax")


def main(arguments=None):
    chosen = common.options(__doc__, arguments, epochs=(4, 2))
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    x, y, test_x, test_y = common.arrays(chosen)
    train = mx.io.NDArrayIter(x, y, 64, shuffle=True)
    test = mx.io.NDArrayIter(test_x, test_y, 64)
    module = mx.mod.Module(lenet())
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder) / "lenet")
        module.fit(
            train, test, optimizer="sgd", optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
            initializer=mx.init.Xavier(), num_epoch=chosen.epochs,
            batch_end_callback=mx.callback.Speedometer(64, 20), epoch_end_callback=mx.callback.do_checkpoint(prefix),
        )  # fmt: skip
        loaded = mx.mod.Module.load(prefix, chosen.epochs)
    loaded.bind(test.provide_data, test.provide_label, for_training=False)
    score = dict(loaded.score(test, "acc"))["accuracy"]
    print(f"from the checkpoint: test accuracy {score:.3f}")
    return score


if __name__ == "__main__":
    main()
