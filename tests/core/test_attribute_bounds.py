"""Integers of attributes have MXNet's width; what does not fit is refused with MXNet's words, whoever gives it."""

import json

import pytest

import mxnet as mx
from mxnet import nd, sym

WORDS = r"Invalid Parameter format for {} expect {} but value='{}', in operator {}\("


def refused(name, kind, value, operator):
    return pytest.raises(mx.MXNetError, match=WORDS.format(name, kind, str(value).replace("+", r"\+"), operator))


@pytest.mark.parametrize("value", [2**31, 2**40, -(2**31) - 1, 10**400])
def test_integers_beyond_32_bits(value):
    with refused("num_hidden", "int", value, "FullyConnected"):
        sym.FullyConnected(sym.var("x"), num_hidden=value)
    with refused("axis", "int", value, "expand_dims"):
        nd.expand_dims(nd.ones((2, 3)), axis=value)
    with refused("end", "int or None", value, "slice_axis"):
        nd.slice_axis(nd.ones((2, 3)), axis=0, begin=0, end=value)


def test_the_last_integers_that_fit():
    assert nd.slice_axis(nd.ones((2, 3)), axis=0, begin=-2, end=None).shape == (2, 3)
    symbol = sym.FullyConnected(sym.var("x"), num_hidden=2**31 - 1)
    assert json.loads(symbol.tojson())["nodes"][-1]["attrs"]["num_hidden"] == str(2**31 - 1)


@pytest.mark.parametrize("value", ["99999999999999999999", "1e10", "1e400", "1.5", "nan", "-inf", "9" * 5000])
def test_numbers_of_a_file(value):
    nodes = [{"op": "null", "name": "x", "inputs": []},
             {"op": "expand_dims", "name": "y", "attrs": {"axis": value}, "inputs": [[0, 0, 0]]}]  # fmt: skip
    text = json.dumps({"nodes": nodes, "arg_nodes": [0], "heads": [[1, 0, 0]]})
    with pytest.raises(mx.MXNetError, match="Invalid Parameter format for axis expect int but value="):
        sym.load_json(text)


@pytest.mark.parametrize("value", ["(9223372036854775808,)", "(1e30,)", "(2,1e400)", "(" + "9" * 5000 + ",)"])
def test_sizes_of_a_file(value):
    nodes = [{"op": "null", "name": "x", "inputs": []},
             {"op": "Reshape", "name": "y", "attrs": {"shape": value}, "inputs": [[0, 0, 0]]}]  # fmt: skip
    text = json.dumps({"nodes": nodes, "arg_nodes": [0], "heads": [[1, 0, 0]]})
    with pytest.raises(mx.MXNetError, match="Invalid Parameter format for shape"):
        sym.load_json(text)


def test_numbers_that_no_float_holds():
    with refused("a_min", "float", "1" + "0" * 400, "clip"):
        nd.clip(nd.ones(2), a_min=10**400, a_max=1)


@pytest.mark.parametrize("value", [2**31, 2**31 - 1, 2**20 + 1])
@pytest.mark.parametrize("make", [sym.contrib.quantized_concat, sym.Concat])
def test_counts_of_inputs(make, value):
    with pytest.raises(
        mx.MXNetError, match="for Parameter num_args exceed bound|Invalid Parameter format for num_args"
    ):
        make(sym.var("x"), num_args=value)


def test_counts_of_outputs():
    with pytest.raises(mx.MXNetError, match="for Parameter num_outputs exceed bound"):
        sym.SliceChannel(sym.var("x"), num_outputs=2**31 - 1)


def test_attributes_of_64_bits():
    assert nd.Convolution(nd.ones((1, 1, 3, 3)), nd.ones((1, 1, 1, 1)), kernel=(1, 1), num_filter=1, no_bias=True,
                          workspace=2**40).shape == (1, 1, 3, 3)  # fmt: skip
    assert nd.eye(2, k=2**40).asnumpy().tolist() == [[0, 0], [0, 0]]
    drawn = nd.random.randint(2**40, 2**40 + 5, shape=(20,), dtype="int64").asnumpy()
    assert ((drawn >= 2**40) & (drawn < 2**40 + 5)).all()


@pytest.mark.parametrize("levels", [900, 50_000])
def test_brackets_in_brackets(levels):
    node = {"op": "Pooling", "name": "y", "inputs": [[0, 0, 0]], "attrs": {"kernel": "(" * levels + ")" * levels}}
    nodes = [{"op": "null", "name": "x", "inputs": []}, node]
    with pytest.raises(mx.MXNetError, match="Invalid Parameter format for kernel"):
        sym.load_json(json.dumps({"nodes": nodes, "arg_nodes": [0], "heads": [[1, 0, 0]]}))
