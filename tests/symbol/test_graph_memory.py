"""`Executor.debug_str` tells the memory that the values of a graph take, with and without mirroring."""

import re

import pytest

import mxnet as mx

MB = 4  # of one value: 1024 x 1024 floats


def _network(layers=12, marked=()):
    data = mx.sym.var("data")
    for i in range(layers):
        data = mx.sym.FullyConnected(data, num_hidden=1024, name=f"fc{i}")
        data = mx.sym.Activation(data, act_type="tanh", name=f"act{i}")
        if i in marked:
            data._set_attr(force_mirroring="True")
    return mx.sym.make_loss(data)


def _total(symbol, grad_req="write"):
    text = symbol.simple_bind(mx.cpu(), data=(1024, 1024), grad_req=grad_req).debug_str()
    assert text.endswith("Total 11 TempSpace resource requested\n")
    return int(re.search(r"Total (\d+) MB allocated", text).group(1))


def test_training_keeps_all_values_and_inference_two():
    assert _total(_network()) == 25 * MB
    assert _total(_network(), "null") == 2 * MB


def test_mirroring_keeps_about_the_square_root(monkeypatch):
    whole = _total(_network())
    monkeypatch.setenv("MXNET_BACKWARD_DO_MIRROR", "1")
    mirrored = _total(_network())
    # 25 calls in stretches of five: four of them leave one value each, the last all five, one is computed again
    assert mirrored == (4 + 5 + 4) * MB < whole


@pytest.mark.parametrize(("layers", "longer"), [(6, 12), (12, 24)])
def test_the_saving_grows_with_the_depth(layers, longer, monkeypatch):
    monkeypatch.setenv("MXNET_BACKWARD_DO_MIRROR", "1")
    small, large = _total(_network(layers)), _total(_network(longer))
    assert large < 2 * small
