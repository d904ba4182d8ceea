"""ONNX files as symbols and blocks: the project's own node tests, parameters, and faults."""

import numpy as np
import onnx
import onnx_node_tests
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx
from mxnet import nd

# What MXNet's operators cannot say; every one of them is refused with the node's name, none gives wrong numbers.
REFUSED = ("dilations", "gru_", "peepholes", "argmax", "tf_crop", "wrap_pad", "allowzero", "batch_dim", "_uint8")
# Where MXNet itself answers otherwise: remainders of infinities, extremes of nothing.
DIFFERENT = ("mod_float_edge_cases_fmod_0", "empty_set")


def test_node_tests_of_the_onnx_project():
    results = onnx_node_tests.results()
    failures = {name: error for name, error in results.items() if error}
    refused = {n: e for n, e in failures.items() if any(word in n for word in REFUSED) and "node " in e}
    others = [n for n in failures if n not in refused and not any(word in n for word in DIFFERENT)]
    assert not others, {n: failures[n] for n in others}
    assert len(results) - len(failures) >= 670


def small_model(op="Relu", **attrs):
    node = helper.make_node(op, ["x"], ["y"], name="first", **attrs)
    second = helper.make_node("Add", ["y", "w"], ["z"], name="second")
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    weight = numpy_helper.from_array(np.array([1, 2, 3], np.float32), "w")
    graph = helper.make_graph([node, second], "g", [value("x", ["n", 3])], [value("z", ["n", 3])], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


def test_symbol_parameters_and_metadata(tmp_path):
    path = str(tmp_path / "net.onnx")
    onnx.save(small_model(), path)
    sym, args, auxs = mx.contrib.onnx.import_model(path)
    assert sym.list_inputs() == ["x", "w"]
    assert args["w"].asnumpy().tolist() == [1, 2, 3]
    assert auxs == {}
    assert mx.contrib.onnx.get_model_metadata(path) == {
        "input_tensor_data": [("x", (0, 3))],
        "output_tensor_data": [("z", (0, 3))],
    }
    out = sym.eval(x=nd.array([[-1, 0, 1]]), **args)[0]
    assert out.asnumpy().tolist() == [[1, 2, 4]]


def test_faults_name_the_node(tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(small_model("Det"), str(path))
    with pytest.raises(NotImplementedError, match=r"node first \(Det\)"):
        mx.contrib.onnx.import_model(str(path))
    path.write_bytes(b"not a model")
    with pytest.raises(mx.MXNetError, match="net.onnx"):
        mx.contrib.onnx.import_model(str(path))
    with pytest.raises(mx.MXNetError, match="cannot read"):
        mx.contrib.onnx.import_model(str(tmp_path / "none.onnx"))
