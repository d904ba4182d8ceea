"""A plain training step never waits for a GPU, and copies nothing to it but the batch."""

import numpy as np
import pytest
import simulated

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

GPUS = {1: [mx.gpu(0)], 2: [mx.gpu(0), mx.gpu(1)]}
BATCH = 8


def mlp():
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation="relu"), nn.BatchNorm(), nn.Dropout(0.2), nn.Dense(5))
    return net, (12,)


def convolutions():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D())
    net.add(nn.Conv2D(8, 3, padding=1), nn.LeakyReLU(0.1), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(5))
    return net, (3, 12, 12)


def recurrent():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.lstm, self.gru, self.out = gluon.rnn.LSTM(6), gluon.rnn.GRU(5, layout="TNC"), nn.Dense(5)

        def hybrid_forward(self, F, x):
            return self.out(self.gru(self.lstm(x.transpose((1, 0, 2)))).mean(axis=0))

    return Net(), (4, 7)


def embedding():
    net = nn.HybridSequential()
    net.add(nn.Embedding(30, 6), nn.LayerNorm(), nn.Flatten(), nn.Dense(5))
    return net, (4,)


NETS = {f.__name__: f for f in (mlp, convolutions, recurrent, embedding)}


def batch_of(shape):
    random = np.random.RandomState(1)
    data = random.uniform(0, 5, (BATCH, *shape)).astype("float32")
    return mx.nd.array(data), mx.nd.array(random.randint(0, 5, BATCH))


def assert_free(events, copied):
    """No synchronization, no race, and `copied` bytes to the devices."""
    assert not simulated.of_kind(events, "sync", "race", "assert"), events
    copies = simulated.of_kind(events, "h2d")
    assert sum(int(e.what.split()[0]) for e in copies) == copied, copies


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("hybrid", [False, True, "static"])
@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("name", NETS)
def test_gluon(name, gpus, hybrid, optimizer):
    net, shape = NETS[name]()
    contexts = GPUS[gpus]
    net.initialize(ctx=contexts)
    if hybrid:
        net.hybridize(static_alloc=hybrid == "static", static_shape=hybrid == "static")
    rule = {"learning_rate": 0.1, **({"momentum": 0.9, "wd": 1e-4} if optimizer == "sgd" else {})}
    trainer = gluon.Trainer(net.collect_params(), optimizer, rule)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    data, label = batch_of(shape)

    def step():
        parts = [gluon.utils.split_and_load(a, contexts) for a in (data, label)]
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(*parts, strict=True)]
        autograd.backward(losses)
        trainer.step(BATCH)
        return losses

    for _ in range(2):
        step()
    with simulated.watched() as events:
        losses = step()
    assert all(np.isfinite(part.asnumpy()).all() for part in losses)
    assert_free(events, data._t.nbytes + label._t.nbytes)


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("kvstore", ["local", "device"])
def test_module(gpus, kvstore):
    net = mx.sym.var("data")
    net = mx.sym.Activation(mx.sym.Convolution(net, kernel=(3, 3), num_filter=6, name="conv"), act_type="relu")
    net = mx.sym.FullyConnected(mx.sym.BatchNorm(net, name="norm"), num_hidden=5, name="dense")
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    module = mx.mod.Module(net, context=GPUS[gpus])
    module.bind([("data", (BATCH, 3, 8, 8))], [("softmax_label", (BATCH,))])
    module.init_params(mx.init.Xavier())
    module.init_optimizer(kvstore, "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    data, label = batch_of((3, 8, 8))
    batch = mx.io.DataBatch([data], [label])

    def step():
        module.forward(batch, is_train=True)
        module.backward()
        module.update()

    for _ in range(2):
        step()
    with simulated.watched() as events:
        step()
    assert np.isfinite(module.get_outputs()[0].asnumpy()).all()
    assert_free(events, data._t.nbytes + label._t.nbytes)
