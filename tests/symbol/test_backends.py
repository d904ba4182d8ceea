"""Symbols prepared for a backend: the graph stays as it is, and names are judged as MXNet judges them."""

import pytest

import mxnet as mx
from mxnet import MXNetError


def network():
    data = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=2, name="c")
    return mx.sym.Activation(data, act_type="relu", name="r")


@pytest.mark.parametrize("backend", ["MKLDNN", "MKLDNN_QUANTIZE"])
def test_mxnets_backends_leave_arguments_and_outputs_alone(backend):
    args = {"data": mx.nd.ones((1, 1, 6, 6)), "c_weight": mx.nd.ones((2, 1, 3, 3)), "c_bias": mx.nd.zeros(2)}
    for symbol in (network().optimize_for(backend, args), network().get_backend_symbol(backend)):
        assert symbol.list_arguments() == ["data", "c_weight", "c_bias"]
        assert symbol.bind(mx.cpu(), args).forward()[0].asnumpy().max() == 9


def test_an_unknown_backend():
    with pytest.warns(UserWarning, match="not known here"):
        assert network().optimize_for("nosuch").tojson() == network().tojson()
    with pytest.raises(MXNetError, match="SubgraphProperty nosuch is not found in SubgraphBackendRegistry"):
        network().get_backend_symbol("nosuch")


def test_backends_for_tests_need_names_of_operators():
    with pytest.raises(MXNetError, match="Cannot find attribute op_names in SubgraphProperty"):
        network().optimize_for("default")


@pytest.mark.parametrize("wrong", [{"args": 5}, {"aux": []}, {"ctx": 3}])
def test_wrong_arguments(wrong):
    with pytest.raises(AssertionError):
        network().optimize_for("MKLDNN", **wrong)
