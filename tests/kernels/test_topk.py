"""Top-k by a heap is that of a stable sort: equal elements in their order, NaN, both zeros."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from mxnet._kernels.runtime.loader import CompiledModule, any_processor
from mxnet._kernels.sort import topk

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def ready(monkeypatch):
    """The kernel is there from the first call on; how often it ran."""
    assert topk._code.get(wait=True) is not None
    ran, run = [], topk.topk_heap.run
    monkeypatch.setattr(topk.topk_heap, "run", lambda *given: ran.append(given) or run(*given))
    return ran


def compared(data, **options):
    quick = [part.asnumpy() for part in nd.topk(data, ret_typ="both", **options)]
    with mx.runtime.kernels_off():
        plain = [part.asnumpy() for part in nd.topk(data, ret_typ="both", **options)]
    for got, want in zip(quick, plain, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def numbers(dtype, shape, kinds):
    found = np.random.RandomState(0).randint(0, kinds, shape).astype(dtype)
    if dtype.startswith("float"):
        found = found - np.array(kinds // 2, dtype)
        found[found == 3], found[found == 2], found[found == 1], found[found == -3] = np.nan, np.inf, -0.0, -np.inf
    elif dtype == "int32":
        found[found == 1], found[found == 2] = -(2**31), 2**31 - 1
    return found


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8", "uint8"])
@pytest.mark.parametrize("kinds", [1, 10, 100])
def test_as_sorted(dtype, kinds, ascending, ready):
    data = nd.array(numbers(dtype, (3, 1301, 2), kinds), dtype=dtype)
    for k in (2, 5, 130, 150):
        compared(data, k=k, axis=1, is_ascend=ascending)
    compared(data, k=7, axis=None, is_ascend=ascending)
    compared(data[1:, 4:], k=7, axis=1, is_ascend=ascending, dtype="int32")
    assert len(ready) == 6


@pytest.mark.parametrize("kinds", [40, 2000])
def test_rising_and_falling_rows(kinds):
    rising = np.sort(np.random.RandomState(1).randint(0, kinds, (4, 700)), 1)
    for each in (rising, rising[:, ::-1]):
        for k in (3, 80):
            compared(nd.array(each), k=k)


def test_all_lowest():
    data = nd.array(np.full((1, 4000), -(2**31)), dtype="int32")
    assert nd.topk(data, k=300, dtype="int32").asnumpy().tolist() == [list(range(300))]


def test_gradients_go_to_the_first_of_equal_ones(ready):
    data = nd.ones((2, 90))
    data.attach_grad()
    with autograd.record():
        loss = (nd.topk(data, k=3, ret_typ="value") * nd.array([1, 10, 100])).sum()
    loss.backward()
    want = np.zeros((2, 90))
    want[:, :3] = [1, 10, 100]
    np.testing.assert_array_equal(data.grad.asnumpy(), want)
    assert len(ready) == 1


def test_a_mask(ready):
    data = nd.array([[1, 3, 3, 2, 3] + [0] * 40])
    assert nd.topk(data, k=2, ret_typ="mask").asnumpy()[0, :6].tolist() == [0, 1, 1, 0, 0, 0]
    assert len(ready) == 1


@pytest.mark.parametrize("kinds", [10, 60_000])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_until_it_is_compiled(dtype, kinds, ready, monkeypatch):
    """torch's topk, or a partition where elements are equal."""
    monkeypatch.setattr(topk.topk_heap, "code", CompiledModule("sort.topk_kernels", any_processor, after=1 << 60))
    compared(nd.array(numbers(dtype, (3, 1301), kinds), dtype=dtype), k=5)
    assert not ready


def test_a_compiler_is_earned():
    earned = CompiledModule("sort.topk_kernels", any_processor, after=100)
    assert earned.earned(60) is None and earned.earned(60) is None and earned._future is None
    assert earned.earned(1, wait=True) is not None
