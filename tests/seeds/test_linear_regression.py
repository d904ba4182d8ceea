# ruff: noqa
"""The code of the MXNet introduction (seed 003): device groups, linear regression by hand and with Gluon."""

import random

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, nd


def test_ctx_group():
    with mx.AttrScope(ctx_group="stage1"):
        data = mx.symbol.Variable("data")
        fc1 = mx.symbol.FullyConnected(data=data, name="fc1", num_hidden=128)
        act1 = mx.symbol.Activation(data=fc1, name="relu1", act_type="relu")

    set_stage1 = set(act1.list_arguments())
    print(list(act1.list_arguments()))
    with mx.AttrScope(ctx_group="stage2"):
        fc2 = mx.symbol.FullyConnected(data=act1, name="fc2", num_hidden=64)
        act2 = mx.symbol.Activation(data=fc2, name="relu2", act_type="relu")
        fc3 = mx.symbol.FullyConnected(data=act2, name="fc3", num_hidden=10)
        fc3 = mx.symbol.BatchNorm(fc3)
        mlp = mx.symbol.SoftmaxOutput(data=fc3, name="softmax")

    set_stage2 = set(mlp.list_arguments()) - set_stage1
    print(list(mlp.list_arguments()))
    print("set_stage2", set_stage2)
    group2ctx = {"stage1": mx.cpu(0), "stage2": mx.cpu(1)}
    texec = mlp.simple_bind(mx.cpu(0), group2ctx=group2ctx, data=(1, 200))

    for arr, name in zip(texec.arg_arrays, mlp.list_arguments()):
        if name in set_stage1:
            assert arr.context == group2ctx["stage1"]
        else:
            assert arr.context == group2ctx["stage2"]


num_inputs = 2
num_examples = 1000
true_w = [2, -3.4]
true_b = 4.2


def samples():
    features = nd.random.normal(scale=1, shape=(num_examples, num_inputs))
    labels = true_w[0] * features[:, 0] + true_w[1] * features[:, 1] + true_b
    # noise
    labels += nd.random.normal(scale=1, shape=labels.shape)
    return features, labels


def test_by_hand():
    features, labels = samples()
    batch_size = 10

    def data_iter(batch_size, features, labels):
        num_examples = len(features)
        indices = list(range(num_examples))
        random.shuffle(indices)
        for i in range(0, num_examples, batch_size):
            j = nd.array(indices[i : min(i + batch_size, num_examples)])
            yield features.take(j), labels.take(j)

    w = nd.random.normal(scale=0.01, shape=(num_inputs, 1))
    b = nd.zeros(shape=(1,))
    # create gradient
    w.attach_grad()
    b.attach_grad()

    # 网络定义
    def linreg(x, w, b):
        return nd.dot(x, w) + b

    # 损失函数定义
    def square_loss(y_hat, y):
        return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2

    # 优化器定义
    def sgd(params, lr, batch_size):
        for param in params:
            param[:] = param - lr * param.grad / batch_size

    lr = 0.03
    num_epochs = 3
    net = linreg
    loss = square_loss
    for epoch in range(num_epochs):
        for x, y in data_iter(batch_size, features, labels):
            with autograd.record():
                # 计算当前batch的损失值，用于反向传播
                l = loss(net(x, w, b), y)
            # 损失值或误差反向传播，方法嵌入在mxnet中，直接调用，相当于nd.sum(loss).backward()
            l.backward()
            # 优化参数
            sgd([w, b], lr, batch_size)
        train_l = loss(net(features, w, b), labels)
        print("epoch %d, loss %f" % (epoch + 1, train_l.mean().asnumpy()))
    assert train_l.mean().asscalar() < 0.6
    np.testing.assert_allclose(w.asnumpy().ravel(), true_w, atol=0.2)


def test_with_gluon():
    features, labels = samples()
    # gluon
    from mxnet.gluon import data as gdata

    batch_size = 10
    dataset = gdata.ArrayDataset(features, labels)
    train_iter = gdata.DataLoader(dataset, batch_size, shuffle=True)
    # 1. 定义网络
    from mxnet.gluon import nn

    net = nn.Sequential()
    # 输出1个值
    net.add(nn.Dense(1))
    # 2. 初始化网络参数
    from mxnet import init

    net.initialize(init.Normal(sigma=0.01))
    # 3. 定义损失函数
    from mxnet.gluon import loss as gloss

    loss = gloss.L2Loss()
    # 定义优化器，使用什么优化算法
    from mxnet import gluon

    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.03})
    num_epochs = 3
    for epoch in range(num_epochs):
        for x, y in train_iter:
            #
            with autograd.record():
                # 计算batch下网络损失值
                l = loss(net(x), y)
            # 反向传播，相当于nd.sum(loss).backward()
            l.backward()
            # 优化参数值，将前面batch size的loss进行归一化，trainer.step(batch_size)相当于除以batch size
            trainer.step(batch_size)
        l = loss(net(features), labels)
        print("epoch %d, loss %.4f" % (epoch + 1, l.mean().asnumpy()))
    assert l.mean().asscalar() < 0.6
    np.testing.assert_allclose(net[0].weight.data().asnumpy().ravel(), true_w, atol=0.2)


def test_a_list_of_contexts_cannot_be_bound():
    out = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2)
    with pytest.raises((AttributeError, TypeError, mx.MXNetError)):
        out.simple_bind([mx.cpu(0), mx.cpu(1)], data=(1, 200))
