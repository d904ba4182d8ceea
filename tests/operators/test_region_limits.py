"""Regions with coordinates that are infinite, NaN or beyond 32 bits: kernels on and off agree, and with MXNet."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from mxnet._kernels.vision import roi_bins

INF, NAN = float("inf"), float("nan")
# Recorded from MXNet 1.9.1 (tools/record_regions.py): ROIPooling of 1 … 16 in two by two bins.
POOLED = [
    ([0, 0, 0, INF, INF], [1, 1, 1, 1]),
    ([0, -INF, 0, 3, 3], [0, 0, 0, 0]),
    ([0, NAN, 0, 3, 3], [0, 0, 0, 0]),
    ([0, -INF, -INF, INF, INF], [0, 0, 0, 0]),
    ([0, 1e30, 0, 1e31, 3], [0, 0, 0, 0]),
    ([0, 0, 0, 2.0**31, 2.0**31], [1, 1, 1, 1]),
    ([0, 0, 0, 1e9, 1e9], [16, 0, 0, 0]),
    ([0, 3e9, 3e9, 1, 1], [0, 0, 0, 0]),
    ([0, 2147483520, 0, 2147483520, 3], [0, 0, 0, 0]),
    ([INF, 0, 0, 3, 3], [0, 0, 0, 0]),
    ([NAN, 0, 0, 2, 2], [0, 0, 0, 0]),
    ([0.9, 0, 0, 3, 3], [6, 8, 14, 16]),
]
ROIS = nd.array([roi for roi, _ in POOLED])


@pytest.fixture(params=["kernels", "torch"])
def way(request):
    """Compiled loops, or torch's calls."""
    if request.param == "kernels":
        pytest.importorskip("numba")
        assert roi_bins._code.get(wait=True) is not None
        yield request.param
        return
    with mx.runtime.kernels_off():
        yield request.param


def test_roi_pooling(way):
    data = nd.array(1 + np.arange(16).reshape(1, 1, 4, 4))
    data.attach_grad()
    with autograd.record():
        found = nd.ROIPooling(data, ROIS, pooled_size=(2, 2), spatial_scale=1.0)
    assert found.reshape((len(POOLED), 4)).asnumpy().tolist() == [values for _, values in POOLED]
    found.backward()
    grad = np.zeros(16)
    for _, values in POOLED:
        np.add.at(grad, [value - 1 for value in values if value], 1)
    assert data.grad.asnumpy().ravel().tolist() == grad.tolist()


def test_psroi_pooling_reads_nothing_outside(way):
    """MXNet ends the process here; empty bins are 0."""
    data = nd.ones((1, 8, 4, 4))
    rois = nd.array([roi for roi, _ in POOLED if np.isfinite(roi[0])] + [[0, -3e38, -3e38, 3e38, 3e38]])
    data.attach_grad()
    with autograd.record():
        found = nd.contrib.PSROIPooling(data, rois, pooled_size=2, output_dim=2, group_size=2, spatial_scale=1.0)
    found.backward()
    assert set(found.asnumpy().ravel()) <= {0.0, 1.0}
    assert np.isfinite(data.grad.asnumpy()).all()


def test_both_ways_of_psroi_pooling_agree():
    pytest.importorskip("numba")
    data = nd.array(np.random.RandomState(0).rand(1, 8, 4, 4))
    rois = nd.array([roi for roi, _ in POOLED if np.isfinite(roi[0])])
    pool = lambda: nd.contrib.PSROIPooling(data, rois, pooled_size=2, output_dim=2, group_size=2, spatial_scale=1.0)
    with mx.runtime.kernels_off():
        plain = pool().asnumpy()
    assert roi_bins._code.get(wait=True) is not None
    np.testing.assert_allclose(pool().asnumpy(), plain, rtol=1e-6)


@pytest.mark.parametrize("roi", [roi for roi, _ in POOLED if np.isfinite(roi[0]) and not np.isfinite(roi).all()])
def test_roi_align(roi):
    data = nd.ones((1, 2, 4, 4))
    found = nd.contrib.ROIAlign(data, nd.array([roi]), pooled_size=(2, 2), spatial_scale=1.0, sample_ratio=2)
    assert set(found.asnumpy().ravel()) <= {0.0, 1.0}
    with pytest.raises(mx.MXNetError, match="give a sample_ratio"):
        nd.contrib.ROIAlign(data, nd.array([roi]), pooled_size=(2, 2), spatial_scale=1.0)


@pytest.mark.parametrize("trans", [False, True])
def test_deformable_psroi_pooling_reads_all_classes_at_once_outside_of_record(trans):
    random = np.random.RandomState(1)
    data = mx.nd.array(random.randn(2, 3 * 9, 7, 8))
    data[0, 0, 6, 7] = float("nan")
    rois = mx.nd.array([[0, 0, 0, 60, 50], [1, 30, 20, 90, 80], [0, -200, -200, -100, -100], [1, 0, 0, 0, 0]])
    inputs = [data, rois] + ([mx.nd.array(random.randn(4, 2, 3, 3))] if trans else [])
    options = dict(spatial_scale=0.125, output_dim=3, group_size=3, pooled_size=3, part_size=3, sample_per_part=2,
                   trans_std=0.1, no_trans=not trans)  # fmt: skip
    data.attach_grad()
    with mx.autograd.record():  # the plain way, which can be differentiated
        want = mx.nd.contrib.DeformablePSROIPooling(*inputs, **options).asnumpy()
    found = mx.nd.contrib.DeformablePSROIPooling(*inputs, **options).asnumpy()
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
    assert (found[2] == 0).all() and np.isfinite(found[3]).all()
