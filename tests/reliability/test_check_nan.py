"""MXNET_CHECK_NAN names the first operator that made a NaN, the ranges of its inputs and the block."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn
from mxnet.ndarray._dispatch import check_nan


@pytest.fixture(autouse=True)
def checking():
    check_nan.enable()
    yield
    check_nan.disable()


class Root(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.sqrt(x - 5)


class Zero(gluon.HybridBlock):
    """Forward it is a number, backward 0 times infinity."""

    def hybrid_forward(self, F, x):
        return F.sqrt(F.relu(x)) * F.zeros_like(x)


def nested(block):
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(2, in_units=2), block)
    net.initialize(mx.init.Constant(-1))
    return net


@pytest.mark.parametrize("hybridize", [False, True])
def test_operator_ranges_and_block(hybridize):
    net = nested(Root(prefix="net_root_"))
    if hybridize:
        net.hybridize()
    words = r"operator sqrt.* made a NaN in block net_root \(Root\)\. input 0: float32\(1, 2\) from -9 to -9"
    with pytest.raises(mx.MXNetError, match=words):
        net(nd.array([[1, 3]]))


@pytest.mark.parametrize("hybridize", [False, True])
def test_the_backward_pass(hybridize):
    net = nested(Zero(prefix="net_zero_"))
    if hybridize:
        net.hybridize()
    with autograd.record():
        loss = net(nd.array([[1, 3]])).sum()
    words = (
        r"the gradient of operator sqrt.* made a NaN in block net_zero \(Zero\)\. "
        r"input 0: float32\(1, 2\) from 0 to 0; "
        r"gradient of output 0: float32\(1, 2\) from 0 to 0"
    )
    with pytest.raises(mx.MXNetError, match=words):
        loss.backward()


def bound(symbol, value):
    return symbol.bind(mx.cpu(), {"x": nd.array([value])}, {"x": nd.zeros(1)})


def test_an_executor_forward():
    executor = bound(mx.sym.log(mx.sym.var("x"), name="ln"), -1)
    with pytest.raises(mx.MXNetError, match=r"operator log.* at node ln made a NaN outside any block.*from -1 to -1"):
        executor.forward()


def test_an_executor_backward():
    x = mx.sym.var("x")
    executor = bound(mx.sym.make_loss(mx.sym.sqrt(x, name="root") * mx.sym.zeros_like(x)), 0)
    executor.forward(is_train=True)
    with pytest.raises(
        mx.MXNetError, match=r"the gradient of operator sqrt.* at node root made a NaN outside any block"
    ):
        executor.backward()


def test_a_module():
    x = mx.sym.var("data")
    module = mx.mod.Module(
        mx.sym.make_loss(mx.sym.log(mx.sym.FullyConnected(x, num_hidden=1, name="fc"))), label_names=None
    )
    module.bind([("data", (1, 1))])
    module.init_params(mx.init.Constant(-1))
    with pytest.raises(mx.MXNetError, match="operator log"):
        module.forward(mx.io.DataBatch([nd.ones((1, 1))]), is_train=True)


def test_numbers_and_old_nans_pass():
    assert nd.sqrt(nd.array([4.0])).asscalar() == 2
    nan = nd.array([float("nan")])
    assert (nan + 1).asnumpy() != (nan + 1).asnumpy()
    nan.attach_grad()
    with autograd.record():
        loss = (nan * 2).exp()
    loss.backward(nan)
    assert np.isnan(nan.grad.asscalar())


@pytest.mark.parametrize("hybridize", [False, True])
def test_training_is_the_same_with_it(hybridize):
    """Convolutions, batch norm, an embedding, recurrence and losses with gradients of their own, all without NaN."""
    net = nn.HybridSequential()
    net.add(nn.Embedding(10, 4), gluon.rnn.LSTM(3, layout="NTC"), nn.BatchNorm(axis=2), nn.Dense(2))
    net.initialize(mx.init.Constant(0.1))
    trainer = gluon.Trainer(net.collect_params(), "adam")
    if hybridize:
        net.hybridize()
    losses = []
    for _ in range(3):
        with autograd.record():
            loss = gluon.loss.SoftmaxCELoss()(net(nd.array([[1, 2, 3], [4, 5, 6]])), nd.array([0, 1]))
        loss.backward()
        trainer.step(2)
        losses.append(loss.mean().asscalar())
    assert losses == sorted(losses, reverse=True) and np.isfinite(losses).all()


def test_the_environment_variable():
    code = "import mxnet as mx; mx.nd.log(mx.nd.array([-1]))"
    for value, words in (("1", "operator log"), ("0", "")):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, "MXNET_CHECK_NAN": value})  # fmt: skip
        assert (words in done.stderr) and (done.returncode == 1) == (value == "1")
