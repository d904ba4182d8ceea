"""Mixed precision: training under `init`, and conversion of networks."""

import json

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


def nodes(sym):
    found = json.loads(sym.tojson(remove_amp_cast=False))["nodes"]
    return {n["name"]: [found[i]["name"] for i, *_ in n["inputs"]] for n in found}


def test_casts_are_where_mxnet_puts_them():
    """Compared with what convert_symbol of MXNet 1.9.1 makes of the same graph."""
    converted = amp.convert_symbol(graph(), data_names=["data", "softmax_label"])
    found = nodes(converted)
    assert found["conv"] == ["data_amp_cast_float16", "conv_weight_amp_cast_float16", "conv_bias_amp_cast_float16"]
    assert found["bn"] == ["conv", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"]
    assert found["relu"] == ["bn"]
    assert found["exp"] == ["relu_output_amp_cast_float32"]
    assert found["add"] == ["relu_output_amp_cast_float32", "exp"]
    assert found["softmax"] == ["fc_output_amp_cast_float32", "softmax_label"]
    stored = nodes(amp.convert_symbol(graph(), data_names=["data", "softmax_label"], cast_optional_params=True))
    assert stored["conv"] == ["data_amp_cast_float16", "conv_weight", "conv_bias"]
    kept = nodes(amp.convert_symbol(graph(), excluded_sym_names=["conv"], data_names=["data"]))
    assert kept["conv"] == ["data", "conv_weight", "conv_bias"]
    assert kept["exp"] == ["relu"]


def test_models_and_blocks_are_converted():
    net = network()
    net.hybridize()
    wanted = net(images()).asnumpy()
    converted = amp.convert_hybrid_block(net, "bfloat16", ctx=mx.cpu(), cast_optional_params=True)
    out = converted(images())
    assert out.dtype == np.float32
    np.testing.assert_allclose(out.asnumpy(), wanted, atol=0.05)
    assert np.abs(out.asnumpy() - wanted).max() > 0
    types = {name.rsplit("_", 1)[1]: str(p.data()._t.dtype) for name, p in converted.collect_params().items()}
    assert types["weight"] == types["bias"] == "torch.bfloat16"
    assert types["gamma"] == types["mean"] == "torch.float32"
    with pytest.raises(mx.MXNetError, match="nothing_like_it"):
        amp.convert_symbol(graph(), excluded_sym_names=["nothing_like_it"])


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
