"""Deformable convolutions sample at whole pixels, between them, on the edge and beyond it, as the plain rule says."""

import numpy as np
import pytest

from mxnet import autograd, nd


def corner(image, y, x, edge):
    """A pixel; beyond the last one it again (`edge`), or zero."""
    height, width = image.shape
    if edge:
        return image[min(y, height - 1), min(x, width - 1)]
    return image[y, x] if 0 <= y < height and 0 <= x < width else 0.0


def value(image, y, x, edge):
    """The image at a point, and its slopes there, in the direction in which positions grow."""
    height, width = image.shape
    inside = 0 <= y < height and 0 <= x < width if edge else -1 < y < height and -1 < x < width
    if not inside:
        return 0.0, 0.0, 0.0
    top, left = int(np.floor(y)), int(np.floor(x))
    down, right = y - top, x - left
    a, b, c, d = (corner(image, top + i, left + j, edge) for i in (0, 1) for j in (0, 1))
    upper, lower = a + (b - a) * right, c + (d - c) * right
    return upper + (lower - upper) * down, lower - upper, (b - a) * (1 - down) + (d - c) * down


POINTS = [(0, 0), (0, -1), (-1, 0), (2, 3), (1.25, 2.5), (-0.5, 1), (1, -0.25), (2.5, 3.5)]
POINTS += [(3, 1), (1, 4), (9, -9), (2, 0)]


def sampled(operator, more, dtype):
    """Values and the offsets' gradients at points of one image, each by a kernel of one pixel."""
    image = np.random.RandomState(0).randn(3, 4)
    places = np.array([[y, x] for y in range(3) for x in range(4)])
    offsets = (np.array(POINTS) - places).T.reshape(1, 2, 3, 4)
    given = [nd.array(a, dtype=dtype) for a in (image[None, None], offsets, *more, np.ones((1, 1, 1, 1)))]
    given[1].attach_grad()
    with autograd.record():
        out = operator(*given, kernel=(1, 1), num_filter=1, no_bias=True)
    out.backward()
    return image, out.asnumpy().ravel(), given[1].grad.asnumpy().reshape(2, -1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("edge", [True, False])
def test_points_and_slopes(edge, dtype):
    operator = nd.contrib.DeformableConvolution if edge else nd.contrib.ModulatedDeformableConvolution
    image, values, slopes = sampled(operator, [] if edge else [np.ones((1, 1, 3, 4))], dtype)
    want = np.array([value(image, y, x, edge) for y, x in POINTS]).T
    assert (want[0] == 0).any() and (want[0] != 0).any()
    np.testing.assert_allclose(values, want[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(slopes, want[1:], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [(1, 1), (5, 1), (6, 17), (33, 4)])
def test_without_offsets_it_is_a_convolution(size):
    random = np.random.RandomState(1)
    data, weight = nd.array(random.randn(2, 4, *size)), nd.array(random.randn(3, 4, 3, 3))
    attrs = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 3, "no_bias": True}
    want = nd.Convolution(data, weight, **attrs).asnumpy()
    still, whole = nd.zeros((2, 18, *size)), nd.ones((2, 9, *size))
    plain = nd.contrib.DeformableConvolution(data, still, weight, **attrs).asnumpy()
    weighted = nd.contrib.ModulatedDeformableConvolution(data, still, whole, weight, **attrs).asnumpy()
    np.testing.assert_allclose(plain, want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weighted, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("offset", [1e6, 1e6 + 1, -1e6, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("edge", [True, False])
def test_points_far_away_and_nowhere_are_zero(edge, offset):
    data, offsets = nd.array(np.arange(1, 13).reshape(1, 1, 3, 4)), nd.full((1, 2, 3, 4), offset)
    operator = nd.contrib.DeformableConvolution if edge else nd.contrib.ModulatedDeformableConvolution
    given = [data, offsets, *([] if edge else [nd.ones((1, 1, 3, 4))]), nd.ones((1, 1, 1, 1))]
    assert not operator(*given, kernel=(1, 1), num_filter=1, no_bias=True).asnumpy().any()
