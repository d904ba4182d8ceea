"""Networks written as ONNX: the checker accepts them, ONNX Runtime computes the same, for any batch."""

import numpy as np
import onnx
import pytest
from onnx_nets import Encoder, Tagger, assert_same_in_onnx_runtime, cnn, exported, graph_of, words

import mxnet as mx
from mxnet import gluon, nd


def images(batch):
    return (nd.random.normal(shape=(batch, 3, 9, 9)),)


def sentences(batch):
    return words(batch), words(batch) > 9, nd.array(np.arange(batch) % 11 + 1)


@pytest.mark.parametrize(
    "make, inputs",
    [
        (cnn, images),
        (lambda: Tagger(gluon.rnn.LSTM(5, bidirectional=True, layout="NTC")), lambda n: (words(n, 4),)),
        (Encoder, sentences),
    ],
    ids=["cnn", "lstm", "encoder"],
)
def test_networks_go_to_onnx_and_come_back(tmp_path, make, inputs):
    """ONNX Runtime computes the same for any batch, and so does the network that is imported from the file."""
    net = make()
    net.initialize(mx.init.Normal(0.4))
    path = exported(net, inputs(1), tmp_path / "net.onnx")
    again = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    for batch in (1, 5):
        given = inputs(batch)
        assert_same_in_onnx_runtime(path, net, *given)
        assert_same_in_onnx_runtime(path, again, *given)


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


def test_faults_name_what_is_missing_and_leave_no_file(tmp_path):
    path = tmp_path / "net.onnx"
    net = cnn()
    net.initialize()
    sym, params = graph_of(net, nd.zeros((1, 3, 9, 9)))
    with pytest.raises(mx.MXNetError, match="in_shapes"):
        mx.onnx.export_model(sym, params)
    lost = net[-1].weight.name
    params.pop(lost)
    with pytest.raises(mx.MXNetError, match=lost):
        mx.onnx.export_model(sym, params, [(1, 3, 9, 9)], onnx_file_path=str(path))
    with pytest.raises(ValueError, match="files or objects"):
        mx.onnx.export_model(sym, "file.params", [(1, 3, 9, 9)])
    with pytest.raises(mx.MXNetError, match="conv"):
        mx.onnx.export_model(*graph_of(net, nd.zeros((1, 3, 9, 9))), [(1, 7, 9, 9)], onnx_file_path=str(path))
    assert not path.exists()


def test_every_operator_can_be_tried():
    assert {"Convolution", "RNN", "SoftmaxOutput"} <= set(mx.onnx.get_operator_support())
