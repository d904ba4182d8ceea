"""`autograd.get_symbol`: the graph of what hybridized blocks and recorded operators did."""

import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import MXNetError, autograd, gluon
from mxnet._ops.registry import observe
from mxnet.ndarray._dispatch import history


def forget():
    """As in a program that has not named get_symbol yet: nobody else's operators keep a history."""
    vars(autograd).pop("get_symbol", None)
    history.record_history.cache_clear()
    if observe.watching():
        observe.unwatch(history._record_calls)


@pytest.fixture(autouse=True)
def kept():
    assert callable(autograd.get_symbol)
    yield
    forget()


@pytest.mark.parametrize(
    ("program", "kept"),
    [
        ("from mxnet.autograd import *", False),
        ("from mxnet.autograd import *\ndef f(y):\n    return get_symbol(y)", True),
        ("from mxnet.autograd import get_symbol as graph_of", True),
        ("import mxnet as mx\nmx.autograd.get_symbol", True),
        ("import mxnet as mx\ngetattr(mx.autograd, 'get_symbol')", True),
        ("import inspect, mxnet\ninspect.getmembers(mxnet.autograd)", False),
    ],
)
def test_only_programs_that_name_it_pay_for_it(program, kept):
    forget()
    space = {}
    exec(compile(program, "program", "exec"), space)
    assert observe.watching() is kept
    if "*" in program:
        assert space["get_symbol"].__name__ == "get_symbol" and space["record"] is autograd.record


def layers(count, **flags):
    net = gluon.nn.HybridSequential()
    for _ in range(count):
        net.add(gluon.nn.Dense(4, in_units=4))
    net.initialize()
    net.hybridize(**flags)
    return net


def recorded(*nets):
    x = mx.nd.ones((1, 4))
    with autograd.record():
        for net in nets:
            x = net(x)
    return x


def operators(symbol):
    return [node["op"] for node in json.loads(symbol.tojson())["nodes"] if node["op"] != "null"]


def test_small_graphs_are_inlined_as_in_mxnet():
    assert operators(autograd.get_symbol(recorded(layers(3, inline_limit=3)))) == ["FullyConnected"] * 3
    assert operators(autograd.get_symbol(recorded(layers(3, inline_limit=0)))) == ["_CachedOp"]
    assert operators(autograd.get_symbol(recorded(layers(2)))) == ["FullyConnected"] * 2


def test_the_symbol_computes_what_the_blocks_computed():
    first, second = layers(1), layers(3)
    y = recorded(first, second)
    symbol = mx.sym.load_json(autograd.get_symbol(y).tojson())
    assert operators(symbol) == ["FullyConnected", "_CachedOp"]
    values = [mx.nd.ones((1, 4)), *(p.data() for net in (first, second) for p in net.collect_params().values())]
    names = symbol.list_arguments()
    assert names[0] == "null0" and all(name.startswith("var") for name in names[1:])
    again = symbol.bind(mx.cpu(), dict(zip(names, values, strict=True))).forward()[0]
    np.testing.assert_allclose(again.asnumpy(), y.asnumpy(), rtol=1e-6)


def test_a_variable_is_its_own_symbol():
    x = mx.nd.ones(2)
    x.attach_grad()
    assert autograd.get_symbol(x).list_arguments() == ["var0"]


def test_operators_are_nodes_with_mxnets_names():
    x, other = mx.nd.ones((1, 2)), mx.nd.ones((1, 2))
    x.attach_grad()
    with autograd.record():
        y = x * x + 2 * x - 1
        total = mx.nd.Activation(y + other, act_type="relu").sum(axis=1)
    symbol = autograd.get_symbol(total)
    names = ["var0", "node_0", "node_1", "node_2", "node_3", "null1", "node_4", "node_5", "node_6"]
    assert [s.name for s in symbol.get_internals()] == names
    kinds = ["broadcast_mul", "_mul_scalar", "broadcast_add", "_minus_scalar", "broadcast_add", "Activation", "sum"]
    assert operators(symbol) == kinds
    given = {"var0": mx.nd.array([[3, -4]]), "null1": mx.nd.array([[1, 2]])}
    assert symbol.bind(mx.cpu(), given).forward()[0].asscalar() == 24  # relu(15, 9)


def test_outputs_shapes_and_sequences_are_part_of_it():
    x = mx.nd.ones((2, 4))
    x.attach_grad()
    with autograd.record():
        first, second = mx.nd.split(x, num_outputs=2)
        y = mx.nd.concat(second.reshape((4, 1)), first.reshape((4, 1)), dim=0).astype("float64").T
    symbol = autograd.get_symbol(y)
    assert symbol.list_arguments() == ["var0"]
    value = mx.nd.arange(8).reshape((2, 4))
    again = symbol.bind(mx.cpu(), {"var0": value}).forward()[0]
    assert again.asnumpy().tolist() == [[2, 3, 6, 7, 0, 1, 4, 5]] and again.dtype == np.float64


def test_slices_and_indices_are_told_by_operators():
    x = mx.nd.zeros((3, 4))
    x.attach_grad()
    with autograd.record():
        y = x[1:3, 2] * 2 + x[-1][1:3]
        unknown = x[::2] + x[::2]
    value = mx.nd.arange(12).reshape((3, 4))
    again = autograd.get_symbol(y).bind(mx.cpu(), {"var0": value}).forward()[0]
    assert again.asnumpy().tolist() == (value[1:3, 2] * 2 + value[-1][1:3]).asnumpy().tolist()
    with pytest.raises(MXNetError, match="not how this array was made"):
        autograd.get_symbol(unknown)


def test_histories_of_loops_are_long():
    x = y = mx.nd.ones(1)
    x.attach_grad()
    with autograd.record():
        for _ in range(1500):
            y = y + x
    assert len(operators(autograd.get_symbol(y))) == 1500


def test_blocks_and_operators_mix():
    net = layers(3)
    x = mx.nd.ones((1, 4))
    x.attach_grad()
    with autograd.record():
        y = net(x * 2).sum()
    symbol = autograd.get_symbol(y)
    assert operators(symbol) == ["_mul_scalar", "_CachedOp", "sum"]
    values = [x, *(p.data() for p in net.collect_params().values())]
    result = symbol.bind(mx.cpu(), dict(zip(symbol.list_arguments(), values, strict=True))).forward()[0]
    np.testing.assert_allclose(result.asnumpy(), y.asnumpy(), rtol=1e-6)


def test_what_was_recorded_before_anybody_asked_is_not_known():
    forget()
    x = mx.nd.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x * 2
    assert not observe.watching()
    with pytest.raises(MXNetError, match="import it before"):
        autograd.get_symbol(y)


def test_what_is_not_recorded_has_no_graph():
    with pytest.raises(MXNetError, match="not part of a computation graph"):
        autograd.get_symbol(mx.nd.ones(2))
    y = recorded(layers(1))
    y.backward()
    with pytest.raises(MXNetError, match="not part of a computation graph"):
        autograd.get_symbol(y)
