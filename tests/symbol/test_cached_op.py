"""`CachedOp`: graphs called as functions of arrays."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from mxnet.base import MXNetError


def dense():
    x = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, name="fc")
    return mx.nd.CachedOp(mx.sym.Activation(x, act_type="tanh"), [("static_alloc", True)])


def arrays():
    return [mx.nd.array(v) for v in ([[0.1, 0.2, 0.3]], [[1, 2, 3], [4, 5, 6]], [0.5, -0.5])]


def test_it_computes_and_differentiates_like_the_operators():
    op, eager = dense(), arrays()
    lazy = arrays()
    for array in (*eager, *lazy):
        array.attach_grad()
    with autograd.record():
        a = op(*lazy)
        b = mx.nd.tanh(mx.nd.FullyConnected(*eager, num_hidden=2))
    a.backward()
    b.backward()
    np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-6)
    for x, y in zip(lazy, eager, strict=True):
        np.testing.assert_allclose(x.grad.asnumpy(), y.grad.asnumpy(), rtol=1e-6)


def test_modes_choose_the_code():
    drop = mx.nd.CachedOp(mx.sym.Dropout(mx.sym.var("x"), p=0.5), [])
    x = mx.nd.ones((100,))
    assert drop(x).asnumpy().min() == 1
    with autograd.train_mode():
        assert drop(x).asnumpy().min() == 0


def test_states_change_in_place():
    net = mx.nd.CachedOp(mx.sym.BatchNorm(mx.sym.var("x"), name="bn", momentum=0.5), [])
    values = [mx.nd.array([[1.0], [3.0]]), mx.nd.ones(1), mx.nd.zeros(1), mx.nd.zeros(1), mx.nd.ones(1)]
    values[0].attach_grad()
    with autograd.record():
        y = net(*values)
    y.backward()
    assert values[3].asnumpy().tolist() == [1.0]


def test_several_outputs_and_out():
    op = mx.nd.CachedOp(mx.sym.split(mx.sym.var("x"), num_outputs=2, axis=0), [])
    first, second = op(mx.nd.array([1, 2]))
    assert (first.asscalar(), second.asscalar()) == (1, 2)
    targets = [mx.nd.zeros(1), mx.nd.zeros(1)]
    op(mx.nd.array([3, 4]), out=targets)
    assert targets[1].asscalar() == 4


def test_what_is_refused():
    op, values = dense(), arrays()
    with pytest.raises(MXNetError, match="takes 3 inputs"):
        op(*values[:2])
    with pytest.raises(MXNetError, match="expected float32, got float64"):
        op(values[0], values[1].astype("float64"), values[2])
    with pytest.raises(MXNetError, match="Error in operator fc"):
        op(mx.nd.ones((1, 5)), *values[1:])


def test_sizes_left_to_the_graph():
    x = mx.sym.var("x")
    op = mx.nd.CachedOp(mx.sym.zeros((0, 3)) + x, [])
    for rows in (2, 5):
        assert op(mx.nd.ones((rows, 3))).shape == (rows, 3)


def test_a_graph_inside_a_graph():
    inner = mx.sym.exp(mx.sym.var("d"), name="e") * mx.sym.var("k")
    outer = mx.sym._internal._CachedOp(mx.sym.var("x"), mx.sym.var("y"), subgraph=inner.tojson(), name="call")
    assert outer.list_outputs() == ["call__mul0_output"]
    assert mx.sym.load_json(outer.tojson()).tojson() == outer.tojson()
    assert outer.infer_shape(x=(2,))[0] == [(2,), (2,)]
    executor = mx.sym.MakeLoss(outer).simple_bind(mx.cpu(), x=(1,))
    executor.forward(is_train=True, x=mx.nd.zeros(1), y=mx.nd.ones(1) * 3)
    executor.backward()
    assert executor.outputs[0].asscalar() == executor.grad_dict["x"].asscalar() == 3
