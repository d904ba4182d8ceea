"""1 x 1 windows in training graphs, as matrix products by torch: what a bare install computes."""

import pytest
import torch

from mxnet._kernels.conv import pointwise


@pytest.mark.parametrize("stride", [(1, 1), (2, 2)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_products_by_torch_are_the_convolution(stride, with_bias):
    torch.manual_seed(1)
    shapes = [(3, 5, 7, 6), (4, 5, 1, 1), *([(4,)] if with_bias else [])]
    given = [torch.randn(shape, dtype=torch.float32, requires_grad=True) for shape in shapes]
    data, weight, bias = (*given, None)[:3]
    wanted = torch.nn.functional.conv2d(data, weight, bias, stride)
    found = pointwise.Pointwise.apply(data, weight, bias, stride, pointwise.TORCHS)
    torch.testing.assert_close(found, wanted)
    head = torch.randn_like(wanted)
    for ours, theirs in zip(
        torch.autograd.grad(found, given, head), torch.autograd.grad(wanted, given, head), strict=True
    ):
        torch.testing.assert_close(ours, theirs)
