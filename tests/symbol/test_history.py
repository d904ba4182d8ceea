"""`autograd.get_symbol`: the graph of what hybridized blocks did."""

import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import MXNetError, autograd, gluon


def layers(count, **flags):
    net = gluon.nn.HybridSequential()
    for _ in range(count):
        net.add(gluon.nn.Dense(4, in_units=4))
    net.initialize()
    net.hybridize(**flags)
    return net


def recorded(*nets):
    x = mx.nd.ones((1, 4))
    with autograd.record():
        for net in nets:
            x = net(x)
    return x


def operators(symbol):
    return [node["op"] for node in json.loads(symbol.tojson())["nodes"] if node["op"] != "null"]


def test_small_graphs_are_inlined_as_in_mxnet():
    assert operators(autograd.get_symbol(recorded(layers(3, inline_limit=3)))) == ["FullyConnected"] * 3
    assert operators(autograd.get_symbol(recorded(layers(3, inline_limit=0)))) == ["_CachedOp"]
    assert operators(autograd.get_symbol(recorded(layers(2)))) == ["FullyConnected"] * 2


def test_the_symbol_computes_what_the_blocks_computed():
    first, second = layers(1), layers(3)
    y = recorded(first, second)
    symbol = mx.sym.load_json(autograd.get_symbol(y).tojson())
    assert operators(symbol) == ["FullyConnected", "_CachedOp"]
    values = [mx.nd.ones((1, 4)), *(p.data() for net in (first, second) for p in net.collect_params().values())]
    names = symbol.list_arguments()
    assert names[0] == "null0" and all(name.startswith("var") for name in names[1:])
    again = symbol.bind(mx.cpu(), dict(zip(names, values, strict=True))).forward()[0]
    np.testing.assert_allclose(again.asnumpy(), y.asnumpy(), rtol=1e-6)


def test_a_variable_is_its_own_symbol():
    x = mx.nd.ones(2)
    x.attach_grad()
    assert autograd.get_symbol(x).list_arguments() == ["var0"]


def test_single_operators_have_no_history():
    x = mx.nd.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x * 2
    with pytest.raises(MXNetError, match="Hybridize the block"):
        autograd.get_symbol(y)


def test_what_is_not_recorded_has_no_graph():
    with pytest.raises(MXNetError, match="not part of a computation graph"):
        autograd.get_symbol(mx.nd.ones(2))
    y = recorded(layers(1))
    y.backward()
    with pytest.raises(MXNetError, match="not part of a computation graph"):
        autograd.get_symbol(y)
