"""Colours of images: compiled code computes what torch's calls do, bit for bit, and both what MXNet does."""

import numpy as np
import pytest

from mxnet import autograd, nd, random
from mxnet._kernels.vision import colour

AMOUNTS = [0.0, 0.1, 1 / 6, 0.5, 1.2, 7.77]


def picture(kind):
    values = np.random.RandomState(0).uniform(-50, 400, (30, 41, 3))
    values[:5] = values[:5, :, :1]  # grey
    values[5:10] /= 400
    values[10:12, :, 1] = values[10:12, :, 0]
    if kind == "special":
        values[12, ::3, 0], values[13, ::2, 1], values[14, ::5, 2] = np.nan, np.inf, -np.inf
        values[15, :5], values[16, :5] = np.inf, np.nan
    return nd.array(values.clip(0, 255) if kind == "uint8" else values, dtype="uint8" if kind == "uint8" else "float32")


def changed(image):
    made = []
    for amount in AMOUNTS:
        bounds = {"min_factor": amount, "max_factor": amount}
        made += [nd.image.random_hue(image, **bounds), nd.image.random_saturation(image, **bounds)]
    random.seed(5)
    made += [nd.image.random_lighting(image, alpha_std=std) for std in (0.05, 3.0, 0.0)]
    made += [nd.image.adjust_lighting(image, alpha=a) for a in ((0.1, -2.0, 0.3), (1e30, 0.0, -1e30), (-9.0, 9.0, 0.5))]
    made.append(nd.image.random_color_jitter(image, brightness=0.4, contrast=0.4, saturation=0.4, hue=0.4))
    return [each.asnumpy() for each in made]


@pytest.mark.parametrize("kind", ["uint8", "float32", "special"])
def test_compiled_and_not(kind, both_ways):
    pytest.importorskip("numba")
    assert colour._code.get(wait=True) is not None
    image = picture(kind)
    for part in (image, image[3:20, 1:30], image[:0], image[:1, :1]):
        for plain, quick in zip(*both_ways(lambda part=part: changed(part), "vision.colour"), strict=True):
            assert quick.dtype == plain.dtype
            np.testing.assert_array_equal(quick, plain)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32"])
def test_other_types_go_without(dtype):
    colour._code.get(wait=True)
    image = picture("uint8")
    got = nd.image.random_hue(image.astype(dtype), min_factor=0.3, max_factor=0.3)
    want = nd.image.random_hue(image.astype("float32"), min_factor=0.3, max_factor=0.3)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(got.asnumpy(), want.asnumpy().astype(dtype))


def test_recorded():
    pytest.importorskip("numba")
    colour._code.get(wait=True)
    image = picture("float32")
    image.attach_grad()
    with autograd.record():
        out = nd.image.random_saturation(image, min_factor=0.3, max_factor=0.3)
    head = nd.array(np.random.rand(*image.shape))
    out.backward(head)
    np.testing.assert_array_equal(image.grad.asnumpy(), head.asnumpy())


def test_as_mxnet():
    """Rounded as MXNet 1.9.1 rounds: of these pixels a few came out as the next lower number before."""
    pixels = np.random.RandomState(0).randint(0, 256, (1, 224 * 224, 3)).astype("uint8")[:, :400]
    turned = nd.image.random_hue(nd.array(pixels, dtype="uint8"), min_factor=0, max_factor=0).asnumpy()
    assert (pixels.astype(int) - turned).sum() == 505
    assert (pixels - turned).max() == 1
