"""Images resized by compiled code are those that torch's calls make: values, gradients and theirs."""

import numpy as np
import pytest
import torch

from mxnet import autograd, nd
from mxnet._ops.vision import resize as resize2d
from mxnet.gluon import nn

pytest.importorskip("numba")


@pytest.fixture
def ready(monkeypatch):
    """Is compiled code there, or not?"""
    kernels = resize2d._code.get(wait=True)
    assert kernels is not None

    def use(yes):
        monkeypatch.setattr(resize2d._code, "earned", lambda numbers, wait: kernels if yes else None)

    return use


def both(ready, step):
    results = []
    for yes in (False, True):
        ready(yes)
        results.append(step())
    for want, got in zip(*results, strict=True):
        assert want.shape == got.shape and want.dtype == got.dtype
        largest = np.abs(want[np.isfinite(want)]).max()  # sums of terms as large as that lose digits
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * max(1, largest))


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
def test_compiled_and_not(size, corners, ready):
    data = np.random.RandomState(0).randn(2, 3, 9, 13).astype(np.float32)
    options = {"height": size[0], "width": size[1], "align_corners": corners}
    both(ready, lambda: resized(data, **options))
    both(ready, lambda: resized(data, twice=True, **options))


def test_nan_and_infinity_stay_where_they_are(ready):
    data = np.zeros((1, 1, 8, 8), np.float32)
    data[0, 0, 2, 2], data[0, 0, 5, 6] = np.nan, np.inf
    both(ready, lambda: resized(data, height=4, width=4))
    both(ready, lambda: resized(data, height=8, width=8))


def test_parts_and_other_types(ready):
    data = nd.array(np.random.RandomState(0).randn(4, 6, 9, 13))
    for part in (data[1:3, 2:5, 1:, :-2], data.transpose((0, 1, 3, 2)), data.transpose((1, 0, 2, 3))[1:]):
        both(ready, lambda part=part: [nd.contrib.BilinearResize2D(part, height=5, width=20).asnumpy()])
    for kind in ("float64", "float16"):
        other = data.astype(kind)
        both(ready, lambda other=other: [nd.contrib.BilinearResize2D(other, height=5, width=20).asnumpy()])


def test_two_threads(ready, monkeypatch):
    monkeypatch.setattr(resize2d, "WORTH_A_THREAD", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        data = np.random.RandomState(0).randn(2, 3, 9, 13).astype(np.float32)
        both(ready, lambda: resized(data, height=5, width=20))
    finally:
        torch.set_num_threads(before)


def test_hybridized(ready):
    net = nn.HybridLambda(lambda F, x: F.contrib.BilinearResize2D(F.relu(x), height=4, width=30))
    net.hybridize()
    data = nd.array(np.random.RandomState(0).randn(2, 3, 9, 13))
    both(ready, lambda: [net(data).asnumpy()])
