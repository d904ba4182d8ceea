"""The inference graph with packed convolutions gives what the plain one gives, whatever happens to its parameters."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from predicting import agree, folded_now, folding, images, with_statistics

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.inference import split_batch as chunks
from mxnet._graph.inference.packed_conv import convolve_pair, has_onednn
from mxnet._graph.inference.parameter_watch import SMALL, CopySnapshot
from mxnet._kernels import tuning
from mxnet._kernels.conv import direct
from mxnet._kernels.pool import nhwc
from mxnet.gluon import nn

pytestmark = pytest.mark.skipif(not has_onednn(), reason="this torch has no oneDNN")


class Unit(gluon.HybridBlock):
    """A residual unit, with every neighbour that a convolution may take in."""

    def __init__(self, channels, bound):
        super().__init__()
        self.bound = bound
        self.body = nn.HybridSequential()
        self.body.add(nn.Conv2D(channels, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"))
        self.body.add(nn.Conv2D(channels, 3, padding=1, groups=2, use_bias=False), nn.BatchNorm(scale=False))
        self.side = nn.HybridSequential()
        self.side.add(nn.Conv2D(channels, 1, use_bias=False), nn.BatchNorm())

    def hybrid_forward(self, F, x):
        y = self.body(x) + self.side(x)
        return F.clip(y, 0, 6) if self.bound else F.relu(y) * 2


def network():
    mx.random.seed(7)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(8, 3, strides=2), Unit(8, True), nn.MaxPool2D(), Unit(12, False), nn.GlobalAvgPool2D(), nn.Dense(5)
    )
    return with_statistics(net, images())


def test_everything_around_a_convolution_is_taken_in():
    net = network()
    agree(net, images())
    sites = folding(net).sites
    assert len(sites) == 7
    assert [bool(s.norm) for s in sites].count(True) == 6
    assert [s.sum is not None for s in sites].count(True) == 2
    agree(net, images(batch=1, size=33))


def scale_in_place(net):
    net[0].weight.data()[:] *= 1.5


def write_a_view(net):
    net[1].body[0].weight.data()[0:2][:] = 0.25


def write_through_torch(net):
    net[1].body[1].gamma.data().as_torch().data.mul_(3)


def move_statistics(net):
    with autograd.record():
        loss = net(images() * 2).sum()
    loss.backward()


def learn(net):
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    move_statistics(net)
    trainer.step(2)


def swap_two_filters(net):
    weight = net[0].weight.data()
    weight[:] = weight[::-1]


@pytest.mark.parametrize(
    "change", [scale_in_place, write_a_view, write_through_torch, move_statistics, learn, swap_two_filters]
)
def test_a_changed_parameter_is_seen_at_the_next_run(change):
    net, x = network(), images()
    agree(net, x)
    before = net(x).asnumpy()
    change(net)
    after = net(x).asnumpy()
    assert np.abs(after - before).max() > 1e-4
    agree(net, x)
    np.testing.assert_allclose(net(x).asnumpy(), after, rtol=1e-4, atol=1e-5 * np.abs(after).max())


def test_loaded_and_cast_and_shared(tmp_path):
    net, x = network(), images()
    agree(net, x)
    net.save_parameters(str(tmp_path / "old.params"))
    want = net(x).asnumpy()
    scale_in_place(net)
    net.load_parameters(str(tmp_path / "old.params"))
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-5, atol=1e-6)
    twin = nn.HybridSequential(params=net.collect_params())
    twin.add(*net._children.values())
    agree(twin, x)
    scale_in_place(twin)
    agree(net, x)
    net.cast("float64")
    got = [net(x.astype("float64")).asnumpy() for _ in range(3)]
    net.hybridize(False)
    np.testing.assert_allclose(got[-1], net(x.astype("float64")).asnumpy(), rtol=1e-12)
    net.cast("float32")
    agree(net, x)


def test_gradients_come_from_the_plain_graph():
    net, x = network(), images()
    agree(net, x)
    x.attach_grad()
    for mode in (False, True):  # in this order: training moves the statistics that prediction uses
        results = []
        for active in (True, False):
            net.hybridize(active)
            with autograd.record(train_mode=mode):
                loss = (net(x) ** 2).sum()
            loss.backward()
            results.append(x.grad.asnumpy())
        got, want = results
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())


def test_a_network_that_learns_between_predictions_is_not_folded():
    net, x = network(), images()
    net.hybridize()
    for _ in range(3):
        learn(net)
        net(x)
        assert not folded_now(net)


def test_the_first_prediction_rewrites_nothing_and_the_second_is_folded():
    net, x = network(), images()
    net.hybridize()
    want = net(x).asnumpy()
    assert folding(net) is None
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-5, atol=1e-5)
    assert folded_now(net)


def test_a_second_prediction_with_other_parameters_is_not_folded():
    net, x = network(), images()
    net.hybridize()
    first = net(x).asnumpy()
    learn(net)
    second = net(x).asnumpy()
    assert not folded_now(net) and not np.array_equal(first, second)
    net(x)
    assert folded_now(net)


def test_activations_are_fused_only_where_no_nan_can_arise():
    net = network()
    agree(net, images())
    made = folding(net)._state[1]
    assert [c.fusible for c in made] == [c.clamp[0] is not None for c in made]
    assert any(c.fusible for c in made)
    with np.errstate(over="ignore"):
        for factor in (1e30, -1e37, float("nan"), float("inf")):
            x = images()
            x[1] *= factor
            want = []
            for active in (False, True):
                net.hybridize(active, clear=False)
                want.append(net(x).asnumpy())
            np.testing.assert_array_equal(np.isnan(want[1]), np.isnan(want[0]))
            np.testing.assert_allclose(want[1][0], want[0][0], rtol=1e-4, atol=1e-5)


def test_a_parameter_that_is_not_finite_fuses_nothing_behind_it():
    net = network()
    bias = net[0].bias.data()
    bias[3] = float("nan")
    net.hybridize()
    for _ in range(3):
        assert np.isnan(net(images()).asnumpy()).all()
    assert folded_now(net) and not any(c.fusible for c in folding(net)._state[1])


def test_nan_stays_nan_and_results_have_the_usual_order():
    net, x = network(), images()
    agree(net, x)
    x[0, 0, 3, 3] = float("nan")
    assert np.isnan(net(x)[0].asnumpy()).all() and not np.isnan(net(x)[1].asnumpy()).any()
    inner = nn.HybridSequential()
    inner.add(nn.Conv2D(4, 3), nn.BatchNorm())
    inner.initialize()
    agree(inner, images())
    assert inner(images())._t.is_contiguous()


def test_a_fixed_gamma_is_one_again():
    net, x = network(), images()
    agree(net, x)
    gamma = net[1].body[4].gamma.data()
    gamma[:] = 5
    agree(net, x)
    np.testing.assert_array_equal(gamma.asnumpy(), 1)


def test_errors_are_those_of_the_plain_graph():
    net = network()
    agree(net, images())
    with pytest.raises(mx.MXNetError, match=r"operator conv\d+_fwd: .* \(Convolution on \(2, 4, 17, 17\)"):
        net(nd.zeros((2, 4, 17, 17)))


def test_bound_symbols_are_folded_too():
    x = mx.sym.BatchNorm(mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="c"), name="b")
    executor = mx.sym.Activation(x, act_type="relu").simple_bind(mx.cpu(), data=(2, 3, 9, 9))
    for array in executor.arg_arrays:
        array[:] = nd.random.normal(shape=array.shape)
    executor.aux_dict["b_moving_var"][:] = 2
    first = executor.forward()[0].asnumpy()
    for _ in range(2):
        np.testing.assert_allclose(executor.forward()[0].asnumpy(), first, rtol=1e-5, atol=1e-6)
    executor.aux_dict["b_moving_var"][:] = 8
    assert np.abs(executor.forward()[0].asnumpy() - first).max() > 1e-2


def large_network():
    mx.random.seed(9)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(192, 3, padding=1, in_channels=192), nn.BatchNorm(), nn.Activation("relu"))
    net.initialize(mx.init.Xavier())
    assert net[0].weight.data()._t.nbytes > SMALL
    return net, nd.random.normal(shape=(2, 192, 9, 9))


def set_to_ones(net):
    net[0].weight.set_data(nd.ones((192, 192, 3, 3)))


@pytest.mark.parametrize("change", [scale_in_place, swap_two_filters, set_to_ones])
def test_large_parameters_are_compared_while_the_network_runs(change):
    net, x = large_network()
    agree(net, x)
    before = net(x).asnumpy()
    change(net)
    after = net(x).asnumpy()
    assert np.abs(after - before).max() > 1e-3
    agree(net, x)
    np.testing.assert_allclose(net(x).asnumpy(), after, rtol=1e-4, atol=1e-5 * np.abs(after).max())


def test_predictions_in_threads_and_in_a_fork():
    net, x = large_network()
    agree(net, x)
    want = net(x).asnumpy()
    with ThreadPoolExecutor(4) as threads:
        for got in threads.map(lambda _: net(x).asnumpy(), range(12)):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    child = os.fork()
    if not child:  # its parent's thread is not there
        verdict = CopySnapshot([torch.zeros(SMALL), torch.zeros(SMALL)]).compare(
            [torch.zeros(SMALL), torch.ones(SMALL)]
        )
        os._exit(7 if verdict() is False else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_numbers_are_not_drawn_in_vain():
    """A network that also draws random numbers draws as many when a parameter has changed."""

    class Noisy(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.net, _ = large_network()

        def hybrid_forward(self, F, x):
            return self.net(x) + F.random.uniform(shape=(1, 192, 9, 9)).broadcast_like(x)

    net, x = Noisy(), large_network()[1]
    results = []
    for active in (False, True):
        net.net[0].weight.set_data(nd.ones((192, 192, 3, 3)) * 0.01)
        net.hybridize(active)
        mx.random.seed(5)
        seen = [net(x).asnumpy() for _ in range(3)]
        scale_in_place(net.net)
        results.append([*seen, net(x).asnumpy(), net(x).asnumpy()])
    for got, want in zip(results[1], results[0], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())


def test_few_and_many_tiles_take_turns():
    net, _ = large_network()
    inputs = [nd.random.normal(shape=(1, 192, n, n)) for n in (24, 4, 24, 4)]
    wanted = [net(x).asnumpy() for x in inputs]
    net.hybridize()
    for x, want in zip(inputs * 2, wanted * 2, strict=True):
        np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-5, atol=1e-5 * np.abs(want).max())
    (convolution,) = folding(net)._state[1]
    assert len(convolution.packed) == 2  # for Winograd's F(4x4, 3x3), and for another way


class Inverted(gluon.HybridBlock):
    """An inverted residual unit, as in MobileNetV2; `looked_at`: somebody else reads what is between."""

    def __init__(self, channels, step, looked_at=False):
        super().__init__()
        self.add, self.looked_at = step == 1, looked_at
        self.wide = nn.HybridSequential()
        self.wide.add(nn.Conv2D(48, 1, use_bias=False), nn.BatchNorm(), nn.HybridLambda(lambda F, x: F.clip(x, 0, 6)))
        self.deep = nn.HybridSequential()
        self.deep.add(nn.Conv2D(48, 3, step, 1, groups=48), nn.BatchNorm(), nn.Activation("relu"))
        self.narrow = nn.HybridSequential()
        self.narrow.add(nn.Conv2D(channels, 1), nn.BatchNorm())

    def hybrid_forward(self, F, x):
        wide = self.wide(x)
        y = self.narrow(self.deep(wide))
        y = F.broadcast_add(y, wide.mean((1, 2, 3), keepdims=True)) if self.looked_at else y
        return x + y if self.add else y


def inverted_network():
    mx.random.seed(17)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(24, 3, 2, 1), nn.BatchNorm(), nn.Activation("relu"))
    net.add(Inverted(24, 1), Inverted(16, 2), Inverted(16, 1, looked_at=True), nn.GlobalAvgPool2D(), nn.Flatten())
    net.initialize(mx.init.Xavier(magnitude=3))
    return net


def pairs(net):
    return sum(node.target is convolve_pair for node in folding(net)._graph.nodes)


@pytest.mark.parametrize("ready", [False, True])
def test_inverted_residual_units(ready, monkeypatch):
    found = direct._code.get(wait=True) if ready else None
    monkeypatch.setattr(direct._code, "get", lambda wait: found)
    net = inverted_network()
    for batch, size in [(1, 30), (3, 21), (1, 30)]:
        agree(net, images(batch, size))
    assert pairs(net) == 2
    packed = {way for convolution in folding(net)._state[1] for way in convolution.packed}
    assert bool(packed & {direct.DENSE, direct.DEPTHWISE}) == (found is not None)
    scale_in_place(net)
    x = images(2, 30)
    agree(net, x)
    with ThreadPoolExecutor(4) as threads:
        want = net(x).asnumpy()
        for got in threads.map(lambda _: net(x).asnumpy(), range(12)):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_kernels_take_over_when_they_are_compiled(monkeypatch):
    kernels = direct._code.get(wait=True)
    there = []
    monkeypatch.setattr(direct._code, "get", lambda wait: there[-1] if there else None)
    monkeypatch.setattr(direct._code, "state", lambda: ("compiling", ""))
    net, x = inverted_network(), images(2, 30)
    agree(net, x)
    assert all(list(convolution.packed) == [None] for convolution in folding(net)._state[1])
    there.append(kernels)
    agree(net, x)
    packed = [way for convolution in folding(net)._state[1] for way in convolution.packed if way is not None]
    assert bool(packed) == (kernels is not None)


class TwoPools(gluon.HybridBlock):
    """Results that wait for each other, joined by something that no convolution takes in."""

    def __init__(self, join):
        super().__init__()
        self.join = join
        self.first, self.last = nn.Conv2D(16, 1, in_channels=16), nn.Conv2D(24, 1)
        self.near, self.wide = nn.MaxPool2D(2, 2), nn.MaxPool2D(3, 2, 1)

    def hybrid_forward(self, F, x):
        y = self.first(x)
        return self.last(self.join(F, self.near(y), self.wide(y)))


@pytest.mark.parametrize("join", [lambda F, a, b: a + b, lambda F, a, b: F.concat(b, a, a)])
def test_jobs_that_wait_are_done_before_others_read_their_results(join, monkeypatch):
    for loader in (direct._code, nhwc._code):
        loader.get(wait=True)
    monkeypatch.setattr(tuning, "FOLD_CONV_WEIGHTS", 1)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1), TwoPools(join), nn.GlobalAvgPool2D(), nn.Flatten())
    net.initialize(mx.init.Xavier(magnitude=3))
    several = [images(2, 16) * scale for scale in (1, 1, 1, 3, 5, 7)]
    want = [net(x).asnumpy() for x in several]
    net.hybridize()
    for x, expected in zip(several, want, strict=True):
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5, atol=1e-5)


def test_results_are_not_in_memory_that_is_used_again():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 1), nn.BatchNorm(), nn.Conv2D(16, 1), nn.BatchNorm())
    net.initialize()
    direct._code.get(wait=True)
    agree(net, nd.ones((1, 8, 4, 4)))
    kept = [net(nd.ones((1, 8, 4, 4)) * i) for i in range(4)]
    for i, result in enumerate(kept):
        np.testing.assert_allclose(result.asnumpy(), net(nd.ones((1, 8, 4, 4)) * i).asnumpy())


def cut(net):
    made = folding(net)._batch_chunks
    return made._cut and made._cut.name, set(made._counts.values())


@pytest.mark.parametrize("make", [network, inverted_network])
def test_large_batches_go_in_portions(make, monkeypatch):
    monkeypatch.setattr(tuning, "FOLD_WORKSPACE", 1 << 12)
    monkeypatch.setattr(chunks, "CHUNK", 1 << 11)
    direct._code.get(wait=True)
    net = make()
    for batch, size in [(7, 30), (1, 30), (4, 21), (7, 30)]:
        agree(net, images(batch, size))
    name, counts = cut(net)
    assert name is not None and max(counts) > 1
    x = images(7, 30)
    seen = [net(x * i) for i in range(3)]
    for i, result in enumerate(seen):  # nobody writes into what was given away
        np.testing.assert_allclose(result.asnumpy(), net(x * i).asnumpy(), rtol=1e-5, atol=1e-6)


def test_portions_whose_results_are_the_networks(monkeypatch):
    monkeypatch.setattr(tuning, "FOLD_WORKSPACE", 1 << 10)
    monkeypatch.setattr(chunks, "CHUNK", 1 << 10)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 1), nn.BatchNorm(), nn.Conv2D(16, 1), nn.BatchNorm(), nn.GlobalAvgPool2D())
    net.initialize()
    direct._code.get(wait=True)
    x = nd.random.normal(shape=(5, 8, 6, 6))
    agree(net, x)
    assert cut(net)[1] != set()
    one = net(x)
    want = one.asnumpy()
    net(x * 2)
    np.testing.assert_array_equal(one.asnumpy(), want)


class AcrossImages(gluon.HybridBlock):
    """Layers that look at other images of the batch, or at a second input, cannot be computed in chunks."""

    def __init__(self, second):
        super().__init__()
        self.second = second
        self.first, self.last = nn.HybridSequential(), nn.HybridSequential()
        for part in (self.first, self.last):
            part.add(nn.Conv2D(16, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"))

    def hybrid_forward(self, F, x, *more):
        y = self.first(x)
        y = y + more[0] if self.second else F.concat(y, y, dim=0)
        return self.last(y)


@pytest.mark.parametrize("second", [False, True])
def test_what_is_not_computed_image_by_image(second, monkeypatch):
    monkeypatch.setattr(tuning, "FOLD_WORKSPACE", 1 << 10)
    monkeypatch.setattr(chunks, "CHUNK", 1 << 10)
    net = AcrossImages(second)
    net.initialize()
    inputs = [nd.random.normal(shape=(5, 8, 6, 6)), *([nd.random.normal(shape=(5, 16, 6, 6))] if second else [])]
    want = net(*inputs).asnumpy()
    net.hybridize()
    for _ in range(4):
        np.testing.assert_allclose(net(*inputs).asnumpy(), want, rtol=1e-5, atol=1e-5)


class Plain(gluon.HybridBlock):
    """Convolutions without batch norms, among operators that know nothing of their memory's order."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.first = nn.Conv2D(16, 3, padding=1, activation="relu")
            self.wide = nn.Conv2D(24, 3, padding=2, dilation=2)
            self.norm, self.leaky = nn.InstanceNorm(), nn.LeakyReLU(0.1)
            self.parts = [nn.Conv2D(8, 1, activation="relu"), nn.Conv2D(8, 3, padding=1, activation="relu")]
            for number, part in enumerate(self.parts):
                self.register_child(part, str(number))
            self.large, self.dense = nn.Conv2DTranspose(8, 2, strides=2), nn.Dense(6)

    def hybrid_forward(self, F, x):
        x = self.leaky(self.norm(self.wide(F.Pooling(self.first(x), kernel=(2, 2), stride=(2, 2), pool_type="max"))))
        x = F.concat(*[part(x) for part in self.parts], dim=1)
        x = F.slice_axis(self.large(x), axis=2, begin=1, end=None)
        return self.dense(F.transpose(x, axes=(0, 2, 1, 3)))


def test_networks_without_batch_norms(monkeypatch):
    monkeypatch.setattr(tuning, "FOLD_CONV_WEIGHTS", 0)
    mx.random.seed(5)
    net = Plain()
    net.initialize(mx.init.Xavier(magnitude=3))
    agree(net, images(size=20))
    assert len(folding(net).sites) == 4
    net.first.weight.data()[:] *= 2
    agree(net, images(size=20))
    agree(net, images(batch=1, size=20))


def test_small_ones_are_left_as_they_are():
    net = Plain()
    net.initialize()
    net.hybridize()
    for _ in range(3):
        net(images(size=20))
    assert folding(net) is False
