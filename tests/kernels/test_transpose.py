"""Transposition by a compiled kernel: the same elements as torch's copies, and the same gradients."""

import itertools

import numpy as np
import pytest
import torch

from mxnet import autograd, nd
from mxnet._kernels.elementwise import transpose
from mxnet._kernels.runtime.loader import CompiledModule

kernels = transpose.code.get(wait=True)
pytestmark = pytest.mark.skipif(kernels is None, reason="kernels are made for processors with AVX2")


@pytest.fixture
def runs(monkeypatch):
    """How often the kernel runs, which is ready from the first call on."""
    ran, copy = [], transpose._copy
    monkeypatch.setattr(transpose, "_copy", lambda *given: ran.append(given) or copy(*given))
    monkeypatch.setattr(transpose.code, "after", 0)
    return ran


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "shape", [(40, 300), (9, 1001), (12, 17, 50), (10, 9, 11, 12), (3, 4, 50, 20), (2, 9, 3, 11, 20)]
)
def test_every_order(shape, threads, runs):
    x, before = nd.array(np.random.RandomState(0).rand(*shape)), torch.get_num_threads()
    x.attach_grad()
    torch.set_num_threads(threads)
    try:
        for axes in itertools.permutations(range(len(shape))):
            with autograd.record():
                y = nd.transpose(x, axes)
            head = nd.array(np.random.rand(*y.shape))
            y.backward(head)
            assert np.array_equal(y.asnumpy(), x.asnumpy().transpose(axes))
            assert np.array_equal(nd.transpose(x, axes).asnumpy(), y.asnumpy())
            assert np.array_equal(x.grad.asnumpy(), head.asnumpy().transpose(np.argsort(axes)))
    finally:
        torch.set_num_threads(before)
    assert runs


def test_integers_swapped_axes_and_parts(runs):
    x = np.arange(64 * 96 * 3, dtype=np.int32).reshape(64, 3, 96)
    assert np.array_equal(nd.array(x, dtype="int32").swapaxes(0, 2).asnumpy(), x.swapaxes(0, 2))
    assert np.array_equal(nd.array(x, dtype="int32")[8:60].transpose((2, 0, 1)).asnumpy(), x[8:60].transpose(2, 0, 1))
    assert np.array_equal(nd.array(x[:, 0], dtype="float32").tile((2, 2)).T.asnumpy(), np.tile(x[:, 0], (2, 2)).T)
    assert len(runs) == 3


def test_second_derivatives(runs):
    x = nd.array(np.random.RandomState(1).rand(100, 120))
    x.attach_grad()
    with autograd.record():
        y = nd.transpose(x) ** 3
        (slope,) = autograd.grad(y, [x], create_graph=True)
    slope.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 6 * x.asnumpy(), rtol=1e-6)


def test_a_compiler_is_only_loaded_for_much(monkeypatch):
    code = CompiledModule("elementwise.transpose_kernels", after=30_000)
    monkeypatch.setattr(transpose.permuted, "code", code)
    x = nd.zeros((100, 120))
    for begun in (False, False, False, True):
        assert x.T.shape == (120, 100)
        assert (code._future is not None) is begun
