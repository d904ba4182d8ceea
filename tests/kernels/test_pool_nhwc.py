"""Pooling by compiled kernels gives what torch's gives, and leaves the rest to it."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import gluon, nd
from mxnet._graph.lower import program
from mxnet._kernels import tuning
from mxnet._kernels.pool import nhwc
from mxnet._ops.nn.pooling import pooling
from mxnet.gluon import nn

kernels = nhwc._code.get(wait=True)
pytestmark = pytest.mark.skipif(kernels is None, reason="kernels are made for processors with AVX2")

INFINITE, NAN = float("inf"), float("nan")
# shape; kernel, stride, pad; convention
WINDOWS = [
    ((1, 64, 9, 8), (3, 3), (2, 2), (1, 1), "valid"),
    ((2, 8, 7, 5), (3, 3), (2, 2), (0, 0), "full"),
    ((3, 40, 6, 6), (2, 2), (2, 2), (0, 0), "valid"),
    ((1, 72, 5, 9), (4, 2), (3, 1), (2, 1), "valid"),
    ((2, 16, 8, 4), (1, 3), (1, 2), (0, 1), "full"),
    ((1, 8, 3, 3), (3, 3), (1, 1), (1, 1), "valid"),
]
LEFT = [
    ((1, 12, 8, 8), {"kernel": (2, 2)}),  # channels that fill no vectors
    ((1, 16, 8, 8), {"kernel": (2, 2), "pool_type": "avg"}),
    ((1, 16, 8, 8), {"kernel": (2, 2), "global_pool": True}),
    ((1, 16, 8, 40), {"kernel": (2, 2), "global_pool": True, "pool_type": "avg"}),  # too many for one sum
    ((1, 8, 8, 16), {"kernel": (2, 2), "layout": "NHWC"}),
    ((1, 16, 8), {"kernel": (2,)}),
    ((1, 16, 3, 3), {"kernel": (2, 2), "pad": (2, 2)}),  # torch's own wants less padding
    ((1, 16, 3, 3), {"kernel": (2, 2), "stride": (4, 4), "pad": (1, 1), "pooling_convention": "full"}),
]


def run(data, **attrs):
    shape, prepare = nhwc.plan_pooling(data, attrs)
    result = torch.full(shape, 7.0).contiguous(memory_format=torch.channels_last)
    prepare(data.contiguous(memory_format=torch.channels_last), result).run()
    return result


def drawn(shape):
    torch.manual_seed(5)
    return torch.randn(shape)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("shape", "kernel", "stride", "pad", "convention"), WINDOWS)
def test_maxima(shape, kernel, stride, pad, convention, threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(tuning, "POOL_NHWC_PER_THREAD", 1)
    data = drawn(shape)
    data.view(-1)[::7], data.view(-1)[::11], data.view(-1)[3] = -INFINITE, NAN, INFINITE
    attrs = {"kernel": kernel, "stride": stride, "pad": pad, "pooling_convention": convention}
    torch.testing.assert_close(run(data, **attrs), pooling(data, **attrs), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("shape", [(1, 64, 7, 7), (3, 40, 1, 1), (2, 8, 16, 16), (2, 1280, 3, 5)])
def test_means_of_images(shape):
    data, attrs = drawn(shape), {"global_pool": True, "pool_type": "avg"}
    torch.testing.assert_close(run(data, **attrs), data.double().mean((2, 3), keepdim=True).float())


@pytest.mark.parametrize(("shape", "attrs"), LEFT)
def test_what_is_left_to_torch(shape, attrs):
    data = drawn(shape)
    assert nhwc.plan_pooling(data, attrs) is None
    assert pooling(data, **attrs).numel()


@pytest.mark.parametrize("data", [torch.ones(1, 8, 4, 4, dtype=torch.float64), torch.ones(0, 8, 4, 4)])
def test_other_data_are_left_to_torch(data):
    assert nhwc.plan_pooling(data, {"kernel": (2, 2)}) is None


class Between(gluon.HybridBlock):
    """Convolutions of the library and pooling behind one another, with a sum across."""

    def __init__(self):
        super().__init__()
        self.first = nn.HybridSequential()
        self.first.add(nn.Conv2D(16, 5, padding=2), nn.BatchNorm(), nn.Activation("relu"))
        self.pool = nn.MaxPool2D(3, 2, 1)
        self.second = nn.HybridSequential()
        self.second.add(nn.Conv2D(16, 5, padding=2), nn.BatchNorm())
        self.bounded = nn.HybridSequential()
        self.bounded.add(nn.Conv2D(24, 3, 2, 1), nn.BatchNorm())
        self.last = nn.HybridSequential()
        self.last.add(nn.Conv2D(8, 5, padding=2, dilation=1), nn.BatchNorm(), nn.GlobalAvgPool2D(), nn.Flatten())

    def hybrid_forward(self, F, x):
        y = self.pool(self.first(x))
        y = F.relu(self.second(y) + y)
        return self.last(F.clip(self.bounded(y), 0, 2))


@pytest.mark.parametrize("ready", [False, True])
def test_networks(ready, monkeypatch):
    monkeypatch.setattr(nhwc._code, "_found", (kernels if ready else None,))
    monkeypatch.setattr(program, "OPERATOR_ERRORS", ())  # the unfolded graph must not hide a failure
    mx.random.seed(3)
    net = Between()
    net.initialize(mx.init.Xavier(magnitude=3))
    for batch, size in [(2, 20), (1, 13), (2, 20)]:
        x = nd.random.normal(shape=(batch, 8, size, size))
        for data in (x, x * nd.array([1] * 7 + [NAN]).reshape((1, 8, 1, 1))):
            net.hybridize(False)
            want = net(data).asnumpy()
            net.hybridize(True, clear=False)
            for _ in range(3):
                np.testing.assert_allclose(net(data).asnumpy(), want, rtol=1e-5, atol=1e-5)
