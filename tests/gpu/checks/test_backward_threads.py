"""A backward pass of a GPU runs in threads of torch's own: what it calls sees the modes of the caller."""

import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd

GPU = mx.gpu(0)


def _seen():
    numpy = mx.util.is_np_array(), mx.util.is_np_shape()
    return autograd.is_training(), autograd.is_recording(), *numpy, mx.current_context()


class _Twice(autograd.Function):
    def forward(self, x):
        return x * 2

    def backward(self, head):
        self.seen, self.thread = _seen(), threading.get_ident()
        return head * 2


class _Operator(mx.operator.CustomOp):
    seen = None

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        _Operator.seen = _seen()
        self.assign(in_grad[0], req[0], out_grad[0] * 2)


@mx.operator.register("threads_twice")
class _Property(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return _Operator()


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("numpy", [True, False])
def test_users_functions(train, numpy):
    x, function = nd.ones((3,), ctx=GPU), _Twice()
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(function(x), op_type="threads_twice")
    with mx.util.np_shape(numpy), mx.util.np_array(numpy), mx.gpu(1):
        y.backward(train_mode=train)
    assert function.thread != threading.get_ident()  # else nothing was tested
    assert function.seen == _Operator.seen == (train, False, numpy, numpy, mx.gpu(1))
    assert (x.grad.asnumpy() == 4).all()


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("way", ["backward", "grad", "executor"])
def test_gradients_of_batch_norm_by_moving_statistics(way, train):
    """In training mode MXNet takes the moving statistics for the batch's own when it differentiates."""
    data = np.random.RandomState(0).normal(size=(4, 3))

    def gradient(ctx):
        x, vectors = nd.array(data, ctx=ctx), [nd.array([v] * 3, ctx=ctx) for v in (1.5, 0.5, 0.1, 2.0)]
        if way == "executor":
            names = ("gamma", "beta"), ("moving_mean", "moving_var")
            net = mx.sym.BatchNorm(*map(mx.sym.var, ("x", *names[0], *names[1])), fix_gamma=False)
            arguments, grads = dict(zip(("x", *names[0]), [x, *vectors[:2]], strict=True)), {"x": nd.zeros_like(x)}
            bound = net.bind(ctx, arguments, grads, aux_states=dict(zip(names[1], vectors[2:], strict=True)))
            bound.forward(is_train=False)
            bound.backward(nd.array(data**2, ctx=ctx), is_train=train)
            return grads["x"].asnumpy()
        x.attach_grad()
        with autograd.record(train_mode=False):
            y = nd.BatchNorm(x, *vectors, fix_gamma=False)
        head = nd.array(data**2, ctx=ctx)
        if way == "grad":
            return autograd.grad(y, x, head, train_mode=train)[0].asnumpy()
        y.backward(head, train_mode=train)
        return x.grad.asnumpy()

    np.testing.assert_allclose(gradient(GPU), gradient(mx.cpu()), rtol=1e-5, atol=1e-6)


def test_threads_with_other_modes_do_not_disturb_each_other():
    found, barrier = {}, threading.Barrier(2)

    def run(train):
        x = nd.ones((3,), ctx=GPU)
        x.attach_grad()
        for _ in range(20):
            function = _Twice()
            with autograd.record():
                y = function(x)
            barrier.wait()
            y.backward(train_mode=train)
            found.setdefault(train, set()).add(function.seen[0])

    threads = [threading.Thread(target=run, args=(train,)) for train in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {True: {True}, False: {False}}
