"""`hybridize(backend="inductor")`: predictions call Inductor's code without torch.compile around it, and stay right."""

import shutil

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.lower import inductor
from mxnet.gluon import nn


def network():
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="relu"), nn.BatchNorm(), nn.Dense(3))
    net.initialize(mx.init.Xavier())
    net(nd.ones((1, 5)))
    return net


def code_of(net):
    (program,) = net._cached_op._programs.values()
    return program._codes[False][0].run


def eager(net, data):
    """The same as it is recorded, which is left to torch.compile."""
    with autograd.record(train_mode=False):
        return net(data).asnumpy()


def plainly(net, data):
    net.hybridize(False)
    return net(data).asnumpy()


@pytest.fixture
def calls(monkeypatch):
    """Who was called: Inductor and torch.compile are replaced by the graph as it is, which needs no C compiler."""
    seen = []

    def inductor(graph, inputs, options=None):
        return lambda *inputs: seen.append("direct") or graph(*inputs)

    def compile_(graph, **kwargs):
        return lambda *inputs: seen.append("general") or graph(*inputs)

    monkeypatch.setattr(torch._inductor, "compile", inductor)
    monkeypatch.setattr(torch, "compile", compile_)
    return seen


def test_predictions_follow_parameters_and_two_sizes_of_batches(calls):
    net = network()
    net.hybridize(backend="inductor")
    batches = [nd.random.normal(shape=(n, 5)) for n in (4, 2, 4, 2, 3, 4)]
    results = [net(batch).asnumpy() for batch in batches]
    assert calls == ["direct"] * 4 + ["general", "direct"]
    net[0].weight.set_data(net[0].weight.data() * 2)  # in the same memory
    net[2].weight._data[0]._t = net[2].weight.data()._t.data.clone() + 1  # in another one
    after = net(batches[0]).asnumpy()
    assert calls[-1] == "direct"
    assert (after == plainly(net, batches[0])).all()
    net[2].weight._data[0]._t = net[2].weight.data()._t.data - 1
    net[0].weight.set_data(net[0].weight.data() / 2)
    for batch, result in zip(batches, results, strict=True):
        np.testing.assert_allclose(result, plainly(net, batch), rtol=1e-5, atol=1e-5)


def test_learning_and_other_types_are_left_to_torch_compile(calls):
    net, data = network(), nd.random.normal(shape=(4, 5))
    net.hybridize(backend="inductor")
    with autograd.record():
        loss = net(data).sum()
    loss.backward()
    assert calls == ["general"]
    assert abs(net[0].weight.grad().asnumpy()).sum() > 0
    net(data)
    net.cast("float64")
    assert net(data.astype("float64")).dtype == np.float64
    assert (net(data.astype("float64")).asnumpy() == plainly(net, data.astype("float64"))).all()


def test_torchs_settings_count(calls):
    net, data = network(), nd.random.normal(shape=(4, 5))
    net.hybridize(backend="inductor")
    net(data)
    torch.use_deterministic_algorithms(True)
    try:
        net(data)
    finally:
        torch.use_deterministic_algorithms(False)
    net(data)
    assert calls == ["direct"] * 3
    assert len(code_of(net).compiled) == 2


class Counted(mx.operator.CustomOp):
    runs = 0

    def forward(self, is_train, req, in_data, out_data, aux):
        Counted.runs += 1
        self.assign(out_data[0], req[0], in_data[0] * Counted.runs)


@mx.operator.register("counted_in_direct_code")
class CountedProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Counted()


def test_operators_of_users_run_at_every_call(calls):
    net = gluon.nn.HybridLambda(lambda F, x: F.Custom(x, op_type="counted_in_direct_code"))
    net.hybridize(backend="inductor")
    first, second = (net(nd.ones((1,))).asscalar() for _ in range(2))
    assert second == first + 1
    assert set(calls) == {"general"}


def test_graphs_that_depend_on_values_are_left_to_torch_compile(calls):
    class Chosen(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.contrib.cond(x.sum() > 0, lambda: x + 1, lambda: x - 1)

    net = Chosen()
    net.hybridize(backend="inductor")
    assert net(nd.ones((2,))).asnumpy().tolist() == [2, 2]
    assert net(-nd.ones((2,))).asnumpy().tolist() == [-2, -2]
    assert calls == ["general"] * 2


def pictures():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(64, 3, padding=1, activation="relu"), nn.BatchNorm(), nn.Conv2D(64, 3), nn.Dense(2))
    net.initialize(mx.init.Xavier())
    net(nd.ones((1, 3, 6, 6)))
    return net


def test_weights_are_reordered_once_and_again_after_a_change(calls):
    net, data = pictures(), nd.random.normal(shape=(2, 3, 6, 6))
    net.hybridize(backend="inductor")

    def check():
        """Three predictions beside those of the plain network; were the weights reordered between them?"""
        expected, kept = eager(net, data), []
        for _ in range(3):
            np.testing.assert_allclose(net(data).asnumpy(), expected, rtol=1e-4, atol=1e-5)
            kept.append(code_of(net).compiled[0].run.__self__.kept)
        return [after is not before for before, after in zip(kept, kept[1:], strict=False)]

    assert check() == [False, False]
    kept = code_of(net).compiled[0].run.__self__.kept
    assert [w.is_contiguous(memory_format=torch.channels_last) for w in kept] == [True, True]
    weight = net[0].weight.data()
    weight[1] = 7  # a part, in the same memory
    assert check() == [False, False]
    assert code_of(net).compiled[0].run.__self__.kept is not kept
    weight.as_torch()[2, 0, 0, 0] += 1  # by somebody else
    assert check() == [False, False]
    weight._t = weight._t.detach().clone().requires_grad_() * 1
    net[2].weight.set_data(nd.ones((64, 64, 3, 3)))
    assert check() == [False, False]
    again = ["general"] + ["direct"] * 4  # what was begun with the old weights is done again
    assert calls == ["general"] + ["direct"] * 3 + again * 3


def test_weights_of_a_network_that_learns_between_predictions(calls):
    net, data = pictures(), nd.random.normal(shape=(2, 3, 6, 6))
    net.hybridize(backend="inductor")
    for _ in range(6):
        net[0].weight.data()[:] *= 0.5
        np.testing.assert_allclose(net(data).asnumpy(), eager(net, data), rtol=1e-4, atol=1e-5)
    code = code_of(net).compiled[0].run.__self__
    assert not code.sure
    assert code.changes == 6


def gated():
    """A convolution with a batch norm, which is packed, and two operators between it and the next."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Swish(), nn.Conv2D(8, 3), nn.BatchNorm(), nn.Dense(2))
    net.initialize(mx.init.Xavier())
    net(nd.ones((1, 3, 6, 6)))
    net.hybridize(backend="inductor")
    return net


def test_what_lies_between_packed_convolutions_is_compiled(calls):
    net, data = gated(), nd.random.normal(shape=(2, 3, 6, 6))
    seen = []
    for factor in (1, 2):
        net[0].weight.set_data(net[0].weight.data() * factor)
        net[4].running_mean.set_data(net[4].running_mean.data() + factor)
        expected = eager(net, data)
        calls.clear()
        for _ in range(3):
            np.testing.assert_allclose(net(data).asnumpy(), expected, rtol=1e-4, atol=1e-5)
        seen.append(list(calls))
    assert seen == [["direct"] * 2, ["direct"] * 3]  # what was begun with the old weights is done again, as it is


def test_networks_that_learn_between_predictions_are_compiled_as_a_whole(calls):
    net, data = gated(), nd.random.normal(shape=(2, 3, 6, 6))
    expected = []
    for _ in range(6):
        net[0].weight.data()[:] *= 0.5
        expected.append(eager(net, data))
        calls.clear()
        np.testing.assert_allclose(net(data).asnumpy(), expected[-1], rtol=1e-4, atol=1e-5)
    assert calls == ["direct"]
    assert len(code_of(net).compiled) == 1


def test_inputs_are_not_kept():
    import weakref

    code = inductor.CompiledGraph.__new__(inductor.CompiledGraph)
    tensor = torch.zeros(3)
    code.__init__(None, [tensor])
    gone = weakref.ref(tensor)
    del tensor
    assert gone() is None
    assert code.fits([torch.zeros(3)])
    assert not code.fits([torch.zeros(3, 1)])
    assert not code.fits([torch.zeros(6)[::2]])


@pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs a C++ compiler")
def test_inductor_itself():
    net, data = network(), nd.random.normal(shape=(4, 5))
    expected = plainly(net, data)
    net.hybridize(backend="inductor")
    for _ in range(2):
        np.testing.assert_allclose(net(data).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    assert len(code_of(net).compiled) == 1
