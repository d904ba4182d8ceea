"""Convolutions of few pixels by small tiles give what the plain sum gives."""

import numpy as np
import pytest
import torch
from torch.nn.functional import conv2d

import mxnet as mx
from mxnet import nd
from mxnet._kernels.conv import direct
from mxnet._kernels.conv.winograd import f2x2 as small_tiles
from mxnet._kernels.matmul import packed as panels
from mxnet._kernels.runtime.buffers import room
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


def by_tiles(data, weight, bias=None, addend=None, bounds=(None, None), result=None):
    for loader in (direct._code, panels._code, small_tiles._code):
        loader.get(wait=True)
    assert small_tiles.pays(data, weight)
    if result is None:
        result = torch.full((len(data), len(weight), *data.shape[2:]), 7.0).contiguous(memory_format=LAST)
    for job in small_tiles.jobs(data, small_tiles.weight_matrices(weight), bias, addend, bounds, result, room):
        job.run()
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


def test_nan_is_not_cut_off():
    data, weight, bias, addend = example(*CASES[0])
    data[0, 3, 0, 0] = float("nan")
    assert by_tiles(data, weight, bias, addend, (0.0, 6.0))[0, :, 0, 0].isnan().all()


def test_several_threads_give_the_same_values(monkeypatch):
    monkeypatch.setattr(small_tiles, "WORTH_A_THREAD", 1)
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
    data, weight, *_ = example(*CASES[0])
    assert not small_tiles.pays(data.double(), weight.double())
    assert not small_tiles.pays(data[:, :120], weight)  # which is an error, told elsewhere
    assert not small_tiles.pays(data[:, :, :5, :5], weight)  # nine tiles
    assert not small_tiles.pays(data[:, :64], weight[:, :64])
    assert not small_tiles.pays(*example(1, 128, 130, 7, 7)[:2])


def test_networks_take_them():
    for loader in (small_tiles._code, panels._code, direct._code):
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
    assert convolution.small_matrices is not None and convolution.packed is None
