"""NCHW pooling by kernels gives what torch gives: values, first and second derivatives, equal elements and NaN."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet._kernels import tuning
from mxnet._kernels.pool import nchw
from mxnet._kernels.pool.windows import windows_of
from mxnet._kernels.registry import traced
from mxnet._kernels.runtime.loader import CompiledModule
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
    "2 x 2": {"kernel": (2, 2), "stride": (2, 2)},
    "overlapping": {"kernel": (3, 3), "stride": (2, 2)},
    "each pixel": {"kernel": (3, 3), "pad": (1, 1)},
    "full": {"kernel": (4, 4), "stride": (3, 3), "pad": (0, 1), "pooling_convention": "full"},
    "with gaps": {"kernel": (2, 1), "stride": (3, 4)},
    "rows": {"kernel": (1, 13), "stride": (1, 1)},
    "wide": {"kernel": (5, 7), "stride": (2, 3), "pad": (2, 3)},
}


@pytest.fixture(autouse=True)
def ready(monkeypatch):
    """Compiled code is there, and no call is too small for it."""
    for code in (nchw._code, nchw._code_2x2):
        if code.get(wait=True) is None:
            pytest.skip(code.failure)
    for kernel in (nchw.max_2x2, nchw.max_windows, nchw.max_slices, nchw.average):
        monkeypatch.setattr(kernel, "minimum_work", 1)


@pytest.fixture
def both(both_ways):
    def compare(step, *names):
        for want, got in zip(*both_ways(step, *names), strict=True):
            assert got.shape == want.shape and got.dtype == want.dtype
            largest = np.abs(want[np.isfinite(want)]).max(initial=1)  # sums of terms as large as that lose digits
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * largest)

    return compare


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
def test_compiled_and_not(kind, windows, both):
    both(lambda: pooled(numbers("distinct"), **KINDS[kind], **WINDOWS[windows]))


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("kind", ["max", "avg", "lp"])
def test_equal_elements(kind, windows, both):
    """The first of them has the gradient of a maximum; roots of zero have none."""
    both(lambda: pooled(numbers("equal"), **KINDS[kind], **WINDOWS[windows]))


@pytest.mark.parametrize("kind", ["max", "avg", "avg without padding", "sum", "lp"])
def test_second_derivatives(kind, both):
    both(lambda: pooled(numbers("distinct"), twice=True, **KINDS[kind], **WINDOWS["wide"]))


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("windows", ["overlapping", "wide", "full"])
def test_nan_and_infinities(kind, windows, both):
    values = numbers("distinct")
    values[0, 0, 2, 3], values[0, 1, 4, 4], values[1, 2, 5, 6], values[1, 0] = np.nan, np.inf, -np.inf, -np.inf
    both(lambda: pooled(values, **KINDS[kind], **WINDOWS[windows])[:2])


def test_one_axis_other_orders_and_parts(both):
    data = nd.array(numbers("distinct"))
    both(lambda: [nd.Pooling(data[0], kernel=(3,), stride=(2,), pool_type="avg").asnumpy()])
    both(lambda: [nd.Pooling(data[:, 1:, 2:], kernel=(3, 3), stride=(2, 2)).asnumpy()])
    last = {"kernel": (3, 3), "stride": (2, 2), "layout": "NHWC"}
    got = nd.Pooling(data.transpose((0, 2, 3, 1)), **last).transpose((0, 3, 1, 2)).asnumpy()
    np.testing.assert_array_equal(got, nd.Pooling(data, kernel=(3, 3), stride=(2, 2)).asnumpy())


def test_two_threads(both, monkeypatch):
    monkeypatch.setattr(tuning, "POOL_NCHW_PER_THREAD", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for kind in ("max", "avg"):
            both(lambda kind=kind: pooled(numbers("distinct"), **KINDS[kind], **WINDOWS["wide"]))
    finally:
        torch.set_num_threads(before)


def test_hybridized(both):
    net = nn.HybridSequential()
    net.add(nn.MaxPool2D(3, 2, 1), nn.AvgPool2D(3, 1, 1))
    net.hybridize()
    data = nd.array(numbers("distinct"))
    both(lambda: [net(data).asnumpy()])


@pytest.mark.parametrize("shape", [(3, 5, 4, 8), (2, 3, 2, 14), (2, 2, 6, 16), (1, 3, 4, 38)])
@pytest.mark.parametrize("threads", [1, 3])
def test_2x2_windows(shape, threads, both, monkeypatch):
    """Of equal elements the first has the gradient."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(tuning, "POOL_2X2_PER_THREAD", 1)
    values = np.random.RandomState(1).randint(0, 4, shape).astype(np.float32)
    both(lambda: pooled(values, kernel=(2, 2), stride=(2, 2)), "pool.max_nchw_2x2")


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_inference_of_other_types_by_slices(dtype, both):
    data = nd.array(numbers("distinct"), dtype=dtype)
    for attrs in WINDOWS.values():
        both(lambda attrs=attrs: [nd.Pooling(data, pool_type="max", **attrs).asnumpy()], "pool.max_nchw_slices")


def test_many_images_are_pooled_some_at_a_time(both, monkeypatch):
    monkeypatch.setattr(tuning, "POOL_SLICES_CACHED", 700)  # two images of 3 x 9 x 13
    data = nd.random.uniform(shape=(5, 3, 9, 13))
    both(lambda: [nd.Pooling(data, kernel=(3, 3), stride=(2, 2), pad=(1, 1)).asnumpy()], "pool.max_nchw_slices")


def test_inference_waits_for_no_compiler(monkeypatch):
    """Large windows are pooled in one call of slices from the first call on."""
    monkeypatch.setattr(nchw.max_2x2, "code", CompiledModule("pool.nchw_2x2_kernels", after=1 << 60))
    data = nd.random.uniform(shape=(1, 4, 128, 128))
    with traced() as log:
        nd.Pooling(data, kernel=(2, 2), stride=(2, 2))
    assert [(each.kernel, each.used) for each in log][-1] == ("pool.max_nchw_slices", True)


def test_an_infinite_gradient_goes_to_one_pixel():
    data = nd.random.uniform(shape=(1, 1, 2, 8))
    data.attach_grad()
    with autograd.record():
        out = nd.Pooling(data, kernel=(2, 2), stride=(2, 2))
    out.backward(nd.full(out.shape, np.inf))
    grad = data.grad.asnumpy()
    assert np.isinf(grad).sum() == 4 and not np.isnan(grad).any()


def test_what_is_left_to_torch():
    data = torch.rand(1, 4, 8, 8)
    windows = nchw_windows(data, (2, 2), (2, 2), (0, 0), "valid")
    for other in (data.double().requires_grad_(), data.transpose(2, 3).requires_grad_(), data[0]):
        assert nchw.max_pool(other, windows) is None
    assert nchw.max_pool(data, windows) is not None
    empty = nchw_windows(torch.rand(1, 1, 3, 3), (2, 2), (4, 4), (1, 1), "full")
    assert empty.any_empty() and nchw.max_pool(torch.rand(1, 1, 3, 3), empty) is None
    with mx.runtime.kernels_off():
        assert nchw.max_pool(data, windows) is None


def nchw_windows(data, *geometry):
    return windows_of(data.shape[2:], *geometry)
