"""Training in channels-last order, with sums and activations in place, gives what the plain graph gives."""

import numpy as np
import pytest
import torch
from learning import learn

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.lower import program
from mxnet._graph.training import memory_format as order
from mxnet._graph.training.convolution import channels_last_convolution
from mxnet._graph.training.memory_format import compilable
from mxnet._kernels import registry, tuning
from mxnet._ops.nn.convolution import convolution
from mxnet.gluon import nn


@pytest.fixture(autouse=True)
def one_is_enough(monkeypatch):
    """A single convolution is brought into the order, too."""
    monkeypatch.setattr(tuning, "CHANNELS_LAST_CONVOLUTIONS", 1)


@pytest.mark.parametrize(("filters", "changes"), [((32, 64), False), ((64, 64), True)])
def test_one_large_convolution_is_no_reason_to_change_the_order(filters, changes, monkeypatch):
    monkeypatch.undo()
    found = []
    monkeypatch.setattr(program, "ordered", lambda module: found.append(order.ordered(module)))
    net = nn.HybridSequential()
    net.add(*(nn.Conv2D(number, 3, padding=1) for number in filters))
    net.initialize()
    net.hybridize()
    with autograd.record():
        net(nd.ones((1, 3, 8, 8)))
    assert [made is not None for made in found] == [changes]


@pytest.fixture
def tiles_pay(monkeypatch):
    """Small convolutions go by tiles, too, where numba is missing and the tiles are products of matrices."""
    monkeypatch.setattr(tuning, "WINOGRAD_TORCH_CHANNELS", tuning.WINOGRAD_CHANNELS[3])


class Unit(gluon.HybridBlock):
    """A residual unit: what works in place, and what must not."""

    def __init__(self, channels, stride):
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(nn.Conv2D(channels, 3, stride, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
        self.body.add(nn.Conv2D(channels, 3, 1, 1, use_bias=False), nn.BatchNorm(scale=False))
        self.side = nn.HybridSequential()
        self.side.add(nn.Conv2D(channels, 1, stride, use_bias=False), nn.BatchNorm())

    def hybrid_forward(self, F, x):
        sum_of_both = self.body(x) + self.side(x)
        return F.relu(sum_of_both) + F.sigmoid(sum_of_both)


def network():
    mx.random.seed(3)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(64, 3, padding=1), nn.Activation("relu"), nn.MaxPool2D(), Unit(64, 1), Unit(96, 2), nn.Flatten())
    net.add(nn.Dense(4))
    net.initialize(mx.init.Xavier())
    return net


def images(size=19):
    mx.random.seed(4)
    return nd.random.normal(shape=(4, 3, size, size))


def test_values_gradients_and_statistics_are_those_of_the_plain_graph():
    got, want = network(), network()
    got.hybridize()
    for a, b in zip(learn(got, images()), learn(want, images()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-5 * max(np.abs(b).max(), 1e-3))
    (program,) = got._cached_op._programs.values()
    lowered, _ = program.code(True, ())
    bound = (getattr(value, "func", value) for value in lowered.run.__globals__.values())  # with constant arguments
    called = {function.__name__ for function in bound if hasattr(function, "__name__")}
    assert {"channels_last_convolution", "relu_in_place", "add_in_place"} <= called


def test_an_activation_right_behind_a_convolution_works_in_place(tiles_pay):
    results = []
    for active in (False, True):
        mx.random.seed(5)
        net = nn.HybridSequential()
        net.add(nn.Conv2D(64, 3, padding=1, in_channels=32), nn.Activation("relu"), nn.Conv2D(64, 3, padding=1))
        net.add(nn.Activation("relu"))
        net.initialize(mx.init.Xavier())
        net.hybridize(active)
        x = nd.random.normal(shape=(4, 32, 18, 18))
        with registry.traced() as log:
            results.append(learn(net, x))
        assert not active or sum("winograd" in decision.kernel for decision in log) >= 2
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-5 * max(np.abs(b).max(), 1e-3))


def test_what_another_operator_reads_is_not_overwritten():
    class Both(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2D(64, 3, padding=1, in_channels=3), nn.BatchNorm(in_channels=64)

        def hybrid_forward(self, F, x):
            y = self.norm(self.conv(x))
            z = F.relu(y)
            return y, z, y + y, F.relu(y + z)

    net = Both()
    net.initialize()
    results = []
    for active in (False, True):
        net.hybridize(active)
        with autograd.record():
            out = net(images())
            loss = sum((o * (i + 1)).sum() for i, o in enumerate(out))
        loss.backward()
        results.append([o.asnumpy() for o in out] + [net.conv.weight.grad().asnumpy()])
        assert all(o._t.is_contiguous() for o in out)
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-5 * np.abs(b).max())


@pytest.mark.parametrize(
    "batch, channels, filters, size, stride",
    [
        (2, 32, 48, (15, 16), 1),
        (8, 64, 32, (7, 9), 1),
        (4, 32, 32, (20, 20), 1),
        (3, 32, 32, (64, 71), 1),
        (2, 32, 64, (40, 37), 2),
        (5, 33, 40, (29, 22), 2),
    ],
)
def test_values_and_gradients_by_products_of_matrices(tiles_pay, batch, channels, filters, size, stride):
    torch.manual_seed(0)
    data, weight, bias = torch.randn(batch, channels, *size), torch.randn(filters, channels, 3, 3), torch.randn(filters)
    attrs = {"kernel": (3, 3), "stride": (stride, stride), "pad": (1, 1), "num_filter": filters}
    found = []
    for function, dtype in ((channels_last_convolution, torch.float32), (convolution, torch.float64)):
        inputs = [t.to(dtype, copy=True).requires_grad_() for t in (data, weight, bias)]
        with registry.traced() as log:
            out = function(*inputs, **attrs)
        if dtype is torch.float32:
            assert ("winograd" if stride == 1 else "channels_last") in log[0].kernel
        torch.manual_seed(1)
        head = torch.randn(out.shape)
        found.append([out.detach(), *torch.autograd.grad(out, inputs, head.to(dtype))])
    for got, want in zip(*found, strict=True):
        assert (got - want).abs().max() < 4e-6 * want.abs().max()


@pytest.mark.parametrize("channels", [32, 16], ids=["by tiles", "plain sum"])
@pytest.mark.parametrize("by", ["data", "weight"])
def test_a_second_derivative(tiles_pay, channels, by):
    """The gradient of a gradient does not go through what is not part of the graph."""
    net = nn.Conv2D(64, 3, padding=1, in_channels=channels)
    net.initialize()
    x = nd.random.normal(shape=(2, channels, 14, 14))
    results = []
    for active in (False, True):
        net.hybridize(active)
        x.attach_grad()
        with autograd.record():
            with registry.traced() as log:
                y = (net(x) ** 3).sum()
            assert not active or ("winograd" in log[0].kernel) == (channels == 32)
            (slope,) = autograd.grad(y, [x if by == "data" else net.weight.data()], create_graph=True)
            loss = (slope**2).sum()
        loss.backward()
        results.append((x.grad.asnumpy(), net.weight.grad().asnumpy()))
    for a, b in zip(*results, strict=True):
        assert np.abs(a).max() > 0
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4 * np.abs(b).max())


def test_other_types_layouts_and_errors():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(64, 3, in_channels=3), nn.BatchNorm(), nn.Activation("relu"))
    net.initialize()
    net.hybridize()
    net.cast("float64")
    with autograd.record():
        out = net(images().astype("float64"))
    out.backward()
    assert out.dtype == np.float64 and net[0].weight.grad().dtype == np.float64
    net.cast("float32")
    with (
        pytest.raises(mx.MXNetError, match=r"operator conv\d+_fwd: .* \(Convolution on \(2, 4, 9, 9\)"),
        autograd.record(),
    ):
        net(nd.zeros((2, 4, 9, 9)))


def test_compiled_predictions_have_the_plain_values_and_order():
    net, x = network(), images()
    want = net(x).asnumpy()
    net.hybridize(backend="eager")  # torch.compile's own tracing, without a C++ compiler
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-4, atol=1e-5 * np.abs(want).max())
    assert net(x)._t.is_contiguous()
    (program,) = net._cached_op._programs.values()
    code = compilable(program.code(False, ())[0].module)
    called = {node.target.__name__ for node in code.graph.nodes if node.op == "call_function"}
    assert {"compilable_convolution", "plain"} <= called
