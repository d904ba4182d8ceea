"""Deconvolutions as products of matrices are those of torch's kernels: values, gradients and theirs."""

import numpy as np
import pytest

from mxnet import autograd, nd
from mxnet._kernels.conv import choose
from mxnet._kernels.elementwise import transpose
from mxnet._kernels.registry import traced
from mxnet._ops.nn import convolution
from mxnet.base import MXNetError
from mxnet.gluon import nn

# name: shape of the data, number of filters, attributes
CASES = {
    "single pixels": ((4, 6, 1, 1), 9, {"kernel": (4, 4)}),
    "single pixels, steps": ((4, 6, 1, 1), 2, {"kernel": (3, 2), "stride": (2, 2)}),
    "a single one of a row": ((3, 6, 1), 5, {"kernel": (4,)}),
    "a single one of a volume": ((2, 3, 1, 1, 1), 5, {"kernel": (2, 3, 4)}),
    "few filters": ((3, 8, 5, 6), 3, {"kernel": (4, 4), "stride": (2, 2), "pad": (1, 1)}),
    "one filter": ((3, 8, 5, 6), 1, {"kernel": (3, 3)}),
    "adjusted": ((2, 8, 5, 6), 4, {"kernel": (5, 3), "stride": (3, 2), "pad": (2, 1), "adj": (1, 1)}),
    "dilated": ((2, 8, 5, 6), 2, {"kernel": (3, 3), "stride": (2, 1), "dilate": (2, 3), "pad": (1, 0)}),
    "a target": ((2, 8, 5, 6), 2, {"kernel": (3, 3), "stride": (2, 2), "target_shape": (10, 12)}),
    "many filters": ((2, 16, 24, 26), 20, {"kernel": (4, 4), "stride": (2, 2), "pad": (1, 1)}),
    "many filters, steps": ((2, 24, 24, 26), 16, {"kernel": (3, 5), "stride": (1, 2), "adj": (0, 1)}),
    "small images": ((8, 64, 8, 8), 64, {"kernel": (4, 4), "stride": (2, 2), "pad": (1, 1)}),
    "side by side": ((2, 8, 5, 6), 3, {"kernel": (2, 2), "stride": (2, 2)}),
}


def numbers(*shape, kind="float32"):
    return nd.array(np.random.RandomState(sum(shape)).uniform(-1, 1, shape), dtype=kind)


def results(name, biased, twice=False, kind="float32"):
    """What comes out, and the gradients of data, weight and bias."""
    shape, filters, attrs = CASES[name]
    inputs = [numbers(*shape, kind=kind), numbers(shape[1], filters, *attrs["kernel"], kind=kind)]
    inputs += [numbers(filters, kind=kind)] if biased else []
    for each in inputs:
        each.attach_grad()
    with autograd.record():
        out = nd.Deconvolution(*inputs, num_filter=filters, no_bias=not biased, **attrs)
        loss = (out * numbers(*out.shape, kind=kind)).sum()
        if twice:
            slopes = autograd.grad((out * out * out).sum(), inputs, create_graph=True)
            loss = sum((slope * slope).sum() for slope in slopes)
    loss.backward()
    quiet = nd.Deconvolution(*inputs, num_filter=filters, no_bias=not biased, **attrs)
    return [each.asnumpy() for each in (out, quiet, *(each.grad for each in inputs))]


def compare(monkeypatch, *given, **options):
    quick, taken = results(*given, **options), []
    with monkeypatch.context() as patch:
        patch.setattr(convolution, "deconv", lambda *given: taken.append(given))
        plain = results(*given, **options)
    assert len(taken) == 2
    for got, want in zip(quick, plain, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6 * np.abs(want).max())


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_by_products_and_not(name, biased, monkeypatch):
    compare(monkeypatch, name, biased)


@pytest.mark.parametrize("name", ["single pixels", "few filters", "adjusted"])
def test_second_derivatives_and_doubles(name, monkeypatch):
    compare(monkeypatch, name, True, twice=True, kind="float64")


@pytest.mark.parametrize("name", CASES)
def test_all_but_windows_side_by_side_and_small_images_are_taken(name, monkeypatch):
    """While somebody records, too."""
    if name.startswith("many filters"):
        pytest.importorskip("numba", reason="they are transposed by a kernel that numba compiles")
    used = dict(convolution._TRANSPOSED)
    monkeypatch.setattr(convolution, "_TRANSPOSED", {})
    if name in ("side by side", "small images"):
        monkeypatch.setattr(convolution, "_TRANSPOSED", used)
    assert len(results(name, True)) == 5


@pytest.mark.parametrize("wanted", [0, 1, 2])
def test_gradients_that_are_wanted_only(wanted, monkeypatch):
    inputs, found = [numbers(2, 8, 5, 6), numbers(8, 3, 4, 4), numbers(3)], []
    inputs[wanted].attach_grad()
    for patched in (False, True):
        if patched:
            monkeypatch.setattr(convolution, "deconv", lambda *given: None)
        with autograd.record():
            out = nd.Deconvolution(*inputs, kernel=(4, 4), num_filter=3, stride=(2, 2), pad=(1, 1), no_bias=False)
        out.backward(numbers(*out.shape))
        found.append(inputs[wanted].grad.asnumpy())
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-5)


def test_infinity_and_nan():
    data = np.zeros((1, 2, 3, 3), np.float32)
    data[0, 0, 1, 1], data[0, 1, 2, 2] = np.inf, np.nan
    out = nd.Deconvolution(nd.array(data), nd.ones((2, 1, 2, 2)), kernel=(2, 2), num_filter=1).asnumpy()[0, 0]
    assert np.isinf(out).sum() == 3 and np.isnan(out).sum() == 4 and (out[0] == 0).all()


def test_an_adjustment_as_large_as_a_step_is_refused():
    attrs = {"kernel": (3, 3), "stride": (2, 2), "adj": (2, 2), "num_filter": 1}
    with pytest.raises(MXNetError):
        nd.Deconvolution(nd.ones((1, 2, 4, 4)), nd.ones((2, 1, 3, 3)), **attrs).wait_to_read()


def test_a_generator_hybridized():
    net = nn.HybridSequential()
    net.add(nn.Conv2DTranspose(8, 4), nn.Activation("relu"), nn.Conv2DTranspose(3, 4, 2, 1))
    net.initialize()
    data = numbers(2, 5, 1, 1)
    eager = net(data).asnumpy()
    net.hybridize()
    for _ in range(3):
        np.testing.assert_allclose(net(data).asnumpy(), eager, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "way"), [("many filters", "deconv_channels_last"), ("small images", "torch")])
def test_many_filters_are_computed_channels_last(monkeypatch, name, way):
    if transpose.code.get(wait=True) is None:
        pytest.skip("kernels are made for processors with AVX2")
    monkeypatch.setattr(transpose.code, "after", 0)
    choose.forget()
    with traced() as log:
        results(name, True)
    assert [each.kernel for each in log if each.kernel.startswith("conv.")] == [f"conv.{way}"] * 2
