"""Convolutions by Winograd tiles, and their gradients: by compiled kernels, and 3 x 3 ones by torch's products."""

import subprocess
import sys

import pytest
import torch

from mxnet._kernels import tuning
from mxnet._kernels.conv import choose
from mxnet._kernels.conv.problem import INFERENCE, TRAINING, Problem
from mxnet._kernels.conv.winograd import f4x4, torch_products, ways
from mxnet._kernels.conv.winograd.tiling import Tiling
from mxnet._kernels.matmul import packed
from mxnet._kernels.runtime import plan_cache as plans
from mxnet._kernels.runtime.buffers import buffer

NEAR = 4e-6  # of the largest value; the plain sum in single precision has up to 1.4e-6 here
CASES = [
    (2, 17, 70, 9, 7),
    (1, 64, 19, 4, 4),
    (3, 130, 65, 13, 18),
    (2, 16, 16, 1, 2),
    (1, 16, 24, 30, 31),
    (2, 96, 48, 11, 6),
]


@pytest.fixture(params=["kernels", "torch"])
def way(request):
    """How to compute: by compiled kernels, or by torch's matrix products."""
    if request.param == "kernels":
        compiled_kernels()
    return request.param


def compiled_kernels():
    pytest.importorskip("numba", reason="kernels are what numba compiles")
    if f4x4.code.get(wait=True) is None:
        pytest.skip("no kernels for this processor")


@pytest.fixture(params=[1 << 20, 3000], ids=["whole", "row by row"])
def at_once(request, monkeypatch):
    """How many tiles are computed at a time."""
    plans._local.__dict__.clear()
    monkeypatch.setattr(tuning, "WINOGRAD_FLOATS", request.param)
    monkeypatch.setattr(tuning, "WINOGRAD_TILES_AT_ONCE", 1)
    monkeypatch.setattr(tuning, "WINOGRAD_WEIGHT_FLOATS", request.param * 10)


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    """Kernels take parts in turns, however small."""
    monkeypatch.setattr(tuning, "MULTIPLICATIONS_PER_THREAD", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: request.param)
    return request.param


def example(batch, channels, filters, height, width):
    torch.manual_seed(2)
    data = torch.randn(batch, channels, height, width).contiguous(memory_format=torch.channels_last)
    return data, torch.randn(filters, channels, 3, 3), torch.randn(filters)


def near(got, want, scale=None):
    assert got.shape == want.shape
    assert (got - want).abs().max() < NEAR * (scale or want.abs().max())


def packed_convolve(way, data, weight, bias=None, addend=None, clamp=(None, None), result=None):
    """A convolution with a constant weight."""
    make = f4x4.PackedWeights if way == "kernels" else f4x4.TorchWeights
    kernel = make(weight, bias, None, clamp)
    result = torch.empty(kernel.shape(data), memory_format=torch.channels_last) if result is None else result
    addend = None if addend is None else addend.contiguous(memory_format=torch.channels_last)
    if way == "torch":
        kernel.run(data, result, addend)
    else:
        for task in kernel.tasks(data, result, addend, buffer):
            task.run()
    return result


def gradients(way, data, head, weight, wanted):
    return (f4x4 if way == "kernels" else torch_products).gradients(data, head, weight, wanted)


@pytest.mark.usefixtures("at_once", "threads")
@pytest.mark.parametrize("case", CASES)
def test_values(case, way):
    data, weight, bias = example(*case)
    exact = torch.conv2d(data.double(), weight.double(), bias.double(), padding=1)
    addend = torch.randn(exact.shape)
    near(packed_convolve(way, data, weight, bias), exact)
    near(packed_convolve(way, data, weight, bias, addend), exact + addend)
    near(packed_convolve(way, data, weight, bias, addend, (0.0, None)), (exact + addend).relu())
    cut = packed_convolve(way, data, weight, bias, None, (-1.0, 6.0))
    near(cut, exact.clamp(-1, 6), scale=exact.abs().max())
    near(packed_convolve(way, data, weight), exact - bias.view(-1, 1, 1))
    if way == "kernels":
        near(f4x4.convolve(data, weight, bias), exact)
    if len(weight) % 16 == 0 or way == "torch":  # a sum may be written over what is added
        over = addend.contiguous(memory_format=torch.channels_last)
        near(packed_convolve(way, data, weight, bias, over, result=over), exact + addend)


@pytest.mark.usefixtures("at_once", "threads")
@pytest.mark.parametrize("case", CASES)
def test_gradients(case, way):
    data, weight, _ = example(*case)
    inputs = [t.double().requires_grad_() for t in (data, weight)]
    out = torch.conv2d(*inputs, padding=1)
    head = torch.randn(out.shape)
    by_data, by_weight = torch.autograd.grad(out, inputs, head.double())
    both = gradients(way, data, head, weight, (True, True))
    near(both[0], by_data)
    near(both[1], by_weight)
    assert gradients(way, data, head, weight, (True, False))[1] is None
    alone = gradients(way, data, head, weight, (False, True))
    assert alone[0] is None and torch.equal(alone[1], both[1])


OTHERS = [  # images, channels, filters, height, width, window, padding
    (2, 20, 50, 12, 12, 5, 0),
    (3, 17, 33, 9, 14, 5, 2),
    (1, 32, 64, 8, 5, 5, 4),
    (2, 16, 16, 5, 6, 5, 0),
    (9, 48, 32, 7, 7, 5, 1),
    (2, 20, 50, 9, 8, 3, 0),
    (3, 32, 16, 3, 5, 3, 2),
]


@pytest.mark.usefixtures("at_once", "threads")
@pytest.mark.parametrize("case", OTHERS)
def test_other_windows_and_paddings(case):
    compiled_kernels()
    *sizes, window, pad = case
    tiling = Tiling(window, pad)
    data, _, bias = example(*sizes)
    weight = torch.randn(len(bias), sizes[1], window, window)
    inputs = [t.double().requires_grad_() for t in (data, weight)]
    exact = torch.conv2d(*inputs, bias.double(), padding=pad)
    near(f4x4.convolve(data, weight, bias, tiling), exact)
    head = torch.randn(exact.shape)
    by_data, by_weight = torch.autograd.grad(exact, inputs, head.double())
    got = f4x4.gradients(data, head, weight, (True, True), tiling)
    near(got[0], by_data)
    near(got[1], by_weight)
    assert torch.equal(f4x4.gradients(data, head, weight, (True, False), tiling)[0], got[0])
    assert torch.equal(f4x4.gradients(data, head, weight, (False, True), tiling)[1], got[1])


@pytest.mark.parametrize("width", [16, 17, 31, 32, 50])
def test_panels_of_any_number_of_columns(width):
    compiled_kernels()
    columns, places = packed.columns(width), packed.places(width)
    assert len(columns) == packed.number_of_panels(width) * 16
    assert torch.equal(columns[places], torch.arange(width))
    left, right = torch.randn(3, 19, 7), torch.randn(3, 7, width)
    panels = right[:, :, columns].unflatten(2, (-1, 16)).transpose(1, 2).contiguous()
    result = torch.full((3, 19, width), torch.nan)
    packed.product_task(left, panels, result).run()
    near(result, torch.bmm(left.double(), right.double()))


def test_nan_is_not_clamped(way):
    data, weight, bias = example(1, 16, 16, 12, 12)
    data[0, 3, 5, 6] = float("nan")
    got = packed_convolve(way, data, weight, bias, None, (0.0, 6.0))
    assert got[:, :, 4:7, 5:8].isnan().all() and not got[:, :, :3].isnan().any()


def test_several_threads_give_the_same_values(way):
    """Threads divide the tiles, and only whole images where neighbours add to the same pixels."""
    data, weight, bias = example(6, 64, 64, 40, 40)
    head = torch.randn(6, 64, 40, 40)

    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            both = gradients(way, data, head, weight, (True, True))
            results.append((packed_convolve(way, data, weight, bias), *both))
    finally:
        torch.set_num_threads(before)
    for one, other in zip(*results, strict=True):
        near(other, one)


def test_buffers_of_threads_are_their_own(way):
    """Two threads that convolve at once do not write into each other's memory."""
    from concurrent.futures import ThreadPoolExecutor

    data, weight, bias = example(4, 32, 32, 33, 33)
    want = packed_convolve(way, data, weight, bias)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: packed_convolve(way, data, weight, bias), range(24)):
            assert torch.equal(got, want)


def test_without_numba_torch_multiplies():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import torch; from mxnet._kernels.conv.choose import conv2d\n"
        "from mxnet._kernels.conv.problem import TRAINING\n"
        "from mxnet._kernels import registry\n"
        "data, weight = torch.randn(2, 128, 40, 40), torch.randn(128, 128, 3, 3)\n"
        "call = (1, 1), (1, 1), (1, 1), 1, TRAINING\n"
        "with registry.traced() as log:\n"
        "    got = conv2d(data, weight, None, *call)\n"
        "    conv2d(data[:, :64], weight[:64, :64], None, *call)\n"
        "names = [d.kernel for d in log if 'conv.' in d.kernel]\n"
        "assert names == ['conv.winograd_f4x4_torch', 'conv.channels_last'], log\n"
        "assert torch.allclose(got, torch.conv2d(data, weight, padding=1), atol=1e-3)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def problem(data, weight, mode=TRAINING, pad=1):
    ones, kinds = (1, 1), (torch.float32, torch.float32, False, 2)
    return Problem(mode, data, weight, None, ones, (pad, pad), ones, 1, *kinds)


@pytest.mark.parametrize(
    ("data", "weight", "pad", "applies"),
    [
        ((1, 64, 16, 16), (64, 64, 3, 3), 1, True),
        ((1, 64, 4, 8), (64, 64, 3, 3), 1, False),
        ((4, 200, 7, 7), (200, 200, 3, 3), 1, False),  # channels that fill no panels
        ((8, 16, 32, 32), (16, 16, 3, 3), 1, False),
        ((8, 64, 32, 32), (64, 64, 3, 3), 1, True),
        ((8, 64, 32, 32), (64, 64, 5, 5), 1, True),
        ((32, 20, 12, 12), (50, 20, 5, 5), 0, True),
        ((8, 20, 12, 12), (50, 20, 5, 5), 0, False),
        ((32, 32, 12, 12), (32, 32, 5, 5), 2, False),
        ((32, 20, 12, 12), (50, 20, 4, 4), 0, False),
        ((8, 128, 32, 32), (128, 128, 3, 3), 1, True),
    ],
)
def test_little_work_is_left_to_the_direct_sum(data, weight, pad, applies):
    assert bool(ways.COMPILED.applies(problem(data, weight, pad=pad))) == applies


def test_a_constant_weight_needs_fewer_channels_and_more_tiles():
    weight = (64, 64, 3, 3)
    assert ways.PACKED.applies(problem((1, 64, 16, 16), weight, INFERENCE))
    assert not ways.PACKED.applies(problem((1, 64, 4, 16), weight, INFERENCE))
    assert not ways.PACKED.applies(problem((1, 64, 16, 16), (72, 64, 3, 3), INFERENCE))  # which fill no panels
    assert choose.WAYS[INFERENCE].index(ways.PACKED) < choose.WAYS[INFERENCE].index(ways.PACKED_TORCH)


def test_torchs_products_need_more_channels():
    large, five = problem((8, 128, 32, 32), (128, 128, 3, 3)), problem((8, 128, 32, 32), (128, 128, 5, 5), pad=2)
    assert ways.TORCH.applies(large) and not ways.TORCH.applies(five)
    assert not ways.TORCH.applies(problem((8, 64, 32, 32), (64, 64, 3, 3)))
    assert not ways.TORCH.applies(problem((8, 128, 32, 32), (128, 128, 3, 3), pad=0))


def test_arrays_that_are_used_together_do_not_compete_for_places_in_the_cache():
    """A cache has few places for addresses a power of two apart: the distance is an odd number of lines."""
    for shape in ((128, 256), (3, 512, 16), (7, 5)):
        found = packed.with_odd_stride(lambda which, *size: torch.empty(size), 0, 36, *shape)
        assert found.shape == (36, *shape) and found[0].is_contiguous()
        assert found.stride(0) % 32 == 16 and found.stride(0) - found[0].numel() < 32
