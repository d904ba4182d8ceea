# ruff: noqa
"""The code of the long Gluon notes (seed 002): arrays, first networks, the famous ones, Gluon's basics."""

import mxnet as mx
import numpy as np
import pytest


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


def test_4_1_convolution_and_pooling():
    from mxnet import nd

    w = nd.arange(4).reshape((1, 1, 2, 2))
    b = nd.array([1])
    data = nd.arange(9).reshape((1, 1, 3, 3))
    out = nd.Convolution(data, w, b, kernel=w.shape[2:], num_filter=w.shape[1])  # 输出：[1,1,2,2]
    assert (out.asnumpy() == [[[[20, 26], [38, 44]]]]).all()
    out = nd.Convolution(
        data, w, b, kernel=w.shape[2:], num_filter=w.shape[1], stride=(2, 2), pad=(1, 1)
    )  # 输出：[1,1,2,2]
    assert out.shape == (1, 1, 2, 2)
    ## 多个输入通道
    w = nd.arange(8).reshape((1, 2, 2, 2))
    data = nd.arange(18).reshape((1, 2, 3, 3))
    out = nd.Convolution(data, w, b, kernel=w.shape[2:], num_filter=w.shape[0])  # 输出：[1,1,2,2]
    assert out.shape == (1, 1, 2, 2)
    ## 多个输出通道
    w = nd.arange(16).reshape((2, 2, 2, 2))
    b = nd.array([1, 2])
    data = nd.arange(18).reshape((1, 2, 3, 3))
    out = nd.Convolution(data, w, b, kernel=w.shape[2:], num_filter=w.shape[0])  # 输出：[1,2,2,2]
    assert out.shape == (1, 2, 2, 2)
    out = nd.arange(18).reshape((1, 2, 3, 3))
    max_pool = nd.Pooling(data=out, pool_type="max", kernel=(2, 2))
    avg_pool = nd.Pooling(data=out, pool_type="avg", kernel=(2, 2))
    assert (max_pool.asnumpy()[0, 0] == [[4, 5], [7, 8]]).all()
    assert (avg_pool.asnumpy()[0, 0] == [[2, 3], [5, 6]]).all()


def lenet():
    from mxnet.gluon import nn

    ## LeNet
    # 两个卷积-池化层，两个全连接层
    net = nn.Sequential()
    with net.name_scope():
        net.add(
            nn.Conv2D(channels=20, kernel_size=5, activation="relu"),
            nn.MaxPool2D(pool_size=2, strides=2),
            nn.Conv2D(channels=50, kernel_size=3, activation="relu"),
            nn.MaxPool2D(pool_size=2, strides=2),
            nn.Flatten(),
            nn.Dense(128, activation="relu"),
            nn.Dense(10),
        )
    return net


def alexnet():
    from mxnet.gluon import nn

    net = nn.Sequential()
    with net.name_scope():
        net.add(
            # 第一阶段 kernel_size=11x11, channels=96
            nn.Conv2D(channels=96, kernel_size=11, strides=4, activation="relu"),
            nn.MaxPool2D(pool_size=3, strides=2),
            # 第二阶段 kernel_size=5x5, channels=256,
            nn.Conv2D(channels=256, kernel_size=5, padding=2, activation="relu"),
            nn.MaxPool2D(pool_size=3, strides=2),
            # 第三阶段 kernel_size=3x3, channels=[384, 384, 256]
            nn.Conv2D(channels=384, kernel_size=3, padding=1, activation="relu"),
            nn.Conv2D(channels=384, kernel_size=3, padding=1, activation="relu"),
            nn.Conv2D(channels=256, kernel_size=3, padding=1, activation="relu"),
            nn.MaxPool2D(pool_size=3, strides=2),
            # 第四阶段
            nn.Flatten(),
            nn.Dense(4096, activation="relu"),
            nn.Dropout(0.5),
            # 第五阶段
            nn.Dense(4096, activation="relu"),
            nn.Dropout(0.5),
            # 第六阶段
            nn.Dense(10),
        )
    return net


def vgg():
    from mxnet.gluon import nn

    def vgg_block(num_convs, channels):
        out = nn.Sequential()
        for _ in range(num_convs):
            out.add(nn.Conv2D(channels=channels, kernel_size=3, padding=1, activation="relu"))
        out.add(nn.MaxPool2D(pool_size=2, strides=2))
        return out

    def vgg_stack(architecture):
        out = nn.Sequential()
        for num_convs, channels in architecture:
            out.add(vgg_block(num_convs, channels))
        return out

    ## VGG-11
    num_outputs = 10
    architecture = ((1, 64), (1, 128), (2, 256), (2, 512), (2, 512))
    net = nn.Sequential()
    with net.name_scope():
        net.add(
            vgg_stack(architecture),
            nn.Flatten(),
            nn.Dense(4096, activation="relu"),
            nn.Dropout(0.5),
            nn.Dense(4096, activation="relu"),
            nn.Dropout(0.5),
            nn.Dense(num_outputs),
        )
    return net


def nin():
    from mxnet.gluon import nn

    def mlpconv(channels, kernel_size, padding, strides=1, max_pooling=True):
        out = nn.Sequential()
        out.add(
            nn.Conv2D(channels=channels, kernel_size=kernel_size, strides=strides, padding=padding, activation="relu"),
            nn.Conv2D(channels=channels, kernel_size=1, padding=0, strides=1, activation="relu"),
            nn.Conv2D(channels=channels, kernel_size=1, padding=0, strides=1, activation="relu"),
        )
        if max_pooling:
            out.add(nn.MaxPool2D(pool_size=3, strides=2))
        return out

    net = nn.Sequential()
    with net.name_scope():
        net.add(
            mlpconv(96, 11, 0, strides=4),
            mlpconv(256, 5, 2),
            mlpconv(384, 3, 1),
            nn.Dropout(0.5),
            # 目标类为10类
            mlpconv(10, 3, 1, max_pooling=False),
            # 输入为 batch_size x 10 x 5 x 5, 通过AvgPool2D转成
            # batch_size x 10 x 1 x 1。
            nn.AvgPool2D(pool_size=5),
            # 转成 batch_size x 10
            nn.Flatten(),
        )
    return net


def googlenet():
    from mxnet.gluon import nn
    from mxnet import nd

    class Inception(nn.Block):
        def __init__(self, n1_1, n2_1, n2_3, n3_1, n3_5, n4_1, **kwargs):
            super(Inception, self).__init__(**kwargs)
            # path 1: conv 1x1
            self.p1_conv_1 = nn.Conv2D(n1_1, kernel_size=1, activation="relu")
            # path 2: conv 1x1 conv 3x3
            self.p2_conv_1 = nn.Conv2D(n2_1, kernel_size=1, activation="relu")
            self.p2_conv_3 = nn.Conv2D(n2_3, kernel_size=3, padding=1, activation="relu")
            # path 3: conv 1x1 conv 5x5
            self.p3_conv_1 = nn.Conv2D(n3_1, kernel_size=1, activation="relu")
            self.p3_conv_5 = nn.Conv2D(n3_5, kernel_size=5, padding=2, activation="relu")
            # path 4: pool 3x3 conv 1x1
            self.p4_pool_3 = nn.MaxPool2D(pool_size=3, padding=1, strides=1)
            self.p4_conv_1 = nn.Conv2D(n4_1, kernel_size=1, activation="relu")

        def forward(self, x):
            p1 = self.p1_conv_1(x)
            p2 = self.p2_conv_3(self.p2_conv_1(x))
            p3 = self.p3_conv_5(self.p3_conv_1(x))
            p4 = self.p4_conv_1(self.p4_pool_3(x))
            return nd.concat(p1, p2, p3, p4, dim=1)

    class GoogLeNet(nn.Block):
        def __init__(self, num_classes, verbose=False, **kwargs):
            super(GoogLeNet, self).__init__(**kwargs)
            self.verbose = verbose
            with self.name_scope():
                # block 1
                b1 = nn.Sequential()
                b1.add(
                    nn.Conv2D(64, kernel_size=7, strides=2, padding=3, activation="relu"),
                    nn.MaxPool2D(pool_size=3, strides=2),
                )
                # block 2
                b2 = nn.Sequential()
                b2.add(
                    nn.Conv2D(64, kernel_size=1),
                    nn.Conv2D(192, kernel_size=3, padding=1),
                    nn.MaxPool2D(pool_size=3, strides=2),
                )
                # block 3
                b3 = nn.Sequential()
                b3.add(
                    Inception(64, 96, 128, 16, 32, 32),
                    Inception(128, 128, 192, 32, 96, 64),
                    nn.MaxPool2D(pool_size=3, strides=2),
                )
                # block 4
                b4 = nn.Sequential()
                b4.add(
                    Inception(192, 96, 208, 16, 48, 64),
                    Inception(160, 112, 224, 24, 64, 64),
                    Inception(128, 128, 256, 24, 64, 64),
                    Inception(112, 144, 288, 32, 64, 64),
                    Inception(256, 160, 320, 32, 128, 128),
                    nn.MaxPool2D(pool_size=3, strides=2),
                )
                # block 5
                b5 = nn.Sequential()
                b5.add(
                    Inception(256, 160, 320, 32, 128, 128),
                    Inception(384, 192, 384, 48, 128, 128),
                    nn.AvgPool2D(pool_size=2),
                )
                # block 6
                b6 = nn.Sequential()
                b6.add(nn.Flatten(), nn.Dense(num_classes))
                # chain blocks together
                self.net = nn.Sequential()
                self.net.add(b1, b2, b3, b4, b5, b6)

        def forward(self, x):
            out = x
            for i, b in enumerate(self.net):
                out = b(out)
                if self.verbose:
                    print("Block %d output: %s" % (i + 1, out.shape))
            return out

    return GoogLeNet(10, verbose=True)


def resnet():
    from mxnet.gluon import nn
    from mxnet import nd

    class Residual(nn.Block):
        def __init__(self, channels, same_shape=True, **kwargs):
            super(Residual, self).__init__(**kwargs)
            self.same_shape = same_shape
            strides = 1 if same_shape else 2
            self.conv1 = nn.Conv2D(channels, kernel_size=3, padding=1, strides=strides)
            self.bn1 = nn.BatchNorm()
            self.conv2 = nn.Conv2D(channels, kernel_size=3, padding=1)
            self.bn2 = nn.BatchNorm()
            if not same_shape:  # 如果输入的通道数和输出不一样时，使用一个额外的1×1卷积来做通道变化
                self.conv3 = nn.Conv2D(channels, kernel_size=1, strides=strides)

        def forward(self, x):
            out = nd.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            if not self.same_shape:
                x = self.conv3(x)
            return nd.relu(out + x)

    class ResNet(nn.Block):
        def __init__(self, num_classes, verbose=False, **kwargs):
            super(ResNet, self).__init__(**kwargs)
            self.verbose = verbose
            with self.name_scope():
                # block 1: conv 7x7
                b1 = nn.Conv2D(64, kernel_size=7, strides=2)
                # block 2: pool 3x3 + Residual(64) + Residual(64)
                b2 = nn.Sequential()
                b2.add(nn.MaxPool2D(pool_size=3, strides=2), Residual(64), Residual(64))
                # block 3: Residual(128) + Residual(128)
                b3 = nn.Sequential()
                b3.add(Residual(128, same_shape=False), Residual(128))
                # block 4: Residual(256) + Residual(256)
                b4 = nn.Sequential()
                b4.add(Residual(256, same_shape=False), Residual(256))
                # block 5: Residual(512) + Residual(512)
                b5 = nn.Sequential()
                b5.add(Residual(512, same_shape=False), Residual(512))
                # block 6: pool 3x3 + dense
                b6 = nn.Sequential()
                b6.add(nn.AvgPool2D(pool_size=3), nn.Dense(num_classes))
                # chain all blocks together
                self.net = nn.Sequential()
                self.net.add(b1, b2, b3, b4, b5, b6)

        def forward(self, x):
            out = x
            for i, b in enumerate(self.net):
                out = b(out)
                if self.verbose:
                    print("Block %d output: %s" % (i + 1, out.shape))
            return out

    return ResNet(10)


def densenet():
    from mxnet import nd
    from mxnet.gluon import nn

    def conv_block(channels):
        out = nn.Sequential()
        out.add(nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(channels, kernel_size=3, padding=1))
        return out

    class DenseBlock(nn.Block):
        def __init__(self, layers, growth_rate, **kwargs):
            super(DenseBlock, self).__init__(**kwargs)
            self.net = nn.Sequential()
            for i in range(layers):
                self.net.add(conv_block(growth_rate))

        def forward(self, x):
            for layer in self.net:
                out = layer(x)
                x = nd.concat(x, out, dim=1)
            return x

    def transition_block(channels):
        out = nn.Sequential()
        out.add(
            nn.BatchNorm(),
            nn.Activation("relu"),
            nn.Conv2D(channels, kernel_size=1),
            nn.AvgPool2D(pool_size=2, strides=2),
        )
        return out

    init_channels = 64
    growth_rate = 32
    block_layers = [6, 12, 24, 16]
    num_classes = 10

    def dense_net():
        net = nn.Sequential()
        with net.name_scope():
            # first block: conv 7x7 + pool 3x3
            net.add(
                nn.Conv2D(init_channels, kernel_size=7, strides=2, padding=3),
                nn.BatchNorm(),
                nn.Activation("relu"),
                nn.MaxPool2D(pool_size=3, strides=2, padding=1),
            )
            # dense blocks: DenseBlock + transition_block
            channels = init_channels
            for i, layers in enumerate(block_layers):
                net.add(DenseBlock(layers, growth_rate))
                channels += layers * growth_rate
                if i != len(block_layers) - 1:
                    net.add(transition_block(channels // 2))
            # last block: pool + dense
            net.add(
                nn.BatchNorm(), nn.Activation("relu"), nn.AvgPool2D(pool_size=1), nn.Flatten(), nn.Dense(num_classes)
            )
        return net

    return dense_net()


# The first losses after `mx.random.seed(42)`, as real MXNet 1.9.1 prints them for the same steps.
NETWORKS = {
    "lenet": (lenet, (4, 1, 28, 28)),
    "alexnet": (alexnet, (1, 1, 96, 96)),
    "vgg": (vgg, (1, 1, 32, 32)),
    "nin": (nin, (1, 1, 224, 224)),
    "googlenet": (googlenet, (1, 1, 96, 96)),
    "resnet": (resnet, (2, 1, 96, 96)),
    "densenet": (densenet, (2, 1, 64, 64)),
}


def first_losses(name, steps=3):
    from mxnet import autograd, gluon, init, nd

    build, shape = NETWORKS[name]
    mx.random.seed(42)
    net = build()
    for layer in net if isinstance(net, gluon.nn.Sequential) else []:
        if isinstance(layer, gluon.nn.Dropout):
            layer._rate = 0  # its masks are each engine's own
    net.initialize(init=init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001})
    objective = gluon.loss.SoftmaxCrossEntropyLoss()
    data = nd.array(np.random.RandomState(0).rand(*shape))
    label = nd.array(np.arange(shape[0]) % 10)
    losses = []
    for _ in range(steps):
        with autograd.record():
            loss = objective(net(data), label)
        loss.backward()
        trainer.step(shape[0])
        losses.append(float(nd.mean(loss).asscalar()))
    return losses


@pytest.mark.parametrize("name", NETWORKS)
def test_4_networks_train_like_mxnet(name):
    import json, pathlib

    recorded = json.loads((pathlib.Path(__file__).parent.parent / "data" / "seed_networks.json").read_text())
    np.testing.assert_allclose(first_losses(name), recorded[name], rtol=1e-4, atol=1e-5)


def test_5_1_networks_of_ones_own():
    from mxnet import nd
    from mxnet.gluon import nn

    ## 简单神经网络的定义
    # 通过nn.Sequential
    net = nn.Sequential()
    with net.name_scope():
        net.add(nn.Dense(256, activation="relu"))
        net.add(nn.Dense(10))

    # 通过继承nn.Block类，定义__init__和forward基本方法
    class MLP(nn.Block):
        def __init__(self, **kwargs):  # 参数可以传入prefix和params
            super(MLP, self).__init__(**kwargs)  # 调用nn.Block的__init__
            with self.name_scope():  # 调用nn.Block提供的name_scope()
                self.dense0 = nn.Dense(256)
                self.dense1 = nn.Dense(10)

        def forward(self, x):
            return self.dense1(nd.relu(self.dense0(x)))

    net = MLP()

    # nn.Sequential的简单定义
    class MySequential(nn.Block):
        def __init__(self, **kwargs):
            super(MySequential, self).__init__(**kwargs)

        def add(self, block):
            self._children.append(block)

        def forward(self, x):
            for block in self._children:
                x = block(x)
            return x

    net4 = MySequential()
    with net4.name_scope():
        net4.add(nn.Dense(256, activation="relu"))
        net4.add(nn.Dense(10))

    # 使用nn.Block更灵活的定义
    class FancyMLP(nn.Block):
        def __init__(self, **kwargs):
            super(FancyMLP, self).__init__(**kwargs)
            with self.name_scope():
                self.dense = nn.Dense(256)
                self.weight = nd.random_uniform(shape=(256, 20))

        def forward(self, x):
            x = nd.relu(self.dense(x))
            x = nd.relu(nd.dot(x, self.weight) + 1)
            x = nd.relu(self.dense(x))
            return x

    # nn.Block与nn.Sequential嵌套使用
    class RecMLP(nn.Block):
        def __init__(self, **kwargs):
            super(RecMLP, self).__init__(**kwargs)
            self.net = nn.Sequential()
            with self.name_scope():
                self.net.add(nn.Dense(256, activation="relu"))
                self.net.add(nn.Dense(128, activation="relu"))
                self.dense = nn.Dense(64)

        def forward(self, x):
            return nd.relu(self.dense(self.net(x)))

    rec_mlp = nn.Sequential()
    rec_mlp.add(RecMLP())
    rec_mlp.add(nn.Dense(10))

    x = nd.random.uniform(shape=(2, 20))
    for block, width in ((net, 10), (net4, 10), (FancyMLP(), 256), (rec_mlp, 10)):
        block.initialize()
        assert block(x).shape == (2, width)


def test_5_1_layers_of_ones_own():
    from mxnet import nd
    from mxnet.gluon import nn

    ## 不需要维护模型参数的简单自定义层
    class CenteredLayer(nn.Block):
        def __init__(self, **kwargs):
            super(CenteredLayer, self).__init__(**kwargs)

        def forward(self, x):
            return x - x.mean()

    layer = CenteredLayer()
    assert (layer(nd.array([1, 2, 3, 4, 5])).asnumpy() == [-2, -1, 0, 1, 2]).all()
    net = nn.Sequential()
    with net.name_scope():
        net.add(nn.Dense(128))
        net.add(nn.Dense(10))
        net.add(layer)
    net.initialize()
    assert abs(net(nd.random.uniform(shape=(4, 8))).mean().asscalar()) < 1e-6

    ## 带模型参数的自定义层
    class MyDense(nn.Block):
        def __init__(self, units, in_units, **kwargs):
            super(MyDense, self).__init__(**kwargs)
            with self.name_scope():
                self.weight = self.params.get("weight", shape=(in_units, units))
                self.bias = self.params.get("bias", shape=(units,))

        def forward(self, x):
            linear = nd.dot(x, self.weight.data()) + self.bias.data()
            return nd.relu(linear)

    dense = MyDense(5, in_units=10, prefix="o_my_dense_")
    assert str(dense.params) == (
        "o_my_dense_ (\n"
        "  Parameter o_my_dense_weight (shape=(10, 5), dtype=<class 'numpy.float32'>)\n"
        "  Parameter o_my_dense_bias (shape=(5,), dtype=<class 'numpy.float32'>)\n)"
    )
    net = nn.Sequential()
    with net.name_scope():
        net.add(MyDense(32, in_units=64))
        net.add(MyDense(2, in_units=32))
    net.initialize()
    assert net(nd.random.uniform(shape=(2, 64))).shape == (2, 2)


def test_5_2_access_initialization_and_sharing(capsys):
    from mxnet import init, nd
    from mxnet.gluon import nn

    net = nn.Sequential(prefix="sequential0_")
    with net.name_scope():
        net.add(nn.Dense(4, activation="relu"))
        net.add(nn.Dense(2))
    net.initialize()  # 把所有权重初始化成在[-0.07, 0.07]之间均匀分布的随机数
    x = nd.random.uniform(shape=(3, 5))
    net(x)
    w = net[0].weight
    b = net[0].bias
    w.data()
    b.data()  # 访问参数
    w.grad()
    b.grad()  # 访问梯度
    assert abs(w.data().asnumpy()).max() <= 0.07
    # 通过collect_params来访问Block里面所有的参数
    params = net.collect_params()  # 会返回一个名字到对应Parameter的dict
    params["sequential0_dense0_bias"].data()
    params.get("dense0_weight").data()  # 使用get不需要填写名字前缀
    params.initialize(init=init.Normal(sigma=0.02), force_reinit=True)  # 正态分布初始化
    ## 共享模型参数
    net = nn.Sequential()
    with net.name_scope():
        net.add(nn.Dense(4, activation="relu"))
        net.add(nn.Dense(4, activation="relu"))
        net.add(nn.Dense(4, activation="relu", params=net[-1].params))
        net.add(nn.Dense(2))
    net.initialize()
    net(nd.ones((1, 4)))
    assert net[1].weight is net[2].weight

    class MyInit(init.Initializer):
        def __init__(self):
            super(MyInit, self).__init__()
            self._verbose = True

        def _init_weight(self, _, arr):
            # 初始化权重，使用out=arr后我们不需指定形状
            print("init weight", arr.shape)
            nd.random.uniform(low=5, high=10, out=arr)

    net = nn.Sequential()
    net.add(nn.Dense(4))
    net.initialize(MyInit())
    net(x)  # 因为延后初始化，所以要调用一次才会初始化
    assert "init weight (4, 5)" in capsys.readouterr().out
    data = net[0].weight.data().asnumpy()
    assert data.min() >= 5 and data.max() <= 10


def test_5_3_files(tmp_path):
    from mxnet import nd
    from mxnet.gluon import nn

    x = nd.ones(3)
    y = nd.zeros(4)
    filename = str(tmp_path / "test1.params")
    nd.save(filename, [x, y])  # save写入文件
    a, b = nd.load(filename)  # load读入文件
    assert a.shape == (3,) and b.shape == (4,)

    net = nn.Sequential()
    with net.name_scope():
        net.add(nn.Dense(10, activation="relu"))
        net.add(nn.Dense(2))
    net.initialize()
    x = nd.random.uniform(shape=(2, 10))
    net(x)
    filename = str(tmp_path / "mlp.params")
    with pytest.warns(UserWarning):
        net.save_params(filename)  # save_params写入模型参数

    net2 = nn.Sequential()
    with net2.name_scope():
        net2.add(nn.Dense(10, activation="relu"))
        net2.add(nn.Dense(2))
    with pytest.warns(UserWarning):
        net2.load_params(filename)  # load_params读入相同模型的参数
    assert (net2(x).asnumpy() == net(x).asnumpy()).all()


def test_5_4_contexts():
    from mxnet import gluon, nd

    x = nd.array([1, 2, 3])
    assert str(x.context) == "cpu(0)"
    device = mx.cpu(1)  # for mx.gpu()
    a = nd.array([1, 2, 3], ctx=device)
    b = nd.zeros((3, 2), ctx=device)
    c = nd.random.uniform(shape=(2, 3), ctx=device)
    y = x.copyto(device)
    z = x.as_in_context(device)
    assert {v.context for v in (a, b, c, y, z)} == {device}
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(1))
    net.initialize(ctx=device)  # 模型参数在GPU上初始化
    data = nd.random.uniform(shape=[3, 2], ctx=device)  # GPU上的数据
    assert net(data).context == device  # 在GPU上计算结果


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("sgd", {"learning_rate": 0.2}),
        ("sgd", {"learning_rate": 0.2, "momentum": 0.9}),
        ("adagrad", {"learning_rate": 0.2}),
        ("rmsprop", {"learning_rate": 0.03, "gamma1": 0.999}),
        ("adadelta", {"rho": 0.9999}),
        ("adam", {"learning_rate": 0.1}),
    ],
)
def test_6_optimizers(name, parameters):
    from mxnet import autograd, gluon, nd

    net = gluon.nn.Dense(1)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), name, parameters)
    losses = []
    for epoch in range(4):
        # 学习率在2个epoch后自我衰减
        if epoch > 2:
            trainer.set_learning_rate(trainer.learning_rate * 0.1)
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(nd.ones((4, 2))), nd.ones((4,)))
        loss.backward()
        trainer.step(4)
        losses.append(loss.mean().asscalar())
    assert losses[-1] < losses[0]


def test_7_1_hybridize(capsys):
    from mxnet.gluon import nn
    from mxnet import nd

    net = nn.HybridSequential()
    with net.name_scope():
        net.add(nn.Dense(256, activation="relu"), nn.Dense(128, activation="relu"), nn.Dense(2))
    net.initialize()
    net.hybridize()  # 2倍速度
    assert net(nd.ones((1, 512))).shape == (1, 2)

    class HybridNet(nn.HybridBlock):
        def __init__(self, **kwargs):
            super(HybridNet, self).__init__(**kwargs)
            with self.name_scope():
                self.fc1 = nn.Dense(10)
                self.fc2 = nn.Dense(2)

        def hybrid_forward(self, F, x):
            print(F)
            x = F.relu(self.fc1(x))
            return self.fc2(x)

    net = HybridNet()
    net.initialize()
    x = nd.random.normal(shape=(1, 4))
    y = net(x)  # module 'mxnet.ndarray'
    assert capsys.readouterr().out.startswith("<module 'mxnet.ndarray'")

    net.hybridize()
    y = net(x)
    # module 'mxnet.symbol',另外，输入和中间输出都变成了symbol
    assert capsys.readouterr().out.startswith("<module 'mxnet.symbol'")
    y = net(x)
    # 无输出，因为将输入替换成Symbol来构建符号式的程序。
    assert capsys.readouterr().out == ""
    y.wait_to_read()
    nd.waitall()


def test_7_4_several_devices():
    from mxnet import gluon, nd

    ctx = [mx.cpu(0), mx.cpu(1)]
    net = lenet()
    net.initialize(ctx=ctx)
    x = nd.random.uniform(shape=(4, 1, 28, 28))
    x_list = gluon.utils.split_and_load(x, ctx)
    assert [net(part).context for part in x_list] == ctx


def encoded(color, size=40, format="PNG"):
    """The bytes of a small picture, brighter to the right."""
    import io
    from PIL import Image

    pixels = np.full((size, size + 8, 3), color, "uint8") // 2 + np.arange(size + 8, dtype="uint8")[None, :, None]
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format)
    return buffer.getvalue()


def test_8_1_augmentation(tmp_path):
    from mxnet import gluon, image, nd

    (tmp_path / "cat1.png").write_bytes(encoded((200, 100, 50)))

    img = image.imdecode(open(str(tmp_path / "cat1.png"), "rb").read())
    shown = []

    def apply(img, aug, n=3):
        # 转成float，一是因为aug需要float类型数据来方便做变化。
        # 二是这里会有一次copy操作，因为有些aug直接通过改写输入（而不是新建输出）获取性能的提升
        X = [aug(img.astype("float32")) for _ in range(n * n)]
        # 有些aug不保证输入是合法值，所以做一次clip
        # 显示浮点图片时imshow要求输入在[0,1]之间
        Y = nd.stack(*X).clip(0, 255) / 255
        shown.append(Y)

    ## 以.5的概率做翻转
    aug = image.HorizontalFlipAug(0.5)
    apply(img, aug)
    ## 随机裁剪一个块 200 x 200 的区域
    aug = image.RandomCropAug([20, 20])
    apply(img, aug)
    ## 随机裁剪一块随机大小的区域
    aug = image.RandomSizedCropAug((20, 20), 0.1, (0.5, 2))
    apply(img, aug)
    ## 随机将亮度增加或者减小在0-50%间的一个量
    aug = image.BrightnessJitterAug(0.5)
    apply(img, aug)
    ## 随机色调变化
    aug = image.HueJitterAug(0.5)
    apply(img, aug)
    assert [Y.shape for Y in shown] == [(9, 40, 48, 3), (9, 20, 20, 3), (9, 20, 20, 3), (9, 40, 48, 3), (9, 40, 48, 3)]
    assert all(0 <= Y.min().asscalar() and Y.max().asscalar() <= 1 for Y in shown)
    flipped = {float(v) for v in shown[0][:, 0, 0, 0].asnumpy()}
    assert len(flipped) == 2

    def apply_aug_list(img, augs):
        for f in augs:
            img = f(img)
        return img

    def get_transform(augs):
        def transform(data, label):
            # data: sample x height x width x channel label: sample
            data = data.astype("float32")
            if augs is not None:
                data = nd.stack(*[apply_aug_list(d, augs) for d in data])
            data = nd.transpose(data, (0, 3, 1, 2))  # sample x channel x height x width
            return data, label.astype("float32")

        return transform

    data, label = get_transform([image.HorizontalFlipAug(0.5), image.RandomCropAug((16, 16))])(
        nd.zeros((5, 32, 32, 3), dtype="uint8"), nd.arange(5)
    )
    assert data.shape == (5, 3, 16, 16) and label.dtype == np.float32


def test_8_2_fine_tuning(tmp_path, monkeypatch, capsys):
    import hashlib, io, zipfile
    import requests
    from time import time
    from mxnet import autograd, gluon

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for part in ("train", "test"):
            for kind, color in (("hotdog", (220, 60, 60)), ("not-hotdog", (60, 60, 220))):
                for i in range(2):
                    file.writestr(f"hotdog/{part}/{kind}/{i}.png", encoded(color))
    content = archive.getvalue()

    class Answer:
        status_code = 200

        def iter_content(self, chunk_size):
            yield content

    monkeypatch.setattr(requests, "get", lambda url, **kwargs: Answer())

    ## 获取数据集
    data_dir = str(tmp_path)
    fname = gluon.utils.download(
        "https://apache-mxnet.s3-accelerate.amazonaws.com/gluon/dataset/hotdog.zip",
        path=data_dir,
        sha1_hash=hashlib.sha1(content).hexdigest(),
    )

    with zipfile.ZipFile(fname, "r") as f:
        f.extractall(data_dir)
    ## 图片增强
    from mxnet import nd
    from mxnet import image
    from mxnet import gluon

    train_augs = [image.HorizontalFlipAug(0.5), image.RandomCropAug((32, 32))]
    test_augs = [image.CenterCropAug((32, 32))]

    def transform(data, label, augs):
        data = data.astype("float32")
        for aug in augs:
            data = aug(data)
        data = nd.transpose(data, (2, 0, 1))
        return data, nd.array([label]).asscalar().astype("float32")

    train_imgs = gluon.data.vision.ImageFolderDataset(
        data_dir + "/hotdog/train", transform=lambda X, y: transform(X, y, train_augs)
    )
    test_imgs = gluon.data.vision.ImageFolderDataset(
        data_dir + "/hotdog/test", transform=lambda X, y: transform(X, y, test_augs)
    )
    ## 读取数据
    data = gluon.data.DataLoader(train_imgs, 32, shuffle=True)
    ## 获取预训练模型
    from mxnet.gluon.model_zoo import vision as models

    pretrained_net = models.resnet18_v2()  # pretrained_net = features + output
    pretrained_net.initialize()
    pretrained_net(nd.ones((1, 3, 32, 32)))
    ## 模型定义
    from mxnet import init

    finetune_net = models.resnet18_v2(classes=2)
    finetune_net.features = pretrained_net.features  # features与预训练模型一致
    finetune_net.output.initialize(init.Xavier())  # 仅初始化output部分

    def _get_batch(batch, ctx):
        if isinstance(batch, mx.io.DataBatch):
            data, label = batch.data[0], batch.label[0]
        else:
            data, label = batch
        return (gluon.utils.split_and_load(data, ctx), gluon.utils.split_and_load(label, ctx), data.shape[0])

    def evaluate_accuracy(data_iterator, net, ctx):
        acc = n = 0
        for batch in data_iterator:
            data, label, batch_size = _get_batch(batch, ctx)
            for X, y in zip(data, label):
                acc += (net(X).argmax(axis=1) == y).sum().asscalar()
                n += y.size
        return acc / n

    class utils:
        @staticmethod
        def train(train_data, test_data, net, loss, trainer, ctx, num_epochs, print_batches=None):
            """Train a network"""
            print("Start training on ", ctx)
            if isinstance(ctx, mx.Context):
                ctx = [ctx]
            for epoch in range(num_epochs):
                train_loss, train_acc, n, m = 0.0, 0.0, 0.0, 0.0
                if isinstance(train_data, mx.io.MXDataIter):
                    train_data.reset()
                start = time()
                for i, batch in enumerate(train_data):
                    data, label, batch_size = _get_batch(batch, ctx)
                    losses = []
                    with autograd.record():
                        outputs = [net(X) for X in data]
                        losses = [loss(yhat, y) for yhat, y in zip(outputs, label)]
                    for l in losses:
                        l.backward()
                    train_acc += sum([(yhat.argmax(axis=1) == y).sum().asscalar() for yhat, y in zip(outputs, label)])
                    train_loss += sum([l.sum().asscalar() for l in losses])
                    trainer.step(batch_size)
                    n += batch_size
                    m += sum([y.size for y in label])
                    if print_batches and (i + 1) % print_batches == 0:
                        print("Batch %d. Loss: %f, Train acc %f" % (n, train_loss / n, train_acc / m))

                test_acc = evaluate_accuracy(test_data, net, ctx)
                print(
                    "Epoch %d. Loss: %.3f, Train acc %.2f, Test acc %.2f, Time %.1f sec"
                    % (epoch, train_loss / n, train_acc / m, test_acc, time() - start)
                )

    ## 训练
    def train(net, ctx, batch_size=64, epochs=10, learning_rate=0.01, wd=0.001):
        train_data = gluon.data.DataLoader(train_imgs, batch_size, shuffle=True)
        test_data = gluon.data.DataLoader(test_imgs, batch_size)
        net.collect_params().reset_ctx(ctx)  # 确保net的初始化在ctx上
        net.hybridize()
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": learning_rate, "wd": wd})
        utils.train(train_data, test_data, net, loss, trainer, ctx, epochs)

    train(finetune_net, [mx.cpu(0), mx.cpu(1)], batch_size=4, epochs=2)
    assert "Epoch 1. Loss: " in capsys.readouterr().out
