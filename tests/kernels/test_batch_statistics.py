"""Statistics of channels-last batches are as exact as those of NCHW; torch adds their pixels in one row of floats."""

import numpy as np
import pytest
import torch

from mxnet import autograd, nd
from mxnet._kernels.norm.batch_statistics import applies, batch_statistics

LAST = torch.channels_last
SHAPES = [(8, 24, 56, 56), (4, 3, 16, 16), (2, 5, 17, 16), (3, 7, 31, 33)]


def images(*shape):
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator).mul_(1.3).add_(3).contiguous(memory_format=LAST)


@pytest.mark.parametrize("shape", SHAPES)
def test_mean_and_variance(shape):
    data = images(*shape)
    variance, mean = torch.var_mean(data.double(), (0, 2, 3), correction=0)
    for found, exact in zip(batch_statistics(data), (mean, variance), strict=True):
        torch.testing.assert_close(found.double(), exact, rtol=5e-7, atol=0)


def test_what_torch_sums_with_care_is_left_to_it():
    data = images(8, 24, 56, 56)
    assert applies(data)
    assert not applies(data.contiguous()) and not applies(data.double()) and not applies(data[0])
    assert not applies(images(2, 24, 8, 8))  # few pixels


def normalized(values, axis, dtype):
    """Batch norm in training, and its gradients."""
    data = nd.array(values, dtype=dtype)
    channels = data.shape[axis]
    gamma, beta = (nd.array(np.linspace(first, 2, channels), dtype=dtype) for first in (0.5, -1))
    for each in (data, gamma, beta):
        each.attach_grad()
    mean, variance = nd.zeros(channels, dtype=dtype), nd.ones(channels, dtype=dtype)
    with autograd.record():
        out = nd.BatchNorm(data, gamma, beta, mean, variance, fix_gamma=False, eps=1e-5, axis=axis)
        loss = (out * out.sin()).sum()
    loss.backward()
    return [each.asnumpy() for each in (out, mean, variance, data.grad, gamma.grad, beta.grad)]


def test_channels_in_the_last_axis_are_normalized_as_exactly_as_in_the_first():
    values = images(8, 24, 32, 32).numpy()
    exact = normalized(values, 1, "float64")
    last = normalized(values.transpose(0, 2, 3, 1), 3, "float32")
    last[0], last[3] = last[0].transpose(0, 3, 1, 2), last[3].transpose(0, 3, 1, 2)
    for found, wanted, bound in zip(last, exact, (2e-7, 2e-7, 2e-7, 2e-6, 5e-6, 5e-6), strict=True):
        assert np.abs(found - wanted).max() <= bound * np.abs(wanted).max()


def test_gradients_of_gradients():
    """As of the same data in the other order."""
    values, found = images(2, 4, 16, 16).numpy(), []
    for axis, order in ((1, (0, 1, 2, 3)), (3, (0, 2, 3, 1))):
        data, ones = nd.array(values.transpose(order)), nd.ones(4)
        data.attach_grad()
        with autograd.record():
            out = nd.BatchNorm(data, ones, nd.zeros(4), nd.zeros(4), ones, fix_gamma=False, axis=axis)
            slope = autograd.grad((out * out * out).sum(), data, create_graph=True)[0]
            loss = (slope * slope).sum()
        loss.backward()
        found.append(data.grad.asnumpy().transpose(np.argsort(order)))
    np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-4 * np.abs(found[0]).max())
