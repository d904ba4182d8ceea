"""Recurrent networks as cuDNN takes them: it has rules that torch's CPU kernels lack."""

import types
import warnings

import numpy as np
import pytest
import torch
from comparing import CPU, GPU, no_races  # noqa: F401 - a fixture

import mxnet as mx
from mxnet import autograd, nd
from mxnet._ops.nn import recurrent
from mxnet.gluon import rnn


def _as_cudnn(function):
    """torch's function behind the checks that it makes where cuDNN computes."""

    def call(data, states, weights, has_biases, layers, dropout, train, bidirectional, batch_first):
        if data.is_cuda:
            states_of = (states,) if isinstance(states, torch.Tensor) else states
            assert all(s.is_contiguous() for s in states_of), "rnn: hx is not contiguous"
            wanted = torch.is_grad_enabled() and any(t.requires_grad for t in (data, *states_of, *weights))
            assert train or not wanted, "cudnn RNN backward can only be called in training mode"
            _check_buffer(weights, layers * (2 if bidirectional else 1))
        return function(data, states, weights, has_biases, layers, dropout, train, bidirectional, batch_first)

    return call


def _check_buffer(weights, directions):
    """cuDNN's layout: the matrices of all layers and directions, then all biases, from the beginning of a buffer."""
    each = len(weights) // directions
    rows = [weights[i * each : (i + 1) * each] for i in range(directions)]
    order = [w for row in rows for w in (*row[:2], *row[4:])] + [w for row in rows for w in row[2:4]]
    place, buffer = 0, order[0].untyped_storage().data_ptr()
    for weight in order:
        assert weight.untyped_storage().data_ptr() == buffer, "weights are not one buffer"
        assert weight.storage_offset() == place and weight.is_contiguous(), "weights are not in cuDNN's order"
        place += weight.numel()


@pytest.fixture(autouse=True)
def cudnn(monkeypatch):
    names = ("lstm", "gru", "rnn_tanh", "rnn_relu")
    functions = {name: _as_cudnn(getattr(torch._VF, name)) for name in names}
    monkeypatch.setattr(recurrent, "_VF", types.SimpleNamespace(**functions))


LAYERS = {
    "lstm": lambda: rnn.LSTM(4, 2, input_size=3),
    "both ways": lambda: rnn.LSTM(4, 2, bidirectional=True, input_size=3),
    "projection": lambda: rnn.LSTM(4, 2, projection_size=2, input_size=3),
    "gru": lambda: rnn.GRU(4, 2, bidirectional=True, input_size=3),
    "tanh": lambda: rnn.RNN(4, activation="tanh", input_size=3),
    "NTC": lambda: rnn.GRU(4, layout="NTC", input_size=3),
}


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_layers(name, train, hybrid):
    found = []
    for ctx in (CPU, GPU):
        mx.random.seed(1)
        layer = LAYERS[name]()
        layer.initialize(mx.init.Uniform(0.5), ctx=ctx)
        if hybrid:
            layer.hybridize()
        x = nd.array(np.random.RandomState(0).normal(size=(5, 2, 3)), ctx=ctx)
        states = layer.begin_state(5 if name == "NTC" else 2, func=nd.ones, ctx=ctx)
        with autograd.record(train_mode=train):
            y, _ = layer(x, states)
        y.backward()
        found.append([y.asnumpy(), *(p.grad().asnumpy() for p in layer.collect_params().values())])
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["lstm", "gru"])
def test_states_may_be_transposed(mode):
    sizes = {"mode": mode, "state_size": 4, "num_layers": 2, "bidirectional": True}
    count = recurrent.parameter_count({**sizes, "projection_size": None}, 3)
    random = np.random.RandomState(1)
    shapes = [(5, 2, 3), (count,), *[(2, 4, 4)] * (2 if mode == "lstm" else 1)]
    inputs = [random.normal(size=shape) for shape in shapes]

    def run(F, data, parameters, *states):
        return F.RNN(data, parameters, *(F.transpose(s, (1, 0, 2)) for s in states), **sizes)

    net = mx.gluon.nn.HybridLambda(run)
    net.hybridize()
    want, found = (net(*(nd.array(a, ctx=ctx) for a in inputs)).asnumpy() for ctx in (CPU, GPU))
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("lengths", [False, True])
def test_dropout_between_layers(lengths):
    layer = rnn.LSTM(4, 3, dropout=0.5, bidirectional=True, input_size=3, use_sequence_length=lengths)
    layer.initialize(ctx=GPU)
    with autograd.record():
        args = {"sequence_length": nd.array([3, 5], ctx=GPU)} if lengths else {}
        y = layer(nd.ones((5, 2, 3), ctx=GPU), **args)
    y.backward()
    assert np.isfinite(y.asnumpy()).all()


def test_a_packed_vector_is_used_where_it_is(monkeypatch):
    """The parameters of MXNet's operator have cuDNN's layout: nothing is copied, unless they begin within an array."""
    count = recurrent.parameter_count({"mode": "gru", "state_size": 4, "num_layers": 2, "bidirectional": True,
                                       "projection_size": None}, 3)  # fmt: skip
    vector = nd.array(np.random.RandomState(1).normal(size=count + 1), ctx=GPU)
    data, state = nd.ones((5, 2, 3), ctx=GPU), nd.zeros((4, 2, 4), ctx=GPU)

    def run(parameters):
        return nd.RNN(data, parameters, state, mode="gru", state_size=4, num_layers=2, bidirectional=True)

    want = run(vector[:count].copy()).asnumpy()
    within = nd.concat(nd.zeros((1,), ctx=GPU), vector[:count], dim=0)[1:]
    np.testing.assert_allclose(run(within).asnumpy(), want, rtol=1e-5)
    monkeypatch.setattr(torch, "cat", lambda *a, **k: pytest.fail("the weights were copied"))
    np.testing.assert_allclose(run(vector[:count].copy()).asnumpy(), want, rtol=1e-5)


def test_nothing_is_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer = rnn.LSTM(4, input_size=3)
        layer.initialize(ctx=GPU)
        layer(nd.ones((5, 2, 3), ctx=GPU)).wait_to_read()
