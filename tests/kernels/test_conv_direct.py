"""Convolutions by compiled kernels give what the plain sum gives, NaN included, and refuse what they cannot read."""

import pytest
import torch

from mxnet._kernels import tuning
from mxnet._kernels.conv import direct

kernels = direct._code.get(wait=True)
pytestmark = pytest.mark.skipif(kernels is None, reason="kernels are made for processors with AVX2")

NEAR = 2e-6  # of the largest value
SIDE = [1, 1]
# batch, channels, height, width, filters, window, padding, step
DENSE = [
    (1, 16, 7, 7, 16, 1, 0, 1),
    (3, 5, 9, 4, 8, 1, 0, 1),
    (2, 33, 5, 6, 24, 1, 0, 1),
    (1, 40, 1, 1, 1000, 1, 0, 1),
    (1, 20, 1, 1, 64, 1, 0, 1),
    (1, 20, 1, 1, 72, 1, 0, 1),
    (1, 20, 1, 1, 88, 1, 0, 1),
    (1, 20, 3, 4, 136, 1, 0, 4),
    (2, 24, 9, 8, 56, 1, 0, 2),
    (2, 3, 23, 30, 64, 7, 3, 2),
    (1, 3, 32, 31, 40, 3, 1, 2),
    (2, 1, 12, 10, 8, 5, 0, 1),
    (1, 4, 6, 7, 16, 3, 2, 3),
    (2, 20, 9, 12, 40, 3, 1, 2),
    (1, 6, 14, 14, 64, 3, 1, 2),
]
# batch, channels, height, width, step
DEPTHWISE = [
    (2, 8, 14, 14, 1),
    (1, 24, 7, 9, 1),
    (3, 16, 12, 13, 2),
    (1, 8, 1, 1, 1),
    (1, 8, 2, 3, 2),
    (2, 40, 5, 6, 2),
]


def ready(kernel, data):
    if kernel.pads:
        shape = kernel.padded_shape(data.shape)
        padded = torch.full(shape, 9.0).contiguous(memory_format=torch.channels_last)
        if data.shape[1] > direct.FEW_CHANNELS:
            kernel.pad_task(data.contiguous(memory_format=torch.channels_last), padded).run()
        else:
            task = kernel.interleave_task(data.shape, data.stride(), padded)
            elsewhere = torch.empty_strided(data.shape, data.stride()).zero_()
            for given in (elsewhere, data):  # the same task, for data that lie elsewhere
                task.run_on(given)
        return padded
    return data.contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [1, 7, 16, 35])
def test_few_channels_are_interleaved(channels, width):
    weight = torch.randn(8, channels, 3, 3)
    kernel = direct.pack(weight, None, ([1, 2], [1, 1], SIDE, 1), (None, None))
    for data in (torch.randn(2, channels, 5, width), torch.randn(2, channels + 1, 9, width + 3)[:, 1:, ::2, 3:]):
        padded = ready(kernel, data)
        assert torch.equal(padded, torch.nn.functional.pad(data, (2, 2, 1, 1)))


def run(data, weight, bias, geometry, clamp=(None, None), addend=None):
    assert direct.supported(weight.shape, geometry)
    kernel = direct.pack(weight, bias, geometry, clamp)
    result = torch.full(kernel.shape(data), 7.0).contiguous(memory_format=torch.channels_last)
    kernel.task(ready(kernel, data), result, addend).run()
    return result


def near(got, want, scale=None):
    assert got.shape == want.shape
    assert (got - want).abs().max() < NEAR * (scale or want.abs().max())


def dense(batch, channels, height, width, filters, window, padding, step):
    torch.manual_seed(3)
    data, weight = torch.randn(batch, channels, height, width), torch.randn(filters, channels, window, window)
    return data, weight, torch.randn(filters), ([padding] * 2, [step] * 2, SIDE, 1)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", DENSE)
def test_dense(case, threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(tuning, "MULTIPLICATIONS_PER_THREAD", 1)
    monkeypatch.setattr(tuning, "COPY_PER_THREAD", 1)
    data, weight, bias, geometry = dense(*case)
    padding, step = geometry[:2]
    exact = torch.conv2d(data.double(), weight.double(), bias.double(), stride=step, padding=padding)
    near(run(data, weight, bias, geometry), exact)
    near(run(data, weight, None, geometry), exact - bias.view(-1, 1, 1), exact.abs().max())
    addend = torch.randn(exact.shape).contiguous(memory_format=torch.channels_last)
    near(run(data, weight, bias, geometry, (0.0, None), addend), (exact + addend).relu(), exact.abs().max())
    near(run(data, weight, bias, geometry, (-1.0, 6.0)), exact.clamp(-1, 6), exact.abs().max())


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", DEPTHWISE)
def test_depthwise(case, threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(tuning, "MULTIPLICATIONS_PER_THREAD", 1)
    batch, channels, height, width, step = case
    data, weight, bias = (
        torch.randn(batch, channels, height, width),
        torch.randn(channels, 1, 3, 3),
        torch.randn(channels),
    )
    geometry = (SIDE, [step] * 2, SIDE, channels)
    exact = torch.conv2d(data.double(), weight.double(), bias.double(), step, 1, 1, channels)
    near(run(data, weight, bias, geometry), exact)
    near(run(data, weight, bias, geometry, (0.0, 6.0)), exact.clamp(0, 6), exact.abs().max())


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("strips", [1, 3000, 1 << 18])
@pytest.mark.parametrize("shape", [(2, 5, 14, 13), (1, 8, 3, 30), (3, 4, 1, 1), (1, 6, 9, 2)])
@pytest.mark.parametrize("step", [1, 2])
def test_a_dense_and_a_depthwise_one_at_once(shape, step, strips, threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(tuning, "MULTIPLICATIONS_PER_THREAD", 1)
    monkeypatch.setattr(tuning, "DIRECT_STRIP", strips)
    torch.manual_seed(5)
    data = torch.randn(shape).contiguous(memory_format=torch.channels_last)
    weight, bias, taps, shifts = (torch.randn(n) for n in [(24, shape[1], 1, 1), 24, (24, 1, 3, 3), 24])
    first = direct.pack(weight, bias, ([0, 0], SIDE, SIDE, 1), (0.0, 6.0))
    second = direct.pack(taps, shifts, (SIDE, [step] * 2, SIDE, 24), (-1.0, None))
    made = torch.empty(second.output_shape(first.shape(data))).contiguous(memory_format=torch.channels_last)
    first.fused_task(second, data, made).run()
    between = torch.conv2d(data.double(), weight.double(), bias.double()).clamp(0, 6)
    exact = torch.conv2d(between, taps.double(), shifts.double(), step, 1, 1, 24)
    near(made, exact.clamp(-1), exact.abs().max())


def test_nan_and_infinity_stay():
    data, weight, bias, geometry = dense(1, 16, 6, 6, 16, 1, 0, 1)
    data[0, 3, 2, 2], data[0, 5, 4, 4] = float("nan"), float("inf")
    got = run(data, weight, bias, geometry, (0.0, 6.0))
    assert got[0, :, 2, 2].isnan().all() and got.isnan().sum() == 16
    assert torch.equal(got[0, :, 4, 4], torch.where(weight[:, 5, 0, 0] > 0, 6.0, 0.0))
    deep = run(data, torch.ones(16, 1, 3, 3), None, (SIDE, SIDE, SIDE, 16), (0.0, 6.0))
    assert deep[0, 3, 1:4, 1:4].isnan().all() and deep.isnan().sum() == 9


def test_the_same_kernel_takes_data_of_several_sizes_and_places():
    _, weight, bias, geometry = dense(1, 3, 1, 1, 32, 3, 1, 2)
    kernel = direct.pack(weight, bias, geometry, (None, None))
    for shape in [(1, 3, 8, 8), (2, 3, 8, 8), (1, 3, 8, 8), (1, 3, 5, 11), (0, 3, 8, 8)]:
        data = torch.randn(shape)
        result = torch.empty(kernel.shape(data)).contiguous(memory_format=torch.channels_last)
        kernel.task(ready(kernel, data), result, None).run()
        if result.numel():
            near(result, torch.conv2d(data, weight, bias, 2, 1))


@pytest.mark.parametrize(
    "data", [torch.ones(1, 8, 4, 4), torch.ones(1, 16, 4, 4, dtype=torch.float64)], ids=["channels", "type"]
)
def test_other_data_are_refused(data):
    _, weight, bias, geometry = dense(1, 16, 4, 4, 8, 1, 0, 1)
    with pytest.raises(ValueError, match="a kernel"):
        direct.pack(weight, bias, geometry, (None, None)).shape(data)


def test_many_threads_are_the_librarys(monkeypatch):
    _, weight, bias, geometry = dense(1, 16, 4, 4, 8, 1, 0, 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: tuning.DIRECT_THREADS + 1)
    assert direct.pack(weight, bias, geometry, (None, None)) is None


def test_windows_must_fit():
    _, weight, bias, _ = dense(1, 3, 4, 4, 8, 7, 0, 1)
    with pytest.raises(ValueError, match=r"windows of \[7, 7\] is given \(1, 3, 4, 9\)"):
        direct.pack(weight, bias, ([0, 0], SIDE, SIDE, 1), (None, None)).shape(torch.ones(1, 3, 4, 9))


@pytest.mark.parametrize(
    ("weight", "geometry"),
    [
        ((12, 16, 1, 1), ([0, 0], SIDE, SIDE, 1)),  # filters that fill no vector
        ((16, 16, 3, 3), (SIDE, SIDE, SIDE, 1)),
        ((16, 16, 1, 1), (SIDE, SIDE, SIDE, 1)),
        ((16, 1, 3, 3), (SIDE, SIDE, [2, 2], 16)),
        ((16, 1, 3, 3), (SIDE, [3, 3], SIDE, 16)),
        ((16, 1, 3, 3), ([0, 0], SIDE, SIDE, 16)),
        ((16, 1, 5, 5), ([2, 2], SIDE, SIDE, 16)),
        ((16, 2, 3, 3), (SIDE, SIDE, SIDE, 8)),
    ],
)
def test_what_is_left_to_the_library(weight, geometry):
    assert not direct.supported(weight, geometry)
