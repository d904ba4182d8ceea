"""Dense layers of predictions, their weights kept in the kernels' order, give what the plain graph gives, always."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._kernels import tuning
from mxnet._kernels.conv import direct
from mxnet.gluon import nn

kernels = direct._code.get(wait=True)
pytestmark = pytest.mark.skipif(kernels is None, reason="kernels are made for processors with AVX2")


@pytest.fixture(autouse=True)
def small_is_enough(monkeypatch):
    monkeypatch.setattr(tuning, "FOLD_DENSE_WEIGHTS", 0)
    monkeypatch.setattr(tuning, "DENSE_COLUMNS", 32)
    monkeypatch.setattr(tuning, "DENSE_WEIGHTS", 0)
    monkeypatch.setattr(tuning, "DENSE_WEIGHTS_ONE_ROW", 0)


@pytest.fixture
def calls(monkeypatch):
    """How many rows were multiplied by kernels, call by call."""
    seen = []
    run = direct.Dense.rows_task

    def noted(self, data, result, addend):
        seen.append(len(data))
        return run(self, data, result, addend)

    monkeypatch.setattr(direct.Dense, "rows_task", noted)
    return seen


class Layers(gluon.HybridBlock):
    """Layers with activations, a sum and a change of shape."""

    def __init__(self, flatten=False, bias=True):
        super().__init__()
        with self.name_scope():
            self.first = nn.Dense(24, activation="relu", flatten=flatten, use_bias=bias)
            self.second = nn.Dense(24, flatten=flatten, use_bias=bias)
            self.third = nn.Dense(16, flatten=flatten)
            self.last = nn.Dense(10, flatten=flatten)  # no multiple of eight

    def hybrid_forward(self, F, x):
        x = self.first(x)
        x = x + self.second(x)
        return self.last(F.clip(self.third(x), -0.5, 0.5))


def ready(net, *inputs):
    mx.random.seed(2)
    net.initialize(mx.init.Normal(0.3), force_reinit=True)
    eager = net(*inputs).asnumpy()
    net.hybridize()
    return eager


def near(net, want, *inputs):
    for _ in range(4):  # from the third on by kernels
        np.testing.assert_allclose(net(*inputs).asnumpy(), want, rtol=1e-5, atol=1e-5 * max(np.abs(want).max(), 1))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("shape", "flatten"),
    [((2, 70), False), ((5, 70), True), ((2, 3, 40), False), ((3, 2, 5, 7), True), ((96, 33), False)],
)
def test_values(shape, flatten, bias, calls):
    net, x = Layers(flatten, bias), nd.random.normal(shape=shape)
    near(net, ready(net, x), x)
    assert calls


@pytest.mark.parametrize("threads", [1, 3])
def test_threads(threads, monkeypatch, calls):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(tuning, "MULTIPLICATIONS_PER_THREAD", 1)
    net = Layers()
    few, some = nd.random.normal(shape=(4, 40)), nd.random.normal(shape=(40, 40))
    near(net, ready(net, few), few)
    assert 4 in calls
    near(net, ready(net, some), some)
    assert 40 in calls


@pytest.mark.parametrize("rows", [1, 4, 97])
def test_small_weights_and_many_rows_are_the_librarys(rows, calls, monkeypatch):
    if rows < 97:
        monkeypatch.setattr(tuning, "DENSE_WEIGHTS_ONE_ROW" if rows == 1 else "DENSE_WEIGHTS", 70 * 24 + 1)
    net, x = Layers(), nd.random.normal(shape=(rows, 70))
    near(net, ready(net, x), x)
    assert not calls


class Pooled(gluon.HybridBlock):
    """A convolution, pooling and dense layers; the pooled images may be read by something else, too."""

    def __init__(self, pool, flat, twice):
        super().__init__()
        self._flat, self._twice = flat, twice
        with self.name_scope():
            self.conv, self.norm = nn.Conv2D(16, 1), nn.BatchNorm()
            self.pool, self.first, self.last = pool, nn.Dense(24, activation="relu"), nn.Dense(16)

    def hybrid_forward(self, F, x):
        pooled = self.pool(self.norm(self.conv(x)))
        result = self.last(self.first(F.Flatten(pooled) if self._flat else pooled))
        return (result, pooled * 2, pooled) if self._twice else result


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("pool", [nn.GlobalAvgPool2D, nn.AvgPool2D], ids=["one pixel", "several"])
def test_behind_pooling(pool, flat, twice, threads, monkeypatch, calls):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    for name in ("DENSE_WEIGHTS", "DENSE_WEIGHTS_ONE_ROW"):  # only as a part of what is kept
        monkeypatch.setattr(tuning, name, 1 << 30)
    monkeypatch.setattr(tuning, "MULTIPLICATIONS_PER_THREAD", 1)
    net = Pooled(pool(), flat, twice)
    net.initialize(mx.init.Normal(0.3))
    inputs = [nd.random.normal(shape=(rows, 8, 6, 6)) for rows in (3, 3, 1, 3)]
    wanted = [net(x) for x in inputs]
    net.hybridize()
    results = [net(inputs[i]) for i in range(4) for _ in range(4)]  # kept together: none is written over
    for number, made in enumerate(results):
        want = wanted[number // 4]
        pairs = zip(made, want, strict=True) if twice else [(made, want)]
        for got, plain in pairs:
            np.testing.assert_allclose(got.asnumpy(), plain.asnumpy(), rtol=1e-5, atol=1e-5)
    assert bool(calls) is (pool is nn.GlobalAvgPool2D)


def test_no_rows_at_all(calls):
    net = Layers()
    ready(net, nd.ones((1, 40)))
    with mx.util.np_shape():
        for _ in range(4):
            assert net(nd.zeros((0, 40))).shape == (0, 10)
    assert not calls


@pytest.mark.parametrize(
    "change",
    [
        lambda net: net.first.weight.set_data(nd.ones((24, 40))),
        lambda net: net.first.weight.data().__setitem__(slice(None), 0.5),
        lambda net: net.second.bias.data().__iadd__(1),
        lambda net: net.initialize(mx.init.One(), force_reinit=True),
        lambda net: net.first.weight.data().as_torch().mul_(2),
    ],
    ids=["set_data", "slice", "in place", "initialize", "torch"],
)
def test_changed_parameters_are_seen(change, calls):
    net, x = Layers(), nd.random.normal(shape=(4, 40))
    near(net, ready(net, x), x)
    assert calls
    with torch.no_grad():
        change(net)
    net.hybridize(False)
    want = net(x).asnumpy()
    net.hybridize(clear=False)
    near(net, want, x)


def test_learning_between_predictions(calls):
    net, x = Layers(), nd.random.normal(shape=(4, 40))
    ready(net, x)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    plain = Layers()
    plain.initialize()
    plain(x)
    for _ in range(12):
        with autograd.record():
            loss = (net(x) ** 2).mean()
        loss.backward()
        trainer.step(1)
        for mine, other in zip(net.collect_params().values(), plain.collect_params().values(), strict=True):
            other.set_data(mine.data())
        np.testing.assert_allclose(net(x).asnumpy(), plain(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert not calls
    for _ in range(70):
        net(x)
    assert calls  # when it has stopped learning


def test_shapes_that_do_not_fit_are_told_as_ever():
    net, x = Layers(), nd.random.normal(shape=(4, 40))
    near(net, ready(net, x), x)
    with pytest.raises(mx.MXNetError, match="FullyConnected"):
        net(nd.ones((4, 41))).wait_to_read()


def test_a_limit_for_memory(monkeypatch, calls):
    monkeypatch.setattr(tuning, "DENSE_PACKED_BYTES", 24 * 40 * 4)  # the first layer's
    net, x = Layers(), nd.random.normal(shape=(4, 40))
    near(net, ready(net, x), x)
    assert set(calls) == {4}
    (folding,) = [program._folding for program in net._cached_op._programs.values()]
    assert len(folding.sites) == 1


def test_small_networks_are_left_alone(monkeypatch):
    monkeypatch.undo()
    net, x = Layers(), nd.random.normal(shape=(4, 40))
    near(net, ready(net, x), x)
    assert [program._folding for program in net._cached_op._programs.values()] == [False]


class Encoder(gluon.HybridBlock):
    """Words, attention, and dense layers around it."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.words, self.qkv = nn.Embedding(11, 16), nn.Dense(48, flatten=False)
            self.out, self.norm = nn.Dense(16, flatten=False), nn.LayerNorm()
            self.wide, self.gelu, self.narrow = nn.Dense(64, flatten=False), nn.GELU(), nn.Dense(16, flatten=False)

    def hybrid_forward(self, F, words):
        x = self.words(words)
        qkv = self.qkv(x)
        scores = F.softmax(F.contrib.interleaved_matmul_selfatt_qk(qkv, heads=1))
        x = self.norm(x + self.out(F.contrib.interleaved_matmul_selfatt_valatt(qkv, scores, heads=1)))
        return x + self.narrow(self.gelu(self.wide(x)))


def test_words_and_attention(calls):
    net, words = Encoder(), nd.array(np.arange(12).reshape(6, 2) % 11, dtype="int32")
    near(net, ready(net, words), words)
    assert set(calls) == {12}


def test_many_rows_are_added_and_activated_where_they_are(calls):
    net, words = Encoder(), nd.array(np.arange(400).reshape(100, 4) % 11, dtype="int32")
    near(net, ready(net, words), words)
    assert not calls
    (program,) = net._cached_op._programs.values()
    code = program._folding._graph.python_code("self").src
    assert "gelu_in_place" in code and "elemwise_add" not in code


class SeenTwice(gluon.HybridBlock):
    """A layer whose result is also read before its activation."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.wide, self.gelu = nn.Dense(64), nn.GELU()

    def hybrid_forward(self, F, x):
        y = self.wide(x)
        return self.gelu(y) - y


def test_a_result_that_others_read_stays():
    net, x = SeenTwice(), nd.random.normal(shape=(100, 64))
    near(net, ready(net, x), x)
