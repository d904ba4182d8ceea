"""Gradients of integer arrays; the numbers were printed by MXNet 1.9.1."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd

CASES = {
    "row": (lambda x: x[1], [3, 4, 5], [0, 0, 0, 1, 1, 1]),
    "slice": (lambda x: x[:, 1:], [1, 2, 4, 5], [0, 1, 1, 0, 1, 1]),
    "lists": (lambda x: x[[0, 1], [1, 2]], [1, 5], [0, 1, 0, 0, 0, 1]),
    "take": (lambda x: nd.take(x, nd.array([1, 1])), [3, 4, 5, 3, 4, 5], [0, 0, 0, 2, 2, 2]),
    "float": (lambda x: x.astype("float32") * 3, [0, 3, 6, 9, 12, 15], [3] * 6),
    "wider": (lambda x: x.astype("int64") * 2, [0, 2, 4, 6, 8, 10], [2] * 6),
    "product": (lambda x: x * x, [0, 1, 4, 9, 16, 25], [0, 2, 4, 6, 8, 10]),
    "square": (nd.square, [0, 1, 4, 9, 16, 25], [0, 2, 4, 6, 8, 10]),
    "concat": (lambda x: nd.concat(x, x, dim=0), [*range(6), *range(6)], [2] * 6),
    "stack": (lambda x: nd.stack(x, x), [*range(6), *range(6)], [2] * 6),
    "transposed": (lambda x: x.T, [0, 3, 1, 4, 2, 5], [1] * 6),
    "sort": (lambda x: x.sort(axis=1), [*range(6)], [1] * 6),
    "topk": (lambda x: nd.topk(x, ret_typ="value", k=2), [2, 1, 5, 4], [0, 1, 1, 0, 1, 1]),
    "max": (lambda x: x.max(), [5], [0, 0, 0, 0, 0, 1]),
    "masked": (lambda x: nd.contrib.boolean_mask(x, nd.array([0, 1])), [3, 4, 5], [0, 0, 0, 1, 1, 1]),
    "clip": (lambda x: x.clip(1, 3), [1, 1, 2, 3, 3, 3], [0, 1, 1, 1, 0, 0]),
    "gathered": (lambda x: nd.gather_nd(x, nd.array([[0, 1], [1, 1]])), [1, 4], [0, 1, 0, 0, 1, 0]),
    "absolute": (lambda x: x.abs(), [*range(6)], [0, 1, 1, 1, 1, 1]),
    "index": (lambda x: nd.argmax(x, axis=1), [2, 2], [0] * 6),
}


def test_bounds_of_the_smallest_type():
    """-128 - 0 has no absolute value in eight bits."""
    x = nd.array([-128, -127, 0, 3, 5], dtype="int8")
    x.attach_grad()
    with autograd.record():
        y = x.clip(0, 3)
    y.backward()
    assert x.grad.asnumpy().tolist() == [0, 0, 1, 1, 0]


@pytest.mark.parametrize("name", CASES)
def test_integers_are_differentiated(name):
    function, values, gradient = CASES[name]
    x = nd.arange(6, dtype="int32").reshape((2, 3))
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward()
    assert y.asnumpy().ravel().tolist() == values
    assert x.grad.dtype == np.int32 and x.grad.asnumpy().ravel().tolist() == gradient


def test_gradients_are_added_up():
    x = nd.array([1, 2], dtype="int64")
    x.attach_grad("add")
    for _ in range(3):
        with autograd.record():
            y = x * 2
        y.backward(nd.array([1, 10], dtype="int64"))
    assert x.grad.asnumpy().tolist() == [6, 60]


def test_a_variable_may_be_written():
    x = nd.array([1, 2], dtype="int32")
    x.attach_grad()
    x[:] = nd.array([3, 4], dtype="int32")
    with autograd.record():
        y = x * x
    y.backward()
    assert y.asnumpy().tolist() == [9, 16] and x.grad.asnumpy().tolist() == [6, 8]


def test_casts_pass_gradients_both_ways():
    x = nd.array([1.5, 2.5])
    x.attach_grad()
    with autograd.record():
        y = x.astype("int32") * 3
    y.backward()
    assert y.asnumpy().tolist() == [3, 6] and x.grad.asnumpy().tolist() == [3, 3]


def test_nothing_is_recorded_outside():
    x = nd.array([1, 2], dtype="int32")
    x.attach_grad()
    y = x * 2
    with pytest.raises(mx.MXNetError, match="not in a computational graph"):
        y.backward()
    assert type(y._t).__name__ == "Tensor" and y.asnumpy().tolist() == [2, 4]


@pytest.mark.parametrize("source", ["int32", "float32"])
@pytest.mark.parametrize("target", ["int32", "float32", "float16"])
def test_executors_cast(source, target):
    net = mx.sym.Cast(mx.sym.Variable("x", dtype=source), dtype=target)
    executor = net.simple_bind(mx.cpu(), x=(3,))
    executor.arg_arrays[0][:] = np.array([-1.5, 2.5, 7])
    executor.forward(is_train=True)
    executor.backward(nd.array([-1.5, 2.5, 3], dtype=target))
    assert executor.outputs[0].asnumpy().tolist() == np.array([-1.5, 2.5, 7]).astype(source).astype(target).tolist()
    assert executor.grad_arrays[0].asnumpy().tolist() == np.array([-1.5, 2.5, 3]).astype(target).astype(source).tolist()


def test_a_watched_executor_leaves_integers_out():
    net = mx.sym.Cast(mx.sym.Cast(mx.sym.Variable("x"), dtype="int32") * 2, dtype="float32")
    executor = net.simple_bind(mx.cpu(), x=(2,))
    seen = []
    executor.set_monitor_callback(lambda name, array: seen.append(name))
    executor.forward(is_train=True, x=nd.array([1.5, 2.5]))
    executor.backward(nd.ones((2,)))
    assert executor.outputs[0].asnumpy().tolist() == [2, 4] and len(seen) >= 3


def test_the_remainder_of_integers_has_no_slope():
    for remainder in (
        lambda a: a % 2,
        lambda a: -3 % a,
        lambda a: nd.broadcast_mod(a, nd.array([[2], [3]], dtype="int32")),
    ):
        a = nd.array([[5, 7, -3], [4, 2, 1]], dtype="int32")
        a.attach_grad()
        with autograd.record():
            result = remainder(a)
        result.backward()
        assert a.grad.asnumpy().tolist() == [[0, 0, 0], [0, 0, 0]]


def test_integers_that_take_recorded_numbers_hand_their_gradient_on():
    whole, number = mx.nd.zeros((2,), dtype="int32"), mx.nd.array([1.5, 2.5])
    number.attach_grad()
    with mx.autograd.record():
        whole[:] = number
    whole.backward()
    assert whole.asnumpy().tolist() == [1, 2] and number.grad.asnumpy().tolist() == [1.0, 1.0]


def test_truth_values_have_gradients_that_are_truth_values():
    one, two = nd.array([1, 0], dtype="bool"), nd.array([1], dtype="bool")
    one.attach_grad()
    two.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            y = mx.np.concatenate([one.as_np_ndarray(), two.as_np_ndarray()], axis=0)
        y.backward()
    assert one.grad.asnumpy().tolist() == [True, True] and two.grad.asnumpy().tolist() == [True]
    assert one.grad.dtype == two.grad.dtype == np.bool_


def test_truth_values_choose_and_leave_the_gradient_to_what_is_chosen():
    x = nd.array([1, 2, 3], dtype="int32")
    x.attach_grad()
    with autograd.record():
        y = nd.where(x.astype("bool"), x * 5, x)
    y.backward()
    assert x.grad.asnumpy().tolist() == [5, 5, 5]
