"""LRN by a compiled kernel gives what torch's calls give, and leaves the rest to them."""

import numpy as np
import pytest
import torch

from mxnet import autograd, nd
from mxnet._kernels.norm import lrn

kernels = lrn._code.get(wait=True)
pytestmark = pytest.mark.skipif(kernels is None, reason="kernels are made for processors with AVX2")


def normalized(data, monkeypatch, quick, **attrs):
    monkeypatch.setattr(lrn.lrn, "minimum_work", 1 if quick else 1 << 30)
    array = nd.array(data)
    array.attach_grad()
    with autograd.record():
        out = nd.LRN(array, **attrs)
    out.backward()
    return out.asnumpy(), array.grad.asnumpy()


@pytest.mark.parametrize("shape", [(2, 7, 3, 5), (1, 1, 4, 2), (3, 2, 5, 8)])
@pytest.mark.parametrize("nsize", [1, 5, 9])
def test_values_and_gradients(shape, nsize, monkeypatch):
    data, attrs = np.random.RandomState(0).randn(*shape) * 9, {"nsize": nsize, "alpha": 0.02, "knorm": 1.5}
    for threads in (1, 2):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            found = normalized(data, monkeypatch, True, **attrs)
        finally:
            torch.set_num_threads(before)
        for one, other in zip(found, normalized(data, monkeypatch, False, **attrs), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_nan_and_infinities(monkeypatch):
    data = np.ones((1, 6, 3, 3), np.float32)
    data[0, 0, 0, 0], data[0, 5, 1, 1], data[0, 2, 2, 2] = np.nan, np.inf, -np.inf
    quick, plain = (normalized(data, monkeypatch, way, nsize=3)[0] for way in (True, False))
    np.testing.assert_allclose(quick, plain, rtol=1e-6)


def test_what_is_left_to_torch(monkeypatch):
    monkeypatch.setattr(lrn.lrn, "minimum_work", 1)
    image = torch.randn(2, 4, 3, 5)
    left = [image.double(), image.mT, image[:, :, :, :2], torch.randn(2, 4, 1, 7)]
    options = 1, 0.1, 1.0, 0.75
    assert lrn.lrn.ready(image, *options) and not any(lrn.lrn.ready(other, *options) for other in left)
    assert not lrn.lrn.ready(image, 1, 0.1, 1.0, 0.5)  # another power
