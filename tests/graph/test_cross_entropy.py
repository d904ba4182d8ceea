"""The cross entropy of labels, computed in few calls by graphs, is what eager calls give."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.inference.fuse import fused
from mxnet._graph.lower.lower import lower

SHAPES = {  # predictions, labels
    "rows": ((6, 5), (6,)),
    "columns of labels": ((6, 5), (6, 1)),
    "pixels": ((2, 5, 3, 4), (2, 3, 4)),
    "nobody": ((0, 5), (0,)),
}


def both(shapes, dtype="float32", weights=False, **options):
    """Losses and gradients of the eager loss and of the hybridized one; some labels lie outside."""
    shape, label_shape = shapes
    random = np.random.RandomState(0)
    pred = nd.array(random.randn(*shape) * 5, dtype=dtype)
    label = nd.array(random.randint(-1, 7, label_shape), dtype="float32")
    more = [nd.array(random.rand(shape[0], *[1] * (len(shape) - 1)), dtype=dtype)] if weights else []
    found = []
    for hybrid in (False, True):
        loss_of = gluon.loss.SoftmaxCrossEntropyLoss(**options)
        if hybrid:
            loss_of.hybridize()
        pred.attach_grad()
        with autograd.record():
            loss = loss_of(pred, label, *more)
        loss.backward(nd.arange(1, loss.size + 1, dtype=dtype).reshape(loss.shape) if loss.size else None)
        found.append((loss.asnumpy(), pred.grad.asnumpy()))
    return found


@pytest.mark.parametrize("options", [{}, {"weight": 0.5}, {"batch_axis": 1}, {"from_logits": True}])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kind", SHAPES)
def test_losses_and_gradients(kind, weights, options):
    axis = 1 if kind == "pixels" else -1
    for plain, quick in zip(*both(SHAPES[kind], weights=weights, axis=axis, **options), strict=True):
        assert quick.shape == plain.shape
        np.testing.assert_allclose(quick, plain, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_dtypes(dtype):
    for plain, quick in zip(*both(SHAPES["rows"], dtype), strict=True):
        assert quick.dtype == plain.dtype
        np.testing.assert_allclose(quick, plain, rtol=2e-3 if dtype == "float16" else 1e-12, atol=1e-3)


def test_a_sure_prediction_costs_nothing_not_minus_nothing():
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize()
    loss = loss_of(nd.array([[200.0, 0.0]]), nd.array([0]))
    assert not np.signbit(loss.asnumpy()).any()
    assert str(loss).split("\n")[1] == "[0.]"


def test_gradients_can_be_differentiated_again():
    found = []
    for hybrid in (False, True):
        loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
        if hybrid:
            loss_of.hybridize()
        pred = nd.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])
        pred.attach_grad()
        with autograd.record():
            slope = autograd.grad(loss_of(pred, nd.array([2, 0])).sum(), [pred], create_graph=True)[0]
            bent = (slope * slope).sum()
        bent.backward()
        found.append(pred.grad.asnumpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=1e-7)


def test_labels_that_do_not_fit_are_told_with_the_operator():
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize()
    with pytest.raises(mx.MXNetError, match=r"_pick0: pick along axis 1 of \[6,5\] needs 6 indices, not \[4\]"):
        loss_of(nd.ones((6, 5)), nd.ones((4,))).wait_to_read()


def test_a_choice_of_something_else_stays():
    pred, label = mx.sym.var("pred"), mx.sym.var("label")
    logarithms = mx.sym.log_softmax(pred)
    shown = mx.sym.Group([-mx.sym.pick(logarithms, label, keepdims=True), logarithms])
    for heads in (-mx.sym.pick(pred, label, keepdims=True), 2 * mx.sym.pick(logarithms, label, keepdims=True), shown):
        module = fused(lower(heads._entries, True, mx.cpu()).module)
        assert "label_entropy" not in [getattr(node.target, "__name__", "") for node in module.graph.nodes]
