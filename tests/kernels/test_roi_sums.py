"""Regions pooled in one pass give what several passes give, gradients and their gradients included."""

import numpy as np
import pytest

from mxnet import autograd, nd
from mxnet._ops.vision import roi_align as roi_pooling_contrib

ROIS = [[0, 1, 2, 20, 18], [1, -4, 3, 9, 40], [0, 5, 5, 5.5, 6], [-1, 0, 0, 8, 8], [1, 30, 30, 90, 90]]


def pooled(dtype, twice, **attrs):
    random = np.random.RandomState(0)
    data, rois = nd.array(random.randn(2, 6, 9, 11), dtype=dtype), nd.array(ROIS, dtype=dtype)
    data.attach_grad()
    with autograd.record():
        out = nd.contrib.ROIAlign(data, rois, pooled_size=(3, 2), spatial_scale=0.25, **attrs)
        loss = (out * out * out).sum()
        if twice:
            slope = autograd.grad(loss, [data], create_graph=True)[0]
            loss = (slope * slope).sum()
    loss.backward()
    return out.asnumpy(), data.grad.asnumpy()


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("attrs", [{"sample_ratio": 2}, {"sample_ratio": -1}, {"sample_ratio": 1, "aligned": False}])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_pass_and_several(dtype, attrs, twice, monkeypatch):
    quick = pooled(dtype, twice, **attrs)
    monkeypatch.setattr(roi_pooling_contrib, "_SUMMED", frozenset())
    near = 1e-5 if dtype == "float32" else 1e-12
    for got, want in zip(quick, pooled(dtype, twice, **attrs), strict=True):
        assert np.abs(want).max() > 0
        np.testing.assert_allclose(got, want, rtol=near, atol=near * np.abs(want).max())
