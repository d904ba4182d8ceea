"""Threads: modes and contexts are each thread's own, and results do not mix."""

import threading

import numpy as np

import mxnet as mx
from mxnet import autograd, nd


def test_32_threads_of_1000_mixed_calls():
    wrong = []

    def work(number):
        rng = np.random.RandomState(number)
        context = mx.cpu(number % 4)
        for i in range(1000):
            value = float(rng.randint(1, 100))
            kind = i % 4
            if kind == 0:
                with context:
                    x = nd.full((3,), value)
                    if x.context != context or (x + 1).asnumpy().tolist() != [value + 1] * 3:
                        wrong.append((number, i))
            elif kind == 1:
                x = nd.array([value])
                x.attach_grad()
                with autograd.record(train_mode=bool(i % 8 == 1)):
                    if autograd.is_training() != bool(i % 8 == 1):
                        wrong.append((number, i))
                    y = x * x
                y.backward()
                if x.grad.asscalar() != 2 * value:
                    wrong.append((number, i))
            elif kind == 2:
                if autograd.is_recording() or autograd.is_training() or mx.current_context() != mx.cpu(0):
                    wrong.append((number, i))
            elif nd.dot(nd.full((2, 2), value), nd.ones((2, 2))).asnumpy().tolist() != [[2 * value] * 2] * 2:
                wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(32)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []
