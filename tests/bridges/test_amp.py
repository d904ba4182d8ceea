"""Mixed precision: training under `init`, and conversion of networks."""

import json
from pathlib import Path

import amp_nets
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.contrib import amp
from mxnet.contrib.amp.loss_scaler import LossScaler
from mxnet.gluon import nn


@pytest.fixture
def mixed():
    """Mixed precision on the CPU while a test runs."""
    amp.init("bfloat16")
    yield
    amp.amp._switch_off()


def network():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, in_channels=3), nn.BatchNorm(in_channels=8), nn.Activation("relu"), nn.Flatten())
    net.add(nn.Dense(4, in_units=8 * 36))
    net.initialize(mx.init.Xavier())
    return net


def images():
    return nd.array(np.random.default_rng(0).normal(size=(8, 3, 8, 8)))


def test_lists_are_those_of_mxnet():
    assert amp.list_lp16_ops("float16") == ["Convolution", "Deconvolution", "FullyConnected", "RNN"]
    assert amp.list_lp16_ops("bfloat16") == ["Convolution", "FullyConnected"]
    assert "softmax" in amp.list_fp32_ops("float16")
    assert len(amp.list_lp16_fp32_ops("float16")) == 318
    assert ("Activation", "act_type", ["softrelu"]) in amp.list_conditional_fp32_ops("bfloat16")
    assert "concat" in amp.list_widest_type_cast("float16")
    assert amp.list_lp16_use_fp32_params("float16") is None
    assert "BatchNorm" in amp.list_lp16_use_fp32_params("bfloat16")
    with pytest.raises(AssertionError, match="int8"):
        amp.list_lp16_ops("int8")


@pytest.mark.parametrize("hybrid", [False, True])
def test_operators_run_in_their_precision(mixed, hybrid):
    net = network()
    if hybrid:
        net.hybridize()
    out = net(images())
    assert str(out._t.dtype) == "torch.bfloat16"
    assert nd.softmax(out).dtype == np.float32
    assert nd.broadcast_add(out, nd.ones((8, 4))).dtype == np.float32
    assert net[0].weight.data().dtype == np.float32


def test_training_scales_the_loss_and_skips_overflows(mixed):
    net = network()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    with pytest.raises(AssertionError, match="init_trainer"), amp.scale_loss(nd.ones(1), trainer):
        pass
    amp.init_trainer(trainer)
    loss_of, labels, losses = gluon.loss.SoftmaxCrossEntropyLoss(), nd.array(np.arange(8) % 4), []
    for _ in range(8):
        with autograd.record():
            loss = loss_of(net(images()), labels)
            with amp.scale_loss(loss, trainer) as scaled:
                scaled.backward()
        trainer.step(8)
        losses.append(loss.mean().asscalar())
    assert losses[-1] < 0.7 * losses[0]
    before = net[0].weight.data().asnumpy()
    for parameter in net.collect_params().values():
        if parameter.grad_req != "null":
            parameter.grad()[:] = np.inf
            parameter.data()._fresh_grad = True
    trainer.step(8)
    np.testing.assert_array_equal(net[0].weight.data().asnumpy(), before)
    assert trainer._amp_loss_scaler._next_loss_scale == 2.0**15


def test_gradients_are_those_of_the_unscaled_loss(mixed):
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1})
    amp.init_trainer(trainer)
    with autograd.record():
        loss = net(nd.array([[1, 2]]))
        with amp.scale_loss([loss], trainer) as scaled:
            autograd.backward(scaled)
    assert net.weight.grad().asnumpy().tolist() == [[65536, 131072]]
    amp.unscale(trainer)
    assert net.weight.grad().asnumpy().tolist() == [[1, 2]]
    trainer.step(1)
    assert net.weight.data().asnumpy().tolist() == [[0, -1]]


def test_the_scale_grows_after_many_good_steps():
    parameter = gluon.Parameter("p", shape=(1,))
    parameter.initialize()
    scaler = LossScaler()
    scaler._unskipped = 1999
    assert not scaler.has_overflow([parameter])
    assert not scaler.has_overflow([parameter])
    assert scaler.loss_scale == 2.0**17


def graph():
    conv = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=4, name="conv")
    relu = mx.sym.Activation(mx.sym.BatchNorm(conv, name="bn"), act_type="relu", name="relu")
    both = mx.sym.broadcast_add(relu, mx.sym.exp(relu, name="exp"), name="add")
    out = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(both, num_hidden=3, name="fc"), name="softmax")
    return mx.sym.Group([out, relu])


def test_graphs_are_converted_as_mxnet_does():
    """Nodes, names, attributes and edges of many conversions, recorded from MXNet 1.9.1."""
    recorded = json.loads((Path(__file__).parent.parent / "data" / "amp.json").read_text())
    made = json.loads(json.dumps(amp_nets.converted()))
    assert made.keys() == recorded.keys()
    assert [key for key in made if made[key] != recorded[key]] == []


def test_models_and_blocks_are_converted():
    net = network()
    net.hybridize()
    wanted = net(images()).asnumpy()
    converted = amp.convert_hybrid_block(net, "bfloat16", ctx=mx.cpu(), cast_optional_params=True)
    out = converted(images())
    assert out.dtype == np.float32
    np.testing.assert_allclose(out.asnumpy(), wanted, atol=0.05)  # as far as the 8 bits of bfloat16 go
    assert np.abs(out.asnumpy() - wanted).max() > 0
    types = {name.rsplit("_", 1)[1]: str(p.data()._t.dtype) for name, p in converted.collect_params().items()}
    assert types["weight"] == types["bias"] == "torch.bfloat16"
    assert types["gamma"] == types["mean"] == "torch.float32"


def test_converted_models_are_bound_by_module():
    """Shapes of parameters are found through the casts before them."""
    converted = amp.convert_symbol(graph(), "bfloat16", data_names=["data", "softmax_label"])
    module = mx.mod.Module(converted)
    module.bind([("data", (2, 3, 8, 8))], [("softmax_label", (2,))], for_training=False)
    module.init_params()
    assert module.get_params()[0]["conv_weight"].ndim == 4


def test_casts_already_there_decide_how_a_parameter_is_stored():
    weight = mx.sym.var("weight")
    low, other, high = (mx.sym.amp_cast(weight, dtype=d) for d in ("float16", "float16", "float32"))
    for symbols, wanted in (([low, other], np.float16), ([low, high], np.float32)):
        converted = amp.convert_symbol(mx.sym.Group(symbols), data_names=[], cast_optional_params=True)
        assert converted.simple_bind(mx.cpu(), weight=(1, 2)).arg_arrays[0].dtype == wanted


def test_operators_in_no_list_are_refused():
    with pytest.raises(AssertionError, match="elemwise_add"):
        amp.convert_symbol(graph(), fp32_ops=["elemwise_add"])


def test_arithmetic_and_methods_take_the_widest_type(mixed):
    low, high = nd.amp_cast(nd.ones((2, 3)), dtype="bfloat16"), nd.ones((2, 3))
    for made in (low + high, high - low, nd.maximum(low, high), low == high, low + 1, 1 - low, low.softmax(), -low):
        assert made.dtype == np.float32
    for made in (low.relu(), low.reshape((3, 2)), abs(low), low.clip(0, 1)):
        assert str(made._t.dtype) == "torch.bfloat16"
    low += high
    assert low.dtype == np.float32


def test_losses_that_start_backward_themselves_are_scaled(mixed, caplog):
    x = nd.array([[1.0, 2.0, 3.0]])
    x.attach_grad()
    with autograd.record():
        out = nd.SoftmaxOutput(x, nd.array([0]))
    out.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [[-59635.758, 16038.525, 43597.23]], rtol=1e-6)
    mx.sym.SoftmaxOutput(mx.sym.var("x"), name="softmax")
    assert "SoftmaxOutput does not support dynamic loss scaling" in caplog.text


def test_symbols_made_under_mixed_precision(mixed):
    with mx.name.NameManager():
        conv = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="conv")
        out = mx.sym.broadcast_add(mx.sym.BatchNorm(conv, name="bn"), mx.sym.var("other"), name="add")
    names = {line[1]: line[3] for line in amp_nets.described(out)[:-1]}
    assert names["conv"] == ["amp_cast0:0", "amp_cast1:0", "amp_cast2:0"]
    assert names["bn"] == ["conv:0", "bn_gamma:0", "bn_beta:0", "bn_moving_mean:0", "bn_moving_var:0"]
    assert names["add"] == ["amp_multicast0:0", "amp_multicast0:1"]


def test_functions_are_put_back():
    before = mx.nd.FullyConnected, mx.sym.softmax, mx.nd.NDArray.__add__, mx.nd.SoftmaxOutput
    amp.init("bfloat16")
    assert before[0] is not mx.nd.FullyConnected
    assert amp.amp._amp_initialized  # downstream attention layers ask for it before they choose a mask's value
    amp.amp._switch_off()
    assert not amp.amp._amp_initialized
    assert before == (mx.nd.FullyConnected, mx.sym.softmax, mx.nd.NDArray.__add__, mx.nd.SoftmaxOutput)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"target_dtype": "int8"}, "Only target_dtype float16 and bfloat16"),
        ({"target_dtype_ops": "Convolution"}, "target_dtype_ops should be a list of strs"),
        ({"fp32_ops": ("exp",)}, "fp32_ops should be a list of strs"),
        ({"conditional_fp32_ops": [("Activation", "act_type")]}, "list of \\(str, str, list of str\\)"),
        ({"excluded_sym_names": "conv"}, "excluded_sym_names should be a list"),
        ({"fp32_ops": ["FullyConnected"]}, "two or more lists. Common ops in target_dtype_ops and fp32_ops"),
    ],
)
def test_wrong_wishes_are_told(wrong, words):
    with pytest.raises(AssertionError, match=words):
        amp.convert_symbol(graph(), **wrong)


def test_data_that_the_symbol_does_not_have_is_an_error():
    with pytest.raises(mx.MXNetError, match="argument name pictures not found"):
        amp.convert_symbol(graph(), data_names=["pictures"])


def test_converted_models_say_how_parameters_are_stored():
    args = {name: nd.ones((1,)) for name in graph().list_arguments() if name not in ("data", "softmax_label")}
    auxs = {name: nd.ones((1,)) for name in graph().list_auxiliary_states()}
    wanted = {"conv_weight", "conv_bias", "fc_weight", "fc_bias"}
    _, args, auxs = amp.convert_model(graph(), args, auxs, cast_optional_params=True)
    assert {name for name, array in args.items() if array.dtype == np.float16} == wanted
    assert all(array.dtype == np.float32 for array in auxs.values())
    _, args, _ = amp.convert_model(graph(), args, auxs)
    assert {array.dtype for array in args.values()} == {np.float32}
    only = amp.convert_model(graph(), args, auxs, target_dtype_ops=["Convolution"], fp32_ops=["SoftmaxOutput"])[1]
    assert only["fc_weight"].dtype == np.float16  # in no list: it follows the data that reaches it


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_bucketing_modules_are_converted(dtype):
    def unrolled(length):
        data = mx.sym.var("data")
        cell = mx.rnn.LSTMCell(4, prefix="lstm_")
        outputs, _ = cell.unroll(
            length, mx.sym.Embedding(data, input_dim=9, output_dim=4, name="embed"), merge_outputs=True
        )
        rows = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, 4)), num_hidden=9, name="decode")
        return mx.sym.softmax(rows, name="out"), ("data",), None

    module = mx.mod.BucketingModule(unrolled, default_bucket_key=5, context=mx.cpu())
    module.bind([("data", (2, 5))], for_training=False)
    module.init_params(mx.init.Xavier())
    module.switch_bucket(3, [("data", (2, 3))])
    low = amp.amp.convert_bucketing_module(module, dtype)
    low.bind([("data", (2, 5))], for_training=False)
    for length in (5, 3):
        words = nd.array(np.arange(2 * length).reshape(2, length) % 9)
        batch = mx.io.DataBatch([words], None, bucket_key=length, provide_data=[("data", words.shape)])
        outputs = [m.forward(batch, is_train=False) or m.get_outputs()[0].asnumpy() for m in (module, low)]
        assert 0 < np.abs(outputs[0] - outputs[1]).max() < 0.01
