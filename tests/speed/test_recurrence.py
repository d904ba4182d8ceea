"""GRU and plain recurrent layers arranged by hand, beside torch's own in double precision."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import _VF

from mxnet import autograd, nd
from mxnet._ops import recurrence

GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3}
# steps, batch, width, hidden, layers, directions
CASES = [(2, 1, 3, 5, 1, 1), (4, 9, 5, 6, 2, 1), (7, 3, 8, 4, 1, 2), (3, 2, 4, 8, 3, 2)]


def example(mode, steps, batch, width, hidden, layers, directions):
    torch.manual_seed(3)
    weights, rows = [], GATES[mode] * hidden
    for layer in range(layers):
        inner = hidden * directions if layer else width
        for _ in range(directions):
            weights += [torch.randn(s) / s[-1] ** 0.5 for s in [(rows, inner), (rows, hidden), (rows,), (rows,)]]
    inputs = [torch.randn(steps, batch, width), torch.randn(layers * directions, batch, hidden), *weights]
    return [t.requires_grad_() for t in inputs]


def ours(mode, inputs, layers, directions):
    return recurrence.recurrent(mode, inputs[0], inputs[1], inputs[2:], layers, directions == 2)


def theirs(mode, inputs, layers, directions):
    return getattr(_VF, mode)(inputs[0], inputs[1], inputs[2:], True, layers, 0.0, True, directions == 2, False)


def near(got, want):
    assert got.shape == want.shape
    assert (got - want).abs().max() < 3e-6 * max(want.abs().max(), 1)


@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients(mode, case):
    inputs = example(mode, *case)
    doubles = [t.detach().double().requires_grad_() for t in inputs]
    results, wanted = ours(mode, inputs, *case[4:]), theirs(mode, doubles, *case[4:])
    heads = [torch.randn(r.shape) for r in results]
    found = torch.autograd.grad(results, inputs, heads)
    right = torch.autograd.grad(wanted, doubles, [h.double() for h in heads])
    for got, want in zip((*results, *found), (*wanted, *right), strict=True):
        near(got, want)


@pytest.mark.parametrize("mode", GATES)
def test_gradients_of_gradients(mode):
    inputs = [t.detach().double().requires_grad_() for t in example(mode, 3, 2, 4, 3, 1, 1)]
    slopes = []
    for network in (ours, theirs):
        first = torch.autograd.grad(network(mode, inputs, 1, 1)[0].square().sum(), inputs[:3], create_graph=True)
        slopes.append(torch.autograd.grad(torch.stack([g.square().sum() for g in first]).sum(), inputs[0])[0])
    near(*slopes)


def test_the_operator_goes_this_way_in_training_alone(monkeypatch):
    ran, way = [], recurrence.recurrent
    monkeypatch.setattr(recurrence, "recurrent", lambda mode, *rest: ran.append(mode) or way(mode, *rest))
    x, state = nd.array(np.random.RandomState(0).rand(4, 2, 3)), nd.zeros((1, 2, 5))
    for mode, gates in GATES.items():
        parameters = nd.array(np.random.RandomState(1).rand(gates * 5 * (3 + 5 + 2)) - 0.5)
        parameters.attach_grad()
        attrs: Any = {"mode": mode, "state_size": 5, "num_layers": 1}
        with autograd.record():
            out = nd.RNN(x, parameters, state, **attrs)
        np.testing.assert_allclose(out.asnumpy(), nd.RNN(x, parameters, state, **attrs).asnumpy(), rtol=1e-5, atol=1e-6)
    assert ran == list(GATES)
