"""The part of `remx selftest` that trains six small networks on a device and on the CPU with the same numbers."""

import os
import warnings
from contextlib import contextmanager

import numpy as np

STEPS, BATCH = 4, 8


def _networks():
    from ...gluon import nn, rnn
    from ...gluon.block import HybridBlock

    def stacked(*layers):
        net = nn.HybridSequential()
        net.add(*layers)
        return net

    class Recurrent(HybridBlock):
        def __init__(self, layer):
            super().__init__()
            self.layer, self.out = layer, nn.Dense(4)

        def hybrid_forward(self, F, x):
            return self.out(F.SequenceLast(self.layer(F.transpose(x, axes=(1, 0, 2)))))

    return {
        "MLP, SGD": (lambda: stacked(nn.Dense(16, activation="relu"), nn.Dense(4)), (6,), "sgd", False),
        "MLP, Adam, not hybridized": (
            lambda: stacked(nn.Dense(16, activation="tanh"), nn.Dense(4)),
            (6,),
            "adam",
            None,
        ),
        "convolutions and batch norm": (
            lambda: stacked(nn.Conv2D(8, 3), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(), nn.Dense(4)),
            (3, 12, 12),
            "sgd",
            True,
        ),
        "LSTM": (lambda: Recurrent(rnn.LSTM(8)), (5, 6), "adam", True),
        "GRU": (lambda: Recurrent(rnn.GRU(8)), (5, 6), "rmsprop", True),
        "embedding and layer norm": (
            lambda: stacked(nn.Embedding(6, 8), nn.LayerNorm(), nn.Flatten(), nn.Dense(4)),
            (5,),
            "adagrad",
            True,
        ),  # fmt: skip
    }


def _trained(ctx, make, shape, optimizer, hybrid, steps=STEPS):
    from ... import autograd, gluon, init, nd, random

    random.seed(3)
    net = make()
    net.initialize(init.Xavier(), ctx=ctx)
    if hybrid is not None:
        net.hybridize(static_alloc=hybrid, static_shape=hybrid)
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.01})
    loss_of, numbers, losses = gluon.loss.SoftmaxCrossEntropyLoss(), np.random.RandomState(5), []
    for _ in range(steps):
        data = nd.array(numbers.uniform(0, 5, (BATCH, *shape)), ctx=ctx)
        label = nd.array(numbers.randint(0, 4, BATCH), ctx=ctx)
        with autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(BATCH)
        losses.append(loss.mean().asscalar())
    return np.array(losses)


def _row(name, ctx, network, steps=STEPS):
    """(network, losses on the CPU, losses on the device, is it the same?)."""
    from ...context import cpu

    want = _trained(cpu(), *network, steps)
    try:
        found = _trained(ctx, *network, steps)
        return name, want.tolist(), found.tolist(), bool(np.allclose(found, want, 5e-3, 1e-4))
    except Exception as error:  # whatever a device raises is what this report is for
        return name, want.tolist(), f"{type(error).__name__}: {error}", False


def check(ctx):
    """Rows of (network, losses on the CPU, losses on the device, is it the same?)."""
    with cuda_graphs(False):
        return [_row(name, ctx, network) for name, network in _networks().items()]


@contextmanager
def cuda_graphs(allowed):
    """Blocks that are first called in here run by CUDA graphs, or do not."""
    before = os.environ.get("MXNET_ENABLE_CUDA_GRAPHS")
    os.environ["MXNET_ENABLE_CUDA_GRAPHS"] = "1" if allowed else "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ["MXNET_ENABLE_CUDA_GRAPHS"]
        else:
            os.environ["MXNET_ENABLE_CUDA_GRAPHS"] = before


def check_graphs(ctx):
    """The same rows for networks that run by CUDA graphs, each with the reason why one was not captured, or None."""
    from ..._device.graphs import WARM_UPS

    rows = []
    for name, network in _networks().items():
        if network[-1]:
            with cuda_graphs(True), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                row = _row(f"{name}, by CUDA graphs", ctx, network, WARM_UPS + STEPS)
            reasons = [str(w.message) for w in caught if "CUDA graph" in str(w.message)]
            rows.append((*row, reasons[0] if reasons else None))
    return rows
