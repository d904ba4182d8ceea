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
