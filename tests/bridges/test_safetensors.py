"""Arrays and parameters in .safetensors files."""

import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import mxnet as mx
from mxnet import nd
from mxnet.gluon import nn


def test_parameters_travel_under_their_places_in_the_tree(tmp_path):
    path = str(tmp_path / "net.safetensors")
    net, other = (nn.HybridSequential() for _ in range(2))
    for each in (net, other):
        each.add(nn.Dense(3, in_units=2), nn.BatchNorm(in_channels=3))
        each.initialize(mx.init.Normal(1))
    net.save_parameters(path)
    assert set(load_file(path)) == set(net._collect_params_with_prefix())
    other.load_parameters(path)
    for name, parameter in net._collect_params_with_prefix().items():
        np.testing.assert_array_equal(
            parameter.data().asnumpy(), other._collect_params_with_prefix()[name].data().asnumpy()
        )


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64"])
def test_every_type_comes_back(tmp_path, dtype):
    path = str(tmp_path / "a.safetensors")
    array = nd.array([[1, 2], [3, 4]]).astype(dtype)
    nd.save(path, {"a": array, "row": array[1]})
    loaded = nd.load(path)
    assert loaded["a"].dtype == array.dtype
    assert loaded["a"].asnumpy().tolist() == [[1, 2], [3, 4]]
    assert loaded["row"].asnumpy().tolist() == [3, 4]


def test_lists_stay_lists_in_order(tmp_path):
    path = str(tmp_path / "a.safetensors")
    nd.save(path, [nd.array([i]) for i in range(12)])
    assert [a.asscalar() for a in nd.load(path)] == list(range(12))


def test_arrays_of_two_names_and_sparse_ones(tmp_path):
    path, shared = str(tmp_path / "a.safetensors"), nd.arange(3)
    nd.save(path, {"one": shared, "two": shared, "part": shared[1:2]})
    assert {name: a.asnumpy().tolist() for name, a in nd.load(path).items()} == {
        "one": [0, 1, 2],
        "two": [0, 1, 2],
        "part": [1],
    }
    nd.save(path, shared)
    assert nd.load(path)[0].asnumpy().tolist() == [0, 1, 2]
    with pytest.raises(mx.MXNetError, match="array w is csr.*tostype"):
        nd.save(path, {"w": nd.ones((2, 2)).tostype("csr")})
    assert nd.load(path)[0].shape == (3,)


def test_a_network_that_shares_a_layer(tmp_path):
    path = str(tmp_path / "net.safetensors")
    layer = nn.Dense(2, in_units=2)
    net = nn.HybridSequential()
    net.add(layer, nn.Dense(2, in_units=2, params=layer.params))
    net.initialize(mx.init.Normal(1))
    wanted = net(nd.ones((1, 2))).asnumpy()
    for option in (False, True):
        net.save_parameters(path, deduplicate=option)
        net.initialize(mx.init.Zero(), force_reinit=True)
        net.load_parameters(path)
        np.testing.assert_array_equal(net(nd.ones((1, 2))).asnumpy(), wanted)


def test_files_of_others(tmp_path):
    path = str(tmp_path / "a.safetensors")
    save_file({"scalar": torch.tensor(2.5)}, path)
    assert nd.load(path)["scalar"].shape == (1,)
    save_file({"f8": torch.zeros(2).to(torch.float8_e4m3fn)}, path)
    with pytest.raises(mx.MXNetError, match="f8.*float8_e4m3fn"):
        nd.load(path)


def test_faults_are_told(tmp_path, monkeypatch):
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"\xff" * 20)
    with pytest.raises(mx.MXNetError, match="cannot read"):
        nd.load(str(path))
    with pytest.raises(mx.MXNetError, match="cannot read"):
        nd.load(str(tmp_path / "none.safetensors"))
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(mx.MXNetError, match=r"pip install 'remx\[safetensors\]'"):
        nd.save(str(path), [nd.zeros(1)])
