"""ROI pooling by compiled loops gives what torch's calls give: values, gradients and theirs, and NaN."""

import numpy as np
import pytest

from mxnet import autograd, nd, util
from mxnet._kernels.runtime.loader import CompiledModule, any_processor
from mxnet._kernels.vision import roi_bins
from mxnet._ops.vision import roi_align as roi_pooling_contrib

pytest.importorskip("numba")

ROIS = [[0, 0, 0, 13, 11], [1, 2, 1, 8, 9], [0, 5, 5, 2, 2], [0, -3, -3, 30, 30], [1, 0.5, 1.5, 6.5, 8.5]]
ROIS.append([1, 20, 20, 30, 30])  # nothing of it is inside


def maxima(data):
    return nd.ROIPooling(data, nd.array(ROIS), pooled_size=(3, 4), spatial_scale=1.0)


def means(data):
    return nd.contrib.PSROIPooling(data, nd.array(ROIS), spatial_scale=0.9, output_dim=2, pooled_size=3, group_size=2)


def numbers(special):
    values = np.random.RandomState(0).randint(-3, 4, (2, 9, 12, 14)).astype(np.float32)  # many are equal
    if special:
        values[0, 0, 3, 4], values[0, 1, :6], values[1, 2, 2, 2], values[1, 1] = np.nan, np.nan, np.inf, -np.inf
    return values


def pooled(pool, values, twice=False):
    data = nd.array(values)
    data.attach_grad()
    with autograd.record():
        out = pool(data)
        loss = (out * nd.arange(out.size).reshape(out.shape)).sum() if not twice else (out * out * out).sum()
        if twice:
            slope = autograd.grad(loss, [data], create_graph=True)[0]
            loss = (slope * slope).sum()
    loss.backward()
    return out.asnumpy(), data.grad.asnumpy()


@pytest.mark.parametrize("pool", [maxima, means])
@pytest.mark.parametrize("case", ["usual", "special", "twice"])
def test_compiled_and_not(pool, case, both_ways):
    if pool is means and case == "special":
        pytest.skip("running sums carry NaN to other regions")
    values, twice = numbers(case == "special"), case == "twice"
    assert roi_bins._code.get(wait=True) is not None
    for want, got in zip(*both_ways(lambda: pooled(pool, values, twice), "vision.roi_bins"), strict=True):
        assert np.isfinite(want).any()
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * np.nanmax(np.abs(want[np.isfinite(want)])))


def test_nan_is_no_maximum():
    data = nd.array(np.full((1, 1, 2, 2), np.nan))
    data[0, 0, 1, 1] = -5
    data.attach_grad()
    with autograd.record():
        out = nd.ROIPooling(data, nd.array([[0, 0, 0, 1, 1]]), pooled_size=(1, 1), spatial_scale=1.0)
    out.backward()
    assert out.asscalar() == -5
    assert data.grad.asnumpy().tolist() == [[[[0, 0], [0, 1]]]]
    lowest = nd.ROIPooling(data, nd.array([[0, 0, 0, 0, 0]]), pooled_size=(1, 1), spatial_scale=1.0)
    assert lowest.asscalar() == np.finfo(np.float32).min


def test_nan_stays_in_its_region_of_means():
    roi_bins._code.get(wait=True)
    data = nd.ones((1, 4, 6, 6))
    data[0, :, 0, 0] = np.nan
    rois = nd.array([[0, 0, 0, 5, 5], [0, 3, 3, 5, 5]])
    out = nd.contrib.PSROIPooling(data, rois, spatial_scale=1.0, output_dim=1, pooled_size=2).asnumpy()
    assert np.isnan(out[0]).sum() == 1 and (out[1] == 1).all()


def test_small_work_earns_compiled_code(monkeypatch):
    earned = CompiledModule("vision.roi_kernels", any_processor, after=2 * 9 * 12 * 14)
    monkeypatch.setattr(roi_bins.roi_bins, "code", earned)
    plain = means(nd.array(numbers(False))).asnumpy()
    assert earned._future is None
    earned.get(wait=True)
    monkeypatch.setattr(roi_pooling_contrib, "_rectangles", None)  # the plain way is not taken any more
    np.testing.assert_allclose(means(nd.array(numbers(False))).asnumpy(), plain, rtol=1e-6, atol=1e-6)


def test_no_regions():
    with util.np_shape(True):
        rois = nd.zeros((0, 5))
        got = nd.contrib.PSROIPooling(nd.ones((1, 9, 4, 4)), rois, spatial_scale=1, output_dim=1, pooled_size=3)
    assert got.shape == (0, 1, 3, 3)
