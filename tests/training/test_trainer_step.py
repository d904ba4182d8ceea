"""A trainer's step over all parameters at once gives what updates one by one give."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

OPTIMIZERS = [
    ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
    ("sgd", {"learning_rate": 0.1}),
    ("adam", {"learning_rate": 0.01, "wd": 0.01, "clip_gradient": 0.5}),
    ("lamb", {"learning_rate": 0.01}),
]


def parameters(dtype="float32"):
    mx.random.seed(5)
    params = gluon.ParameterDict()
    for i, shape in enumerate([(4, 3), (4,), (2, 3, 3, 3), (5,)]):
        params.get(f"p{i}_weight", shape=shape, dtype=dtype)
    params.initialize(mx.init.Uniform(1))
    params["p1_weight"].lr_mult = 0.5
    params["p2_weight"].wd_mult = 0.0
    return params


def gradients(params, factor):
    with autograd.record():
        loss = sum(((p.data() ** 2) * factor).sum().astype("float32") for p in params.values())
    loss.backward()


def one_by_one(params, optimizer, updater):
    """As MXNet's loop does it: a call for each parameter."""
    optimizer.rescale_grad = 0.5
    for i, param in enumerate(params.values()):
        updater(i, param.grad(), param.data())


def pair(name, options, dtype="float32"):
    ours, plain = parameters(dtype), parameters(dtype)
    trainer = gluon.Trainer(ours, name, dict(options))
    optimizer = mx.optimizer.create(name, param_dict=dict(enumerate(plain.values())), **options)
    return ours, plain, trainer, (optimizer, mx.optimizer.get_updater(optimizer))


def compare(ours, plain, rtol=1e-6):
    for a, b in zip(ours.values(), plain.values(), strict=True):
        np.testing.assert_allclose(a.data().asnumpy(), b.data().asnumpy(), rtol=rtol, atol=1e-7)


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_steps_agree_also_after_changes(name, options, tmp_path):
    ours, plain, trainer, single = pair(name, options)

    def steps(count):
        for k in range(count):
            for params in (ours, plain):
                gradients(params, 0.1 + k)
            trainer.step(2)
            one_by_one(plain, *single)
        compare(ours, plain)

    steps(3)
    for params in (ours, plain):  # changed in place, replaced, multipliers changed
        params["p0_weight"].data()[:] *= 2
        params["p3_weight"].set_data(nd.arange(5))
        params["p0_weight"].lr_mult = 0.25
    steps(2)
    trainer.save_states(str(tmp_path / "s"))
    trainer.load_states(str(tmp_path / "s"))
    steps(2)


def test_half_precision_with_master_copies():
    options = {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": True}
    ours, plain, trainer, single = pair("sgd", options, "float16")
    for k in range(3):
        for params in (ours, plain):
            gradients(params, 0.1 + k)
        trainer.step(2)
        one_by_one(plain, *single)
    compare(ours, plain, rtol=1e-3)


def test_only_new_gradients_are_used():
    ours, _, trainer, _ = pair("sgd", {"learning_rate": 0.1})
    gradients(ours, 1.0)
    trainer.step(1)
    before = [p.data().asnumpy() for p in ours.values()]
    with pytest.raises(UserWarning, match="has not been updated"):
        trainer.step(1)
    with autograd.record():
        loss = ours["p1_weight"].data().sum()
    loss.backward()
    trainer.step(1, ignore_stale_grad=True)
    changed = [not np.array_equal(p.data().asnumpy(), b) for p, b in zip(ours.values(), before, strict=True)]
    assert changed == [False, True, False, False]


def test_mixed_dtypes_and_a_parameter_without_gradient():
    params = parameters()
    params.get("p4_weight", shape=(3,), dtype="float64").initialize()
    params.get("p5_weight", shape=(3,), grad_req="null").initialize()
    fixed = params["p5_weight"].data().asnumpy()
    trainer = gluon.Trainer(params, "sgd", {"learning_rate": 0.1})
    with autograd.record():
        loss = sum((p.data() ** 2).sum().astype("float32") for n, p in params.items() if n != "p5_weight")
    loss.backward()
    before = params["p4_weight"].data().asnumpy()
    trainer.step(1)
    np.testing.assert_allclose(params["p4_weight"].data().asnumpy(), before * 0.8)
    np.testing.assert_array_equal(params["p5_weight"].data().asnumpy(), fixed)
