"""`explain` tells what computes each layer, with what folded in, by which rule, and leaves the network as it was."""

import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._kernels.registry import enabled
from mxnet.gluon import nn


def small_network():
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(64, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
        net.add(nn.Conv2D(64, 3, padding=1), nn.GlobalAvgPool2D(), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    return net


def layers_of(found, operator):
    return [layer for layer in found if layer.operator == operator]


@pytest.fixture
def data():
    return nd.random.uniform(shape=(2, 16, 24, 24))


def test_layers_shares_and_folding(data):
    found = small_network().explain(data)
    convolutions = layers_of(found.inference, "Convolution")
    assert [layer.shape for layer in convolutions] == [(2, 64, 24, 24)] * 2
    assert all(layer.way and layer.rule for layer in found.inference + found.training)
    if enabled():
        assert convolutions[0].folded == ["net_batchnorm0_fwd", "net_relu0_fwd"]
        assert not layers_of(found.inference, "BatchNorm")
        assert layers_of(found.training, "Convolution")[1].way.startswith("conv.")
    for layers in (found.inference, found.training):
        assert sum(layer.share for layer in layers) == pytest.approx(1)
    assert layers_of(found.training, "BatchNorm")[0].name == "net_batchnorm0_fwd"


def test_with_kernels_off_torch_computes_everything(data):
    with mx.runtime.kernels_off():
        found = small_network().explain(data)
    assert found.kernels == "off"
    assert {layer.way for layer in found.inference + found.training} == {"torch"}
    assert [layer.operator for layer in found.inference] == [
        "Convolution", "BatchNorm", "Activation", "Convolution", "Pooling", "FullyConnected",
    ]  # fmt: skip


def test_the_network_stays_as_it_was(data):
    net = small_network()
    net(data)
    with autograd.record():
        net(data).sum().backward()
    before = {name: (p.data().asnumpy(), None if p.grad_req == "null" else p.grad().asnumpy())
              for name, p in net.collect_params().items()}  # fmt: skip
    net.explain(data)
    for name, parameter in net.collect_params().items():
        np.testing.assert_array_equal(parameter.data().asnumpy(), before[name][0])
        if parameter.grad_req != "null":
            np.testing.assert_array_equal(parameter.grad().asnumpy(), before[name][1])
    assert not net._active and not net._cached_graph


def test_recurrent_layers_bring_their_own_states():
    layer = gluon.rnn.LSTM(32, 2, prefix="lstm_")
    layer.initialize()
    found = layer.explain(nd.random.uniform(shape=(7, 8, 16)))
    assert found.inputs["data0"] == (7, 8, 16)
    assert [one.shape for one in found.inference if one.operator == "RNN"] == [(7, 8, 32)]


def test_text_and_json(data):
    found = small_network().explain(data, training=False)
    text = str(found)
    assert text.splitlines()[0].startswith("data 2x16x24x24")
    assert "net_conv0_fwd" in text and "training" not in text
    assert json.loads(json.dumps(found.as_dict()))["inference"][0]["operator"] == "Convolution"


def test_symbols_want_all_arrays():
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    with pytest.raises(mx.MXNetError, match="missing: fc_weight, fc_bias"):
        symbol.explain({"data": nd.ones((2, 4))})


def test_the_command_line(tmp_path, capsys, data):
    from mxnet.cli import main

    net = small_network()
    net.hybridize()
    net(data)
    net.export(str(tmp_path / "net"))
    assert main(["explain", str(tmp_path / "net"), "--shape", "2,16,24,24", "--inference"]) == 0
    assert "net_conv0_fwd" in capsys.readouterr().out
    assert main(["explain", str(tmp_path / "net")]) == 1
    assert "give --shape" in capsys.readouterr().err
    assert main(["explain", str(tmp_path / "net"), "--shape", "2,3,24,24"]) == 1
    assert "net_conv0_weight" in capsys.readouterr().err
