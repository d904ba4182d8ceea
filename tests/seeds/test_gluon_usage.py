# ruff: noqa
"""The code and the messages of the second notes (seed 001): autograd's rules, deferred initialization, parameters."""

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, gluon, init, nd
from mxnet.gluon import data as gdata
from mxnet.gluon import nn


def test_writing_into_a_recorded_array_is_an_error():
    x = nd.array([1, 2])
    x.attach_grad()
    message = "Assigning to NDArrays that are already in a computational graph will cause undefined behavior"
    with pytest.raises(mx.MXNetError, match=message):
        with autograd.record():
            for i in range(0, 10, 1):
                y = x * 2
                y[:] = x * 2
                z = y * x
                z.backward(retain_graph=True)


def test_backward_again_and_again():
    x = nd.random_normal(shape=(3))
    x.attach_grad()
    with autograd.record():
        for i in range(0, 10, 1):
            y = x * 2
            z = y * x
            z.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 4 * x.asnumpy(), rtol=1e-6)
    with autograd.record():
        for i in range(0, 10, 1):
            y = x * 2
            z = y * x
            z.backward(retain_graph=True)
    np.testing.assert_allclose(x.grad.asnumpy(), 4 * x.asnumpy(), rtol=1e-6)


def test_a_consumed_graph_is_explained():
    x = nd.array([[1, 2], [3, 4]])
    x.attach_grad()
    with autograd.record():
        y = x * 2
        z = y * x
    z.backward()
    assert (x.grad == 4 * x).asnumpy().all()
    message = "Cannot differentiate node because it is not in a computational graph"
    with pytest.raises(mx.MXNetError, match=message):
        y.backward()


def test_in_place_updates_keep_the_gradient():
    param, lr = nd.ones((2,)), 0.5
    param.attach_grad()
    with autograd.record():
        (param * 2).backward()
    param[:] = param - lr * param.grad
    assert (param.asnumpy() == 0).all() and param.grad is not None
    param = param - lr * param.grad
    assert param.grad is None


def test_deferred_initialization_explains_itself():
    net = nn.Sequential()
    net.add(nn.Dense(3))
    net.initialize()
    message = (
        "because initialization was deferred. Actual initialization happens during the first forward pass. "
        "Please pass one batch of data through the network before accessing Parameters. "
        "You can also avoid deferred initialization by specifying in_units, num_features, etc., for network layers."
    )
    with pytest.raises(gluon.parameter.DeferredInitializationError, match=message):
        net[0].weight.data()
    net = nn.Dense(3, in_units=2)
    net.initialize()
    assert net.weight.data().shape == (3, 2)


def test_batches():
    features, labels = nd.random_normal(shape=(100, 2)), nd.random_normal(shape=(100,))
    batch_size = 10
    dataset = gdata.ArrayDataset(features, labels)
    data_iter = gdata.DataLoader(dataset, batch_size, shuffle=True)

    for X, y in data_iter:
        print(X, y)
        break
    assert X.shape == (10, 2) and y.shape == (10,)


def test_access_initialization_and_sharing():
    net = nn.Sequential()
    net.add(nn.Dense(8, activation="relu"), nn.Dense(8, activation="relu"))
    net.initialize()
    x = nd.random.uniform(shape=(2, 20))
    net(x)
    assert isinstance(net[0].params, gluon.ParameterDict)
    assert isinstance(net[0].weight, gluon.Parameter)
    assert isinstance(net[0].weight.data(), nd.NDArray) and isinstance(net[0].weight.grad(), nd.NDArray)
    net.initialize(init=init.Normal(sigma=0.01), force_reinit=True)
    net[0].weight.initialize(init=init.Xavier(), force_reinit=True)
    before = net[0].weight.data().copy()
    net[0].weight.set_data(net[0].weight.data() + 1)
    np.testing.assert_allclose(net[0].weight.data().asnumpy(), before.asnumpy() + 1)
    shared = nn.Dense(8, activation="relu")
    other = nn.Dense(8, activation="relu", params=shared.params)
    assert other.weight is shared.weight
