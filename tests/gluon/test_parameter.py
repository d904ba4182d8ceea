"""Parameters and their dictionaries: initialization, contexts, gradients, sharing, files."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


def test_a_parameter_lives_on_several_contexts():
    p = gluon.Parameter("weight", shape=(2, 3))
    p.initialize(init="xavier", ctx=[mx.cpu(0), mx.cpu(1)])
    assert p.list_ctx() == [mx.cpu(0), mx.cpu(1)]
    assert p.data(mx.cpu(1)).context == mx.cpu(1)
    assert (p.data(mx.cpu(0)).asnumpy() == p.data(mx.cpu(1)).asnumpy()).all()
    p.data(mx.cpu(1))[:] = p.data(mx.cpu(1)) + 2
    mean = (p.data(mx.cpu(0)).asnumpy() + p.data(mx.cpu(1)).asnumpy()) / 2
    p.reset_ctx(mx.cpu(2))
    np.testing.assert_allclose(p.data().asnumpy(), mean, rtol=1e-6)
    assert p.data().context == mx.cpu(2)


def test_set_data_before_and_after_initialization():
    dense = nn.Dense(2)
    dense.initialize()
    dense.weight.set_data(nd.ones((2, 3)))
    dense(nd.ones((1, 3)))
    assert (dense.weight.data().asnumpy() == 1).all()
    dense.weight.set_data(dense.weight.data() + 1)
    assert (dense.weight.data().asnumpy() == 2).all()
    with pytest.raises(AssertionError, match="Expected shape"):
        dense.weight.set_data(nd.ones((3, 3)))


def gradient_of(param, factor):
    with autograd.record():
        (param.data() * factor).sum().backward()
    return param.grad().asnumpy()


def test_gradients_are_written_or_added():
    p = gluon.Parameter("p", shape=(2,))
    p.initialize()
    assert (gradient_of(p, 3) == 3).all() and (gradient_of(p, 4) == 4).all()
    p.grad_req = "add"
    assert (gradient_of(p, 3) == 3).all() and (gradient_of(p, 4) == 7).all()
    p.zero_grad()
    assert (p.grad().asnumpy() == 0).all() and (gradient_of(p, 4) == 4).all()
    p.grad_req = "null"
    with pytest.raises(RuntimeError, match="Cannot get gradient array for Parameter 'p' because grad_req='null'"):
        p.grad()


def test_accumulating_over_batches():
    net = nn.Dense(1, in_units=2)
    net.initialize()
    for p in net.collect_params().values():
        p.grad_req = "add"
    for _ in range(2):
        with autograd.record():
            out = net(nd.ones((1, 2)))
        out.backward()
    assert (net.weight.grad().asnumpy() == 2).all()
    net.collect_params().zero_grad()
    assert (net.weight.grad().asnumpy() == 0).all()


def test_deferred_initialization_waits_for_the_shape():
    dense = nn.Dense(2)
    dense.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    assert dense.weight.list_ctx() == [mx.cpu(0), mx.cpu(1)] and dense.weight.shape == (2, 0)
    with pytest.raises(gluon.DeferredInitializationError, match="Please pass one batch of data through the network"):
        dense.weight.data()
    dense.collect_params().reset_ctx(mx.cpu(1))
    dense(nd.ones((1, 4), ctx=mx.cpu(1)))
    assert dense.weight.shape == (2, 4)


def test_initializing_twice_needs_force():
    p = gluon.Parameter("p", shape=(1000,))
    p.initialize(mx.init.One())
    with pytest.warns(UserWarning, match="already initialized, ignoring"):
        p.initialize(mx.init.Zero())
    assert (p.data().asnumpy() == 1).all()
    p.initialize(mx.init.Zero(), force_reinit=True)
    assert (p.data().asnumpy() == 0).all()


def test_constants_get_no_gradient():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.value = np.array([[1, 2], [3, 4]], dtype="float32")
            self.const = self.params.get_constant("const", self.value)

        def hybrid_forward(self, F, x, const):
            return x + const

    net = Net()
    net.initialize()
    for hybrid in (False, True):
        net.hybridize(hybrid)
        x = nd.ones((2, 2))
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward()
        assert (y.asnumpy() == net.value + 1).all() and (x.grad.asnumpy() == 1).all()
    assert repr(net.const).startswith("Constant net0_const" if net.prefix == "net0_" else "Constant ")
    with pytest.warns(UserWarning, match="does not support grad_req other than"):
        net.const.grad_req = "add"
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    trainer.step(1, ignore_stale_grad=True)
    assert (net.const.data().asnumpy() == net.value).all()


def test_cast_keeps_value_and_gradient():
    p = gluon.Parameter("p", shape=(2,))
    p.initialize(mx.init.One())
    gradient_of(p, 3)
    p.cast("float64")
    assert p.data().dtype == np.float64 and (p.grad().asnumpy() == 3).all()
    assert gradient_of(p, 5).dtype == np.float64


def test_dictionaries_share_and_complete_parameters():
    params = gluon.ParameterDict("net_")
    w = params.get("w", shape=(10, 0), allow_deferred_init=True)
    assert params.get("w", shape=(0, 4)) is w and w.shape == (10, 4)
    shared = gluon.ParameterDict("net_", shared=params)
    assert shared.get("w") is w and list(shared.keys()) == ["net_w"]
    with pytest.raises(AssertionError, match="Cannot retrieve Parameter 'net_w' because desired attribute does not"):
        params.get("w", shape=(3, 4))
    other = gluon.ParameterDict("net_")
    other.get("w", shape=(1,))
    with pytest.raises(AssertionError, match="different Parameters with the same name 'net_w'"):
        params.update(other)


def test_dictionary_files(tmp_path):
    file = str(tmp_path / "p.params")
    params = gluon.ParameterDict("net_")
    params.get("w", shape=(2, 2))
    params.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    params.save(file, strip_prefix="net_")
    assert list(nd.load(file)) == ["w"]
    loaded = gluon.ParameterDict("net_")
    loaded.get("w", shape=(2, 2))
    loaded.load(file, mx.cpu(1), restore_prefix="net_")
    assert (loaded["net_w"].data().asnumpy() == params["net_w"].data(mx.cpu(0)).asnumpy()).all()
    loaded.get("b", shape=(1,))
    with pytest.raises(AssertionError, match="Parameter 'b' is missing in file"):
        loaded.load(file, restore_prefix="net_")
    with pytest.raises(ValueError, match="Prefix 'other_' is to be striped"):
        params.save(file, strip_prefix="other_")


def test_zero_grad_of_all():
    net = nn.Sequential()
    net.add(nn.Dense(3, in_units=2), nn.Dense(1, in_units=3))
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    for ctx in (mx.cpu(0), mx.cpu(1)):
        with autograd.record():
            net(nd.ones((1, 2), ctx=ctx)).backward()
    net.collect_params().zero_grad()
    for p in net.collect_params().values():
        for grad in p.list_grad():
            assert (grad.asnumpy() == 0).all()


def test_dense_parameters_have_no_rows_to_pull():
    p = gluon.Parameter("p", shape=(2, 2))
    p.initialize()
    with pytest.raises(RuntimeError, match=r"via row_sparse_data\(\) because its storage type is default"):
        p.row_sparse_data(nd.array([0]))


def test_a_sparse_parameter_gives_the_rows_asked_for():
    p = gluon.Parameter("p", shape=(4, 2), stype="row_sparse", grad_stype="row_sparse")
    p.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(1)])
    with pytest.raises(RuntimeError, match=r"via data\(\) because its storage type is row_sparse"):
        p.data()
    rows = nd.array([1, 3])
    with pytest.raises(RuntimeError, match="when no Trainer is created with it"):
        p.row_sparse_data(rows)
    gluon.Trainer([p], "sgd")
    taken = p.row_sparse_data(rows)
    assert taken.stype == "row_sparse"
    np.testing.assert_array_equal(taken.asnumpy(), [[0, 0], [1, 1], [0, 0], [1, 1]])


def test_a_trainer_leaves_constants_alone():
    class Shifted(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.shift = self.params.get_constant("shift", np.array([[1, 2], [3, 4]]))

        def hybrid_forward(self, F, x, shift):
            return x + shift

    net = Shifted()
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0, "momentum": 0.5})
    x = mx.nd.ones((2, 2))
    x.attach_grad()
    with mx.autograd.record():
        y = net(x)
    y.backward()
    trainer.step(1)
    assert net.shift.data().asnumpy().tolist() == [[1, 2], [3, 4]]


def test_an_array_takes_a_parameters_place_as_probabilistic_libraries_put_it():
    net = nn.Dense(2, in_units=3, use_bias=False)
    net.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(2)])
    assert net.weight._ctx_map == [[], [0, None, 1]]
    mean = nd.ones((2, 3))
    mean.attach_grad()
    with autograd.record():
        net.weight._data[net.weight._ctx_map[mx.cpu().device_typeid & 1][0]] = mean * 2
        y = net(nd.array([[1, 2, 3]]))
    y.backward()
    assert y.asnumpy().tolist() == [[12, 12]] and mean.grad.asnumpy().tolist() == [[2, 4, 6]] * 2


def test_data_on_another_context():
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(ctx=mx.cpu(0))
    x = mx.nd.ones((1, 3), ctx=mx.cpu(1))
    with pytest.raises(RuntimeError, match="was not initialized on context cpu"):
        net(x)
    net.hybridize()
    with pytest.raises(mx.MXNetError, match="same context.*was not initialized on context cpu"):
        net(x)
