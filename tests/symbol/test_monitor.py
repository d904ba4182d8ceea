"""Monitors: what an executor shows of its values, by the names and with the numbers that MXNet 1.9.1 showed."""

import ctypes

import numpy as np
import pytest

import mxnet as mx


def perceptron():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc_0")
    x = mx.sym.FullyConnected(mx.sym.Activation(x, act_type="sigmoid", name="act_0"), num_hidden=2, name="fc_1")
    return mx.sym.LinearRegressionOutput(x, name="softmax", grad_scale=2)


def watched(symbol, everything=False, **shapes):
    """A bound symbol with the numbers of the recording, and the list that its callback fills."""
    seen = []

    def callback(name, array):
        array = mx.nd.NDArray(ctypes.cast(array, mx.base.NDArrayHandle), writable=False)
        seen.append((mx.base.py_str(name), round(float(array.asnumpy().sum()), 4)))

    executor = symbol.simple_bind(mx.cpu(), **shapes)
    for i, array in enumerate(executor.arg_arrays):
        array[:] = np.linspace(-1, 1, array.size).reshape(array.shape) * (i + 1) * 0.3
    executor.set_monitor_callback(callback, everything)
    return executor, seen


FORWARD = [("fc_0_output", 0.2304), ("act_0_output", 2.0471), ("fc_1_output", 0.6694), ("softmax_output", 0.6694)]
BACKWARD = [
    ("softmax_backward_output0", 0.6694), ("softmax_backward_output1", 0.0), ("fc_1_backward_output0", 11.0007),
    ("fc_1_backward_output1", 0.6941), ("fc_1_backward_output2", 0.6694), ("act_0_backward_output", 2.2494),
    ("fc_0_backward_output0", 0.1279), ("fc_0_backward_output1", -0.0904), ("fc_0_backward_output2", 2.2494),
]  # fmt: skip


@pytest.mark.parametrize("train", [True, False])
def test_outputs_and_gradients(train):
    executor, seen = watched(perceptron(), data=(2, 3))
    executor.forward(is_train=train)
    assert seen == FORWARD
    seen.clear()
    executor.backward()
    assert [(name, pytest.approx(value, abs=2e-4)) for name, value in BACKWARD] == seen


def test_a_watched_run_gives_the_same_gradients():
    executor, _ = watched(perceptron(), data=(2, 3))
    plain = perceptron().bind(mx.cpu(), executor.arg_dict, [mx.nd.zeros(a.shape) for a in executor.arg_arrays])
    for one in (executor, plain):
        one.forward(is_train=True)
        one.backward()
    for mine, theirs in zip(executor.grad_arrays, plain.grad_arrays, strict=True):
        assert np.array_equal(mine.asnumpy(), theirs.asnumpy())


def test_inputs():
    executor, seen = watched(perceptron(), True, data=(2, 3))
    executor.forward()
    assert [name for name, _ in seen] == [
        "data", "fc_0_data", "fc_0_weight", "fc_0_weight", "fc_0_bias", "fc_0_bias", "fc_0_output",
        "act_0_input0", "act_0_output", "fc_1_data", "fc_1_weight", "fc_1_weight", "fc_1_bias", "fc_1_bias",
        "fc_1_output", "softmax_data", "softmax_label", "softmax_label", "softmax_output",
    ]  # fmt: skip


def test_gradients_of_a_value_used_twice_are_shown_as_their_sum():
    parts = mx.sym.SliceChannel(mx.sym.var("data"), num_outputs=2, name="sc")
    product = mx.sym.elemwise_mul(parts[0], parts[1], name="m")
    executor, seen = watched(mx.sym.elemwise_add(product, parts[0], name="a"), data=(4, 2))
    executor.forward(is_train=True)
    assert [name for name, _ in seen] == ["sc_output0", "sc_output1", "m_output", "a_output"]
    seen.clear()
    executor.backward(mx.nd.ones((4, 1)))
    assert seen == [
        ("_head_grad_0_id_output", 4.0), ("m_backward_output0", 0.1714), ("m_backward_output1", -0.1714),
        ("sum_grad_output", 4.1714), ("sc_backward_data", 4.0),
    ]  # fmt: skip


def test_nothing_is_shown_behind_a_blocked_gradient():
    x = mx.sym.var("data")
    head = mx.sym.elemwise_mul(mx.sym.elemwise_add(x, mx.sym.var("y")), x, name="m")
    group = mx.sym.Group([head, mx.sym.BlockGrad(x * 2)])
    executor, seen = watched(group, data=(2, 2), y=(2, 2))
    executor.forward(is_train=True)
    seen.clear()
    executor.backward([mx.nd.ones((2, 2)), mx.nd.ones((2, 2))])
    assert [n for n, _ in seen] == [
        "_head_grad_0_id_output", "m_backward_output0", "m_backward_output1", "sum_grad_output",
    ]  # fmt: skip


def test_random_numbers_are_drawn_once():
    x = mx.sym.var("x") + mx.sym.random.uniform(shape=(3,), name="u")
    executor, seen = watched(x, x=(3,))
    mx.random.seed(1)
    shown = executor.forward()[0].asnumpy()
    executor.set_monitor_callback(None)
    mx.random.seed(1)
    assert np.array_equal(shown, executor.forward()[0].asnumpy())


def test_monitor_applies_its_statistic():
    executor = mx.sym.exp(mx.sym.var("a") * mx.sym.var("b"), name="e").simple_bind(mx.cpu(), a=(2,), b=(2,))
    monitor = mx.mon.Monitor(1, pattern=".*output|a")
    monitor.install(executor)
    monitor.tic()
    executor.forward()
    assert [(name, text) for _, name, text in monitor.toc()] == [
        ("_mul0_output", "0.0\t"), ("e_output", "1.0\t"), ("a", "0.0\t"),
    ]  # fmt: skip


def test_monitor_logs_what_mxnet_logged(caplog):
    executor = mx.sym.exp(mx.sym.var("a"), name="e").bind(mx.cpu(), {"a": mx.nd.array([0.1, 0.7])})
    monitor = mx.mon.Monitor(1, stat_func=lambda x: [x, x.sum()])
    monitor.install(executor)
    monitor.tic()
    executor.forward()
    with caplog.at_level("INFO"):
        monitor.toc_print()
    assert caplog.messages == [
        "Batch:       1 e_output                       [1.105171  2.0137527]\t3.1189237\t",
        "Batch:       1 a                              [0.1 0.7]\t0.8\t",
    ]


def test_a_handle_outlives_nothing():
    handle = ctypes.cast(mx.nd.ones(2), mx.base.NDArrayHandle)
    with pytest.raises(mx.MXNetError, match="no array lives at the handle"):
        mx.nd.NDArray(handle)
