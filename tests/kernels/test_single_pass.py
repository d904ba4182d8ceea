"""Steps of SGD and Adam in one pass, by compiled kernels, beside the formulas in double precision."""

import gc
from weakref import ref

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._kernels import tuning
from mxnet._kernels.optimizer import single_pass
from mxnet._kernels.optimizer.tensor_lists import FixedTensors
from mxnet._kernels.runtime.loader import simd_width
from mxnet._ops.optimizer.steps import adam, sgd

pytest.importorskip("numba")
if not simd_width():
    pytest.skip("no kernels for this processor", allow_module_level=True)

SHAPES = [(300, 784), (256,), (1,), (9, 3), (10,), (7,), (0, 3)]
RATES, DECAYS = [0.1, 0.2, 0.1, 0.1, 0.3, 0.1, 0.1], [0.0, 0.01, 0.0, 0.02, 0.0, 0.0, 0.0]
LIMITS = [(1 / 64, None), (1.0, 0.5), (0.3, 0.01), (0.0, None)]
BETAS = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(tuning, "SINGLE_PASS_AFTER", 0)
    monkeypatch.setattr(single_pass.step, "minimum_work", 1)


@pytest.fixture
def calls(monkeypatch):
    """The sizes of the steps that went by a kernel."""
    seen, plain = [], single_pass.Table.learn
    monkeypatch.setattr(single_pass.Table, "learn", lambda self, *rest: (seen.append(rest[-1]), plain(self, *rest)))
    return seen


@pytest.fixture(params=[1, 2])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def lists():
    """Weights, gradients, a state of any sign and one that is positive."""
    torch.manual_seed(4)
    made = [[torch.randn(shape) for shape in SHAPES] for _ in range(3)]
    return [*map(FixedTensors, made), FixedTensors(torch.rand(shape) for shape in SHAPES)]


def in_double(tensors):
    return [[t.double() for t in each] for each in tensors]


def adam_in_double(weights, grads, means, variances, count, *, rescale, clip):
    beta1, beta2 = float(np.float32(0.9)), float(np.float32(0.999))
    for i, weight in enumerate(weights):
        slope = grads[i] * rescale + DECAYS[i] * weight
        slope = slope if clip is None else slope.clamp(-clip, clip)
        means[i].mul_(beta1).add_(slope, alpha=1 - beta1)
        variances[i].mul_(beta2).addcmul_(slope, slope, value=1 - beta2)
        rate = RATES[i] * (1 - 0.999**count) ** 0.5 / (1 - 0.9**count)
        weight.sub_(rate * means[i] / (variances[i].sqrt() + 1e-8))


def sgd_in_double(weights, grads, momenta, *, momentum, rescale, clip):
    for i, weight in enumerate(weights):
        slope = grads[i] * rescale
        slope = (slope if clip is None else slope.clamp(-clip, clip)) + DECAYS[i] * weight
        if momenta:
            momenta[i].mul_(momentum).sub_(RATES[i] * slope)
            weight.add_(momenta[i])
        else:
            weight.sub_(RATES[i] * slope)


def compare(got, wanted):
    for ours, theirs in zip(got, wanted, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert not one.numel() or (one - other).abs().max() < 2e-6 * max(other.abs().max(), 1)


@pytest.mark.parametrize(("rescale", "clip"), LIMITS)
def test_adam(rescale, clip, threads, calls):
    got = lists()
    wanted, slopes = in_double(got), [t.clone() for t in got[1]]
    for count in range(1, 4):
        rates = [rate * (1 - BETAS["beta2"] ** count) ** 0.5 / (1 - BETAS["beta1"] ** count) for rate in RATES]
        adam(*got, rates, DECAYS, rescale=rescale, clip=clip, **BETAS)
        adam_in_double(*wanted, count, rescale=rescale, clip=clip)
    assert len(calls) == 3
    compare(got, wanted)
    assert all(map(torch.equal, slopes, got[1]))


@pytest.mark.parametrize("momentum", [0.9, None])
@pytest.mark.parametrize(("rescale", "clip"), LIMITS)
def test_sgd(rescale, clip, momentum, threads, calls):
    got = lists()[:3] if momentum else [*lists()[:2], []]
    wanted, slopes = in_double(got), [t.clone() for t in got[1]]
    options = {"momentum": momentum or 0.0, "rescale": rescale, "clip": clip}
    for _ in range(4):
        sgd(*got, RATES, DECAYS, **options)
        sgd_in_double(*wanted, **options)
    assert len(calls) == 4
    compare(got, wanted)
    assert all(map(torch.equal, slopes, got[1]))


def test_nan_stays_where_it_is(calls):
    for step in (
        lambda w, g, m, v: adam(w, g, m, v, RATES, DECAYS, rescale=1.0, clip=0.5, **BETAS),
        lambda w, g, m, v: sgd(w, g, m, RATES, DECAYS, momentum=0.9, rescale=1.0, clip=0.5),
        lambda w, g, m, v: sgd(w, g, [], RATES, DECAYS, momentum=0.0, rescale=1.0, clip=None),
    ):
        tensors = lists()
        weights, grads = tensors[:2]
        grads[0][0, 3] = grads[5][6] = torch.nan
        step(*tensors)
        assert [int(torch.isnan(w).sum()) for w in weights] == [1, 0, 0, 0, 0, 1, 0]
        assert torch.isnan(weights[0][0, 3]) and torch.isnan(weights[5][6])
    assert len(calls) == 3


# ---- which tensors: those that lie alike, in memory of their own, wherever it is by now


def one_step(weights, grads, momenta):
    """A step beside the formula."""
    rates = [0.1] * len(weights)
    wanted = [0.5 * m.double() - 0.1 * g.double() for m, g in zip(momenta, grads, strict=True)]
    wanted = wanted, [w.double() + m for w, m in zip(weights, wanted, strict=True)]
    sgd(weights, grads, momenta, rates, [0.0] * len(rates), momentum=0.5, rescale=1.0, clip=None)
    compare((momenta, weights), wanted)


def some(*shapes, **options):
    return FixedTensors(torch.randn(shape, **options) for shape in shapes)


def test_other_orders_of_axes(calls):
    pictures = [(2, 3, 5, 7), (4, 8, 3, 3)]
    weights, grads, momenta = (
        FixedTensors(t.to(memory_format=torch.channels_last) for t in some(*pictures)) for _ in range(3)
    )
    one_step(weights, grads, momenta)
    assert len(calls) == 1
    one_step(weights, [g.contiguous() for g in grads], momenta)
    assert len(calls) == 1
    columns = FixedTensors(t.t() for t in some((5, 7), (3, 9)))
    one_step(columns, some((7, 5), (9, 3)), some((7, 5), (9, 3)))
    parts = FixedTensors(t[:, ::2] for t in some((5, 8), (3, 8)))
    one_step(parts, some((5, 4), (3, 4)), some((5, 4), (3, 4)))
    assert len(calls) == 1


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_other_types_go_as_before(dtype, calls):
    tensors = [some((5, 3), (4,), dtype=dtype) for _ in range(3)]
    sgd(*tensors, [0.1] * 2, [0.0] * 2, momentum=0.5, rescale=1.0, clip=None)
    assert not calls


def test_weights_in_common_memory_go_as_before(calls):
    block = torch.randn(20)
    one_step(FixedTensors([block[:8], block[8:]]), some((8,), (12,)), some((8,), (12,)))
    assert len(calls) == 1
    sgd(
        FixedTensors([block[:8], block[4:]]),
        some((8,), (16,)),
        [],
        [0.1] * 2,
        [0.0] * 2,
        momentum=0.0,
        rescale=1.0,
        clip=None,
    )
    assert len(calls) == 1


def test_gradients_change_from_step_to_step(calls):
    weights, grads, momenta = (some((6, 5), (9,)) for _ in range(3))
    for _ in range(3):
        one_step(weights, list(grads), momenta)
    one_step(weights, [some((6, 5))[0], grads[1]], momenta)
    for _ in range(3):
        one_step(weights, list(some((6, 5), (9,))), momenta)
    assert len(calls) == 7
    one_step(weights, [some((5, 6))[0].t(), grads[1]], momenta)
    assert len(calls) == 7
    one_step(weights, list(grads), momenta)
    assert len(calls) == 8


def test_nothing_is_kept_when_the_weights_are_gone():
    weights, grads, momenta = (some((6, 5), (9,)) for _ in range(3))
    for _ in range(3):
        one_step(weights, grads, momenta)
    watched = [ref(tensors[0]) for tensors in (weights, grads, momenta)]
    gc.disable()  # not even for the collector
    try:
        del weights, grads, momenta
        assert [reference() for reference in watched] == [None] * 3
    finally:
        gc.enable()


def test_gradients_are_not_kept_for_the_next_step():
    weights, momenta = some((6, 5), (9,)), some((6, 5), (9,))
    for _ in range(3):
        grads = list(some((6, 5), (9,)))
        one_step(weights, grads, momenta)
    watched = ref(grads[0])
    del grads
    assert watched() is None


# ---- trainers


def parameters(count=3):
    mx.random.seed(3)
    params = gluon.ParameterDict()
    for i in range(count):
        params.get(f"p{i}_weight", shape=(5, 7 + i) if i % 2 else (11,))
    params.initialize(mx.init.Uniform(1))
    return params


def backward(params):
    with autograd.record():
        loss = sum((p.data() ** 2).sum().astype("float32") for p in params.values())
    loss.backward()


def learned(name, options, between=None, steps=8):
    """The weights after some steps; `between` changes something in the middle."""
    params = parameters()
    trainer = gluon.Trainer(params, name, {"learning_rate": 0.01, "wd": 0.001, **options})
    for k in range(steps):
        if between is not None and k == steps // 2:
            between(params, trainer)
        backward(params)
        trainer.step(4)
    return [p.data().astype("float32").asnumpy() for p in params.values()]


def by_torch(monkeypatch, *args):
    with monkeypatch.context() as patch:
        patch.setattr(single_pass.step, "minimum_work", 1 << 40)
        return learned(*args)


OPTIMIZERS = [("adam", {}), ("sgd", {"momentum": 0.9}), ("sgd", {"clip_gradient": 0.1})]


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_a_trainer_changes_over_after_some_steps(name, options, monkeypatch, calls):
    whole = 11 + 5 * 8 + 11
    monkeypatch.setattr(tuning, "SINGLE_PASS_AFTER", 3 * whole)
    both = learned(name, options)
    assert calls == [whole] * 5
    for ours, theirs in zip(both, by_torch(monkeypatch, name, options), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)
    assert len(calls) == 5


def load(params, trainer):
    params["p1_weight"].set_data(nd.arange(40).reshape((5, 8)) / 40)


def cast(params, trainer):
    for p in params.values():
        p.cast("float64")


def cast_and_back(params, trainer):
    for p in params.values():
        p.cast("float64")
        p.cast("float32")


def reload_states(params, trainer):
    trainer._updaters[0].set_states(trainer._updaters[0].get_states())


def new_memory(params, trainer):
    """Those to whom the memory was lent may move it."""
    for p in params.values():
        p.data().as_torch().detach().share_memory_()


def freeze(params, trainer):
    params["p2_weight"].grad_req = "null"


def multipliers(params, trainer):
    params["p0_weight"].lr_mult = 0.5
    trainer.set_learning_rate(0.02)


CHANGES = [load, cast, cast_and_back, reload_states, new_memory, freeze, multipliers]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_what_changes_between_steps_is_seen(name, options, change, monkeypatch, calls):
    ours = learned(name, options, change)
    assert len(calls) == (4 if change is cast else 8)
    for one, other in zip(ours, by_torch(monkeypatch, name, options, change), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-6)
