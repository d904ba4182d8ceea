"""Pooling by compiled code gives what torch's kernels give: values, gradients and theirs, equal elements and NaN."""

import numpy as np
import pytest
import torch

from mxnet import autograd, nd
from mxnet._kernels.pool import nchw as planes
from mxnet.gluon import nn

pytest.importorskip("numba")

KINDS = {
    "max": {"pool_type": "max"},
    "avg": {"pool_type": "avg"},
    "avg without padding": {"pool_type": "avg", "count_include_pad": False},
    "sum": {"pool_type": "sum"},
    "lp": {"pool_type": "lp", "p_value": 2},
    "lp of three": {"pool_type": "lp", "p_value": 3},
}
WINDOWS = {
    "side by side": {"kernel": (2, 2), "stride": (2, 2)},
    "halves of odd sizes": {"kernel": (3, 3), "stride": (2, 2)},
    "each pixel": {"kernel": (3, 3), "pad": (1, 1)},
    "full": {"kernel": (4, 4), "stride": (3, 3), "pad": (0, 1), "pooling_convention": "full"},
    "with gaps": {"kernel": (2, 1), "stride": (3, 4)},
    "a whole row": {"kernel": (1, 13), "stride": (1, 1)},
    "wide": {"kernel": (5, 7), "stride": (2, 3), "pad": (2, 3)},
}


@pytest.fixture
def ready(monkeypatch):
    """Is compiled code there, or not?"""
    kernels = planes._code.get(wait=True)
    assert kernels is not None
    monkeypatch.setattr(planes, "LEAST", 0)
    asked = []

    def use(yes):
        monkeypatch.setattr(
            planes._code, "earned", lambda numbers, wait: asked.append(numbers) or (kernels if yes else None)
        )
        return asked

    return use


def both(ready, step):
    results = []
    for yes in (False, True):
        asked = ready(yes)
        results.append(step())
    assert asked
    for want, got in zip(*results, strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        largest = np.abs(want[np.isfinite(want)]).max(initial=1)  # sums of terms as large as that lose digits
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * largest)


def pooled(values, twice=False, **attrs):
    data = nd.array(values)
    data.attach_grad()
    with autograd.record():
        out = nd.Pooling(data, **attrs)
        loss = (out * (nd.arange(out.size).reshape(out.shape) + 1)).sum()
        if twice:
            slope = autograd.grad((out * out * out).sum(), [data], create_graph=True)[0]
            loss = (slope * slope).sum()
    loss.backward()
    return out.asnumpy(), nd.Pooling(data, **attrs).asnumpy(), data.grad.asnumpy()


def numbers(kind):
    random = np.random.RandomState(0)
    if kind == "equal":
        return random.randint(-2, 3, (2, 3, 9, 13)).astype(np.float32)
    return random.uniform(0.1, 1, (2, 3, 9, 13)).astype(np.float32)  # roots of sums near zero would differ


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_and_not(kind, windows, ready):
    both(ready, lambda: pooled(numbers("usual"), **KINDS[kind], **WINDOWS[windows]))


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("kind", ["max", "avg", "lp"])
def test_equal_elements(kind, windows, ready):
    """The first of them has the gradient of a maximum; roots of zero have none."""
    both(ready, lambda: pooled(numbers("equal"), **KINDS[kind], **WINDOWS[windows]))


@pytest.mark.parametrize("kind", ["max", "avg", "avg without padding", "sum", "lp"])
def test_second_derivatives(kind, ready):
    both(ready, lambda: pooled(numbers("usual"), twice=True, **KINDS[kind], **WINDOWS["wide"]))


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("windows", ["halves of odd sizes", "wide", "full"])
def test_nan_and_infinities(kind, windows, ready):
    values = numbers("usual")
    values[0, 0, 2, 3], values[0, 1, 4, 4], values[1, 2, 5, 6], values[1, 0] = np.nan, np.inf, -np.inf, -np.inf
    both(ready, lambda: pooled(values, **KINDS[kind], **WINDOWS[windows])[:2])


def test_one_axis_other_orders_and_parts(ready):
    data = nd.array(numbers("usual"))
    both(ready, lambda: [nd.Pooling(data[0], kernel=(3,), stride=(2,), pool_type="avg").asnumpy()])
    both(ready, lambda: [nd.Pooling(data[:, 1:, 2:], kernel=(3, 3), stride=(2, 2)).asnumpy()])
    last = {"kernel": (3, 3), "stride": (2, 2), "layout": "NHWC"}
    ready(True)
    got = nd.Pooling(data.transpose((0, 2, 3, 1)), **last).transpose((0, 3, 1, 2)).asnumpy()
    np.testing.assert_array_equal(got, nd.Pooling(data, kernel=(3, 3), stride=(2, 2)).asnumpy())


def test_two_threads(ready, monkeypatch):
    monkeypatch.setattr(planes, "WORTH_A_THREAD", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for kind in ("max", "avg"):
            both(ready, lambda kind=kind: pooled(numbers("usual"), **KINDS[kind], **WINDOWS["wide"]))
    finally:
        torch.set_num_threads(before)


def test_hybridized(ready):
    net = nn.HybridSequential()
    net.add(nn.MaxPool2D(3, 2, 1), nn.AvgPool2D(3, 1, 1))
    net.hybridize()
    data = nd.array(numbers("usual"))
    both(ready, lambda: [net(data).asnumpy()])
