"""Corners of Gluon layers as MXNet 1.9.1 has them: names of modified cells, orders of parameters, enumerations."""

import pytest

from mxnet import gluon, metric, nd, sym
from mxnet.base import MXNetError
from mxnet.gluon import nn, rnn


def test_a_residual_cell_has_a_name_of_its_own():
    cell = rnn.ResidualCell(rnn.LSTMCell(3, prefix="inner_"))
    assert (cell.prefix, cell.name) == ("inner_residualcell", "inner_residualcell")
    assert list(cell.collect_params()) == [f"inner_{n}" for n in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")]


def test_zoneout_around_both_directions_is_refused():
    with pytest.raises(AssertionError, match="put a ZoneoutCell around each of its two cells"):
        rnn.ZoneoutCell(rnn.BidirectionalCell(rnn.LSTMCell(3), rnn.GRUCell(3)))


def test_modulated_deformable_convolution_makes_its_own_parameters_first():
    layer = gluon.contrib.cnn.ModulatedDeformableConvolution(3, activation="relu", prefix="m_")
    names = ("deformable_conv_weight", "deformable_conv_bias", "offset_weight", "offset_bias")
    assert list(layer.collect_params()) == [f"m_{n}" for n in names]
    assert repr(layer) == "ModulatedDeformableConvolution(\n  (act): Activation(relu)\n)"
    plain = gluon.contrib.cnn.DeformableConvolution(3, prefix="d_")
    assert list(plain.collect_params()) == [f"d_{n}" for n in names[2:] + names[:2]]


def test_values_that_are_none_of_an_enumeration_are_told_in_mxnet_words():
    words = "Invalid Input: 'foo', valid values are: {'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'}, in operator"
    with pytest.raises(MXNetError, match=words):
        nd.Activation(nd.ones((2,)), act_type="foo")


def test_strides_of_another_length_are_refused_by_symbols_too():
    layer = sym.Convolution(sym.var("data"), kernel=(3, 3), num_filter=2, stride=2)
    with pytest.raises(MXNetError, match="Stride must have the same number of dimensions with kernel_size"):
        layer.infer_shape(data=(1, 1, 5, 5))


def test_operator_hooks_warn_as_in_mxnet():
    net, seen = nn.Dense(2, in_units=2), []
    net.initialize()
    net.register_op_hook(lambda name, operator, array: seen.append(name))
    net.hybridize()
    with pytest.warns(UserWarning, match="register_op_hook is experimental when static_alloc=True"):
        net(nd.ones((1, 2)))
    assert seen


def test_a_composite_metric_has_no_counts_of_its_own():
    composite = metric.CompositeEvalMetric(["acc", "f1"])
    assert not hasattr(composite, "num_inst")


def test_batch_norm_with_relu_is_a_layer():
    layer = nn.BatchNormReLU(in_channels=1, prefix="n_")
    assert repr(layer) == (
        "BatchNormReLU(axis=1, eps=1e-05, momentum=0.9, fix_gamma=False, use_global_stats=False, in_channels=1)"
    )
    assert list(layer.collect_params()) == ["n_gamma", "n_beta", "n_running_mean", "n_running_var"]
    layer.initialize()
    assert layer(nd.array([[[[-1.0, 0.0]]]])).asnumpy().tolist() == [[[[0.0, 0.0]]]]


def test_channels_that_groups_cannot_share_are_refused_before_anything_is_computed():
    layer = nn.Conv2D(4, 3, groups=2)
    layer.initialize()
    with pytest.raises(ValueError, match="shape cannot be inferred.*3 channels and 4 filters.*2 groups"):
        layer(nd.ones((1, 3, 5, 5)))
    with pytest.raises(MXNetError, match="4 channels, 0 groups"):
        nn.Conv2D(4, 3, groups=0, in_channels=4)
    with pytest.raises(MXNetError, match="0 groups"):
        sym.Convolution(sym.var("data"), num_filter=4, kernel=(3, 3), num_group=0).infer_shape(data=(1, 4, 5, 5))
