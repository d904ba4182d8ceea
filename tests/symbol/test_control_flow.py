"""Loops and branches on arrays and on symbols."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd


def test_foreach_is_the_same_on_arrays_and_symbols():
    data, start, weight = mx.nd.arange(6).reshape((3, 2)), mx.nd.ones(2), mx.nd.array([0.5, 2])

    def body(w):
        return lambda element, states: (element * w, [states[0] + element * w])

    for array in (data, start, weight):
        array.attach_grad()
    with autograd.record():
        outputs, states = mx.nd.contrib.foreach(body(weight), data, [start])
        total = outputs.sum() + (states[0] * states[0]).sum()
    total.backward()
    out, last = mx.sym.contrib.foreach(body(mx.sym.var("w")), mx.sym.var("data"), [mx.sym.var("start")])
    net = mx.sym.MakeLoss(out.sum() + (last[0] * last[0]).sum())
    executor = net.simple_bind(mx.cpu(), data=(3, 2), start=(2,), w=(2,))
    executor.forward(is_train=True, data=data, start=start, w=weight)
    executor.backward()
    assert executor.outputs[0].asscalar() == total.asscalar()
    for name, array in (("data", data), ("start", start), ("w", weight)):
        np.testing.assert_allclose(executor.grad_dict[name].asnumpy(), array.grad.asnumpy())


def test_while_loop_pads_its_outputs():
    loop = (lambda i, s: i < 3, lambda i, s: (s, [i + 1, s * 2]))
    out, (i, s) = mx.nd.contrib.while_loop(*loop, [mx.nd.zeros(1), mx.nd.ones(1)], max_iterations=5)
    assert (i.asscalar(), s.asscalar()) == (3, 8)
    assert out.asnumpy()[:3].tolist() == [[1], [2], [4]] and out.shape == (5, 1)
    out, states = mx.sym.contrib.while_loop(*loop, [mx.sym.var("i"), mx.sym.var("s")], max_iterations=5)
    results = mx.sym.Group([out, *states]).eval(i=mx.nd.zeros(1), s=mx.nd.ones(1))
    assert [r.asnumpy().ravel().tolist() for r in results] == [[1, 2, 4, 0, 0], [3], [8]]


def test_a_loop_that_never_runs():
    out, _ = mx.sym.contrib.while_loop(lambda i: i < 0, lambda i: (i * 2, [i + 1]), [mx.sym.var("i")], max_iterations=2)
    assert out.eval(i=mx.nd.ones(3)[:1])[0].asnumpy().tolist() == [[0], [0]]


@pytest.mark.parametrize(("a", "b", "wanted"), [(1, 2, 42), (9, 9, 16)])
def test_branches(a, b, wanted):
    a, b = mx.nd.array([a]), mx.nd.array([b])
    assert mx.nd.contrib.cond(a * b < 5, lambda: (a + 5) * (b + 5), lambda: (a - 5) * (b - 5)).asscalar() == wanted
    x, y = mx.sym.var("a"), mx.sym.var("b")
    net = mx.sym.contrib.cond(x * y < 5, lambda: (x + 5) * (y + 5), lambda: (x - 5) * (y - 5))
    assert net.eval(a=a, b=b)[0].asscalar() == wanted


def test_loops_inside_loops():
    def inner(element, states):
        return element + states[0], [element + states[0]]

    def outer(row, states):
        out, last = mx.sym.contrib.foreach(inner, row, states)
        return out, last

    out, last = mx.sym.contrib.foreach(outer, mx.sym.var("data"), [mx.sym.var("s")])
    results = mx.sym.Group([out, last[0]]).eval(data=mx.nd.ones((2, 3, 1)), s=mx.nd.zeros(1))
    assert results[0].asnumpy().ravel().tolist() == [1, 2, 3, 4, 5, 6]


def test_weights_of_a_body_are_deduced():
    def body(element, states):
        hidden = mx.sym.FullyConnected(element, num_hidden=4, name="fc")
        return hidden, [states[0] + hidden]

    out, states = mx.sym.contrib.foreach(body, mx.sym.var("data"), [mx.sym.var("s")])
    net = mx.sym.Group([out, *states])
    args, outs, _ = net.infer_shape(data=(3, 2, 5), s=(2, 4))
    assert dict(zip(net.list_arguments(), args, strict=True))["fc_weight"] == (4, 5)
    assert outs == [(3, 2, 4), (2, 4)]


def test_what_is_refused():
    x = mx.sym.var("x")
    with pytest.raises(AssertionError, match="have to be used"):
        mx.sym.contrib.foreach(lambda e, s: (e, [e]), x, [mx.sym.var("s")])
    with pytest.raises(ValueError, match="max_iterations"):
        mx.sym.contrib.while_loop(lambda i: i < 1, lambda i: (i, [i]), [x])
    with pytest.raises(ValueError, match="Number of outputs differs"):
        mx.sym.contrib.cond(x, lambda: x, lambda: [x, x])
    with pytest.raises(ValueError, match="consistent"):
        mx.nd.contrib.while_loop(lambda i: i < 1, lambda i: (i, [i, i]), [mx.nd.zeros(1)], max_iterations=2)


def test_small_questions_about_numbers():
    x = mx.nd.array([1, np.inf, np.nan])
    assert mx.nd.contrib.isinf(x).asnumpy().tolist() == [0, 1, 0]
    assert mx.nd.contrib.isnan(x).asnumpy().tolist() == [0, 0, 1]
    assert mx.nd.contrib.isfinite(x).asnumpy().tolist() == [1, 0, 0]
