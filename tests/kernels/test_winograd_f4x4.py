"""Convolutions by Winograd's tiles, and their gradients: of 3 x 3 by compiled loops and products, others by loops."""

import subprocess
import sys

import pytest
import torch

from mxnet._kernels.conv.winograd import f4x4 as winograd
from mxnet._kernels.conv.winograd import tasks as tile_tasks
from mxnet._kernels.conv.winograd import transforms as tiles
from mxnet._kernels.matmul import packed as panels
from mxnet._kernels.runtime import plan_cache as plans

NEAR = 4e-6  # of the largest value; the plain sum in single precision has up to 1.4e-6 here
CASES = [
    (2, 17, 70, 9, 7),
    (1, 64, 19, 4, 4),
    (3, 130, 65, 13, 18),
    (2, 16, 16, 1, 2),
    (1, 16, 24, 30, 31),
    (2, 96, 48, 11, 6),
]


@pytest.fixture(params=["kernels", "loops", "products"])
def transforms(request, monkeypatch):
    """One of the ways to compute: all by kernels, the transforms by loops, all by products."""
    if request.param != "products":
        pytest.importorskip("numba", reason="loops are what numba compiles")
    found = tiles if request.param == "products" else winograd._loader.get(wait=True)
    assert (found is tiles) == (request.param == "products")
    monkeypatch.setattr(winograd._loader, "get", lambda wait: found)
    if request.param != "kernels":
        monkeypatch.setattr(tile_tasks._code, "get", lambda wait: None)
    elif not tile_tasks.available(wait=True):
        pytest.skip("no kernels for this processor")


@pytest.fixture(params=[1 << 20, 3000], ids=["whole", "row by row"])
def at_once(request, monkeypatch):
    """How many tiles are worked on at a time."""
    plans._kept.__dict__.clear()
    monkeypatch.setattr(tile_tasks, "FLOATS_AT_ONCE", request.param)
    monkeypatch.setattr(tile_tasks, "TILES_AT_ONCE", 1)
    monkeypatch.setattr(winograd, "MATRICES_AT_ONCE", request.param * 10)


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    """Kernels take parts in turns, however small."""
    monkeypatch.setattr(tile_tasks, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: request.param)
    return request.param


def example(batch, channels, filters, height, width):
    torch.manual_seed(2)
    data = torch.randn(batch, channels, height, width).contiguous(memory_format=torch.channels_last)
    return data, torch.randn(filters, channels, 3, 3), torch.randn(filters)


def near(got, want, scale=None):
    assert got.shape == want.shape
    assert (got - want).abs().max() < NEAR * (scale or want.abs().max())


@pytest.mark.usefixtures("transforms", "at_once", "threads")
@pytest.mark.parametrize("case", CASES)
def test_values(case):
    data, weight, bias = example(*case)
    exact = torch.conv2d(data.double(), weight.double(), bias.double(), padding=1)
    addend = torch.randn(exact.shape)
    matrices = winograd.weight_matrices(weight)
    near(winograd.convolve(data, matrices, bias), exact)
    near(winograd.convolve(data, matrices, bias, addend), exact + addend)
    near(winograd.convolve(data, matrices, bias, addend, (0.0, None)), (exact + addend).relu())
    cut = winograd.convolve(data, matrices, bias, None, (-1.0, 6.0))
    near(cut, exact.clamp(-1, 6), scale=exact.abs().max())
    near(winograd.convolve(data, matrices), exact - bias.view(-1, 1, 1))
    near(winograd.convolve_with(data, weight, bias), exact)
    if len(weight) % 8 == 0:  # a sum may be written over what is added
        over = addend.contiguous(memory_format=torch.channels_last)
        near(winograd.convolve(data, matrices, bias, over, result=over), exact + addend)


@pytest.mark.usefixtures("transforms", "at_once", "threads")
@pytest.mark.parametrize("case", CASES)
def test_gradients(case):
    data, weight, _ = example(*case)
    inputs = [t.double().requires_grad_() for t in (data, weight)]
    out = torch.conv2d(*inputs, padding=1)
    head = torch.randn(out.shape)
    by_data, by_weight = torch.autograd.grad(out, inputs, head.double())
    got = winograd.gradients(data, head, weight, data_too=True, weight_too=True)
    near(got[0], by_data)
    near(got[1], by_weight)
    assert winograd.gradients(data, head, weight, data_too=True, weight_too=False)[1] is None
    alone = winograd.gradients(data, head, weight, data_too=False, weight_too=True)
    assert alone[0] is None and torch.equal(alone[1], got[1])


OTHERS = [  # images, channels, filters, height, width, window, padding
    (2, 20, 50, 12, 12, 5, 0),
    (3, 17, 33, 9, 14, 5, 2),
    (1, 32, 64, 8, 5, 5, 4),
    (2, 16, 16, 5, 6, 5, 0),
    (9, 48, 32, 7, 7, 5, 1),
    (2, 20, 50, 9, 8, 3, 0),
    (3, 32, 16, 3, 5, 3, 2),
]


def compiled_loops():
    pytest.importorskip("numba", reason="loops are what numba compiles")
    if not winograd.compiled():
        pytest.skip("no loops for this processor")


@pytest.mark.usefixtures("at_once", "threads")
@pytest.mark.parametrize("case", OTHERS)
def test_other_windows_and_paddings(case):
    compiled_loops()
    *sizes, window, pad = case
    tiling = winograd.Tiling(window, pad)
    data, _, bias = example(*sizes)
    weight = torch.randn(len(bias), sizes[1], window, window)
    inputs = [t.double().requires_grad_() for t in (data, weight)]
    exact = torch.conv2d(*inputs, bias.double(), padding=pad)
    near(winograd.convolve_with(data, weight, bias, tiling), exact)
    head = torch.randn(exact.shape)
    by_data, by_weight = torch.autograd.grad(exact, inputs, head.double())
    got = winograd.gradients(data, head, weight, True, True, tiling)
    near(got[0], by_data)
    near(got[1], by_weight)
    assert torch.equal(winograd.gradients(data, head, weight, True, False, tiling)[0], got[0])
    assert torch.equal(winograd.gradients(data, head, weight, False, True, tiling)[1], got[1])


def test_other_windows_need_loops(monkeypatch):
    data, weight = torch.randn(8, 128, 32, 32), torch.randn(128, 128, 5, 5)
    monkeypatch.setattr(winograd._loader, "get", lambda wait: tiles)
    assert not winograd.pays(data, weight, tiling=winograd.Tiling(5, 2))
    assert winograd.pays(data, weight[:, :, :3, :3])
    assert not winograd.pays(data, weight[:, :, :3, :3], tiling=winograd.Tiling(3, 0))


@pytest.mark.parametrize("width", [16, 17, 31, 32, 50])
def test_panels_of_any_number_of_columns(width):
    compiled_loops()
    columns, places = panels.columns(width), panels.places(width)
    assert len(columns) == panels.number(width) * 16
    assert torch.equal(columns[places], torch.arange(width))
    left, right = torch.randn(3, 19, 7), torch.randn(3, 7, width)
    packed = right[:, :, columns].unflatten(2, (-1, 16)).transpose(1, 2).contiguous()
    result = torch.full((3, 19, width), torch.nan)
    panels.products(left, packed, result)
    near(result, torch.bmm(left.double(), right.double()))


@pytest.mark.parametrize("filters", [50, 48])
def test_matrices_of_a_weight_for_one_step_are_those_that_are_kept(transforms, filters):
    weight = example(1, 32, filters, 1, 1)[1]
    exact = torch.mm(tiles.KERNEL.double(), weight.double().reshape(-1, 9).t()).view(36, filters, 32)

    def unpacked(matrices, width):
        """(36, rows, columns) from panels of 16 columns, if it is those."""
        return matrices if matrices.dim() == 3 else matrices.transpose(1, 2).flatten(2)[:, :, panels.places(width)]

    for matrices in (winograd.weight_matrices(weight), winograd._brief_matrices(weight)):
        near(unpacked(matrices, filters), exact if matrices.dim() == 3 else exact.transpose(1, 2))
    near(unpacked(winograd._brief_matrices(weight, across=True), 32), exact)


def test_matrices_are_packed_once_kernels_are_there(monkeypatch):
    weight = example(1, 32, 48, 1, 1)[1]
    if not tile_tasks.available(wait=True):
        pytest.skip("no kernels for this processor")
    with monkeypatch.context() as patch:
        patch.setattr(tile_tasks, "available", lambda wait: False)
        matrices = winograd.weight_matrices(weight)
    assert matrices.shape == (36, 48, 32)
    later = winograd.packed(matrices)
    assert torch.equal(later, winograd.weight_matrices(weight)) and winograd.packed(later) is later


def test_nan_is_not_cut_off(transforms):
    data, weight, bias = example(1, 16, 16, 12, 12)
    data[0, 3, 5, 6] = float("nan")
    got = winograd.convolve(data, winograd.weight_matrices(weight), bias, None, (0.0, 6.0))
    assert got[:, :, 4:7, 5:8].isnan().all() and not got[:, :, :3].isnan().any()


def test_several_threads_give_the_same_values():
    """Tiles are shared out among threads, and only whole images where neighbours add to the same pixels."""
    data, weight, bias = example(6, 64, 64, 40, 40)
    head = torch.randn(6, 64, 40, 40)

    def everything():
        return winograd.convolve(data, winograd.weight_matrices(weight), bias), *winograd.gradients(
            data, head, weight, data_too=True, weight_too=True
        )

    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            results.append(everything())
    finally:
        torch.set_num_threads(before)
    near(results[1][0], results[0][0])
    near(results[1][1], results[0][1])
    near(results[1][2], results[0][2])


def test_rooms_of_threads_are_their_own():
    """Two threads that convolve at once do not write into each other's memory."""
    from concurrent.futures import ThreadPoolExecutor

    data, weight, bias = example(4, 32, 32, 33, 33)
    matrices = winograd.weight_matrices(weight)
    want = winograd.convolve(data, matrices, bias)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: winograd.convolve(data, matrices, bias), range(24)):
            assert torch.equal(got, want)


def test_without_numba_products_are_taken():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import torch; from mxnet._kernels.conv.winograd import f4x4 as winograd\n"
        "assert not winograd.compiled()\n"
        "data, weight = torch.randn(2, 128, 40, 40), torch.randn(128, 128, 3, 3)\n"
        "assert winograd.pays(data, weight) and not winograd.pays(data[:, :64], weight[:64, :64])\n"
        "got = winograd.convolve(data, winograd.weight_matrices(weight))\n"
        "assert torch.allclose(got, torch.conv2d(data, weight, padding=1), atol=1e-3)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_little_work_is_left_to_the_plain_sum():
    data, weight, _ = example(1, 64, 64, 16, 16)
    assert winograd.pays(data, weight) == winograd.compiled()
    assert not winograd.pays(data[:, :, :4, :8], weight)
    assert not winograd.pays(torch.randn(4, 200, 7, 7), torch.randn(200, 200, 3, 3))  # which fill no panels
    assert not winograd.pays(data[:, :, :4], weight, wait=False)
    assert winograd.pays(data, weight, wait=False) == tile_tasks.available(wait=True)
    assert not winograd.pays(torch.randn(8, 16, 32, 32), torch.randn(16, 16, 3, 3))
    assert not winograd.pays(torch.randn(8, 64, 32, 32), torch.randn(64, 64, 5, 5))
    assert winograd.pays(torch.randn(8, 64, 32, 32), weight) == winograd.compiled()
    odd, five = torch.randn(32, 20, 12, 12), torch.randn(50, 20, 5, 5)
    assert winograd.pays(odd, five, tiling=winograd.Tiling(5, 0)) == winograd.compiled()
    assert not winograd.pays(odd[:8], five, tiling=winograd.Tiling(5, 0))
    assert not winograd.pays(torch.randn(32, 32, 12, 12), torch.randn(32, 32, 5, 5), tiling=winograd.Tiling(5, 2))
    assert not winograd.pays(odd, torch.randn(50, 20, 4, 4), tiling=winograd.Tiling(4, 0))
    assert winograd.pays(torch.randn(8, 128, 32, 32), torch.randn(128, 128, 3, 3))


def test_arrays_that_are_used_together_do_not_compete_for_places_in_the_cache():
    """A cache has few places for addresses a power of two apart: the distance is an odd number of lines."""
    for shape in ((128, 256), (3, 512, 16), (7, 5)):
        found = panels.side_by_side(lambda which, *size: torch.empty(size), 0, 36, *shape)
        assert found.shape == (36, *shape) and found[0].is_contiguous()
        assert found.stride(0) % 32 == 16 and found.stride(0) - found[0].numel() < 32
