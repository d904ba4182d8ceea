# ruff: noqa
"""The code of the Gluon notes (seeds 000 and 004): accumulating, own gradients, modes, inner layers, files."""

import os
import pickle

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, gluon, nd
from mxnet.gluon import block


def test_accumulating_gradients_over_batches():
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    namedLayer, ctx = net, mx.cpu()
    batch_size = 4
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    # 默认是write，改为累加
    for p in net.collect_params().values():
        p.grad_req = "add"
    for i in range(1, 5):
        with autograd.record():
            loss = net(nd.ones((batch_size, 2)))
        loss.backward()
        # 在每次trainer.step更新参数后，将梯度清零。step的batchsz参数要做适当的修改
        if (i % 2) == 0 and i != 0:
            assert (net.weight.grad().asnumpy() == 2 * batch_size).all()
            trainer.step(batch_size * 2)  # update the wb parameters
            net.collect_params().zero_grad()
    np.testing.assert_allclose(net.weight.data().asnumpy(), 0.8, rtol=1e-6)
    print(namedLayer.weight.shape)
    print(namedLayer.weight.data(ctx=ctx)[0, 1])
    print(namedLayer.weight.grad(ctx=ctx)[0, 1])
    print(namedLayer.bias.grad(ctx=ctx)[0])


def test_gradient_of_the_mean(capsys):
    x = nd.array([[1, 2, 3], [3, 2, 1]])
    x.attach_grad()
    with autograd.record(False):
        y = nd.mean(x)
        y.backward()

    print("y:", y)
    print("grad:", x.grad)
    assert capsys.readouterr().out == (
        "y: \n[2.]\n<NDArray 1 @cpu(0)>\ngrad: \n"
        "[[0.16666667 0.16666667 0.16666667]\n [0.16666667 0.16666667 0.16666667]]\n<NDArray 2x3 @cpu(0)>\n"
    )


def test_gradient_of_the_maximum(capsys):
    x = nd.array([[1, 2, 3], [3, 2, 1]])
    x.attach_grad()
    with autograd.record(False):
        y = nd.max(x)
        y.backward()

    print("y:", y)
    print("grad:", x.grad)
    assert capsys.readouterr().out == (
        "y: \n[3.]\n<NDArray 1 @cpu(0)>\ngrad: \n[[0. 0. 1.]\n [1. 0. 0.]]\n<NDArray 2x3 @cpu(0)>\n"
    )


def test_gradient_of_a_broadcast_sum():
    x = nd.array([[1, 2, 3], [3, 2, 1]])
    x.attach_grad()
    with autograd.record(False):
        y = nd.mean(x) + 2 * x
        y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 3)
    x = x + 0.00001
    yy = nd.mean(x) + 2 * x
    x = x + nd.array([[0.00001, 0, 0], [0, 0, 0]])
    yy = nd.mean(x) + 2 * x
    assert (yy - y).shape == (2, 3)


def test_a_loss_of_ones_own():
    def my_softmax_loss(l_o, r_o, y):
        margin = 1.0
        d = nd.norm(l_o - r_o, axis=1)  #
        dd = nd.relu(margin - d)
        l = y * d * d + (1 - y) * dd * dd
        return l

    a, b, y = nd.array([[1, 2], [0, 0.5]]), nd.array([[1, 1], [0, 0]]), nd.array([1, 0])
    a.attach_grad()
    with autograd.record():
        l = my_softmax_loss(a, b, y)
    l.backward()
    np.testing.assert_allclose(l.asnumpy(), [1, 0.25])
    np.testing.assert_allclose(a.grad.asnumpy(), [[0, 2], [0, -1]])


class sigmoid(mx.autograd.Function):
    def forward(self, x):
        y = 1 / (1 + mx.nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy):
        # backward takes as many inputs as forward's return value,
        # and returns as many NDArrays as forward's arguments.
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


class MyLayer(block.Block):
    def __init__(self, **kwargs):
        super(MyLayer, self).__init__(**kwargs)
        self.func = sigmoid()

    def forward(self, x):
        print("forward is called")
        return self.func(x)


def test_a_gradient_of_ones_own(capsys):
    func = sigmoid()
    x = mx.nd.random.uniform(shape=(10,))
    x.attach_grad()

    with mx.autograd.record():
        m = func(x)
        m.backward()
    dx = x.grad.asnumpy()
    s = 1 / (1 + np.exp(-x.asnumpy()))
    np.testing.assert_allclose(dx, s * (1 - s), rtol=1e-5)
    with mx.autograd.record():
        MyLayer()(x).backward()
    np.testing.assert_allclose(x.grad.asnumpy(), dx, rtol=1e-5)
    assert capsys.readouterr().out == "forward is called\n"


def test_hyperparameters():
    net = gluon.nn.Dense(1, in_units=1)
    net.initialize(mx.init.One())
    namedLayer, lr = net, 0.5
    namedLayer.weight.lr_mult = 2.0
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 0.0001})
    trainer.set_learning_rate(lr)
    with autograd.record():
        net(nd.ones((1, 1))).backward()
    trainer.step(1)
    np.testing.assert_allclose(net.weight.data().asnumpy(), 1 - 2 * 0.5 * (1 + 0.0001), atol=1e-6)


def test_a_dataset_of_ones_own():
    import mxnet.gluon.data as data
    import mxnet.ndarray as nd

    num_examples = 1000
    num_inputs = 2

    X = nd.random_normal(shape=(num_examples, num_inputs))
    noise = 0.01 * nd.random_normal(shape=(num_examples,))
    y = 2 * X[:, 0] - 3.4 * X[:, 1] + 4.2 + noise
    XY = data.ArrayDataset(X, y)

    class MyFileDataset(data.Dataset):
        def __init__(self):
            return

        def __getitem__(self, item):
            return XY[item]

        def __len__(self):
            return num_examples

    batch_size = 100
    train_data = gluon.data.DataLoader(MyFileDataset(), batch_size=batch_size, shuffle=True)
    batches = list(train_data)
    assert len(batches) == 10 and batches[0][0].shape == (100, 2) and batches[0][1].shape == (100,)


class MLP(gluon.Block):
    def __init__(self, **kwargs):
        super(MLP, self).__init__(**kwargs)
        with self.name_scope():
            self.dense0 = gluon.nn.Dense(64)
            self.dense1 = gluon.nn.Dense(64)
            self.drop0 = gluon.nn.Dropout(0.5)
            self.dense2 = gluon.nn.Dense(10)

    def forward(self, x):
        x = nd.relu(self.dense0(x))
        x = nd.relu(self.dense1(x))
        x = self.drop0(x)
        x = self.dense2(x)
        return x


def test_modes(tmp_path):
    ctx = mx.cpu()
    net = MLP()
    net.initialize()
    net(nd.ones((1, 784)))
    net.save_parameters(str(tmp_path / "softmax.params"))
    net = MLP()
    net.load_parameters(str(tmp_path / "softmax.params"), ctx=ctx)
    inputdata = nd.ones(shape=(64, 784), ctx=ctx)
    net(inputdata)
    assert autograd.is_training() is False

    net = MLP()
    net.initialize(ctx=ctx)
    inputdata = nd.array([[1, 2, 3, 4]], ctx=ctx)
    with autograd.train_mode():
        first, second = net(inputdata), net(inputdata)
    assert (first.asnumpy() != second.asnumpy()).any()
    assert (net(inputdata).asnumpy() == net(inputdata).asnumpy()).all()


def test_inner_layers():
    from mxnet.gluon.model_zoo import vision

    resnet18 = vision.resnet18_v1()
    resnet18.initialize()
    x = whole = nd.ones((1, 3, 32, 32))
    for i in range(len(resnet18.features)):
        layer = resnet18.features[i]
        x = layer(x)
        print(type(x), ":", x.shape)
    x = resnet18.output(x)  # 最后一层别忘记了
    assert nd.topk(x, k=5).shape == (1, 5)
    np.testing.assert_allclose(x.asnumpy(), resnet18(whole).asnumpy(), rtol=1e-5)
    text = str(resnet18)
    assert "(output): Dense(512 -> 1000, linear)" in text
    assert "(0): Conv2D(3 -> 64, kernel_size=(7, 7), stride=(2, 2), padding=(3, 3), bias=False)" in text
    assert str(resnet18.features[4][0].body[2]) == "Activation(relu)"


def test_four_ways_of_saving(tmp_path):
    ctx = mx.cpu()
    model = gluon.nn.HybridSequential()
    model.add(gluon.nn.Dense(4, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.Dense(2))
    model.initialize()
    model.hybridize()
    x = nd.ones((1, 3))
    expected = model(x).asnumpy()
    # 1. pickle
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model))(x).asnumpy(), expected, rtol=1e-6)
    # 2. export
    symbol_file = os.path.join(str(tmp_path), "triplet-net")
    model.export(path=symbol_file, epoch=5)  # gluon的export

    prefix = os.path.join(str(tmp_path), "triplet-net")  # export导出的前缀
    sym, arg_params, aux_params = mx.model.load_checkpoint(prefix=prefix, epoch=5)
    net = gluon.nn.SymbolBlock(outputs=sym, inputs=mx.sym.var("data"))  # 加载网络结构
    # 设置网络参数
    net_params = net.collect_params()
    for param in arg_params:
        if param in net_params:
            net_params[param]._load_init(arg_params[param], ctx=ctx)
    for param in aux_params:
        if param in net_params:
            net_params[param]._load_init(aux_params[param], ctx=ctx)
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-6)
    # 4. print
    with open(tmp_path / "net.txt", "w") as file:
        print(model, file=file)
    assert (tmp_path / "net.txt").read_text().startswith("HybridSequential(\n  (0): Dense(3 -> 4, Activation(relu))")


def test_types_must_agree():
    with pytest.raises(mx.MXNetError, match="Incompatible attr in node  at 1-th input: expected int32, got float32"):
        nd.elemwise_add(nd.ones((2,), dtype="int32"), nd.ones((2,), dtype="float32"))
