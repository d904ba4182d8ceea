"""The trainer: steps, stale gradients, several contexts, states, learning rates."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


def parameter(ctx=None, value="zeros", name="x"):
    x = gluon.Parameter(name, shape=(10,))
    x.initialize(ctx=ctx or [mx.cpu(0)], init=value)
    return x


def backward(*params, factor=1):
    with autograd.record():
        for param in params:
            for i, w in enumerate(param.list_data()):
                (w * (factor + 0 * i)).backward()


def test_steps_follow_momentum_and_multipliers():
    x = parameter()
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 1.0, "momentum": 0.5})
    backward(x)
    trainer.step(1)
    assert (x.data().asnumpy() == -1).all()
    x.lr_mult = 0.5
    backward(x)
    trainer.step(1)
    assert (x.data().asnumpy() == -2).all()
    backward(x)
    trainer.step(2)
    np.testing.assert_allclose(x.data().asnumpy(), -2 - 0.5 - 0.25)


def test_no_store_for_one_context():
    x = parameter()
    trainer = gluon.Trainer([x], "sgd")
    backward(x)
    trainer.step(1)
    assert trainer._kvstore is None and trainer._update_on_kvstore is None


@pytest.mark.parametrize("on_store", [None, True, False])
def test_gradients_of_contexts_are_summed(on_store):
    x = parameter([mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 1.0}, update_on_kvstore=on_store)
    backward(x)
    trainer.step(1)
    for array in x.list_data():
        assert (array.asnumpy() == -2).all()


def test_gradients_can_be_changed_between_sum_and_update():
    x = parameter([mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer([x], "sgd", {"learning_rate": 1.0}, update_on_kvstore=False)
    backward(x)
    trainer.allreduce_grads()
    for grad in x.list_grad():
        grad[:] = grad / 4
    trainer.update(1)
    assert (x.data(mx.cpu(1)).asnumpy() == -0.5).all()
    other = gluon.Trainer([x], "sgd", update_on_kvstore=True)
    for method in (lambda: other.update(1), other.allreduce_grads):
        with pytest.raises(AssertionError, match="when parameters are updated on kvstore is not supported"):
            method()


def test_stale_gradients_are_an_error_with_its_cause():
    used, unused = parameter(name="a"), parameter(name="b")
    trainer = gluon.Trainer([used, unused], "sgd", {"learning_rate": 1.0})
    with pytest.raises(UserWarning, match=r"has not been updated by backward.*backward\(\) was not called"):
        trainer.step(1)
    backward(used)
    with pytest.raises(UserWarning, match="Gradient of Parameter `b` on context .*'b' took no part in the loss"):
        trainer.step(1)
    trainer.step(1, ignore_stale_grad=True)
    assert (used.data().asnumpy() == -1).all() and (unused.data().asnumpy() == 0).all()
    trainer.step(1, ignore_stale_grad=True)
    assert (used.data().asnumpy() == -1).all()


def test_the_stale_block_is_named():
    net = nn.Sequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(1, in_units=2), nn.Dense(1, in_units=2))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with autograd.record():
        net[0](nd.ones((1, 2))).backward()
    with pytest.raises(UserWarning, match=r"the block 'net_dense1' \(Dense\) took no part"):
        trainer.step(1)


def test_learning_rate_can_be_read_and_set():
    trainer = gluon.Trainer([parameter()], "adam", {"learning_rate": 0.1})
    assert trainer.learning_rate == 0.1
    trainer.set_learning_rate(trainer.learning_rate * 0.1)
    assert trainer.learning_rate == pytest.approx(0.01)
    scheduled = gluon.Trainer([parameter()], "sgd", {"lr_scheduler": mx.lr_scheduler.FactorScheduler(1)})
    with pytest.raises(UserWarning):
        scheduled.set_learning_rate(1)


@pytest.mark.parametrize("contexts", [1, 2])
def test_states_can_be_saved_and_loaded(tmp_path, contexts):
    file = str(tmp_path / "trainer.states")
    ctx = [mx.cpu(i) for i in range(contexts)]

    def trained(steps, load=False):
        x = parameter(ctx)
        trainer = gluon.Trainer([x], "sgd", {"learning_rate": 0.1, "momentum": 0.9})
        for step in range(steps):
            if load and step == 2:
                trainer.load_states(file)
            backward(x)
            trainer.step(1)
            if not load and step == 1:
                trainer.save_states(file)
        return x.data(mx.cpu(0)).asnumpy()

    np.testing.assert_allclose(trained(4), trained(4, load=True))


def test_parameters_are_taken_by_name_whatever_their_order():
    params = gluon.ParameterDict()
    for name in ("c", "a", "b"):
        params.get(name, shape=(1,))
    params.initialize()
    assert [p.name for p in gluon.Trainer(params, "sgd")._params] == ["a", "b", "c"]
    assert [p.name for p in gluon.Trainer(list(params.values()), "sgd")._params] == ["c", "a", "b"]


def test_loading_parameters_restarts_the_store(tmp_path):
    file = str(tmp_path / "x.params")
    params = gluon.ParameterDict()
    x = params.get("x", shape=(10,))
    params.initialize(ctx=[mx.cpu(0), mx.cpu(1)], init="zeros")
    trainer = gluon.Trainer(params, "sgd", {"learning_rate": 0.1}, update_on_kvstore=True)
    params.save(file)
    backward(x)
    trainer.step(1)
    params.load(file)
    assert trainer._kvstore is None
    backward(x)
    trainer.step(1)
    np.testing.assert_allclose(x.data(mx.cpu(0)).asnumpy(), -0.2)


def test_an_optimizer_object_takes_no_further_parameters():
    with pytest.raises(AssertionError, match="optimizer_params must be None"):
        gluon.Trainer([parameter()], mx.optimizer.SGD(), {"learning_rate": 1})


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_the_size_of_a_batch_may_be_an_array_without_axes(optimizer):
    with mx.util.np_shape(), mx.util.np_array():
        weights = []
        for size in (4, mx.np.array([1, 3]).sum()):
            dense = gluon.nn.Dense(1, in_units=2, use_bias=False)
            dense.initialize(mx.init.One())
            trainer = gluon.Trainer(dense.collect_params(), optimizer, {"learning_rate": 0.5})
            with autograd.record():
                loss = dense(mx.np.ones((4, 2))).sum()
            loss.backward()
            trainer.step(size)
            weights.append(dense.weight.data().tolist())
    assert weights[0] == weights[1] != [[1, 1]]
