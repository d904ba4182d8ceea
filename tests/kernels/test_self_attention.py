"""Attention by compiled kernels gives what plain products give, values and gradients."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet._kernels import tuning
from mxnet._kernels.attention import self_attention
from mxnet._ops.nn import attention

kernels = self_attention._code.get(wait=True)
pytestmark = pytest.mark.skipif(kernels is None, reason="kernels are made for processors with AVX2")

# length, batch, heads, size, keys
SIZES = [(16, 1, 1, 16, 16), (50, 2, 3, 32, 50), (49, 1, 2, 64, 49), (7, 3, 2, 48, 7), (100, 2, 1, 16, 100)]
CROSS = [(5, 2, 3, 16, 33), (60, 1, 2, 32, 3), (1, 2, 2, 64, 128)]
NEAR = 3e-6  # of the largest value


@pytest.fixture(autouse=True)
def small_is_enough(monkeypatch):
    monkeypatch.setattr(self_attention.plan_attention, "minimum_work", 1)
    monkeypatch.setattr(tuning, "ATTENTION_PER_THREAD", 1)


def projections(length, batch, heads, size, keys, cross):
    torch.manual_seed(length)
    queries = torch.randn(length, batch, heads * size * (1 if cross else 3))
    return (queries, torch.randn(keys, batch, heads * size * 2)) if cross else (queries,)


def plain(heads, *tensors):
    if len(tensors) == 2:
        weights = torch.softmax(attention.interleaved_matmul_encdec_qk(*tensors, heads=heads), -1)
        return attention.interleaved_matmul_encdec_valatt(tensors[1], weights, heads=heads)
    weights = torch.softmax(attention.interleaved_matmul_selfatt_qk(*tensors, heads=heads), -1)
    return attention.interleaved_matmul_selfatt_valatt(*tensors, weights, heads=heads)


def by_kernels(heads, *tensors):
    parts = (1, 2) if len(tensors) == 2 else (3,)
    assert self_attention.plan_attention(heads, parts, *tensors) is not None
    return (attention.cross_attention if len(tensors) == 2 else attention.self_attention)(*tensors, heads=heads)


def near(got, want):
    assert got.shape == want.shape
    assert (got - want).abs().max() < NEAR * want.abs().max()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("sizes", "cross"), [(s, False) for s in SIZES] + [(s, True) for s in CROSS])
def test_values_and_gradients(sizes, cross, threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    given, heads = projections(*sizes, cross), sizes[2]
    exact = [t.double().requires_grad_() for t in given]
    mine = [t.clone().requires_grad_() for t in given]
    want, got = plain(heads, *exact), by_kernels(heads, *mine)
    near(got, want)
    head = torch.randn(want.shape)
    want.backward(head.double())
    got.backward(head)
    for a, b in zip(mine, exact, strict=True):
        near(a.grad, b.grad)
    with torch.no_grad():
        assert torch.equal(by_kernels(heads, *given), got)


def test_large_products_do_not_overflow():
    (data,) = projections(40, 1, 2, 16, 40, False)
    data = data.round() * 8  # the products are exact
    near(by_kernels(2, data), plain(2, data.double()))


def test_nan_reaches_its_own_head_only():
    (data,) = projections(20, 1, 2, 16, 20, False)
    data[3, 0, 0] = torch.nan  # a query of the first head
    got = by_kernels(2, data)
    assert got[3, 0, :16].isnan().all()
    assert not got[:, 0, 16:].isnan().any()
    assert got.isnan().sum() == 16


def test_a_gradient_can_be_differentiated_again():
    (data,) = projections(20, 1, 1, 16, 20, False)
    found = []
    for function, kind in ((plain, torch.float64), (by_kernels, torch.float32)):
        t = data.to(kind).requires_grad_()
        slope = torch.autograd.grad((function(1, t) ** 2).sum(), t, create_graph=True)[0]
        found.append(torch.autograd.grad((slope**2).sum(), t)[0])
    near(found[1], found[0])


@pytest.mark.parametrize(
    ("data", "heads"),
    [
        (torch.zeros(8, 2, 96, dtype=torch.float64), 2),
        (torch.zeros(8, 2, 3 * 20), 1),  # a size that is no multiple of 16
        (torch.zeros(1200, 1, 48), 1),  # too long for the cache
        (torch.zeros(0, 2, 96), 2),
    ],
)
def test_what_is_left_to_torch(data, heads):
    assert self_attention.plan_attention(heads, (3,), data) is None
    assert attention.self_attention(data, heads=heads).shape == (*data.shape[:2], data.shape[2] // 3)


def test_hybridized_layers_call_them(monkeypatch):
    seen = []
    run = self_attention.Heads.forward
    monkeypatch.setattr(self_attention.Heads, "forward", lambda self, *t: (seen.append(len(t)), run(self, *t))[1])
    data = mx.sym.var("data")
    scores = mx.sym.softmax(mx.sym.contrib.interleaved_matmul_selfatt_qk(data, heads=2))
    net = mx.gluon.SymbolBlock(mx.sym.contrib.interleaved_matmul_selfatt_valatt(data, scores, heads=2), data)
    x = nd.random.normal(shape=(24, 2, 96))
    x.attach_grad()
    with autograd.record():
        eager = nd.softmax(nd.contrib.interleaved_matmul_selfatt_qk(x, heads=2))
        eager = nd.contrib.interleaved_matmul_selfatt_valatt(x, eager, heads=2)
        loss = (eager * eager).sum()
    loss.backward()
    want = eager.asnumpy(), x.grad.asnumpy()
    net.hybridize()
    with autograd.record():
        result = net(x)
        loss = (result * result).sum()
    loss.backward()
    assert seen == [1]
    for got, good in zip((result, x.grad), want, strict=True):
        np.testing.assert_allclose(got.asnumpy(), good, atol=NEAR * np.abs(good).max())
