"""Products of large matrices by kernels give what the library gives, and so do their gradients."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import mxnet as mx
from mxnet import autograd, nd
from mxnet._graph.training.convolution import channels_last_convolution
from mxnet._kernels import tuning
from mxnet._kernels.conv import pointwise
from mxnet._kernels.matmul import gemm
from mxnet._kernels.runtime.loader import CompiledModule, simd_width

pytest.importorskip("numba", reason="kernels are what numba compiles")
if not simd_width():
    pytest.skip("kernels are made for processors with AVX2", allow_module_level=True)

NEAR = 3e-6  # of the largest value; the library has up to 1e-6 here
_kernels = CompiledModule("matmul.gemm_kernels")  # on every processor, also where the library is as fast


class Ready(CompiledModule):
    """Kernels that were earned after so many multiplications."""

    def __init__(self, enough):
        super().__init__("matmul.gemm_kernels", after=enough)

    def get(self, wait):
        return _kernels.get(wait)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    use(monkeypatch, Ready(0))
    for kernel in (gemm.matmul, gemm.dense):
        monkeypatch.setattr(kernel, "minimum_work", tuning.GEMM_WORK)


def use(monkeypatch, code):
    """Take this code for the kernels'."""
    for owner in (gemm, gemm.matmul, gemm.dense, pointwise.WAY):
        monkeypatch.setattr(owner, "code", code)


@pytest.fixture
def calls(monkeypatch):
    """The kernels that ran."""
    seen = []
    task = gemm.Task

    def noted(kernel, *arguments, **more):
        seen.append(kernel.__name__)
        return task(kernel, *arguments, **more)

    monkeypatch.setattr(gemm, "Task", noted)
    return seen


def near(got, want):
    assert got.shape == want.shape
    assert (got.double() - want).abs().max() <= NEAR * want.abs().max()


def matrix(rows, columns, order="rows", seed=0):
    """A matrix of random numbers, as it lies in memory: row by row, column by column, or in a larger one."""
    torch.manual_seed(seed)
    made = torch.randn(rows, columns)
    if order == "columns":
        return made.t().contiguous().t()
    if order == "part":
        return torch.cat([made, made], 1)[:, :columns]
    return made


@pytest.mark.parametrize("shape", [(256, 256, 256), (131, 516, 272), (160, 1100, 64), (65, 1028, 80), (32, 65028, 32),
                                   (263, 531, 301), (1041, 77, 264)])  # fmt: skip
@pytest.mark.parametrize("left", ["rows", "columns", "part"])
@pytest.mark.parametrize("right", ["rows", "columns", "part"])
def test_products(shape, left, right, calls):
    rows, depth, width = shape
    a, b = matrix(rows, depth, left), matrix(depth, width, right, 1)
    near(gemm.product(a, b), a.double() @ b.double())
    assert calls


def test_the_last_of_a_long_sum_are_no_fewer_than_a_vector_has():
    code = _kernels.get(wait=True)
    for depth in range(code.LEAST_DEPTH, 1 << 16):
        step = code._step(depth)
        rest = depth - (depth - 1) // step * step
        assert step <= code.MOST_DEPTH and (rest >= code.LEAST_DEPTH or code._length(step, step + rest) == step + rest)


@pytest.mark.parametrize(
    ("rows", "depth", "width"), [(0, 512, 512), (512, 30, 512), (512, 512, 200), (200, 512, 200), (16, 16, 16)]
)
def test_other_sizes_are_the_librarys(rows, depth, width, calls):
    a, b = matrix(rows, depth), matrix(depth, width, seed=1)
    assert torch.equal(gemm.product(a, b), a @ b) and not calls


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(300, 256), (2, 77, 256), (5, 4, 16, 256)])
@pytest.mark.parametrize("units", [128, 263])
def test_a_layer_and_its_gradients(shape, units, bias, calls):
    torch.manual_seed(3)
    inputs = [torch.randn(shape), torch.randn(units, 256), torch.randn(units)][: 3 if bias else 2]
    head = torch.randn(*shape[:-1], units)
    wide = [t.double().requires_grad_() for t in inputs]
    exact = F.linear(*wide)
    inputs = [t.requires_grad_() for t in inputs]
    result = gemm.dense(*inputs, *[None] * (3 - len(inputs)))
    near(result, exact)
    for got, want in zip(
        torch.autograd.grad(result, inputs, head), torch.autograd.grad(exact, wide, head.double()), strict=True
    ):
        near(got, want)
    assert "by_rows" in calls and "left_transposed" in calls


def test_only_gradients_that_are_asked_for_are_computed(calls):
    data, weight, bias = torch.randn(256, 256), torch.randn(256, 256).requires_grad_(), torch.randn(256)
    result = gemm.dense(data, weight, bias)
    calls.clear()
    result.sum().backward()
    assert calls == ["left_transposed"] and data.grad is None and bias.grad is None


def test_gradients_of_gradients():
    torch.manual_seed(4)
    found = []
    for layer in (F.linear, gemm.dense):
        torch.manual_seed(4)
        data, weight, bias = (torch.randn(*s).requires_grad_() for s in ((200, 256), (128, 256), (128,)))
        (first,) = torch.autograd.grad((layer(data, weight, bias) ** 2).sum(), data, create_graph=True)
        found.append(torch.autograd.grad((first**2).sum(), [weight, bias]))
    for got, want in zip(*found, strict=True):
        assert torch.allclose(got, want, rtol=1e-4, atol=1e-4 * want.abs().max().item())


def test_nan_and_infinity_stay_in_their_rows():
    data, weight = matrix(256, 256), matrix(256, 256, seed=1)
    data[3, 5], data[100, 7] = float("nan"), float("inf")
    got, want = gemm.product(data, weight.t()), data @ weight.t()
    assert torch.equal(got.isnan(), want.isnan()) and torch.equal(got.isinf(), want.isinf())


@pytest.mark.parametrize("width", [256, 271])
def test_what_is_added_to(width):
    data, weight, result = matrix(256, 512), matrix(width, 512, seed=1), matrix(256, width, seed=2)
    want = result.double() + data.double() @ weight.double().t()
    assert gemm.add_product(data, weight, result)
    near(result, want)
    assert not gemm.add_product(data.double(), weight, result) and not gemm.add_product(data, weight, result.t())


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_other_types_are_the_librarys(dtype, calls):
    data, weight = (nd.random.uniform(shape=(256, 256)).astype(dtype) for _ in range(2))
    made = nd.FullyConnected(data, weight, no_bias=True, num_hidden=256)
    assert made.dtype == np.dtype(dtype) and not calls


def test_fully_connected(calls):
    mx.random.seed(1)
    data, weight, bias = (nd.random.uniform(-1, 1, s) for s in ((64, 4, 128), (256, 512), (256,)))
    weight.attach_grad()
    with autograd.record():
        result = nd.FullyConnected(data, weight, bias, num_hidden=256)
    result.backward()
    flat = data.asnumpy().reshape(64, 512).astype("float64")
    want = flat @ weight.asnumpy().T.astype("float64") + bias.asnumpy()
    assert np.abs(result.asnumpy() - want).max() < NEAR * np.abs(want).max()
    slope = np.broadcast_to(flat.sum(0), weight.shape)
    assert np.abs(weight.grad.asnumpy() - slope).max() < NEAR * np.abs(slope).max()
    assert calls == ["by_rows", "left_transposed"]


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_dot_and_its_gradients_of_two_orders(turned, calls):
    mx.random.seed(2)
    left, right = (nd.random.uniform(-1, 1, (256, 256)) for _ in range(2))
    given = dict(zip(("transpose_a", "transpose_b"), turned, strict=True))
    exact = [
        a.asnumpy().astype("float64").T if turn else a.asnumpy() for a, turn in zip((left, right), turned, strict=True)
    ]
    left.attach_grad()
    with autograd.record():
        result = nd.dot(left, right, **given)
        (slope,) = autograd.grad((result * result).sum(), left, create_graph=True, retain_graph=True)
        total = (slope * slope).sum()
    total.backward()
    near(torch.tensor(result.asnumpy()), torch.tensor(exact[0] @ exact[1]))
    square = exact[1] @ exact[1].T
    curve = 8 * exact[0] @ square @ square  # of 4 |a b bᵀ|²
    near(torch.tensor(left.grad.asnumpy()), torch.tensor(curve.T if turned[0] else curve))
    assert len(calls) >= 4


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("steps", [(1, 1), (2, 2), (3, 1)])
@pytest.mark.parametrize(
    ("channels", "filters", "size"), [(64, 96, (31, 32)), (256, 32, (41, 40)), (96, 128, (30, 31))]
)
def test_convolutions_of_one_pixel_in_training(channels, filters, size, steps, bias, calls):
    torch.manual_seed(5)
    inputs = [torch.randn(4, channels, *size), torch.randn(filters, channels, 1, 1), torch.randn(filters)]
    inputs = [t.requires_grad_() for t in inputs[: 3 if bias else 2]]
    wide = [t.detach().double().requires_grad_() for t in inputs]
    result = channels_last_convolution(*inputs, kernel=(1, 1), num_filter=filters, stride=steps, no_bias=not bias)
    exact, head = torch.conv2d(*wide, stride=steps), torch.randn(result.shape)
    near(result.detach(), exact.detach())
    assert result.is_contiguous(memory_format=torch.channels_last) and calls == ["by_rows"]
    for got, want in zip(
        torch.autograd.grad(result, inputs, head), torch.autograd.grad(exact, wide, head.double()), strict=True
    ):
        near(got, want)
    assert calls == ["by_rows", "by_rows", "left_transposed"]


def test_gradients_of_gradients_of_a_convolution():
    found = []
    for convolve in (torch.conv2d, lambda *given: channels_last_convolution(*given, kernel=(1, 1), num_filter=64)):
        torch.manual_seed(6)
        data, weight = torch.randn(2, 64, 24, 24).requires_grad_(), torch.randn(64, 64, 1, 1).requires_grad_()
        bias = torch.randn(64).requires_grad_()
        (first,) = torch.autograd.grad((convolve(data, weight, bias) ** 2).sum(), data, create_graph=True)
        found.append(torch.autograd.grad((first**2).sum(), [weight, bias]))
    for got, want in zip(*found, strict=True):
        assert torch.allclose(got, want, rtol=1e-4, atol=1e-4 * want.abs().max().item())


@pytest.mark.parametrize("given", [{"stride": (2, 2)}, {"pad": (1, 1)}, {"num_group": 2}])
def test_other_convolutions_of_one_pixel_are_the_librarys(given, calls):
    groups = given.get("num_group", 1)
    data, weight = torch.randn(4, 64, 30, 30).requires_grad_(), torch.randn(64, 64 // groups, 1, 1)
    result = channels_last_convolution(data, weight, kernel=(1, 1), num_filter=64, no_bias=True, **given)
    want = torch.conv2d(data, weight, None, given.get("stride", 1), given.get("pad", 0), 1, groups)
    near(result.detach(), want.detach().double())
    assert not calls


def test_several_threads_give_the_same_values():
    a, b = matrix(300, 768), matrix(768, 512, seed=1)
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            results.append((gemm.product(a, b), gemm.product(b.t(), a.t()), gemm.product(a.t()[:512].t(), b[:512])))
    finally:
        torch.set_num_threads(before)
    assert all(map(torch.equal, *results))


def test_kernels_are_taken_after_much_work_only(monkeypatch, calls):
    use(monkeypatch, Ready(2 << 24))
    a = matrix(256, 256)
    for _ in range(2):
        assert torch.equal(gemm.product(a, a), a @ a) and not calls
    near(gemm.product(a, a), a.double() @ a.double())
    assert calls == ["by_rows"]


def test_where_the_library_is_as_fast_it_multiplies(monkeypatch, calls):
    use(monkeypatch, CompiledModule("matmul.gemm_kernels", lambda: "MKL is as fast"))
    a = matrix(256, 256)
    assert torch.equal(gemm.product(a, a), a @ a) and not calls


@pytest.mark.parametrize(("rows", "by_kernels"), [(256, False), (1024, True)])
def test_small_layers_are_torchs(rows, by_kernels, calls, monkeypatch):
    for kernel in (gemm.matmul, gemm.dense):
        monkeypatch.setattr(kernel, "minimum_work", tuning.GEMM_RECORDED_WORK)
    data, weight = nd.ones((rows, 256)), nd.ones((256, 256))
    for result in (nd.FullyConnected(data, weight, no_bias=True, num_hidden=256), nd.dot(data, weight)):
        assert (result.asnumpy() == 256).all()
    assert bool(calls) is by_kernels
