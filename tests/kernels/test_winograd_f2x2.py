"""Convolutions of few pixels by Winograd's F(2x2, 3x3) give what the direct sum gives."""

import numpy as np
import pytest
import torch
from torch.nn.functional import conv2d

import mxnet as mx
from mxnet import nd
from mxnet._kernels import tuning
from mxnet._kernels.conv import direct
from mxnet._kernels.conv.problem import INFERENCE, Problem
from mxnet._kernels.conv.winograd import f2x2, f4x4
from mxnet._kernels.runtime.buffers import buffer
from mxnet._kernels.runtime.loader import simd_width
from mxnet.gluon import nn

pytest.importorskip("numba")
if not simd_width():
    pytest.skip("no kernels for this processor", allow_module_level=True)

LAST = torch.channels_last
# images, channels, filters, height, width
CASES = [(1, 128, 128, 7, 7), (1, 136, 144, 8, 6), (2, 128, 160, 5, 7), (3, 160, 128, 4, 5), (1, 256, 128, 1, 23)]


def example(batch, channels, filters, height, width):
    torch.manual_seed(4)
    data = torch.randn(batch, channels, height, width).contiguous(memory_format=LAST)
    addend = torch.randn(batch, filters, height, width).contiguous(memory_format=LAST)
    return data, torch.randn(filters, channels, 3, 3), torch.randn(filters), addend


def applies(data, weight, dtype=torch.float32):
    ones = (1, 1)
    return f2x2.PACKED.applies(Problem(INFERENCE, data, weight, None, ones, ones, ones, 1, dtype, dtype, False, 2)) > 0


def by_tiles(data, weight, bias=None, addend=None, clamp=(None, None), result=None):
    assert applies(data.shape, weight.shape)
    if result is None:
        result = torch.full((len(data), len(weight), *data.shape[2:]), 7.0).contiguous(memory_format=LAST)
    for task in f2x2.PackedWeights(weight, bias, None, clamp).tasks(data, result, addend, buffer):
        task.run()
    return result


def near(got, want):
    assert (got - want).abs().max() <= 2e-6 * want.abs().max()


@pytest.mark.parametrize("case", CASES)
def test_values(case):
    data, weight, bias, addend = example(*case)
    plain = conv2d(data.double(), weight.double(), padding=1)
    near(by_tiles(data, weight), plain)
    whole = plain + bias.view(-1, 1, 1) + addend
    near(by_tiles(data, weight, bias, addend), whole)
    over = addend.clone(memory_format=LAST)
    near(by_tiles(data, weight, bias, over, result=over), whole)  # a sum may be written over what is added
    low = by_tiles(data, weight, bias, addend, (0.0, 6.0))
    assert (low - whole.clamp(0, 6)).abs().max() <= 2e-6 * whole.abs().max()
    assert low.min() == 0 and low.max() == 6


def test_nan_is_not_clamped():
    data, weight, bias, addend = example(*CASES[0])
    data[0, 3, 0, 0] = float("nan")
    assert by_tiles(data, weight, bias, addend, (0.0, 6.0))[0, :, 0, 0].isnan().all()


def test_several_threads_give_the_same_values(monkeypatch):
    monkeypatch.setattr(tuning, "CHANNELS_LAST_PER_THREAD", 1)
    data, weight, bias, addend = example(2, 512, 512, 7, 7)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = by_tiles(data, weight, bias, addend)
        torch.set_num_threads(3)
        assert torch.equal(by_tiles(data, weight, bias, addend), alone)
    finally:
        torch.set_num_threads(before)


def test_other_convolutions_are_left_to_others():
    data, weight = (1, 128, 7, 7), (128, 128, 3, 3)
    assert applies(data, weight)
    assert not applies(data, weight, torch.float64)
    assert not applies((1, 120, 7, 7), weight)  # which is an error, told elsewhere
    assert not applies((1, 128, 5, 5), weight)  # nine tiles
    assert not applies((1, 64, 7, 7), (128, 64, 3, 3))
    assert not applies(data, (130, 128, 3, 3))


def test_networks_take_them():
    for loader in (f2x2._code, direct._code, f4x4.code):
        loader.get(wait=True)
    mx.random.seed(2)
    net, x = nn.HybridSequential(), nd.random.normal(shape=(1, 128, 7, 7))
    net.add(nn.Conv2D(128, 3, padding=1, in_channels=128), nn.BatchNorm(in_channels=128), nn.Activation("relu"))
    net.initialize(mx.init.Normal(0.1))
    want = net(x).asnumpy()
    net.hybridize()
    for _ in range(4):
        got = net(x).asnumpy()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())
    (program,) = net._cached_op._programs.values()
    (convolution,) = program._folding._state[1]
    assert list(convolution.packed) == [f2x2.PACKED]
