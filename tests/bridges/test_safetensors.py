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
    with pytest.raises(mx.MXNetError, match="pip install remx\\[safetensors\\]"):
        nd.save(str(path), [nd.zeros(1)])
