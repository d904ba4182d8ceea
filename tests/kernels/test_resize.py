"""Images resized by compiled code are those that torch's calls make: values, gradients and theirs."""

import numpy as np
import pytest
import torch

from mxnet import autograd, nd
from mxnet._kernels import tuning
from mxnet._kernels.vision import resize
from mxnet.gluon import nn

pytest.importorskip("numba")


@pytest.fixture
def both(both_ways):
    assert resize._code.get(wait=True) is not None

    def compare(step, used=True):
        for want, got in zip(*both_ways(step, used=used), strict=True):
            assert want.shape == got.shape and want.dtype == got.dtype
            largest = np.abs(want[np.isfinite(want)]).max()  # sums of terms as large as that lose digits
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * max(1, largest))

    return compare


def resized(data, twice=False, **options):
    data = nd.array(data)
    data.attach_grad()
    with autograd.record():
        out = nd.contrib.BilinearResize2D(data, **options)
        loss = (out * nd.arange(out.size).reshape(out.shape) / out.size).sum()
        if twice:
            slope = autograd.grad((out * out * out).sum(), [data], create_graph=True)[0]
            loss = (slope * slope).sum()
    loss.backward()
    return out.asnumpy(), data.grad.asnumpy()


SIZES = [(5, 4), (20, 31), (1, 1), (1, 9), (9, 1), (9, 13), (2, 40)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("corners", [True, False])
def test_compiled_and_not(size, corners, both):
    data = np.random.RandomState(0).randn(2, 3, 9, 13).astype(np.float32)
    options = {"height": size[0], "width": size[1], "align_corners": corners}
    used = size != (9, 13)  # of the same size it is a copy
    both(lambda: resized(data, **options), used)
    both(lambda: resized(data, twice=True, **options), used)


def test_nan_and_infinity_stay_where_they_are(both):
    data = np.zeros((1, 1, 8, 8), np.float32)
    data[0, 0, 2, 2], data[0, 0, 5, 6] = np.nan, np.inf
    both(lambda: resized(data, height=4, width=4))
    both(lambda: resized(data, height=8, width=8), used=False)


def test_parts_and_other_types(both):
    data = nd.array(np.random.RandomState(0).randn(4, 6, 9, 13))
    for part in (data[1:3, 2:5, 1:, :-2], data.transpose((0, 1, 3, 2)), data.transpose((1, 0, 2, 3))[1:]):
        both(lambda part=part: [nd.contrib.BilinearResize2D(part, height=5, width=20).asnumpy()])
    for kind in ("float64", "float16"):
        other = data.astype(kind)
        both(lambda other=other: [nd.contrib.BilinearResize2D(other, height=5, width=20).asnumpy()], used=False)


def test_two_threads(both, monkeypatch):
    monkeypatch.setattr(tuning, "RESIZE_PER_THREAD", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        data = np.random.RandomState(0).randn(2, 3, 9, 13).astype(np.float32)
        both(lambda: resized(data, height=5, width=20))
    finally:
        torch.set_num_threads(before)


def test_hybridized(both):
    net = nn.HybridLambda(lambda F, x: F.contrib.BilinearResize2D(F.relu(x), height=4, width=30))
    net.hybridize()
    data = nd.array(np.random.RandomState(0).randn(2, 3, 9, 13))
    both(lambda: [net(data).asnumpy()])
