"""Graphs that compute attention in one call, and networks without packing, give what eager calls give."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.inference.fuse import fused
from mxnet._graph.lower.lower import lower
from mxnet.gluon import rnn


class Attention(gluon.HybridBlock):
    """Self-attention, or attention to `kv`; with lengths, dropout, or the weights shown as a second result."""

    def __init__(self, length=False, cross=False, dropout=0.0, shown=False):
        super().__init__()
        self.length, self.cross, self.dropout, self.shown = length, cross, dropout, shown

    def hybrid_forward(self, F, x, length=None, kv=None):
        scores, mixed = F.contrib.interleaved_matmul_selfatt_qk, F.contrib.interleaved_matmul_selfatt_valatt
        inputs = (x,)
        if self.cross:
            scores, mixed = F.contrib.interleaved_matmul_encdec_qk, F.contrib.interleaved_matmul_encdec_valatt
            inputs = (x, kv)
        products = scores(*inputs, heads=2)
        weights = F.softmax(products, length, use_length=True) if self.length else F.softmax(products)
        if self.dropout:
            weights = F.Dropout(weights, p=self.dropout)
        result = mixed(inputs[-1], weights, heads=2)
        return (result, weights) if self.shown else result


def calls(block, *names):
    """How the graph of a block calls things once it is rewritten for inference."""
    out = block(*[mx.sym.var(n) for n in names])
    module = fused(lower(mx.sym.Group(list(out))._entries if isinstance(out, tuple) else out._entries, False,
                         mx.cpu()).module)  # fmt: skip
    return [n.target.__name__ for n in module.graph.nodes if n.op == "call_function"]


def values_and_gradients(block, arrays, train=False):
    for a in arrays:
        if a.dtype == np.float32:
            a.attach_grad()
    with autograd.record(train_mode=train):
        result = block(*arrays)
        result = result[0] if isinstance(result, (list, tuple)) else result
        loss = (result * result * nd.arange(result.size).reshape(result.shape)).sum()
    loss.backward()
    return [result.asnumpy()] + [a.grad.asnumpy() for a in arrays if a.dtype == np.float32]


def arrays(length, cross):
    mx.random.seed(3)
    given = [nd.random.normal(shape=(5, 3, 8 if cross else 24))]
    if length:
        lengths = np.random.RandomState(0).randint(0, 6, (6, 5))
        lengths[0, 0] = 0  # nothing to look at: no share for anybody, no NaN
        given.append(nd.array(lengths, dtype="int32"))
    if cross:
        given.append(nd.random.normal(shape=(7, 3, 16)))
    return given


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize(("length", "cross"), [(False, False), (True, False), (True, True)])
def test_attention_values_and_gradients(length, cross, train):
    given = arrays(length, cross)
    plain = values_and_gradients(Attention(length, cross), given, train)
    hybrid = Attention(length, cross)
    hybrid.hybridize()
    for a, b in zip(plain, values_and_gradients(hybrid, given, train), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5 * np.abs(a).max())


def test_what_is_fused_and_what_is_not():
    assert calls(Attention(), "x") == ["self_attention"]
    assert calls(Attention(dropout=0.1), "x") == ["self_attention"]  # dropout rests in inference
    assert calls(Attention(length=True, cross=True), "x", "length", "kv") == ["cross_attention"]
    assert "softmax" in calls(Attention(shown=True), "x")  # the weights are a result


def test_dropout_in_training_draws_as_eager_does():
    x = nd.random.normal(shape=(5, 3, 24))
    results = []
    for hybrid in (False, True):
        block = Attention(dropout=0.5)
        if hybrid:
            block.hybridize()
        mx.random.seed(7)
        results.append(values_and_gradients(block, [x], train=True))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-4)


def test_gradients_of_gradients():
    x = nd.random.normal(shape=(4, 2, 24))
    seconds = []
    for hybrid in (False, True):
        block = Attention()
        if hybrid:
            block.hybridize()
        x.attach_grad()
        with autograd.record():
            slope = autograd.grad((block(x) ** 2).sum(), x, create_graph=True)[0]
            loss = (slope * slope).sum()
        loss.backward()
        seconds.append(x.grad.asnumpy())
    np.testing.assert_allclose(seconds[1], seconds[0], rtol=1e-4, atol=1e-4 * np.abs(seconds[0]).max())


@pytest.mark.parametrize("kind", [rnn.LSTM, rnn.GRU, rnn.RNN])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrent_networks_without_packing(kind, bidirectional):
    mx.random.seed(2)
    net = kind(6, num_layers=2, bidirectional=bidirectional, input_size=5)
    net.initialize(mx.init.Uniform(0.5))
    x = nd.random.normal(shape=(4, 3, 5))

    def run():
        return values_and_gradients(net, [x]) + [p.grad().asnumpy() for p in net.collect_params().values()]

    plain = run()
    net.hybridize()
    first = run()
    for p in net.collect_params().values():  # changed in place: nothing of the old values may be kept
        p.data()[:] *= 1.0
    for a, b, c in zip(plain, first, run(), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(c, b)
