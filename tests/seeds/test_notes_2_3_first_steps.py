# ruff: noqa
"""Chapters 2 and 3 of the long Gluon notes (seed 002): arrays, gradients, the first networks by hand and with Gluon."""

import mxnet as mx
import numpy as np


def test_2_1_ndarray():
    from mxnet import ndarray as nd

    ## 创建矩阵
    x = nd.ones((3, 4))
    x = nd.zeros((3, 4))
    y = nd.random_normal(0, 1, shape=(3, 4))
    x.shape
    x.size
    ## 操作符
    z = x + y
    z = x * y
    z = nd.exp(y)
    z = nd.dot(x, y.T)
    ## 广播
    a = nd.arange(3).reshape((3, 1))
    b = nd.arange(2).reshape((1, 2))
    c = a + b  # c.shape == (3,2)
    assert c.shape == (3, 2)
    ## 与NumPy的互转
    import numpy as np

    x = np.ones((2, 3))
    y = nd.array(x)
    z = y.asnumpy()
    assert (x == z).all()
    ## 需要新开内存的操作
    x = nd.array(x)
    y = y + x
    z = nd.zeros_like(x)
    z[:] = x + y
    ## 避免内存开销
    y += x
    y[:] = y + x
    z = nd.zeros_like(x)
    nd.elemwise_add(x, y, out=z)
    assert (z.asnumpy() == 5).all()
    ## 截取 slicing
    x = nd.arange(0, 9).reshape((3, 3))
    assert x[1:3].shape == (2, 3)
    assert (x[1:2, 1:3].asnumpy() == [[4, 5]]).all()


def test_2_2_autograd():
    import mxnet.ndarray as nd
    import mxnet.autograd as ag

    x = nd.array([[1, 2], [3, 4]])
    x.attach_grad()
    with ag.record():
        y = x * 2
        z = y * x
    z.backward()
    assert (x.grad == 4 * x).asnumpy().all()


def test_3_1_linear_regression(capsys):
    from mxnet import ndarray as nd
    from mxnet import autograd
    from mxnet import gluon

    num_inputs = 2
    num_examples = 1000
    true_w = [2, -3.4]
    true_b = 4.2
    X = nd.random_normal(shape=(num_examples, num_inputs))
    y = true_w[0] * X[:, 0] + true_w[1] * X[:, 1] + true_b
    y += 0.01 * nd.random_normal(shape=y.shape)
    ## 数据读取
    batch_size = 10
    dataset = gluon.data.ArrayDataset(X, y)
    data_iter = gluon.data.DataLoader(dataset, batch_size, shuffle=True)
    ## 定义模型
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(1))
    net.initialize()
    square_loss = gluon.loss.L2Loss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    ## 训练
    epochs = 2
    for e in range(epochs):
        total_loss = 0
        for data, label in data_iter:
            with autograd.record():
                output = net(data)
                loss = square_loss(output, label)
            loss.backward()
            trainer.step(batch_size)
            total_loss += nd.sum(loss).asscalar()
        print("Epoch %d, average loss: %f" % (e, total_loss / num_examples))
    dense = net[0]
    np.testing.assert_allclose(dense.weight.data().asnumpy(), [true_w], atol=0.02)
    np.testing.assert_allclose(dense.bias.data().asnumpy(), [true_b], atol=0.02)
    assert capsys.readouterr().out.startswith("Epoch 0, average loss: ")


def test_3_2_logistic_regression(small_mnist):
    from mxnet import ndarray as nd
    from mxnet import autograd
    from mxnet import gluon

    def transform(data, label):
        return data.astype("float32") / 255, label.astype("float32")

    mnist_train = gluon.data.vision.FashionMNIST(train=True, transform=transform)
    mnist_test = gluon.data.vision.FashionMNIST(train=False, transform=transform)
    ## 数据读取
    batch_size = 32
    train_data = gluon.data.DataLoader(mnist_train, batch_size, shuffle=True)
    test_data = gluon.data.DataLoader(mnist_test, batch_size, shuffle=False)
    ## 定义模型
    net = gluon.nn.Sequential()
    with net.name_scope():
        net.add(gluon.nn.Flatten())
        net.add(gluon.nn.Dense(10))
    net.initialize()
    softmax_cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})

    ## 计算精度
    def accuracy(output, label):
        return nd.mean(output.argmax(axis=1) == label).asscalar()

    def evaluate_accuracy(data_iterator, net):
        acc = 0.0
        for data, label in data_iterator:
            output = net(data)
            acc += accuracy(output, label)
        return acc / len(data_iterator)

    ## 训练
    epochs = 5
    for epoch in range(epochs):
        train_loss = 0.0
        train_acc = 0.0
        for data, label in train_data:
            with autograd.record():
                output = net(data)
                loss = softmax_cross_entropy(output, label)
            loss.backward()
            trainer.step(batch_size)

            train_loss += nd.mean(loss).asscalar()
            train_acc += accuracy(output, label)

        test_acc = evaluate_accuracy(test_data, net)
        print(
            "Epoch %d. Loss: %f, Train acc %f, Test acc %f"
            % (epoch, train_loss / len(train_data), train_acc / len(train_data), test_acc)
        )
    assert test_acc > 0.9
    ## 预测
    data, label = mnist_test[0:9]
    predicted_labels = net(data).argmax(axis=1)
    assert (predicted_labels.asnumpy() == label).mean() > 0.8


def test_3_3_to_3_4_multilayer_perceptron_and_dropout():
    from mxnet import gluon, nd
    from mxnet.gluon import nn

    net = gluon.nn.Sequential()
    with net.name_scope():
        net.add(gluon.nn.Flatten())
        net.add(gluon.nn.Dense(256, activation="relu"))  # 隐含层+ReLU
        net.add(gluon.nn.Dense(10))
    net.initialize()
    softmax_cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()  # 损失函数
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})  # 优化算法，学习率
    assert trainer.learning_rate == 0.5

    learning_rate, weight_decay = 0.1, 0.01
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": learning_rate, "wd": weight_decay})
    assert trainer.optimizer.wd == weight_decay

    net = nn.Sequential()
    drop_prob1 = 0.2
    drop_prob2 = 0.5

    with net.name_scope():
        net.add(nn.Flatten())
        net.add(nn.Dense(256, activation="relu"))  # 第一层全连接
        net.add(nn.Dropout(drop_prob1))  # 在第一层全连接后添加丢弃层
        net.add(nn.Dense(256, activation="relu"))  # 第二层全连接
        net.add(nn.Dropout(drop_prob2))  # 在第二层全连接后添加丢弃层
        net.add(nn.Dense(10))
    net.initialize()
    assert net(nd.ones((2, 28, 28))).shape == (2, 10)


def test_3_5_batch_normalization():
    from mxnet import nd
    from mxnet.gluon import nn

    X = nd.arange(6).reshape((1, 1, 3, 2))  # data: batch_size x channels x height x width
    mean = X.mean(axis=(0, 2, 3), keepdims=True)
    variance = ((X - mean) ** 2).mean(axis=(0, 2, 3), keepdims=True)

    eps = 1e-5
    gamma = nd.array([1])
    beta = nd.array([0])
    X_hat = (X - mean) / nd.sqrt(variance + eps)
    y = gamma.reshape(mean.shape) * X_hat + beta.reshape(mean.shape)
    moving_mean, moving_variance, moving_momentum = nd.zeros((1,)), nd.ones((1,)), 0.9
    moving_mean = moving_mean.reshape(mean.shape)
    moving_variance = moving_variance.reshape(mean.shape)
    moving_mean[:] = moving_momentum * moving_mean + (1.0 - moving_momentum) * mean
    moving_variance[:] = moving_momentum * moving_variance + (1.0 - moving_momentum) * variance

    layer = nn.BatchNorm(axis=1)
    layer.initialize()
    with mx.autograd.record():
        out = layer(X)
    out.backward()
    np.testing.assert_allclose(out.asnumpy(), y.asnumpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer.running_mean.data().asnumpy(), moving_mean.asnumpy().ravel(), rtol=1e-5)
    np.testing.assert_allclose(layer.running_var.data().asnumpy(), moving_variance.asnumpy().ravel(), rtol=1e-5)

    net = nn.Sequential()
    with net.name_scope():
        # 第一层卷积
        net.add(nn.Conv2D(channels=20, kernel_size=5))
        ### 添加了批量归一化层
        net.add(nn.BatchNorm(axis=1))
        net.add(nn.Activation(activation="relu"))
        net.add(nn.MaxPool2D(pool_size=2, strides=2))
        # 第二层卷积
        net.add(nn.Conv2D(channels=50, kernel_size=3))
        ### 添加了批量归一化层
        net.add(nn.BatchNorm(axis=1))
        net.add(nn.Activation(activation="relu"))
        net.add(nn.MaxPool2D(pool_size=2, strides=2))
        net.add(nn.Flatten())
        # 第一层全连接
        net.add(nn.Dense(128, activation="relu"))
        # 第二层全连接
        net.add(nn.Dense(10))
    net.initialize()
    assert net(nd.ones((2, 1, 28, 28))).shape == (2, 10)


def test_3_5_the_notes_own_slip_is_told_in_mxnets_words():
    """Section 3.5 takes the mean of a vector over axes it does not have."""
    import pytest
    from mxnet import nd

    X = nd.arange(6).reshape((3, 2)).mean(axis=0)
    for axes, words in [((0, 2, 3), "axis 3"), (5, "axis 5"), (-5, r"axis \[-5\]"), ((0, -4), r"axis \[0,-4\]")]:
        with pytest.raises(mx.MXNetError, match=rf"Reduction {words} Exceeds input dimensions \[2\]"):
            X.mean(axis=axes, keepdims=True)
    with pytest.raises(mx.MXNetError, match=r"Reduction axes have duplicates \[0,0\]"):
        X.sum(axis=(0, -1))
    with pytest.raises(mx.MXNetError, match="axis 3 exceeds the input dimension of 1"):
        X.argmax(axis=3)
