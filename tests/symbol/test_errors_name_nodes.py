"""A failure inside a running graph says which node failed, its operator, and what was wrong."""

import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd


class Choice(gluon.HybridBlock):
    """Fails when it runs: the operator itself refuses the second part of `x`."""

    def hybrid_forward(self, F, x):
        return F.where(x, F.relu(x), F.slice_axis(x, axis=1, begin=0, end=1), name="pick")


class Factor(gluon.HybridBlock):
    """Fails when it runs: torch refuses the matrix."""

    def hybrid_forward(self, F, x):
        return F.linalg.potrf(F.relu(x), name="factor")


@pytest.mark.parametrize("record", [False, True])
def test_refusals_of_operators_in_hybridized_blocks(record):
    net = Choice(prefix="net_")
    net.hybridize()
    with autograd.record() if record else autograd.pause():
        with pytest.raises(mx.MXNetError, match=r"Error in operator net_pick: .*\[2,3\] and y \[2,1\].* \(where\)"):
            net(nd.ones((2, 3)))


def test_refusals_of_torch_in_hybridized_blocks():
    net = Factor(prefix="net_")
    net.hybridize()
    with pytest.raises(mx.MXNetError, match=r"Error in operator net_factor: .*\(_linalg_potrf on \(3, 3\) float32\)"):
        net(nd.zeros((3, 3)))


class Refusing(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        raise ValueError("no such luck")


@mx.operator.register("refusing")
class RefusingProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Refusing()


@pytest.mark.parametrize("watched", [False, True])
def test_executors_name_the_node(watched):
    symbol = mx.sym.relu(mx.sym.Custom(mx.sym.relu(mx.sym.var("x")), op_type="refusing", name="guard"))
    executor = symbol.bind(mx.cpu(), {"x": nd.ones((2,))})
    if watched:
        executor.set_monitor_callback(lambda name, array: None)
    with pytest.raises(mx.MXNetError, match=r"(?s)Error in operator guard: .*no such luck.*\(Custom\)"):
        executor.forward()
