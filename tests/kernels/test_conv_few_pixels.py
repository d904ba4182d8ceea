"""Predictions with few pixels in the result: one product with the transposed weight."""

import pytest
import torch

from mxnet import nd
from mxnet._kernels import registry, tuning
from mxnet._kernels.conv import choose

ONES = (1, 1)


def chosen(data, weight, bias=None, stride=ONES, pad=(0, 0), dilate=ONES):
    """The result, and the name of the way that computed it; None for what the quick test leaves to torch."""
    with torch.no_grad(), registry.traced() as log:
        result = choose.conv2d(data, weight, bias, stride, pad, dilate, 1)
    return result, log[0].kernel if log else None


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize(
    ("data", "window", "stride", "pad", "dilate"),
    [
        ((1, 256, 2, 2), (1, 1), ONES, (0, 0), ONES),
        ((3, 256, 5, 3), (1, 1), (2, 2), (0, 0), ONES),
        ((2, 64, 3, 4), (3, 3), ONES, ONES, ONES),
        ((1, 64, 9, 8), (3, 3), (2, 3), (0, 1), (2, 1)),
    ],
)
def test_few_pixels_are_one_product(data, window, stride, pad, dilate, with_bias):
    torch.manual_seed(1)
    data, weight = torch.randn(data), torch.randn((128, data[1], *window))
    bias = torch.randn(128) if with_bias else None
    result, way = chosen(data, weight, bias, stride, pad, dilate)
    assert way == "conv.few_pixels" and result.is_contiguous()
    exact = torch.conv2d(data.double(), weight.double(), bias if bias is None else bias.double(), stride, pad, dilate)
    assert result.shape == exact.shape
    assert (result - exact).abs().max() < 1e-6 * exact.abs().max()


@pytest.mark.parametrize(
    ("batch", "size"),
    [(1, 1), (1, 4), (tuning.CONV_FEW_PIXELS_IN_ALL // 4 + 1, 2), (1, tuning.CONV_FEW_PIXELS + 1)],
    ids=["one pixel", "many pixels", "many images", "a wide image"],
)
def test_other_sizes_are_torchs(batch, size):
    result, way = chosen(torch.ones(batch, 256, size, size), torch.ones(128, 256, 1, 1))
    assert result is None and way in (None, "conv.torch")


def test_light_weights_and_groups_are_torchs():
    assert chosen(torch.ones(1, 64, 2, 2), torch.ones(64, 64, 1, 1))[0] is None
    with torch.no_grad():
        data, weight = torch.ones(1, 512, 2, 2), torch.ones(512, 256, 1, 1)
        assert choose.conv2d(data, weight, None, ONES, (0, 0), ONES, 2) is None


def test_the_operator_uses_it_outside_of_record():
    data, weight = nd.random.normal(shape=(1, 256, 2, 2)), nd.random.normal(shape=(128, 256, 1, 1))
    with registry.traced() as log:
        result = nd.Convolution(data, weight, kernel=(1, 1), num_filter=128, no_bias=True)
    assert [decision.kernel for decision in log] == ["conv.few_pixels"]
    exact = weight.asnumpy().reshape(128, 256).astype("float64") @ data.asnumpy().reshape(256, 4)
    assert abs(result.asnumpy().reshape(128, 4) - exact).max() < 1e-6 * abs(exact).max()
