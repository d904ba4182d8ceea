"""NDArray as the notes use it, with what MXNet prints."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd


def test_mean_of_the_notes():
    x = nd.array([[1, 2, 3], [3, 2, 1]])
    x.attach_grad()
    with autograd.record(False):
        y = nd.mean(x)
        y.backward()
    assert repr(y) == "\n[2.]\n<NDArray 1 @cpu(0)>"
    assert repr(x.grad) == (
        "\n[[0.16666667 0.16666667 0.16666667]\n [0.16666667 0.16666667 0.16666667]]\n<NDArray 2x3 @cpu(0)>"
    )


def test_max_gives_every_tied_element_the_whole_gradient():
    x = nd.array([[1, 2, 3], [3, 2, 1]])
    x.attach_grad()
    with autograd.record(False):
        y = nd.max(x)
        y.backward()
    assert repr(x.grad) == "\n[[0. 0. 1.]\n [1. 0. 0.]]\n<NDArray 2x3 @cpu(0)>"


def test_mean_plus_array_has_gradient_three():
    x = nd.array([[1, 2, 3], [3, 2, 1]])
    x.attach_grad()
    with autograd.record(False):
        y = nd.mean(x) + 2 * x
        y.backward()
    assert (x.grad.asnumpy() == 3).all()


def test_siamese_loss():
    left, right, same = nd.array([[1, 2], [3, 4]]), nd.array([[1, 2], [0, 0]]), nd.array([1, 0])
    d = nd.norm(left - right, axis=1)
    loss = same * d * d + (1 - same) * nd.relu(1.0 - d) * nd.relu(1.0 - d)
    assert loss.asnumpy().tolist() == [0.0, 0.0]


def test_section_two_of_the_book_notes():
    x = nd.ones((3, 4))
    y = nd.random_normal(0, 1, shape=(3, 4))
    assert x.shape == (3, 4) and x.size == 12
    assert nd.dot(x, y.T).shape == (3, 3)
    c = nd.arange(3).reshape((3, 1)) + nd.arange(2).reshape((1, 2))
    assert c.asnumpy().tolist() == [[0, 1], [1, 2], [2, 3]]
    y = nd.array(np.ones((2, 3)))
    z = nd.zeros_like(y)
    z[:] = y + y
    nd.elemwise_add(z, y, out=z)
    y += z
    assert y.asnumpy().tolist() == [[4, 4, 4], [4, 4, 4]]
    x = nd.arange(0, 9).reshape((3, 3))
    assert x[1:3].asnumpy().tolist() == [[3, 4, 5], [6, 7, 8]]
    assert x[1:2, 1:3].asnumpy().tolist() == [[4, 5]]


def test_mixed_dtypes_raise_in_mxnets_words():
    with pytest.raises(mx.MXNetError, match="Incompatible attr in node  at 1-th input: expected int32, got float32"):
        nd.ones((2,), dtype="int32") + nd.ones((2,))


def test_writing_to_a_recorded_array_raises_in_mxnets_words():
    x = nd.random_normal(shape=(3,))
    x.attach_grad()
    with (
        autograd.record(),
        pytest.raises(mx.MXNetError, match="Assigning to NDArrays that are already in a computational"),
    ):
        x[:] = x * 2
    with autograd.record(), pytest.raises(mx.MXNetError, match="inplace operations like"):
        x += 1


def test_a_second_backward_needs_retain_graph():
    x = nd.array([[1, 2], [3, 4]])
    x.attach_grad()
    with autograd.record():
        y = x * 2
        z = y * x
    z.backward()
    assert (x.grad == 4 * x).asnumpy().all()
    for again in (z, y):
        with pytest.raises(mx.MXNetError, match="Cannot differentiate node because it is not in a computational graph"):
            again.backward()


def test_linear_regression_by_hand_learns():
    mx.random.seed(1)
    features = nd.random.normal(scale=1, shape=(1000, 2))
    labels = 2 * features[:, 0] - 3.4 * features[:, 1] + 4.2
    labels += nd.random.normal(scale=0.01, shape=labels.shape)
    w, b = nd.random.normal(scale=0.01, shape=(2, 1)), nd.zeros(shape=(1,))
    w.attach_grad()
    b.attach_grad()
    for _ in range(3):
        for i in range(0, 1000, 10):
            rows = nd.arange(i, i + 10)
            x, y = features.take(rows), labels.take(rows)
            with autograd.record():
                loss = (nd.dot(x, w) + b - y.reshape((10, 1))) ** 2 / 2
            loss.backward()
            for p in (w, b):
                p[:] = p - 0.03 * p.grad / 10
    assert np.allclose(w.asnumpy().ravel(), [2, -3.4], atol=0.01) and abs(b.asscalar() - 4.2) < 0.01
