"""Passes over images by compiled kernels: scaled and concatenated channels, and networks that consist of them."""

import pytest
import torch
from predicting import agree, folding, images, with_statistics

import mxnet as mx
from mxnet import gluon
from mxnet._graph.inference import fold as passes
from mxnet._graph.inference.packed_conv import concat, scale_norm
from mxnet._kernels import tuning
from mxnet._kernels.conv import direct
from mxnet._kernels.norm import scale_shift
from mxnet.gluon import nn

LAST = torch.channels_last
kernels = scale_shift.code.get(wait=True)
needs_kernels = pytest.mark.skipif(kernels is None, reason="kernels are made for processors with AVX2")


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: request.param)
    monkeypatch.setattr(tuning, "CHANNELS_LAST_PER_THREAD", 1)


def drawn(*shape):
    torch.manual_seed(5)
    return torch.randn(shape).contiguous(memory_format=LAST) if len(shape) == 4 else torch.randn(shape)


@needs_kernels
@pytest.mark.parametrize("shape", [(1, 8, 3, 5), (2, 40, 7, 1), (3, 24, 4, 4)])
@pytest.mark.parametrize("clamp", [(None, None), (0.0, None), (-0.5, 0.75)])
def test_scaling(shape, clamp, threads):
    data, factors, shifts = drawn(*shape), drawn(shape[1]), drawn(2, shape[1])[1]
    data[0, 3, 0, 0], data[0, 4, 1, 0] = float("nan"), float("inf")
    result = torch.full_like(data, 7)
    scale_shift.task(data, factors, shifts, clamp, result).run()
    want = data * factors.view(-1, 1, 1) + shifts.view(-1, 1, 1)
    want = want if clamp == (None, None) else want.clamp(*clamp)
    torch.testing.assert_close(result, want, rtol=1e-6, atol=1e-6, equal_nan=True)
    addend = torch.rand_like(data)
    scale_shift.task(data, factors, shifts, clamp, result, addend).run()
    want = data * factors.view(-1, 1, 1) + shifts.view(-1, 1, 1) + addend
    want = want if clamp == (None, None) else want.clamp(*clamp)
    torch.testing.assert_close(result, want, rtol=1e-6, atol=1e-6, equal_nan=True)


@needs_kernels
def test_joining(threads):
    pieces = [drawn(2, channels, 3, 5) for channels in (8, 40, 16, 8)]
    result = torch.full((2, 72, 3, 5), 7.0).contiguous(memory_format=LAST)
    for task in scale_shift.concat_tasks(pieces, result):
        task.run()
    assert torch.equal(result, torch.cat(pieces, 1))


def test_what_is_left_to_torch():
    assert not scale_shift.scale.ready(drawn(1, 12, 3, 3))  # channels that fill no vectors
    assert not scale_shift.scale.ready(drawn(1, 8, 3, 3).double())
    assert not scale_shift.scale.ready(drawn(1, 8, 3))
    assert not scale_shift.scale.ready(drawn(0, 8, 3, 3))


class Grown(gluon.HybridBlock):
    """Norm and activation before a convolution, whose result is laid beside the data."""

    def __init__(self, channels):
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(channels, 1, use_bias=False))
        self.body.add(nn.BatchNorm(scale=False), nn.Activation("relu"), nn.Conv2D(channels, 3, padding=1))

    def hybrid_forward(self, F, x):
        return F.concat(x, self.body(x))


class Residual(gluon.HybridBlock):
    """Norm and activation before the convolutions, which are added to the data."""

    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm()
        self.first, self.last = nn.Conv2D(channels, 1), nn.Conv2D(channels, 1)

    def hybrid_forward(self, F, x):
        return x + self.last(self.first(F.relu(self.norm(x))))


def network(channels):
    mx.random.seed(3)
    net = nn.HybridSequential()
    net.add(nn.BatchNorm(scale=False, center=False), nn.Conv2D(channels, 3, padding=1))
    net.add(Grown(channels), Grown(channels), Residual(3 * channels), Residual(3 * channels), nn.BatchNorm())
    net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(24), nn.BatchNorm(), nn.Dense(5))
    return with_statistics(net, images(size=9))


def nodes(net):
    return list(folding(net)._graph.nodes)


@pytest.mark.parametrize("ready", [True, False])
@pytest.mark.parametrize("channels", [16, 12])
def test_norms_that_no_convolution_takes_in(channels, ready, monkeypatch):
    for loader in (direct._code, scale_shift.code):
        found = loader.get(wait=True) if ready else None
        monkeypatch.setattr(loader, "get", lambda wait, found=found: found)
        monkeypatch.setattr(loader, "ready", lambda *_, found=found: found is not None)
    net = network(channels)
    agree(net, images(size=9))
    assert sum(node.target is scale_norm for node in nodes(net)) == 7
    assert sum(node.target is concat for node in nodes(net)) == 2
    agree(net, images(3, 6))
    net[2].body[0].running_mean.data()[:] += 1
    net[0].running_var.set_data(net[0].running_var.data() * 2)
    agree(net, images(size=9))


def buffer_of(node):
    return node.args[passes.BUFFER[node.target]]


@pytest.mark.parametrize(("channels", "over"), [(16, True), (12, False)])
def test_sums_are_written_over_what_is_added(channels, over, monkeypatch):
    """Where channels fill no vectors, kernels write some of them twice: there it must be other memory."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(channels, 1), Residual(channels), Residual(channels), nn.Conv2D(8, 1), nn.Flatten())
    monkeypatch.setattr(tuning, "FOLD_CONV_WEIGHTS", 1)
    agree(with_statistics(net, images(size=9)), images(size=9))
    sums = [node for node in nodes(net) if node.target is passes.convolve and len(node.args) == 7]
    assert len(sums) == 2
    for node in sums:
        assert (buffer_of(node) == buffer_of(node.args[6])) == over
        assert buffer_of(node) is not None


def test_what_is_added_and_read_later_is_kept(monkeypatch):
    class Twice(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.first, self.last = (nn.Conv2D(16, 1, in_channels=16) for _ in range(2))
            self.norm = nn.BatchNorm()

        def hybrid_forward(self, F, x):
            total = x + self.first(x)
            return self.last(self.norm(x)) + self.last(total)

    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1), Twice(), nn.GlobalAvgPool2D(), nn.Flatten())
    monkeypatch.setattr(tuning, "FOLD_CONV_WEIGHTS", 1)
    agree(with_statistics(net, images(size=9)), images(size=9))
