"""CUDA graphs by simulated graphs: when a block is captured, replayed, captured again, and given up."""

import numpy as np
import pytest
import simulated
import torch
from simulated.graphs import Leftovers
from test_layers import LAYERS

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._device import graphs
from mxnet.base import MXNetError
from mxnet.gluon import nn

GPU, GPUS = mx.gpu(0), [mx.gpu(0), mx.gpu(1)]


@pytest.fixture
def runtime(monkeypatch):
    """Counts graphs that are captured, and their replays."""

    class Counted(graphs.CudaGraphs):
        def __init__(self):
            super().__init__()
            self.made = []

        def capture(self, run, device, pool=None):
            captured = super().capture(run, device, pool)
            self.made.append(captured.replay.__self__)
            return captured

        @property
        def captures(self):
            return len(self.made)

        @property
        def replays(self):
            return sum(graph.replays for graph in self.made)

    monkeypatch.delenv("MXNET_ENABLE_CUDA_GRAPHS", raising=False)
    monkeypatch.setattr(graphs, "RUNTIME", Counted())
    simulated.EVENTS.clear()
    yield graphs.RUNTIME
    assert not simulated.of_kind(simulated.EVENTS, "race", "assert")


def network(static=True, ctx=GPU):
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="relu", in_units=5), nn.BatchNorm(in_channels=8), nn.Dense(3, in_units=8))
    mx.random.seed(5)
    net.initialize(mx.init.Xavier(), ctx=ctx)
    net.hybridize(static_alloc=static, static_shape=static)
    return net


def convolutions(static=True, ctx=GPU):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, use_bias=False, in_channels=2), nn.BatchNorm(in_channels=4), nn.Activation("relu"))
    net.add(nn.Flatten(), nn.Dense(3, in_units=36))
    mx.random.seed(5)
    net.initialize(mx.init.Xavier(), ctx=ctx)
    net.hybridize(static_alloc=static, static_shape=static)
    return net


def batch(seed, size=4, ctx=GPU, shape=(5,)):
    return nd.array(np.random.RandomState(seed).normal(size=(size, *shape)), ctx=ctx)


def values(net):
    found = net._collect_params_with_prefix()
    return {n: p.data(p.list_ctx()[0]).asnumpy() for n, p in found.items()}


# ---------------------------------------------------------------- prediction
def test_replayed_after_warm_up(runtime):
    net, plain = network(), network(static=False)
    kept = []
    for i in range(graphs.WARM_UPS + 4):
        out = net(batch(i))
        np.testing.assert_allclose(out.asnumpy(), plain(batch(i)).asnumpy(), rtol=1e-5)
        kept.append((out, out.asnumpy()))
    assert runtime.captures == 1 and runtime.replays == 4
    for out, found in kept:  # a later replay does not overwrite an earlier result
        np.testing.assert_array_equal(out.asnumpy(), found)


def test_a_replay_does_not_wait(runtime):
    net = network()
    for i in range(graphs.WARM_UPS + 1):
        net(batch(i))
    x = batch(9)
    with simulated.watched() as events:
        net(x)
    assert runtime.replays == 2 and not simulated.of_kind(events, "sync", "h2d"), events


def test_new_shapes_are_captured_anew(runtime):
    net = network()
    for size in (4, 6):
        for i in range(graphs.WARM_UPS + 2):
            assert net(batch(i, size)).shape == (size, 3)
    assert runtime.captures == 2


def test_shapes_that_keep_changing_do_not_drive_graphs_out(runtime):
    net = network()
    for size in [*range(1, graphs.MOST + 4), 1, 2]:
        for i in range(graphs.WARM_UPS + 2):
            assert net(batch(i, size)).shape == (size, 3)
    assert runtime.captures == graphs.MOST and runtime.replays == 2 * graphs.MOST + 2 * (graphs.WARM_UPS + 2)
    weight = net[0].weight.data()
    weight._t = weight._t.data.clone()  # other memory: the old graphs are of no use
    for i in range(graphs.WARM_UPS + 2):
        net(batch(i))
    assert runtime.captures == graphs.MOST + 1


def test_new_values_of_parameters_are_seen_and_new_memory_is_captured_anew(runtime):
    net = network()
    for i in range(graphs.WARM_UPS + 2):
        net(batch(i))
    before = net(batch(1)).asnumpy()
    net[2].bias.set_data(net[2].bias.data() + 1)
    np.testing.assert_allclose(net(batch(1)).asnumpy(), before + 1, rtol=1e-5, atol=1e-6)
    weight = net[2].weight.data()
    weight._t = weight._t.data.clone() * 0  # other memory
    for _ in range(graphs.WARM_UPS + 2):
        out = net(batch(1)).asnumpy()
    np.testing.assert_allclose(out, np.tile(net[2].bias.data().asnumpy(), (4, 1)), rtol=1e-5)
    assert runtime.captures == 2


def test_arrays_that_an_operator_writes_are_written_by_replays(runtime):
    found = []
    for static in (True, False):
        net = nn.HybridLambda(lambda F, w, g, m: F.sgd_mom_update(w, g, m, lr=0.1, momentum=0.9))
        net.hybridize(static_alloc=static, static_shape=static)
        w, momentum = nd.ones((3,), ctx=GPU), nd.zeros((3,), ctx=GPU)
        for i in range(graphs.WARM_UPS + 3):
            w = net(w, batch(i, 3, shape=()), momentum)
        found.append([w.asnumpy(), momentum.asnumpy()])
    assert runtime.captures == 1
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_weights_in_front_of_a_batch_norm_may_change(runtime):
    net, plain = convolutions(), convolutions(static=False)
    for i in range(graphs.WARM_UPS + 2):
        net(batch(i, shape=(2, 5, 5))), plain(batch(i, shape=(2, 5, 5)))
    for one in (net, plain):
        one[0].weight.set_data(one[0].weight.data() * 3)
        one[1].running_mean.set_data(one[1].running_mean.data() + 0.5)
    x = batch(7, shape=(2, 5, 5))
    np.testing.assert_allclose(net(x).asnumpy(), plain(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert runtime.captures == 1


# ---------------------------------------------------------------- training
def train(net, contexts=(GPU,), steps=8, size=4, shape=(5,), optimizer="sgd", req="write"):
    """Losses and parameters of a training; every batch has other values."""
    for p in net.collect_params().values():
        if p.grad_req != "null":
            p.grad_req = req
    rule = {"learning_rate": 0.1, **({"momentum": 0.9} if optimizer == "sgd" else {})}
    trainer = gluon.Trainer(net.collect_params(), optimizer, rule)
    loss_of, losses = gluon.loss.SoftmaxCrossEntropyLoss(), []
    for i in range(steps):
        data = gluon.utils.split_and_load(batch(i, size * len(contexts), mx.cpu(), shape), list(contexts))
        label = gluon.utils.split_and_load(nd.array(np.arange(size * len(contexts)) % 3), list(contexts))
        with autograd.record():
            parts = [loss_of(net(x), y) for x, y in zip(data, label, strict=True)]
        autograd.backward(parts)
        trainer.step(size * len(contexts))
        if req == "add":
            net.collect_params().zero_grad()
        losses.append([part.asnumpy() for part in parts])
    return np.array(losses), values(net)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("req", ["write", "add"])
def test_training_is_that_without_graphs(runtime, optimizer, req):
    found, want = train(network(), optimizer=optimizer, req=req), train(network(False), optimizer=optimizer, req=req)
    assert runtime.captures == 2  # forward and backward
    assert runtime.replays == 2 * (8 - graphs.WARM_UPS)
    np.testing.assert_allclose(found[0], want[0], rtol=1e-4, atol=1e-5)
    for name, value in want[1].items():  # running statistics of the batch norm among them
        np.testing.assert_allclose(found[1][name], value, rtol=1e-4, atol=1e-5, err_msg=name)


def test_convolutions_learn_by_graphs(runtime):
    found, want = (train(convolutions(static), shape=(2, 5, 5)) for static in (True, False))
    assert runtime.captures == 2
    np.testing.assert_allclose(found[0], want[0], rtol=1e-4, atol=1e-5)
    for name, value in want[1].items():
        np.testing.assert_allclose(found[1][name], value, rtol=1e-4, atol=1e-5, err_msg=name)


# Their children are hybridized, each with graphs of its own.
OF_CHILDREN = {"Sequential": 4, "Concurrent": 4, "Lambda": 0}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_learns_by_graphs(runtime, name, recwarn):
    make, shape = LAYERS[name]
    made = []
    for ctx in (mx.cpu(), GPU):
        mx.random.seed(7)
        layer = make()
        layer.initialize(mx.init.Uniform(0.5), ctx=ctx)
        layer.hybridize(static_alloc=True, static_shape=True)
        layer(nd.ones(shape, ctx=ctx))  # draws the weights
        made.append((layer, ctx))
    for i in range(graphs.WARM_UPS + 2):
        found = []
        for layer, ctx in made:
            x = nd.array(np.random.RandomState(i).uniform(0, 2, shape), ctx=ctx)
            x.attach_grad()
            with autograd.record():
                y = layer(x)
            y.backward()
            grads = [p.grad() for p in layer.collect_params().values() if p.grad_req != "null"]
            found.append([a.asnumpy() for a in (y, x.grad, *grads)])
        for want, got in zip(*found, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
    assert not [w for w in recwarn if "CUDA graph" in str(w.message)]
    assert runtime.captures == OF_CHILDREN.get(name, 2)


def test_each_gpu_has_its_graphs(runtime):
    found, want = (train(network(static, GPUS), GPUS) for static in (True, False))
    assert runtime.captures == 4
    np.testing.assert_allclose(found[0], want[0], rtol=1e-4, atol=1e-5)


def test_training_and_prediction_take_turns(runtime):
    net, plain = network(), network(static=False)
    for i in range(3):
        train(net, steps=2), train(plain, steps=2)
        np.testing.assert_allclose(net(batch(i)).asnumpy(), plain(batch(i)).asnumpy(), rtol=1e-4, atol=1e-5)
    assert runtime.captures == 2


def test_a_step_by_graphs_does_not_wait(runtime):
    net, label = network(), nd.array([0, 1, 2, 0], ctx=GPU)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()

    def step(x):
        with autograd.record():
            loss = loss_of(net(x), label)
        loss.backward()
        trainer.step(4)

    for i in range(graphs.WARM_UPS + 1):
        step(batch(i))
    x = batch(9)
    with simulated.watched() as events:
        step(x)
    assert runtime.replays == 4 and not simulated.of_kind(events, "sync", "h2d"), events


def test_gradients_of_the_data_arrive(runtime):
    net, plain, kept = network(), network(static=False), []
    for i in range(graphs.WARM_UPS + 3):
        found = []
        for one in (net, plain):
            x = batch(i)
            x.attach_grad()
            with autograd.record():
                y = one(x).square().sum()
            y.backward()
            found.append(x.grad)
        kept.append(found)
    assert runtime.captures == 2
    for mine, want in kept:  # a later replay does not overwrite an earlier gradient
        np.testing.assert_allclose(mine.asnumpy(), want.asnumpy(), rtol=1e-4, atol=1e-5)


def test_a_second_run_before_backward_has_activations_of_its_own(runtime):
    net, plain = network(), network(static=False)
    for i in range(graphs.WARM_UPS + 3):
        found = []
        for one in (net, plain):
            with autograd.record():
                loss = (one(batch(i)) * one(batch(i + 50))).sum()
            loss.backward()
            found.append(one[0].weight.grad().asnumpy())
        np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)
    assert runtime.captures == 2 and runtime.replays


def test_backward_twice(runtime):
    net, plain = network(), network(static=False)
    for i in range(graphs.WARM_UPS + 2):
        for one in (net, plain):
            with autograd.record():
                loss = one(batch(i)).square().sum()
            loss.backward(retain_graph=True)
            first = one[0].weight.grad().asnumpy()
            one[0].weight.zero_grad()
            loss.backward()
            np.testing.assert_allclose(one[0].weight.grad().asnumpy(), first, rtol=1e-6)
    np.testing.assert_allclose(first, net[0].weight.grad().asnumpy(), rtol=1e-4, atol=1e-5)


def test_a_run_that_may_be_differentiated_again_keeps_its_activations(runtime):
    net, plain = network(), network(static=False)
    for i in range(graphs.WARM_UPS + 3):
        found = []
        for one in (net, plain):
            with autograd.record():
                loss = one(batch(i)).square().sum()
            loss.backward(retain_graph=True)
            with autograd.record():
                later = one(batch(i + 50)).square().sum()
            later.backward()
            loss.backward()
            found.append(one[0].weight.grad().asnumpy())
        np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)
    assert runtime.captures == 2 and runtime.replays


def second_gradients(net, static):
    """Gradients of the squared gradients, for some batches; numbers drawn on the way are the same in each call."""
    net.hybridize(static_alloc=static, static_shape=static)
    mx.random.seed(3)
    found = []
    for i in range(graphs.WARM_UPS + 3):
        x = batch(i)
        x.attach_grad()
        with autograd.record():
            (first,) = autograd.grad(net(x).square().sum(), [x], create_graph=True, retain_graph=True)
            second = first.square().sum()
        second.backward()
        found.append(x.grad.asnumpy())
    return np.array(found)


@pytest.mark.parametrize("layer", [None, "states", "random"])
def test_gradients_of_gradients(runtime, layer):
    """They need a second run, which draws the numbers of the first."""
    made = []
    for static in (True, False):
        net = nn.HybridSequential()
        net.add(nn.Dense(6, activation="sigmoid", in_units=5))
        if layer:
            net.add(nn.BatchNorm(in_channels=6) if layer == "states" else nn.Dropout(0.5))
        mx.random.seed(5)
        net.initialize(mx.init.Xavier(), ctx=GPU)
        made.append((second_gradients(net, static), values(net)))
    (mine, states), (want, wanted) = made
    assert runtime.captures == 2 and runtime.replays and np.abs(mine).max() > 0
    np.testing.assert_allclose(mine, want, rtol=1e-4, atol=1e-5)
    for name, value in wanted.items():
        np.testing.assert_allclose(states[name], value, rtol=1e-5, err_msg=name)


def test_masks_of_dropout_are_drawn_anew(runtime):
    net = nn.HybridSequential()
    net.add(nn.Dropout(0.5))
    net.hybridize(static_alloc=True, static_shape=True)
    x, seen = nd.ones((50,), ctx=GPU), set()
    x.attach_grad()
    for _ in range(graphs.WARM_UPS + 4):
        with autograd.record():
            y = net(x)
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), y.asnumpy())
        seen.add(y.asnumpy().tobytes())
    assert runtime.captures == 2 and len(seen) == graphs.WARM_UPS + 4


@pytest.mark.parametrize("draw", ["random.uniform", "random.normal", "random.exponential", "random.poisson"])
def test_random_numbers_are_drawn_anew(runtime, draw):
    net = nn.HybridLambda(lambda F, x: x * 0 + getattr(F.random, draw[7:])(shape=(20,), ctx=GPU))
    net.hybridize(static_alloc=True, static_shape=True)
    runs = graphs.WARM_UPS + 3
    assert len({net(nd.ones((20,), ctx=GPU)).asnumpy().tobytes() for _ in range(runs)}) == runs
    assert runtime.captures == 1


def test_numbers_that_the_host_draws_are_not_captured(runtime):
    net = nn.HybridLambda(lambda F, x: F.image.random_brightness(x, 0.1, 2.0))
    net.hybridize(static_alloc=True, static_shape=True)
    runs = graphs.WARM_UPS + 4
    with pytest.warns(UserWarning, match="without a CUDA graph.*random numbers are drawn by the host"):
        seen = {net(nd.ones((2, 2, 3), ctx=GPU)).asnumpy().tobytes() for _ in range(runs)}
    assert len(seen) == runs and runtime.captures == 0


def test_constants_live_as_long_as_the_graph(runtime):
    net = nn.HybridLambda(lambda F, x: F.image.normalize(x, (1, 2, 3), 2))
    net.hybridize(static_alloc=True, static_shape=True)
    for i in range(graphs.WARM_UPS + 3):
        x = batch(i, 3, shape=(2, 2))
        want = (x.asnumpy() - np.array([1, 2, 3], "float32")[:, None, None]) / 2
        np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-5)
    assert runtime.captures == 1


def test_statistics_follow_in_train_mode_without_recording(runtime):
    net, plain = network(), network(static=False)
    for i in range(graphs.WARM_UPS + 3):
        with autograd.train_mode():
            np.testing.assert_allclose(net(batch(i)).asnumpy(), plain(batch(i)).asnumpy(), rtol=1e-4, atol=1e-5)
    assert runtime.captures == 1
    mean = [one[1].running_mean.data().asnumpy() for one in (net, plain)]
    np.testing.assert_allclose(*mean, rtol=1e-5)


# ---------------------------------------------------------------- not by graphs
def test_only_where_it_is_asked_for(runtime, monkeypatch):
    for net, ctx in ((network(static=False), GPU), (network(ctx=mx.cpu()), mx.cpu())):
        for i in range(graphs.WARM_UPS + 3):
            net(batch(i, ctx=ctx))
    monkeypatch.setenv("MXNET_ENABLE_CUDA_GRAPHS", "0")
    train(network(), steps=graphs.WARM_UPS + 3)
    assert runtime.captures == 0


def test_not_where_each_operator_is_looked_at(runtime, monkeypatch):
    monkeypatch.setattr(graphs.ENGINE, "naive", True)
    predict = network()
    for i in range(graphs.WARM_UPS + 2):
        predict(batch(i))
    assert runtime.captures == 0


def test_sparse_data_are_not_captured(runtime):
    net = nn.HybridLambda(lambda F, x, w: F.dot(x, w))
    net.hybridize(static_alloc=True, static_shape=True)
    w = nd.array(np.arange(6).reshape(3, 2), ctx=GPU)
    for i in range(graphs.WARM_UPS + 3):
        x = nd.array([[0, i, 0], [1, 0, 2]], ctx=GPU)
        np.testing.assert_allclose(net(x.tostype("csr"), w).asnumpy(), x.asnumpy() @ w.asnumpy())
    assert runtime.captures == 0


def test_sparse_gradients_are_not_captured(runtime):
    net = nn.Embedding(6, 2, sparse_grad=True)
    net.initialize(ctx=GPU)
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(graphs.WARM_UPS + 2):
        with autograd.record():
            y = net(nd.array([1, 3], ctx=GPU))
        y.backward()
    assert runtime.captures == 0 and net.weight.grad().stype == "row_sparse"


def test_python_code_of_the_user_runs_every_time(runtime):
    calls = []

    class Counting(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            calls.append(1)
            self.assign(out_data[0], req[0], in_data[0] + len(calls))

    @mx.operator.register("counting_on_gpu")
    class CountingProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Counting()

    net = nn.HybridLambda(lambda F, x: F.Custom(x, op_type="counting_on_gpu"))
    net.hybridize(static_alloc=True, static_shape=True)
    for i in range(graphs.WARM_UPS + 3):
        assert net(nd.zeros((1,), ctx=GPU)).asscalar() == i + 1
    assert runtime.captures == 0


@pytest.mark.parametrize("training", [False, True])
def test_given_up_with_one_warning(runtime, training):
    net = nn.HybridLambda(lambda F, x: F.contrib.boolean_mask(x, x > 0))  # its size depends on values
    net.hybridize(static_alloc=True, static_shape=True)
    stream = torch.cuda.current_stream()
    with pytest.warns(UserWarning, match="without a CUDA graph.*not permitted when stream is capturing") as warned:
        for i in range(graphs.WARM_UPS + 5):
            x = batch(i, 1, shape=())
            x.attach_grad()
            with autograd.record() if training else autograd.pause():
                y = net(nd.concat(x, -x, dim=0))
            assert y.shape == (1,) and y.asscalar() == abs(x.asscalar())
            if training:
                y.backward()
                assert abs(x.grad.asscalar()) == 1
    assert len([w for w in warned if "CUDA graph" in str(w.message)]) == 1
    assert torch.cuda.current_stream() == stream and runtime.captures == 0
    assert not Leftovers.pools and not Leftovers.drawing  # torch's allocator and generator work as before


def test_a_failing_backward_pass_gives_up(runtime, monkeypatch):
    monkeypatch.setattr(torch.autograd, "grad", lambda *a, **k: torch.zeros(1, device="cuda").item())
    net = network()
    with pytest.warns(UserWarning, match="without a CUDA graph"):
        found = train(net)
    np.testing.assert_allclose(found[0], train(network(static=False))[0], rtol=1e-4, atol=1e-5)
    assert not Leftovers.pools and not Leftovers.drawing


def test_a_graph_captured_before_works_after_another_failed(runtime):
    good, plain = network(), network(static=False)
    for i in range(graphs.WARM_UPS + 2):
        good(batch(i))
    _give_up()
    np.testing.assert_allclose(good(batch(9)).asnumpy(), plain(batch(9)).asnumpy(), rtol=1e-5)
    assert runtime.captures == 1 and runtime.replays == 3


def _give_up():
    net = nn.HybridLambda(lambda F, x: F.contrib.boolean_mask(x, x > 0))
    net.hybridize(static_alloc=True, static_shape=True)
    with pytest.warns(UserWarning, match="without a CUDA graph"):
        for _ in range(graphs.WARM_UPS + 1):
            net(nd.array([1, -1], ctx=GPU))


@pytest.mark.parametrize("changed", ["data", "parameter"])
def test_a_run_whose_inputs_were_changed_keeps_its_activations(runtime, changed):
    """The first run may still be differentiated, though its data or a parameter have new values."""
    net, found = network(), []

    def loss_of(x):
        with autograd.record():
            return net(x).square().sum()

    for i in range(graphs.WARM_UPS + 1):
        loss_of(batch(i)).backward()
    for change in (False, True):
        x = batch(7)
        loss = loss_of(x)
        if change and changed == "data":
            x[:] = 0
        elif change:
            net[0].weight.set_data(net[0].weight.data() + 1)
        later = loss_of(batch(50)) if change else None
        loss.backward()
        found.append(net[0].weight.grad().asnumpy())
    later.backward()
    assert runtime.captures == 2 and runtime.replays == 2 + 4
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_an_index_out_of_bounds_is_reported_late(runtime):
    net = nn.HybridLambda(lambda F, x, i: F.take(x, i, mode="raise"))
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.arange(5, ctx=GPU)
    good, bad = nd.array([1, 2], ctx=GPU), nd.array([1, 9], ctx=GPU)
    for _ in range(graphs.WARM_UPS + 2):
        assert net(x, good).asnumpy().tolist() == [1, 2]
    assert runtime.captures == 1
    net(x, bad)
    net(x, good)  # the failure of an earlier replay is not forgotten
    with pytest.raises(MXNetError, match="out of bound.*CUDA graph"):
        nd.waitall()
    assert net(x, good).asnumpy().tolist() == [1, 2]
    nd.waitall()
