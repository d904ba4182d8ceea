"""Adam's step in one pass, by a compiled kernel, beside the formula in double precision."""

import numpy as np
import pytest
import torch

from mxnet import autograd, gluon, nd
from mxnet._ops import adam
from mxnet._ops.fused_adaptive import adam as step
from mxnet._ops.fused_update import Steady
from mxnet._ops.loader import vectors_are_here

pytest.importorskip("numba")
if not vectors_are_here():
    pytest.skip("no kernels for this processor", allow_module_level=True)

SHAPES = [(300, 784), (256,), (1,), (9, 3), (10,), (7,)]
RATES, DECAYS = [0.1, 0.2, 0.1, 0.1, 0.3, 0.1], [0.0, 0.01, 0.0, 0.02, 0.0, 0.0]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(adam, "BEFORE", 0)
    monkeypatch.setattr(adam, "LEAST", 1)


@pytest.fixture
def calls(monkeypatch):
    """The sizes of the steps that went by the kernel."""
    seen, plain = [], adam.adam
    monkeypatch.setattr(adam, "adam", lambda lists, *rest: (seen.append(lists[0].total), plain(lists, *rest)))
    return seen


def lists():
    torch.manual_seed(4)
    made = [[torch.randn(shape) for shape in SHAPES] for _ in range(3)]
    return [*map(Steady, made), Steady(torch.rand(shape) for shape in SHAPES)]


def in_double(weights, grads, means, variances, count, *, rescale, clip):
    beta1, beta2 = float(np.float32(0.9)), float(np.float32(0.999))
    for i, weight in enumerate(weights):
        slope = grads[i] * rescale + DECAYS[i] * weight
        slope = slope if clip is None else slope.clamp(-clip, clip)
        means[i].mul_(beta1).add_(slope, alpha=1 - beta1)
        variances[i].mul_(beta2).addcmul_(slope, slope, value=1 - beta2)
        rate = RATES[i] * (1 - 0.999**count) ** 0.5 / (1 - 0.9**count)
        weight.sub_(rate * means[i] / (variances[i].sqrt() + 1e-8))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rescale", "clip"), [(1 / 64, None), (1.0, 0.5), (0.3, 0.01)])
def test_all_in_one_pass(rescale, clip, threads, calls):
    got = lists()
    wanted = [[t.double() for t in tensors] for tensors in got]
    slopes = [t.clone() for t in got[1]]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for count in range(1, 4):
            options = {"rescale": rescale, "clip": clip}
            step(*got, RATES, DECAYS, [count] * len(RATES), beta1=0.9, beta2=0.999, epsilon=1e-8, **options)
            in_double(*wanted, count, **options)
    finally:
        torch.set_num_threads(before)
    assert len(calls) == 3
    for ours, theirs in zip(got, wanted, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert (one - other).abs().max() < 2e-6 * max(other.abs().max(), 1)
    assert all(map(torch.equal, slopes, got[1]))


def test_nan_stays_where_it_is(calls):
    weights, grads, means, variances = lists()
    grads[0][0, 3] = grads[5][6] = torch.nan
    step(weights, grads, means, variances, RATES, DECAYS, [1] * len(RATES),
         beta1=0.9, beta2=0.999, epsilon=1e-8, rescale=1.0, clip=0.5)  # fmt: skip
    assert calls
    assert [int(torch.isnan(w).sum()) for w in weights] == [1, 0, 0, 0, 0, 1]
    assert torch.isnan(weights[0][0, 3]) and torch.isnan(weights[5][6])


def learned(steps):
    net = gluon.nn.Dense(9, in_units=5)
    net.initialize()
    net.weight.set_data(nd.array(np.arange(45).reshape(9, 5) / 45))
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01, "wd": 0.001})
    for _ in range(steps):
        with autograd.record():
            loss = (net(nd.ones((4, 5))) ** 2).sum()
        loss.backward()
        trainer.step(4)
    return net.weight.data().asnumpy()


def test_a_trainer_changes_over_after_some_steps(monkeypatch, calls):
    whole = 5 * 9 + 9
    monkeypatch.setattr(adam, "BEFORE", 3 * whole)
    both = learned(8)
    assert calls == [whole] * 5
    monkeypatch.setattr(adam, "LEAST", whole + 1)
    np.testing.assert_allclose(both, learned(8), rtol=1e-6)
    assert len(calls) == 5
