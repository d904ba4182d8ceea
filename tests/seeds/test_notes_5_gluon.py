# ruff: noqa
"""Chapter 5 of the long Gluon notes (seed 002): networks and layers of one's own, parameters, files, contexts."""

import mxnet as mx
import pytest


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
