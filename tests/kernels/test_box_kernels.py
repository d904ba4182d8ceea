"""Compiled box encoding and decoding gives what torch's calls give."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from mxnet._kernels.registry import traced
from mxnet._kernels.vision import boxes

pytest.importorskip("numba")

# The logarithm and the exponential are the C library's in the loops, and torch's: their last bits may differ
NEAR = {"rtol": 2e-6, "atol": 1e-6}


def both(function, used=True):
    """What the loops return, and torch; the loops must be used, or must not."""
    if boxes._code.get(wait=True) is None:
        pytest.skip("no compiled code")
    with traced() as log:
        found = function()
    assert any(decision.used for decision in log) == used
    with mx.runtime.kernels_off():
        return found, function()


def compare(function, used=True):
    quick, plain = both(function, used)
    for one, other in zip(quick, plain, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), **NEAR)


def given(batch, number, known, dtype="float32"):
    """Samples, matches (some of none), anchors, references, means and deviations."""
    random = np.random.RandomState(number)

    def corner(*shape):
        low = random.rand(*shape, 2)
        return np.concatenate([low, low + random.rand(*shape, 2) + 0.1], -1)

    parts = random.randint(-1, 2, (batch, number)), random.uniform(-2, known + 2, (batch, number))
    parts = (*parts, corner(batch, number), corner(batch, known), [0, 0.1, 0.2, 0.3], [0.1, 0.1, 0.2, 0.3])
    return [nd.array(p, dtype=dtype) for p in parts]


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 50, 7), (2, 400, 1)])
def test_encode(sizes):
    inputs = given(*sizes)
    compare(lambda: nd.contrib.box_encode(*inputs))


def test_encode_special_numbers():
    """Boxes without an extent, or that run backwards, and numbers that are none, give the same infinities and NaN."""
    inputs = given(2, 64, 5)
    special = np.resize([np.nan, np.inf, -np.inf, 0, 1, 2], (2, 64, 4))
    inputs[2] = nd.array(np.where(np.arange(64)[:, None] % 3, inputs[2].asnumpy(), special))
    inputs[1] = nd.array(np.resize([np.nan, np.inf, -np.inf, -0.5, 4.9, 5, 1e20, 0.9], (2, 64)))
    inputs[0][:] = nd.array(np.resize([1, np.nan, 0.5, 0.6, 1], (2, 64)))
    compare(lambda: nd.contrib.box_encode(*inputs))


def test_encode_views_and_other_types():
    inputs = given(2, 30, 4)
    transposed = [nd.array(x.asnumpy().T).T for x in inputs[:2]] + [x.flip(1).flip(1) for x in inputs[2:4]] + inputs[4:]
    compare(lambda: nd.contrib.box_encode(*transposed))
    double = given(2, 30, 4, "float64")
    compare(lambda: nd.contrib.box_encode(*double), used=False)


def offsets(batch, number, dtype="float32"):
    random = np.random.RandomState(number)
    return nd.array(random.randn(batch, number, 4), dtype=dtype), given(1, number, 1, dtype)[2]


ATTRS = [{}, {"format": "corner"}, {"std0": 0.1, "std1": 0.2, "std2": 0.3, "std3": 0.4, "clip": 0.5}, {"clip": 0.0}]


@pytest.mark.parametrize("attrs", ATTRS, ids=str)
@pytest.mark.parametrize("sizes", [(1, 1), (3, 50), (2, 401)])
def test_decode(sizes, attrs):
    data, anchors = offsets(*sizes)
    compare(lambda: [nd.contrib.box_decode(data, anchors, **attrs)])


@pytest.mark.parametrize("attrs", ATTRS, ids=str)
def test_decode_special_numbers(attrs):
    data = nd.array(np.resize([np.nan, np.inf, -np.inf, 0, 1, 100, -100], (3, 50, 4)))
    anchors = nd.array(np.resize([0, 1, np.inf, np.nan, -1], (1, 50, 4)))
    compare(lambda: [nd.contrib.box_decode(data, anchors, **attrs)])


def test_decode_other_types_and_anchors_of_each_image():
    data, anchors = offsets(2, 30, "float64")
    compare(lambda: [nd.contrib.box_decode(data, anchors)], used=False)
    data, anchors = offsets(2, 30)
    each = nd.concat(anchors, anchors + 1, dim=0)
    compare(lambda: [nd.contrib.box_decode(data, each)], used=False)


def test_nothing_flows_back():
    inputs, (data, anchors) = given(2, 30, 4), offsets(2, 30)

    def gradients():
        leaves = [*inputs, data, anchors]
        for leaf in leaves:
            leaf.attach_grad()
        with autograd.record():
            encoded, decoded = nd.contrib.box_encode(*inputs), nd.contrib.box_decode(data, anchors)
        autograd.backward([*encoded, decoded])
        return [*encoded, decoded, *(leaf.grad for leaf in leaves)]

    compare(gradients)


def test_no_boxes():
    def none():
        with mx.util.np_shape(True):
            inputs = [nd.zeros(s) for s in ((2, 0), (2, 0), (2, 0, 4), (2, 3, 4), (4,), (4,))]
            return [*nd.contrib.box_encode(*inputs), nd.contrib.box_decode(nd.zeros((2, 0, 4)), nd.zeros((1, 0, 4)))]

    compare(none)
