"""CUDA graphs by a simulated graph: when a block is captured, replayed, captured again, and given up."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from mxnet._device import graphs
from mxnet.gluon import nn

GPU = mx.gpu(0)


class SimulatedGraphs:
    """A graph that runs its function again and writes the results where those of the capture are."""

    def __init__(self, failure=None):
        self.captures, self.replays, self.failure = 0, 0, failure

    def capture(self, run):
        if self.failure is not None:
            raise RuntimeError(self.failure)
        self.captures += 1
        results = run()

        def replay():
            self.replays += 1
            for old, new in zip(results, run(), strict=True):
                old.copy_(new)

        return replay, results


@pytest.fixture
def runtime(monkeypatch):
    monkeypatch.setenv("MXNET_ENABLE_CUDA_GRAPHS", "1")
    made = SimulatedGraphs()
    monkeypatch.setattr(graphs, "RUNTIME", made)
    return made


def network(static=True, ctx=GPU):
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="relu"), nn.BatchNorm(), nn.Dense(3))
    net.initialize(ctx=ctx)
    net.hybridize(static_alloc=static, static_shape=static)
    return net


def batch(seed, size=4, ctx=GPU):
    return nd.array(np.random.RandomState(seed).normal(size=(size, 5)), ctx=ctx)


def test_replayed_after_warm_up(runtime):
    net, plain = network(), network(static=False)
    net(batch(0)), plain(batch(0))
    for name, p in net._collect_params_with_prefix().items():
        plain._collect_params_with_prefix()[name].set_data(p.data())
    kept = []
    for i in range(graphs.WARM_UPS + 4):
        out = net(batch(i))
        np.testing.assert_allclose(out.asnumpy(), plain(batch(i)).asnumpy(), rtol=1e-5)
        kept.append((out, out.asnumpy()))
    assert runtime.captures == 1 and runtime.replays >= 3
    for out, values in kept:  # a later replay does not overwrite an earlier result
        np.testing.assert_array_equal(out.asnumpy(), values)


def test_new_shapes_are_captured_anew(runtime):
    net = network()
    for size in (4, 6):
        for i in range(graphs.WARM_UPS + 2):
            assert net(batch(i, size)).shape == (size, 3)
    assert runtime.captures == 2


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


def test_training_is_not_captured(runtime):
    net = network()
    for i in range(graphs.WARM_UPS + 3):
        with autograd.record():
            loss = net(batch(i)).sum()
        loss.backward()
    assert runtime.captures == 0


def test_only_where_it_is_asked_for(runtime, monkeypatch):
    for net, ctx in ((network(static=False), GPU), (network(ctx=mx.cpu()), mx.cpu())):
        for i in range(graphs.WARM_UPS + 3):
            net(batch(i, ctx=ctx))
    monkeypatch.setenv("MXNET_ENABLE_CUDA_GRAPHS", "0")
    net = network()
    for i in range(graphs.WARM_UPS + 3):
        net(batch(i))
    assert runtime.captures == 0


def test_given_up_with_one_warning(monkeypatch):
    monkeypatch.setenv("MXNET_ENABLE_CUDA_GRAPHS", "1")
    runtime = SimulatedGraphs("operation not permitted when stream is capturing\nmore lines")
    monkeypatch.setattr(graphs, "RUNTIME", runtime)
    net, found = network(), []
    with pytest.warns(UserWarning, match="without a CUDA graph.*not permitted when stream is capturing") as warned:
        for i in range(graphs.WARM_UPS + 5):
            found.append(net(batch(i)).asnumpy())
    assert len(warned) == 1
    monkeypatch.setenv("MXNET_ENABLE_CUDA_GRAPHS", "0")
    np.testing.assert_allclose(net(batch(0)).asnumpy(), found[0], rtol=1e-6)
