"""Summaries and drawings."""

import networks
import pytest

import mxnet as mx


def network():
    x = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="conv")
    x = mx.sym.BatchNorm(x, name="bn")
    x = mx.sym.Activation(x, act_type="relu", name="relu")
    return mx.sym.FullyConnected(x, num_hidden=10, name="fc")


def test_summary_is_mxnets(record, capsys):
    mx.viz.print_summary(networks.convolutional(mx), shape=networks.RUN["convolutional"])
    assert capsys.readouterr().out == record["summary"]
    with pytest.raises(TypeError):
        mx.viz.print_summary("network")


def test_summary_of_a_block(capsys):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(3, in_units=4))
    mx.viz.print_summary(net, shape={"data": (2, 4)})
    assert "FullyConnected" in capsys.readouterr().out


def test_drawing():
    pytest.importorskip("graphviz")
    text = mx.viz.plot_network(network(), shape={"data": (1, 3, 8, 8)}, dtype={"data": "float32"}).source
    assert "Convolution\\n3x3/1, 4" in text or "Convolution\n3x3/1, 4" in text
    assert "4x6x6(float32)" in text
    assert "conv_weight" not in text
    assert "conv_weight" in mx.viz.plot_network(network(), hide_weights=False).source
