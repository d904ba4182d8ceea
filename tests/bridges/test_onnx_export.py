"""Networks written as ONNX: the checker accepts them, ONNX Runtime computes the same, for any batch."""

import os
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx_nets import (
    Decoder,
    Detector,
    Encoder,
    assert_same_in_onnx_runtime,
    cnn,
    exported,
    graph_of,
    words,
)

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import nn


def normal(*shape):
    return nd.random.normal(shape=shape)


def lengths(batch, longest):
    return nd.array(np.arange(batch) % longest + 1)


def memory_and_states(batch):
    return nd.array(np.arange(batch)), normal(batch, 4, 6), normal(1, batch, 6), normal(1, batch, 6)


# more of them, the model zoo and the networks of the seeds: tools/check_onnx.py
NETWORKS = {
    "cnn": (cnn, lambda n: (normal(n, 3, 9, 9),)),
    "encoder": (Encoder, lambda n: (words(n), words(n) > 9, lengths(n, 11))),
    "detector": (Detector, lambda n: (normal(n, 3, 16, 16),)),
    "decoder": (lambda: Decoder(layers=1), memory_and_states),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_go_to_onnx_and_come_back(tmp_path, name):
    """ONNX Runtime computes the same for any batch, and so does the network that is imported from the file."""
    make, inputs = NETWORKS[name]
    net = make()
    net.initialize(mx.init.Normal(0.4))
    net(*inputs(2))
    path = exported(net, inputs, tmp_path / "net.onnx")
    again = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    for batch in (1, 5):
        given = inputs(batch)
        assert_same_in_onnx_runtime(path, net, *given)
        assert_same_in_onnx_runtime(path, again, *given)


def test_the_older_detection_operator(tmp_path):
    net = Detector(modern=False)
    net.initialize(mx.init.Normal(0.4))
    net(normal(1, 3, 16, 16))
    path = exported(net, lambda n: (normal(n, 3, 16, 16),), tmp_path / "net.onnx")
    assert_same_in_onnx_runtime(path, net, normal(3, 3, 16, 16))


def test_a_network_comes_back_and_learns_on(tmp_path):
    """All parameters keep their names, zeros and batch norms included, and one step changes both networks alike."""
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Activation("relu"), nn.Flatten(), nn.Dense(3))
    net.initialize(mx.init.Xavier())
    net(normal(1, 1, 6, 6))
    path = exported(net, lambda n: (normal(n, 1, 6, 6),), tmp_path / "net.onnx")
    again = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    assert {i.name for i in onnx.load(path).graph.initializer} >= set(net.collect_params())
    x = normal(4, 1, 6, 6)
    for each in (net, again):
        trainer = gluon.Trainer(each.collect_params(), "sgd", {"learning_rate": 0.1})
        with mx.autograd.record():
            loss = (each(x) ** 2).sum()
        loss.backward()
        trainer.step(4)
    for name, parameter in net.collect_params(".*weight|.*bias|.*gamma|.*beta").items():
        np.testing.assert_allclose(
            again.collect_params()[name].data().asnumpy(), parameter.data().asnumpy(), rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_types_of_inputs(tmp_path, dtype):
    path = str(tmp_path / "net.onnx")
    data = mx.sym.Variable("data")
    sym = mx.sym.broadcast_add(mx.sym.abs(data) * 3, mx.sym.sum(data, axis=1, keepdims=True))
    mx.contrib.onnx.export_model(sym, {}, [(2, 3)], np.dtype(dtype), path, dynamic=True)
    x = np.arange(-4, 5).reshape(3, 3).astype(dtype)
    session = onnxruntime.InferenceSession(path)
    (got,) = session.run(None, {"data": x})
    assert got.dtype == dtype
    assert got.tolist() == (np.abs(x) * 3 + x.sum(1, keepdims=True)).tolist()


def test_windows_that_are_summed(tmp_path):
    """torch's exporter forgets the divisor of such windows."""
    path, x = str(tmp_path / "net.onnx"), normal(2, 3, 7, 7)
    data = mx.sym.Variable("data")
    for attrs in (
        {"pool_type": "sum"},
        {"pool_type": "lp", "p_value": 2},
        {"pool_type": "avg", "pooling_convention": "full", "count_include_pad": False},
    ):
        sym = mx.sym.Pooling(data, kernel=(3, 2), stride=(2, 2), pad=(1, 1), **attrs)
        mx.onnx.export_model(sym, {}, [x.shape], np.float32, path)
        assert_same_in_onnx_runtime(path, lambda x, sym=sym: sym.eval(data=x)[0], x)


def test_checkpoint_files_with_a_label(tmp_path):
    """A Module's checkpoint: the label is no input of the exported network, and names are MXNet's."""
    data = mx.sym.Variable("data")
    sym = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=3, name="fc"), name="softmax")
    module = mx.mod.Module(sym)
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    values = {"fc_weight": nd.random.normal(shape=(3, 5)), "fc_bias": nd.array([1.0, 2.0, 3.0])}
    module.init_params(arg_params=values, aux_params={})
    module.save_checkpoint(str(tmp_path / "net"), 2)
    path = str(tmp_path / "net.onnx")
    files = str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0002.params")
    assert mx.onnx.export_model(*files, [(4, 5)], np.float32, path) == path
    model = onnx.load(path)
    assert [i.name for i in model.graph.input] == ["data"]
    assert [o.name for o in model.graph.output] == ["softmax"]
    assert {i.name for i in model.graph.initializer} == {"fc_weight", "fc_bias"}
    x = nd.random.normal(shape=(4, 5))

    def evaluated(batch):
        module.forward(mx.io.DataBatch([batch]), is_train=False)
        return module.get_outputs()[0]

    assert_same_in_onnx_runtime(path, evaluated, x)


def test_networks_without_parameters_and_outputs_that_are_inputs(tmp_path):
    class Positions(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.arange(3), x

    net, path = Positions(), str(tmp_path / "net.onnx")
    net.hybridize()
    net(nd.ones((2,)))
    net.export(str(tmp_path / "net"))
    files = str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0000.params")
    mx.onnx.export_model(*files, [(2,)], np.float32, path)
    session = onnxruntime.InferenceSession(path)
    assert [v.tolist() for v in session.run(None, {"data": np.array([5, 6], np.float32)})] == [[0, 1, 2], [5, 6]]


def test_faults_name_what_is_missing_and_leave_no_file(tmp_path):
    path = tmp_path / "net.onnx"
    net = cnn()
    net.initialize()
    sym, params = graph_of(net, nd.zeros((1, 3, 9, 9)))
    with pytest.raises(mx.MXNetError, match="in_shapes"):
        mx.onnx.export_model(sym, params)
    with pytest.raises(mx.MXNetError, match="1 inputs without a parameter .*in_shapes gives 2 shapes"):
        mx.onnx.export_model(sym, params, [(1, 3, 9, 9)] * 2, onnx_file_path=str(path))
    with pytest.raises(mx.MXNetError, match="dynamic_input_shapes has 2 shapes, in_shapes has 1"):
        mx.onnx.export_model(sym, params, [(1, 3, 9, 9)], dynamic=True, dynamic_input_shapes=[(None,)] * 2)
    with pytest.raises(mx.MXNetError, match="open sizes belong in dynamic_input_shapes"):
        mx.onnx.export_model(sym, params, [(None, 3, 9, 9)], onnx_file_path=str(path))
    lost = net[-1].weight.name
    params.pop(lost)
    with pytest.raises(mx.MXNetError, match=lost):
        mx.onnx.export_model(sym, params, [(1, 3, 9, 9)], onnx_file_path=str(path))
    with pytest.raises(ValueError, match="files or objects"):
        mx.onnx.export_model(sym, "file.params", [(1, 3, 9, 9)])
    with pytest.raises(mx.MXNetError, match="conv"):
        mx.onnx.export_model(*graph_of(net, nd.zeros((1, 3, 9, 9))), [(1, 7, 9, 9)], onnx_file_path=str(path))
    assert os.listdir(tmp_path) == []


def test_operators_that_onnx_has_not_are_named(tmp_path):
    """One that ONNX has no counterpart for, and one that looks at its numbers while it is traced."""
    data = mx.sym.Variable("data")
    root = mx.sym.linalg.potrf(mx.sym.relu(data), name="root")
    labels = mx.sym.slice(data, begin=(0, 0, 0), end=(1, 2, 4))
    targets = mx.sym.contrib.MultiBoxTarget(data, mx.sym.concat(labels, labels, dim=2), data, name="targets")
    for sym, name, shape in ((root, "root", (3, 3)), (targets[0], "targets", (1, 8, 4))):
        with pytest.raises(mx.MXNetError, match=rf"node {name} \(.*other operators"):
            mx.onnx.export_model(sym, {}, [shape], onnx_file_path=str(tmp_path / "net.onnx"))
    assert os.listdir(tmp_path) == []


class Imperative(gluon.Block):
    def forward(self, x):
        return nd.relu(x)


def test_blocks_that_cannot_be_traced_are_told_how(tmp_path):
    with pytest.raises(mx.MXNetError, match="HybridBlock"):
        mx.onnx.export_model(Imperative(), None, [(2, 3)], onnx_file_path=str(tmp_path / "net.onnx"))


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    """What fails while it is written leaves neither half a file nor a temporary one."""
    path = tmp_path / "net.onnx"
    path.write_bytes(b"the old file")

    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        mx.onnx.export_model(mx.sym.relu(mx.sym.Variable("data")), {}, [(2, 3)], onnx_file_path=str(path))
    assert os.listdir(tmp_path) == ["net.onnx"]
    assert path.read_bytes() == b"the old file"


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ImportError, match=r"pip install 'remx\[onnx\]'"):
        mx.onnx.export_model(mx.sym.Variable("data"), {}, [(1,)])


def test_every_operator_can_be_tried():
    assert {"Convolution", "RNN", "SoftmaxOutput"} <= set(mx.onnx.get_operator_support())
