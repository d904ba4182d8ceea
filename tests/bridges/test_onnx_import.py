"""ONNX files as symbols and blocks: the project's own node tests, networks of PyTorch, parameters, and faults."""

import io

import numpy as np
import onnx
import onnx_node_tests
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx
from mxnet import nd
from mxnet.contrib.onnx.onnx2mx import _isolated
from mxnet.contrib.onnx.onnx2mx.import_onnx import GraphProto

# What MXNet's operators cannot say; every one of them is refused with the node's name, none gives wrong numbers.
REFUSED = ("gridsample_bicubic", "gridsample_volumetric", "roialign_mode_max", "col2im_5d", "allowzero", "scan_sum")
PASSING = 1032  # of 1,043 with onnx 1.23; older packages have fewer


def test_node_tests_of_the_onnx_project(monkeypatch):
    """A thousand imports, without a fork for each: of a process as large as this one it takes 40 ms."""
    monkeypatch.setattr(_isolated, "_HERE", False)
    results = onnx_node_tests.results()
    failures = {name: error for name, error in results.items() if error}
    refused = {n: e for n, e in failures.items() if any(word in n for word in REFUSED) and "MXNetError: node " in e}
    assert failures == refused
    assert len(results) - len(failures) >= min(PASSING, len(results) - 11)


def small_model(op="Relu", name="first", **attrs):
    node = helper.make_node(op, ["x"], ["", "y"] if op == "GRU" else ["y"], name=name, **attrs)
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


def test_an_old_model_cuts_an_open_batch_out_of_a_shape():
    """Before opset 10 `Slice` said where by attributes."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Slice", ["shape"], ["batch"], axes=[0], starts=[0], ends=[1]),
        helper.make_node("Concat", ["batch", "rest"], ["rows"], axis=0),
        helper.make_node("Reshape", ["x", "rows"], ["y"]),
    ]
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    rest = numpy_helper.from_array(np.array([-1], np.int64), "rest")
    graph = helper.make_graph(nodes, "g", [value("x", ["n", 2, 3])], [value("y", ["n", 6])], [rest])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)])
    sym, args, _ = mx.contrib.onnx.import_model(model)
    assert sym.eval(x=nd.ones((4, 2, 3)), **args)[0].shape == (4, 6)


class Speech(torch.nn.Module):
    """A recurrent layer under attention, as a person would write it."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.GRU(4, 8, bidirectional=True, batch_first=True)
        self.attention = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)

    def forward(self, x):
        return self.attention(self.layer(x)[0]).max(1).values


@pytest.mark.filterwarnings("ignore")
def test_a_network_of_pytorch_for_any_batch(tmp_path):
    """Written by the older exporter, whose graphs compute shapes; the symbol goes through its own file and trains."""
    module, path = Speech().eval(), str(tmp_path / "net.onnx")
    torch.onnx.export(
        module, (torch.zeros(2, 5, 4),), path, input_names=["x"], dynamic_axes={"x": {0: "n"}}, dynamo=False
    )
    net = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    x = torch.randn(3, 5, 4)
    wanted = module(x).detach().numpy()
    np.testing.assert_allclose(net(nd.from_torch(x)).asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    sym, args, _ = mx.contrib.onnx.import_model(path)
    again = mx.sym.load_json(sym.tojson()).eval(x=nd.from_torch(x), **args)[0]
    np.testing.assert_allclose(again.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    losses = []
    for _ in range(2):
        with mx.autograd.record():
            loss = (net(nd.from_torch(x)) ** 2).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.asscalar())
    assert losses[1] < losses[0]
    assert all(p.grad_req == "null" for p in net.collect_params().values() if "Constant" in p.name)


def test_functions_of_the_model_are_written_out():
    """`torch.onnx` with functions, and other exporters, define operators in the model itself."""
    function = helper.make_function(
        "mine", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 18)]
    )
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2])
    node = helper.make_node("Twice", ["x"], ["y"], domain="mine")
    graph = helper.make_graph([node], "g", [value("x")], [value("y")])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("mine", 1)]
    sym, args, _ = GraphProto().from_onnx(helper.make_model(graph, functions=[function], opset_imports=opsets))
    assert args == {}
    assert sym.eval(x=nd.array([[1, 2]]))[0].asnumpy().tolist() == [[2, 4]]


def test_a_few_bytes_that_ask_for_all_memory():
    shape = numpy_helper.from_array(np.array([1 << 20, 1 << 20], np.int64), "s")
    node = helper.make_node("ConstantOfShape", ["s"], ["y"], name="huge")
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1 << 20, 1 << 20])
    model = helper.make_model(helper.make_graph([node], "g", [], [out], [shape]))
    with pytest.raises(mx.MXNetError, match=r"node huge \(ConstantOfShape\): a constant of shape .* is too large"):
        GraphProto().from_onnx(model)


@pytest.mark.parametrize("taken, wanted", [(1.0, [2, 4]), (-1.0, [-2, 0])])
def test_branches_that_the_data_choose(taken, wanted):
    value = lambda name, shape, kind=TensorProto.FLOAT: helper.make_tensor_value_info(name, kind, shape)
    one = numpy_helper.from_array(np.ones(1, np.float32), "one")
    then = helper.make_graph([helper.make_node("Add", ["x", "x"], ["t"])], "then", [], [value("t", [2])])
    other = helper.make_graph([helper.make_node("Sub", ["x", "one"], ["e"])], "else", [], [value("e", [2])], [one])
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
        helper.make_node("Greater", ["s", "zero"], ["c"]),
        helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
    ]
    zero = numpy_helper.from_array(np.zeros((), np.float32), "zero")
    graph = helper.make_graph(nodes, "g", [value("x", [2])], [value("y", [2])], [zero])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    sym, args, _ = GraphProto().from_onnx(model)
    x = nd.array([taken, 2 * taken if taken > 0 else 1])
    assert sym.eval(x=x, **args)[0].asnumpy().tolist() == wanted


def test_faults_name_the_node(tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(small_model("STFT"), str(path))
    with pytest.raises(NotImplementedError, match=r"node first \(STFT\).*simpler operators"):
        mx.contrib.onnx.import_model(str(path))
    onnx.save(small_model("GRU", name="", hidden_size=2), str(path))
    with pytest.raises(mx.MXNetError, match=r"node y \(GRU\): its input number 1 is missing"):
        mx.contrib.onnx.import_model(str(path))
    onnx.save(small_model("MaxPool"), str(path))
    with pytest.raises(mx.MXNetError, match=r"node first \(MaxPool\): it is not as ONNX wants it"):
        mx.contrib.onnx.import_model(str(path))
    path.write_bytes(b"not a model")
    with pytest.raises(mx.MXNetError, match="net.onnx"):
        mx.contrib.onnx.import_model(str(path))
    with pytest.raises(mx.MXNetError, match="cannot read"):
        mx.contrib.onnx.import_model(str(tmp_path / "none.onnx"))
    buffer = io.BytesIO()
    onnx.save(small_model(), buffer)
    path.write_bytes(buffer.getvalue()[:-7])
    with pytest.raises(mx.MXNetError, match="net.onnx"):
        mx.contrib.onnx.import_model(str(path))


@pytest.mark.filterwarnings("ignore")
def test_what_we_write_for_any_batch_is_read_again(tmp_path):
    """Enlarged images, whose sizes must not hang on the batch, and a cube root, which needs a sign of its own."""
    path, data = str(tmp_path / "net.onnx"), mx.sym.var("data")
    large = mx.sym.contrib.BilinearResize2D(mx.sym.UpSampling(data, scale=2, sample_type="nearest"), height=5, width=7)
    net = mx.sym.cbrt(large)
    mx.onnx.export_model(
        net, {}, [(2, 3, 4, 4)], [np.float32], path, dynamic=True, dynamic_input_shapes=[("batch", 3, 4, 4)]
    )
    sym, args, _ = mx.contrib.onnx.import_model(path)
    x = nd.random.normal(shape=(3, 3, 4, 4))
    again = sym.eval(data=x, **args)[0]
    np.testing.assert_allclose(again.asnumpy(), net.eval(data=x)[0].asnumpy(), rtol=1e-4, atol=1e-4)


def resize(shape, kind, values):
    """A model that resizes by nearest."""
    given = numpy_helper.from_array(np.array(values, {"scales": np.float32, "sizes": np.int64}[kind]), kind)
    inputs = ["x", "", kind] if kind == "scales" else ["x", "", "", kind]
    node = helper.make_node("Resize", inputs, ["y"], name="larger", mode="nearest")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b", "c", "d"])
    graph = helper.make_graph([node], "g", [x], [y], [given])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def test_images_of_unknown_width_are_enlarged_once():
    sym, args, _ = GraphProto().from_onnx(resize([1, 1, 2, "w"], "scales", [1, 1, 2, 2]))
    x = nd.array([[[[1, 2], [3, 4]]]])
    assert sym.eval(x=x, **args)[0].asnumpy()[0, 0].tolist() == [[1, 1, 2, 2], [1, 1, 2, 2], [3, 3, 4, 4], [3, 3, 4, 4]]
    with pytest.raises(mx.MXNetError, match=r"node larger \(Resize\): resizing images of unknown size"):
        GraphProto().from_onnx(resize([1, 1, 2, "w"], "sizes", [1, 1, 4, 4]))
