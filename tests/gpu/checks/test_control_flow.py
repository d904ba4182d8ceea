"""Loops and conditions of `mx.nd.contrib` on a GPU, run at once and as graphs."""

import numpy as np
import pytest
import simulated
from comparing import CPU, GPU, no_races  # noqa: F401 - a fixture

import mxnet as mx
from mxnet import autograd, nd
from mxnet.gluon import nn


def foreach(F, x, w):
    outputs, state = F.contrib.foreach(lambda row, total: (row * total[0], [total[0] + row * w]), x, [w * 0 + 1])
    return F.sum(outputs) + F.sum(state[0])


def while_loop(F, x, w):
    def step(i, total):
        return total * 2, [i + 1, total * w + F.sum(x)]

    outputs, states = F.contrib.while_loop(lambda i, total: i < 3, step, [F.zeros_like(w), w], max_iterations=5)
    return F.sum(outputs[0] if isinstance(outputs, list) else outputs) + F.sum(states[1])


def cond(F, x, w):
    return F.contrib.cond(F.sum(x) > 0, lambda: F.sum(F.broadcast_mul(x, w)), lambda: F.sum(x))


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("function", [foreach, while_loop, cond])
def test_equals_the_cpu(function, hybrid):
    found = []
    for ctx in (CPU, GPU):
        x = nd.array(np.random.RandomState(0).normal(size=(4, 1)), ctx=ctx)
        w = nd.array([0.5], ctx=ctx)
        for array in (x, w):
            array.attach_grad()
        net = nn.HybridLambda(function)
        if hybrid:
            net.hybridize()
        with simulated.watched() as events, autograd.record():
            y = net(x, w)
        y.backward()
        assert y.context == x.grad.context == ctx
        found.append([a.asnumpy() for a in (y, x.grad, w.grad)])
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    if function is foreach:  # the others ask the host whether to go on
        assert not simulated.of_kind(events, "sync"), events


@pytest.mark.parametrize("function", [foreach, while_loop, cond])
def test_cuda_graphs_give_the_same_or_are_given_up(function, recwarn):
    net, plain = nn.HybridLambda(function), nn.HybridLambda(function)
    net.hybridize(static_alloc=True, static_shape=True)
    w = nd.array([0.5], ctx=GPU)
    for i in range(8):
        x = nd.array(np.random.RandomState(i).normal(size=(4, 1)), ctx=GPU)
        np.testing.assert_allclose(net(x, w).asnumpy(), plain(x, w).asnumpy(), rtol=1e-5)
    given_up = [w for w in recwarn if "without a CUDA graph" in str(w.message)]
    assert len(given_up) == (function is not foreach)
    assert mx.nd.waitall() is None
