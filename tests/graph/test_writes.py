"""Whatever writes into an array's memory is noted, and predictions look at parameters only if something was."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._core import writes
from mxnet._core.writes import WRITES, Watch
from mxnet.gluon import nn


def watch(*arrays):
    found = Watch([a._t for a in arrays])
    found.looked(WRITES.now())
    return found


def matrix():
    return nd.array(np.arange(12.0).reshape(3, 4))


def update(name, *states, **options):
    def step(a):
        arrays = [a, nd.ones(a.shape), *[nd.zeros(a.shape) for _ in states]]
        getattr(nd, name)(*arrays, out=a, lr=0.1, **options)

    return step


def assign(key, value):
    def store(a):
        a[key] = value

    return store


def in_place(text):
    def change(a):
        exec(text, {"a": a, "b": nd.ones((3, 4)) * 3, "nd": nd})

    return change


def by_view(a):
    a[1:3][:] = 5


def by_reshaped(a):
    a.reshape((4, 3))[2] = 5


def by_flat_view_that_begins_before(a):
    whole = nd.zeros((40,))
    a._t = whole[8:20].reshape((3, 4))._t
    yield
    whole[:] = 7


def by_copy(a):
    nd.zeros((3, 4)).copyto(a)


def by_sparse_copy(a):
    nd.sparse.row_sparse_array((nd.ones((1, 4)), nd.array([1])), shape=(3, 4)).copyto(a)


def by_numpy(a):
    a._sync_copyfrom(np.ones((3, 4), np.float32))


def by_boolean_index(a):
    a.as_np_ndarray()[mx.np.array(np.eye(3, 4) > 0)] = 9


def by_recorded_output(a):
    b = nd.ones((3, 4))
    b.attach_grad()
    with autograd.record():
        nd.exp(b, out=a)


def by_random(a):
    nd.random.uniform(2, 3, shape=(3, 4), out=a)


def by_initializer(a):
    mx.init.Normal(2.0)(mx.init.InitDesc("weight"), a)


def by_store(a):
    store = mx.kv.create("local")
    store.init(0, nd.ones((3, 4)))
    store.pull(0, out=a)


def by_executor(a):
    executor = (mx.sym.var("a") * 2).bind(mx.cpu(), {"a": a})
    executor.forward(a=nd.ones((3, 4)))


def by_added_gradient(a):
    x = nd.ones((3, 4))
    executor = (mx.sym.var("x") * 2).bind(mx.cpu(), {"x": x}, {"x": a}, "add")
    executor.forward(is_train=True)
    executor.backward(nd.ones((3, 4)))


def by_gradient_buffer(a):
    x = nd.ones((3, 4))
    autograd.mark_variables([x], [a], "add")
    with autograd.record():
        y = x * 3
    y.backward()


def by_state_of_a_layer(a):
    mean, one = nd.zeros((4,)), nd.ones((4,))
    a._t = mean._t.requires_grad_(False)
    yield
    with autograd.record():
        nd.BatchNorm(nd.array(np.arange(8.0).reshape(2, 4)), one, one, mean, one, fix_gamma=False)
    x = nd.array(np.arange(8.0).reshape(2, 4))
    x.attach_grad()
    with autograd.record():
        y = nd.BatchNorm(x, one, one, mean, one, fix_gamma=False)
    y.backward()


def test_a_backward_that_torch_starts_is_noted():
    x, mean, one = nd.array(np.arange(8.0).reshape(2, 4, 1)), nd.zeros((4,)), nd.ones((4,))
    x.attach_grad()
    with autograd.record():
        y = (nd.BatchNorm(x, one, one, mean, one, fix_gamma=False) ** 2).as_torch().sum()
    found, found_too, before = watch(mean), watch(x.grad), mean.asnumpy()
    y.backward()
    assert not np.array_equal(mean.asnumpy(), before)
    assert not found.untouched() and not found_too.untouched()


def test_what_was_written_before_an_error_is_noted():
    weight, history = nd.ones((3, 4)), nd.zeros((3, 4))
    found = watch(history)
    with pytest.raises(mx.MXNetError):
        nd.sparse.adagrad_update(weight, nd.ones((3, 4)), history, lr=0.1, out=nd.ones((5,)))
    assert not found.untouched()


class Doubling(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * 2)
        in_data[0][:] = 4


@mx.operator.register("doubling_of_writes")
class DoublingProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Doubling()


def by_custom_operator(a):
    nd.Custom(a, op_type="doubling_of_writes").wait_to_read()


IN_PLACE = "a += 1", "a -= b", "a *= 2.5", "a /= b", "a %= b", "a += nd.ones((1,))"
WAYS = {
    **{text: in_place(text) for text in IN_PLACE},
    **{f"a[{key}]": assign(key, value) for key, value in [
        (slice(None), 3), (slice(None), 2.5), (1, 3.0), ((1, 2), 3), ((slice(None), 1), 2), (slice(None, None, 2), 1),
        (slice(None, None, -1), 3), (slice(None), nd.zeros((3, 4))), (slice(None), np.zeros((3, 4))),
        ((0,), nd.ones((4,)))]},
    "a[index]": lambda a: a.__setitem__(nd.array([0, 2]), 7),
    "out": lambda a: nd.exp(nd.ones((3, 4)), out=a),
    "zeros out": lambda a: nd.zeros((3, 4), out=a),
    "cast out": lambda a: nd.cast(nd.ones((3, 4), dtype="int32"), dtype="float32", out=a),
    **{name: update(name, *states, **options) for name, states, options in [
        ("sgd_update", (), {}), ("sgd_mom_update", (0,), {"momentum": 0.9}), ("adam_update", (0, 0), {}),
        ("rmsprop_update", (0,), {})]},
    **{f.__name__: f for f in (
        by_view, by_reshaped, by_flat_view_that_begins_before, by_copy, by_sparse_copy, by_numpy, by_boolean_index,
        by_recorded_output, by_random, by_initializer, by_store, by_executor, by_added_gradient, by_gradient_buffer,
        by_state_of_a_layer, by_custom_operator)},
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_write_is_noted(way):
    a = matrix()
    run = WAYS[way](a)
    if hasattr(run, "send"):  # it prepares something first
        next(run)
    else:
        a, run = matrix(), None
    memory = a._t  # the array may be given another tensor over the same memory
    found, before = watch(a), memory.data.numpy().copy()
    assert found.untouched()
    if run is None:
        WAYS[way](a)
    else:
        next(run, None)
    assert not np.array_equal(memory.data.numpy(), before)
    assert not found.untouched()


def test_other_writes_are_not_ours():
    a, b = matrix(), matrix()
    found = watch(a)
    b += 1
    b[:] = 2
    nd.exp(b, out=b)
    nd.ones((100,))
    assert found.untouched()
    for _ in range(writes.MOST_WRITES + 1):  # too many to be remembered
        b += 1
    assert not found.untouched()


@pytest.mark.parametrize(
    "share",
    [lambda a: a.as_torch(), torch.from_dlpack, lambda a: torch.utils.dlpack.from_dlpack(a.to_dlpack_for_write())],
)
def test_nothing_is_known_of_memory_that_others_have(share):
    a = matrix()
    other = share(a)
    found = watch(a)
    assert not found.untouched()
    other[0] = 5
    assert a[0, 0].asscalar() == 5


@pytest.mark.parametrize(
    "take", [lambda n: nd.from_numpy(n), lambda n: nd.from_torch(torch.from_numpy(n)), nd.from_dlpack]
)
def test_nothing_is_known_of_memory_that_came_from_others(take):
    assert not watch(take(np.ones((3, 4), np.float32))).untouched()


def test_a_loan_ends_with_its_memory():
    lent = [nd.ones((3, 4)) for _ in range(300)]
    for a in lent:
        a.as_torch()
    names = {a._t.untyped_storage()._cdata for a in lent}
    assert names <= set(WRITES.loans)
    del lent, a
    WRITES._forget()
    assert names.isdisjoint(WRITES.loans)


def test_a_loan_goes_on_where_its_memory_moves():
    a = matrix()
    a.as_torch().share_memory_()  # now elsewhere, for other processes to write into
    assert not watch(a).untouched()


@pytest.mark.parametrize("name", ["sgd", "adam", "nag", "rmsprop", "adagrad", "ftrl", "lamb", "signum", "adadelta"])
def test_a_step_is_noted(name):
    net = nn.Dense(3, in_units=4)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), name)
    for _ in range(2):  # the second time, tensors are known
        with autograd.record():
            loss = (net(matrix()) ** 2).sum()
        loss.backward()
        found, before = watch(net.weight.data()), net.weight.data().asnumpy()
        trainer.step(1)
        assert not np.array_equal(net.weight.data().asnumpy(), before)
        assert not found.untouched()


def test_memory_that_is_shared_later():
    a = matrix()
    found = watch(a)
    assert found.untouched()
    a.as_torch()
    assert not found.untouched()


def network():
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(8, 3), nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(8, 1), nn.BatchNorm(scale=False), nn.Dense(3)
    )
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


def looks(monkeypatch):
    """How often parameters were looked at, from now on."""
    from mxnet._graph.inference import parameter_watch as unchanged

    counted = []
    for kind in (unchanged.CopySnapshot, unchanged.DigestSnapshot):
        plain = kind._same
        monkeypatch.setattr(kind, "_same", lambda self, rows, plain=plain: counted.append(1) or plain(self, rows))
    return counted


@pytest.mark.rewritten
def test_predictions_do_not_look_at_parameters_that_nobody_writes_into(monkeypatch):
    net, x = network(), nd.random.normal(shape=(2, 3, 9, 9))
    for _ in range(5):
        want = net(x).asnumpy()
    counted = looks(monkeypatch)
    for _ in range(3):
        np.testing.assert_array_equal(net(nd.array(x.asnumpy())).asnumpy(), want)
        y = x.copy()
        y[:] = x
        y += 0
        np.testing.assert_array_equal(net(y).asnumpy(), want)
    assert not counted
    net[0].weight.data()[:] *= 2
    assert not np.array_equal(net(x).asnumpy(), want)
    assert counted


def test_predictions_after_writes_of_others():
    net, x = network(), nd.random.normal(shape=(2, 3, 9, 9))
    net(x).wait_to_read()
    weight = net[0].weight.data().as_torch().numpy()
    for _ in range(4):
        want = net(x).asnumpy()
    weight *= 2
    assert not np.array_equal(net(x).asnumpy(), want)
