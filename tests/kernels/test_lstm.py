"""LSTM layers by compiled kernels, compared with torch's own in float64."""

import subprocess
import sys

import pytest
import torch
from learning import learn_sequences
from torch import _VF

from mxnet._kernels.rnn import lstm
from mxnet._kernels.runtime.loader import simd_width

pytest.importorskip("numba")
if not simd_width():
    pytest.skip("no kernels for this processor", allow_module_level=True)

# steps, batch, width, hidden, layers, directions
CASES = [(1, 1, 3, 16, 1, 1), (4, 9, 5, 16, 2, 1), (7, 13, 20, 48, 1, 2), (3, 32, 64, 32, 2, 2), (5, 8, 16, 64, 3, 1)]


def example(steps, batch, width, hidden, layers, directions):
    torch.manual_seed(3)
    shapes = []
    for layer in range(layers):
        inner = hidden * directions if layer else width
        shapes += [(4 * hidden, inner), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,)] * directions
    weights = [torch.randn(s) / s[-1] ** 0.5 for s in shapes]
    states = [torch.randn(layers * directions, batch, hidden) for _ in range(2)]
    return torch.randn(steps, batch, width), states, weights


def exact(data, states, weights, layers, directions):
    inputs = [t.double().detach().requires_grad_() for t in (data, *states, *weights)]
    results = _VF.lstm(inputs[0], inputs[1:3], inputs[3:], True, layers, 0.0, True, directions == 2, False)
    return results, inputs


def near(got, want, accuracy=3e-6):
    assert got.shape == want.shape
    assert (got - want).abs().max() < accuracy * max(want.abs().max(), 1)


def gradients(results, inputs, heads, **more):
    return torch.autograd.grad(results, inputs, [h.to(results[0].dtype) for h in heads], **more)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients(case, threads):
    data, states, weights = example(*case)
    wanted, doubles = exact(data, states, weights, *case[4:])
    inputs = [t.requires_grad_() for t in (data, *states, *weights)]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        results = lstm._run(case[4], case[5] == 2, data, *states, *weights)
        heads = [torch.randn(r.shape) for r in results]
        found = gradients(results, inputs, heads)
    finally:
        torch.set_num_threads(before)
    for got, want in zip((*results, *found), (*wanted, *gradients(wanted, doubles, heads)), strict=True):
        near(got, want)


def test_the_input_alone_and_the_output_alone():
    data, states, weights = example(4, 8, 16, 16, 1, 1)
    data.requires_grad_()
    output = lstm._run(1, False, data, *states, *weights)[0]
    (found,) = torch.autograd.grad(output.sum(), [data])
    wanted, doubles = exact(data, states, weights, 1, 1)
    near(found, torch.autograd.grad(wanted[0].sum(), doubles[:1])[0])


def test_gradients_of_gradients():
    data, states, weights = example(3, 4, 5, 16, 1, 1)
    wanted, doubles = exact(data, states, weights, 1, 1)
    inputs = [t.requires_grad_() for t in (data, *states, *weights)]
    results = lstm._run(1, False, data, *states, *weights)
    heads = [torch.randn(r.shape) for r in results]

    def twice(results, inputs):
        first = gradients(results, inputs, heads, create_graph=True)
        return torch.autograd.grad(sum((g * g).sum() for g in first), inputs)

    for got, want in zip(twice(results, inputs), twice(wanted, doubles), strict=True):
        near(got, want, 1e-5)


def test_extreme_numbers():
    """Gates that are open or shut to the last bit, tiny ones, NaN."""
    data, states, weights = example(2, 8, 4, 16, 1, 1)
    for size in (1e-20, 1e-4, 30.0, 1e4, 1e30):
        results = lstm._run(1, False, data * size, *states, *weights)
        wanted, _ = exact(data * size, states, weights, 1, 1)
        for got, want in zip(results, wanted, strict=True):
            near(got, want)
    zeros, unbiased = [s * 0 for s in states], [w if w.dim() == 2 else w * 0 for w in weights]
    tiny = lstm._run(1, False, data * 1e-6, *zeros, *unbiased)[0]
    wanted, _ = exact(data * 1e-6, zeros, unbiased, 1, 1)
    assert (tiny - wanted[0]).abs().max() < 1e-6 * wanted[0].abs().max()
    data[1, 3, 2] = torch.nan
    output = lstm._run(1, False, data, *states, *weights)[0]
    assert output[1, 3].isnan().all()
    assert not output[:, :3].isnan().any() and not output[0].isnan().any()


@pytest.mark.parametrize("hybrid", [False, True])
def test_a_layer_gives_the_same_either_way(hybrid, both_ways, monkeypatch):
    monkeypatch.setattr(lstm.lstm, "minimum_work", 1)
    for want, got in zip(*both_ways(lambda: learn_sequences("LSTM", hybrid), "rnn.lstm"), strict=True):
        near(torch.from_numpy(got.asnumpy()), torch.from_numpy(want.asnumpy()))


def test_without_numba_torch_does_it():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from mxnet import gluon, nd; from mxnet._kernels.rnn import lstm; lstm.lstm.minimum_work = 1\n"
        "net = gluon.rnn.LSTM(16, input_size=4); net.initialize()\n"
        "assert net(nd.ones((3, 8, 4))).shape == (3, 8, 16) and lstm._code.get(wait=True) is None"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
