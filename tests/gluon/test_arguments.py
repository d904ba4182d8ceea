"""A hybridized network takes the arrays that its parameters have now, however they came by them."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import nn

CTX = [mx.cpu(0), mx.cpu(1)]


class Sum(gluon.HybridBlock):
    """A parameter between two inputs, so that it stands between them in the graph, too."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(2,), init="ones")

    def hybrid_forward(self, F, x, y, weight):
        return x - weight * y


def ready(ctx):
    net = Sum()
    net.initialize(ctx=ctx)
    net.hybridize()
    return net


def result(net, ctx=CTX[0]):
    x, y = nd.array([5, 5], ctx=ctx), nd.array([1, 2], ctx=ctx)
    return net(x, y).asnumpy().tolist()


def test_changes_between_calls():
    net = ready(CTX[0])
    assert result(net) == result(net) == [4, 3]
    net.weight.set_data(nd.array([2, 2]))
    assert result(net) == [3, 1]
    net.weight.initialize(mx.init.Constant(3), force_reinit=True)
    assert result(net) == [2, -1]
    net.weight.grad_req = "null"
    assert result(net) == [2, -1]


def test_contexts():
    net = ready(CTX)
    assert result(net) == result(net, CTX[1]) == [4, 3]
    net.weight.list_data()[1][:] = 2
    assert result(net) == [4, 3]
    assert result(net, CTX[1]) == [3, 1]
    net.collect_params().reset_ctx(CTX[1])
    assert result(net, CTX[1]) == result(net, CTX[1]) == [3.5, 2]  # the mean of both
    with pytest.raises(mx.MXNetError, match="same context"):
        result(net, CTX[0])


def test_a_cast_network():
    net = nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    x = nd.ones((1, 3))
    for kind in ("float32", "float64", "float32"):
        net.cast(kind)
        assert net(x.astype(kind)).dtype == np.dtype(kind)
        assert net(x.astype(kind)).dtype == np.dtype(kind)


def test_loaded_parameters(tmp_path):
    net = ready(CTX[0])
    net.weight.set_data(nd.array([7, 7]))
    net.save_parameters(str(tmp_path / "p"))
    other = ready(CTX[0])
    assert result(other) == [4, 3]
    other.load_parameters(str(tmp_path / "p"))
    assert result(other) == [-2, -9]
