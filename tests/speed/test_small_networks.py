"""Convolutions of few or odd channels and pooling by halves give what torch's own kernels give, gradients included."""

import numpy as np
import pytest
import torch

from mxnet import autograd, nd
from mxnet._ops import few_channels, halving

CONVOLUTIONS = [  # images, channels, filters, kernel, stride, pad, size
    (40, 1, 6, (5, 5), (1, 1), (2, 2), 28),
    (40, 1, 20, (3, 5), (2, 1), (0, 1), 24),
    (30, 20, 50, (5, 5), (1, 1), (0, 0), 12),
    (30, 18, 32, (3, 3), (2, 2), (1, 1), 15),
]


@pytest.fixture
def counted(monkeypatch):
    """How often the quick ways were gone."""
    seen = []
    for module, name in ((few_channels, "_Few"), (halving, "_Halved")):
        function = getattr(module, name)
        kept = function.apply
        monkeypatch.setattr(function, "apply", lambda *args, n=name, kept=kept: seen.append(n) or kept(*args))
    return seen


def arrays(*shapes):
    random = np.random.RandomState(0)
    made = [nd.array(random.uniform(-1, 1, shape)) for shape in shapes]
    for a in made:
        a.attach_grad()
    return made


def tensors(given):
    return [torch.tensor(a.asnumpy(), dtype=torch.float64, requires_grad=True) for a in given]


def close(found, expected):
    expected = expected.detach().numpy()
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-4, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("images, channels, filters, kernel, stride, pad, size", CONVOLUTIONS)
@pytest.mark.parametrize("at_a_time", [1 << 22, 1 << 16])
def test_convolution(images, channels, filters, kernel, stride, pad, size, at_a_time, counted, monkeypatch):
    monkeypatch.setattr(few_channels, "MOST_PATCHES", at_a_time)
    monkeypatch.setattr(few_channels, "LEAST_WORK", 1)
    given = arrays((images, channels, size, size), (filters, channels, *kernel), (filters,))
    theirs = tensors(given)
    with autograd.record():
        y = nd.Convolution(*given, kernel=kernel, stride=stride, pad=pad, num_filter=filters)
        loss = (y * y * y).sum()
    loss.backward()
    expected = torch.conv2d(*theirs, stride, pad)
    (expected**3).sum().backward()
    assert counted == ["_Few"]
    close(y, expected)
    assert y._t.is_contiguous()
    for ours, their in zip(given, theirs, strict=True):
        close(ours.grad, their.grad)


def test_only_the_gradients_asked_for(counted, monkeypatch):
    monkeypatch.setattr(few_channels, "LEAST_WORK", 1)
    data, weight = nd.ones((2, 1, 9, 9)), nd.ones((4, 1, 3, 3))
    weight.attach_grad()
    with autograd.record():
        y = nd.Convolution(data, weight, kernel=(3, 3), num_filter=4, no_bias=True)
    y.backward()
    assert counted == ["_Few"]
    assert (weight.grad.asnumpy() == 2 * 49).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pooling(dtype, counted, monkeypatch):
    monkeypatch.setattr(halving, "LEAST", 1)
    values = np.random.RandomState(1).randint(0, 4, (3, 5, 8, 6)).astype(dtype)  # many are equal
    x = nd.array(values, dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = nd.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
        loss = (y * nd.arange(y.size, dtype=dtype).reshape(y.shape)).sum()
    loss.backward()
    t = torch.tensor(values, requires_grad=True)
    expected = torch.max_pool2d(t, 2, 2)
    (expected * torch.arange(expected.numel()).view(expected.shape)).sum().backward()
    assert counted == ["_Halved"]
    assert (y.asnumpy() == expected.detach().numpy()).all()
    assert (x.grad.asnumpy() == t.grad.numpy()).all()
    assert (nd.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max").asnumpy() == y.asnumpy()).all()


def test_gradients_of_gradients(counted, monkeypatch):
    for module, name in ((few_channels, "LEAST_WORK"), (halving, "LEAST")):
        monkeypatch.setattr(module, name, 1)
    given = arrays((2, 1, 8, 8), (3, 1, 3, 3))
    theirs = tensors(given)

    with autograd.record():
        y = nd.Pooling(nd.Convolution(*given, kernel=(3, 3), num_filter=3, no_bias=True), kernel=(2, 2), stride=(2, 2))
        slope = autograd.grad((y * y).sum(), [given[1]], create_graph=True)[0]
        loss = (slope * slope).sum()
    loss.backward()
    y = torch.max_pool2d(torch.conv2d(*theirs), 2, 2)
    (slope,) = torch.autograd.grad((y * y).sum(), theirs[1], create_graph=True)
    (slope * slope).sum().backward()
    assert counted == ["_Few", "_Halved"]
    for ours, their in zip(given, theirs, strict=True):
        close(ours.grad, their.grad)


def test_nan_stays(monkeypatch):
    monkeypatch.setattr(halving, "LEAST", 1)
    x = nd.zeros((1, 1, 4, 4))
    x[0, 0, 1, 2] = np.nan
    found = nd.Pooling(x, kernel=(2, 2), stride=(2, 2)).asnumpy()
    assert np.isnan(found[0, 0, 0, 1])
    assert np.isnan(found).sum() == 1
