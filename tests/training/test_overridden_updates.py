"""Optimizers derived from MXNet's own: which of their methods are called, with what. As recorded from MXNet 1.9.1."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet import optimizer as opt

PAST_UPDATE = ["SGD", "NAG", "LARS", "LAMB"]  # their `update_multi_precision` does not call `update`
THROUGH_UPDATE = ["Adam", "RMSProp", "AdaGrad", "Signum", "FTML", "AdaDelta", "Ftrl", "Adamax", "Nadam", "DCASGD"]


def _derived(base, *names, **options):
    """An optimizer that notes each call of the methods `names`; its `update` sets weights to nine."""
    calls = []

    def noting(name):
        def method(self, index, weight, grad, state):
            calls.append((name, type(index), len(index) if isinstance(index, (list, tuple)) else 1))
            if name == "update":
                weight[:] = 9
            else:
                base.update_multi_precision(self, index, weight, grad, state)

        return method

    made = type("Derived", (base,), {name: noting(name) for name in names})(**options)
    return made, calls


def _updated(optimizer, dtype, together):
    weights, grads = ([nd.ones((2,), dtype=dtype) for _ in range(2)] for _ in range(2))
    updater = opt.get_updater(optimizer)
    if together:
        updater([0, 1], grads, weights)
    else:
        for i, (weight, grad) in enumerate(zip(weights, grads, strict=True)):
            updater(i, grad, weight)
    return [float(w.asnumpy()[0]) for w in weights]


CASES = pytest.mark.parametrize(
    ("dtype", "multi_precision"), [("float32", False), ("float32", True), ("float16", True), ("float16", False)]
)


@CASES
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("name", PAST_UPDATE)
def test_an_update_that_mxnet_passes_by_is_not_called(name, together, dtype, multi_precision):
    options = {"learning_rate": 0.1, "multi_precision": multi_precision}
    optimizer, calls = _derived(getattr(opt, name), "update", **options)
    found = _updated(optimizer, dtype, together)
    assert calls == []
    assert found == _updated(getattr(opt, name)(**options), dtype, together)


@CASES
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("name", THROUGH_UPDATE)
def test_an_update_is_called_for_each_parameter_and_on_master_copies(name, together, dtype, multi_precision):
    optimizer, calls = _derived(getattr(opt, name), "update", learning_rate=0.1, multi_precision=multi_precision)
    assert _updated(optimizer, dtype, together) == [9, 9]
    assert calls == [("update", int, 1)] * 2


@pytest.mark.parametrize("name", ["SGD", "LARS", "LAMB"])
@pytest.mark.parametrize("both", [False, True])
def test_an_own_update_multi_precision_gets_tuples_of_aggregated_parameters(name, both):
    names = ["update_multi_precision", *(["update"] if both else [])]
    optimizer, calls = _derived(getattr(opt, name), *names, learning_rate=0.1)
    _updated(optimizer, "float32", together=True)
    assert calls == [("update_multi_precision", tuple, 2)]
    optimizer, calls = _derived(getattr(opt, name), *names, learning_rate=0.1)
    _updated(optimizer, "float32", together=False)
    assert calls == [("update_multi_precision", tuple, 1)] * 2


def test_aggregates_have_at_most_four_parameters():
    optimizer, calls = _derived(opt.SGD, "update_multi_precision", learning_rate=0.1)
    opt.get_updater(optimizer)(list(range(6)), [nd.ones((2,))] * 6, [nd.ones((2,)) for _ in range(6)])
    assert [count for _, _, count in calls] == [4, 2]


@pytest.mark.parametrize("name", ["Adam", "NAG"])
def test_other_own_update_multi_precisions_get_one_parameter(name):
    optimizer, calls = _derived(getattr(opt, name), "update_multi_precision", learning_rate=0.1)
    _updated(optimizer, "float32", together=True)
    assert calls == [("update_multi_precision", int, 1)] * 2


def _trained(optimizer, devices, kvstore):
    net = gluon.nn.Dense(2, in_units=2)
    places = [mx.cpu(i) for i in range(devices)]
    net.initialize(mx.init.One(), ctx=places)
    trainer = gluon.Trainer(net.collect_params(), optimizer, kvstore=kvstore)
    with mx.autograd.record():
        losses = [net(nd.ones((1, 2), ctx=place)).sum() for place in places]
    mx.autograd.backward(losses)
    trainer.step(1)
    return net.weight.data(places[0]).asnumpy()


@pytest.mark.parametrize(("devices", "weight"), [(1, 0.9), (2, 0.8)])
@pytest.mark.parametrize("kvstore", ["device", "local"])
def test_a_trainer_passes_an_update_of_sgd_by(devices, weight, kvstore):
    optimizer, calls = _derived(opt.SGD, "update", learning_rate=0.1)
    np.testing.assert_allclose(_trained(optimizer, devices, kvstore), np.full((2, 2), weight), rtol=1e-6)
    assert calls == []


@pytest.mark.parametrize(("devices", "counts"), [(1, [2]), (2, [1, 1])])
def test_a_kvstore_updates_one_parameter_at_a_time(devices, counts):
    optimizer, calls = _derived(opt.SGD, "update_multi_precision", learning_rate=0.1)
    _trained(optimizer, devices, "device")
    assert [count for _, _, count in calls] == counts
