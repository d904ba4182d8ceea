"""GRU and vanilla recurrent layers by kernels, compared with torch's own in float64."""

from typing import Any

import numpy as np
import pytest
import torch
from learning import learn_sequences
from torch import _VF

from mxnet import autograd, nd
from mxnet._kernels import tuning
from mxnet._kernels.registry import traced
from mxnet._kernels.rnn import gru
from mxnet._kernels.runtime.loader import CompiledModule

GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3}
# steps, batch, width, hidden, layers, directions
CASES = [(2, 1, 3, 5, 1, 1), (4, 9, 5, 6, 2, 1), (7, 3, 8, 4, 1, 2), (3, 2, 4, 8, 3, 2)]


# hidden units that fill panels, and rows for the kernels
WIDE = [(2, 4, 3, 16, 1, 1), (5, 9, 5, 32, 2, 1), (7, 5, 8, 48, 1, 2), (3, 30, 4, 16, 2, 2)]


@pytest.fixture
def quick(monkeypatch):
    """The steps by compiled kernels at once."""
    pytest.importorskip("numba")
    if gru._code.get(wait=True) is None:
        pytest.skip("no kernels for this processor")
    monkeypatch.setattr(gru._code, "after", 0)


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
    return gru.gru(mode, layers, directions == 2, *inputs)


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


def kernels_used(log):
    return [decision.kernel for decision in log if decision.used]


@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("case", WIDE)
def test_values_and_gradients_by_kernels(mode, case, quick):
    with traced() as log:
        test_values_and_gradients(mode, case)
    assert kernels_used(log) == ["rnn.gru"]


@pytest.mark.parametrize("mode", GATES)
def test_predictions_by_kernels(mode, quick):
    inputs = example(mode, *WIDE[1])
    with torch.no_grad():
        wanted = theirs(mode, [t.double() for t in inputs], *WIDE[1][4:])
        for got, want in zip(ours(mode, inputs, *WIDE[1][4:]), wanted, strict=True):
            near(got, want)


@pytest.mark.parametrize("mode", GATES)
def test_what_is_not_finite_stays_in_its_row(mode, quick):
    inputs = [t.detach() for t in example(mode, 4, 6, 3, 16, 1, 1)]
    inputs[0][1, 3, 2], inputs[0][1, 4, 0] = torch.nan, torch.inf
    found, wanted = ours(mode, inputs, 1, 1)[0], theirs(mode, inputs, 1, 1)[0]
    torch.testing.assert_close(found, wanted, equal_nan=True)
    assert found[1, 3].isnan().all() and not found[:, :3].isnan().any() and not found[0].isnan().any()


def test_what_kernels_are_not_for(monkeypatch):
    """Few rows, units that do not fill panels, float64, and work that is not worth loading a compiler."""
    code = CompiledModule("rnn.gru_kernels", after=tuning.GRU_COMPILE)
    monkeypatch.setattr(gru.compiled_gru, "code", code)
    square = torch.empty(16, 16)
    for shape, weight in (((9, 3, 5), square), ((9, 4, 5), torch.empty(15, 15)), ((9, 4, 5), square)):
        data, state = torch.empty(shape), torch.empty(1, shape[1], len(weight))
        assert not gru.compiled_gru.ready("rnn_tanh", 1, False, data, state, weight, weight)
    doubles = [t.double() for t in (torch.empty(9, 4, 5), torch.empty(1, 4, 16), square, square)]
    assert not gru.compiled_gru.ready("rnn_tanh", 1, False, *doubles)
    assert code._work == 9 * 4 * 256 and code._future is None


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("kind", ["GRU", "RNN"])
def test_a_layer_gives_the_same_either_way(kind, hybrid, quick, both_ways):
    for want, got in zip(*both_ways(lambda: learn_sequences(kind, hybrid), "rnn.gru"), strict=True):
        near(torch.from_numpy(got.asnumpy()), torch.from_numpy(want.asnumpy()))


@pytest.mark.parametrize("mode", GATES)
def test_gradients_of_gradients(mode):
    inputs = [t.detach().double().requires_grad_() for t in example(mode, 3, 2, 4, 3, 1, 1)]
    slopes = []
    for network in (ours, theirs):
        first = torch.autograd.grad(network(mode, inputs, 1, 1)[0].square().sum(), inputs[:3], create_graph=True)
        slopes.append(torch.autograd.grad(torch.stack([g.square().sum() for g in first]).sum(), inputs[0])[0])
    near(*slopes)


def test_the_operator_uses_the_steps_in_training_alone():
    x, state = nd.array(np.random.RandomState(0).rand(4, 2, 3)), nd.zeros((1, 2, 5))
    for mode, gates in GATES.items():
        parameters = nd.array(np.random.RandomState(1).rand(gates * 5 * (3 + 5 + 2)) - 0.5)
        parameters.attach_grad()
        attrs: Any = {"mode": mode, "state_size": 5, "num_layers": 1}
        with traced() as log, autograd.record():
            out = nd.RNN(x, parameters, state, **attrs)
        assert kernels_used(log) == ["rnn.gru_steps"]
        with traced() as log:
            np.testing.assert_allclose(
                out.asnumpy(), nd.RNN(x, parameters, state, **attrs).asnumpy(), rtol=1e-5, atol=1e-6
            )
        assert kernels_used(log) == []
