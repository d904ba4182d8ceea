"""The first prediction of a graph runs operator by operator; code is generated for the second."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from mxnet._graph.ir.node import Node
from mxnet._graph.lower import direct
from mxnet._ops.registry.registry import find
from mxnet.gluon import nn


def network():
    mx.random.seed(3)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3), nn.BatchNorm(), nn.Activation("relu"), nn.Dropout(0.5), nn.Dense(4))
    net.initialize()
    return net


def program(net):
    (found,) = net._cached_op._programs.values()
    return found


@pytest.mark.rewritten
def test_code_is_generated_for_the_second_prediction():
    net, data = network(), nd.random.normal(shape=(2, 3, 8, 8))
    plain = net(data).asnumpy()
    net.hybridize()
    first = net(data).asnumpy()
    np.testing.assert_array_equal(first, plain)
    assert not program(net)._codes
    np.testing.assert_allclose(net(data).asnumpy(), plain, rtol=1e-5, atol=1e-6)
    assert program(net)._codes


def test_a_training_step_first_has_code():
    net, data = network(), nd.random.normal(shape=(2, 3, 8, 8))
    net(data)
    net.hybridize()
    with autograd.record():
        net(data).sum().backward()
    assert program(net)._codes
    assert net[0].weight.grad().asnumpy().any()


def test_an_operator_that_fails_is_named_as_ever():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, in_channels=3), nn.Dense(4, in_units=7))
    net.initialize()
    net.hybridize()
    with pytest.raises(mx.MXNetError, match="dense"):
        net(nd.ones((2, 3, 8, 8))).wait_to_read()


@pytest.mark.rewritten
def test_values_are_dropped_after_their_last_use(monkeypatch):
    alive = []

    def call(node, values, uses, *rest, real=direct._call):
        real(node, values, uses, *rest)
        alive.append(sum(key[0].op is not None for key in values))

    monkeypatch.setattr(direct, "_call", call)
    net = nn.HybridSequential()
    net.add(*[nn.Dense(4, activation="relu") for _ in range(5)])
    net.initialize()
    net.hybridize()
    net(nd.ones((2, 3)))
    assert len(alive) == 10 and max(alive) == 1


def test_an_output_that_is_used_inside_is_kept():
    data = mx.sym.var("data")
    inner = mx.sym.FullyConnected(data, num_hidden=3, name="fc")
    parts = mx.sym.split(inner, num_outputs=3, axis=1)
    heads = mx.sym.Group([inner, parts[1], mx.sym.relu(parts[2]), inner])
    weight, values = nd.array([[1, 2], [3, 4], [5, 6]]), nd.array([[1, -1], [2, 1]])
    graph = mx.nd.CachedOp(heads)
    for _ in range(2):  # the second run is of generated code
        one, two, three, four = graph(values, weight, nd.zeros(3))
        np.testing.assert_array_equal(one.asnumpy(), [[-1, -1, -1], [4, 10, 16]])
        np.testing.assert_array_equal(two.asnumpy(), [[-1], [10]])
        np.testing.assert_array_equal(three.asnumpy(), [[0], [16]])
        np.testing.assert_array_equal(four.asnumpy(), one.asnumpy())
        one[:] = 0
        assert four.asnumpy().any()


@pytest.mark.parametrize(("operator", "directly"), [("_contrib_quantized_conv", False), ("Convolution", True)])
def test_quantized_layers_have_code_at_once(operator, directly):
    assert direct.runs_directly([Node(find(operator), "layer", {})]) == directly
