"""Graphs of `mx.np` operators: values, files as MXNet writes them, blocks that are traced under NumPy's rules."""

import json

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn, rnn


@pytest.fixture(autouse=True)
def manners():
    npx.set_np()
    yield
    npx.reset_np()


EXPRESSIONS = {
    "sum": lambda F, a, b: (a + b) * 2 - 1 / a,
    "power": lambda F, a, b: a**2 + 2**b + a % b,
    "compare": lambda F, a, b: F.np.where(a > b, a, -b),
    "row": lambda F, a, b: a[0],
    "column": lambda F, a, b: a[:, -1],
    "part": lambda F, a, b: a[1:3, ::2],
    "methods": lambda F, a, b: a.reshape(-1).sum() + b.mean(axis=0).max(),
    "turned": lambda F, a, b: a.T.dot(b.transpose(1, 0)),
    "functions": lambda F, a, b: F.np.sqrt(F.np.exp(a)) + F.np.maximum(b, 0.5),
    "joined": lambda F, a, b: F.np.concatenate([a, b], axis=1) + F.np.hstack((a, b)),
    "stacked": lambda F, a, b: F.np.stack([a, b]).swapaxes(0, 1),
    "split": lambda F, a, b: F.np.split(a, 3, axis=1)[1],
    "made": lambda F, a, b: a + F.np.ones((3, 3)) * F.np.arange(3) + F.np.eye(3) + F.np.linspace(0, 1, 3),
    "einstein": lambda F, a, b: F.np.einsum("ij,kj->ik", a, b),
    "norm": lambda F, a, b: F.np.linalg.norm(a),
    "network": lambda F, a, b: F.npx.softmax(F.npx.relu(a) + F.npx.sigmoid(b), axis=-1),
    "codes": lambda F, a, b: F.npx.reshape(a, (-2, 1, -1)),
    "cast": lambda F, a, b: a.astype("float16").astype("float32").flatten(),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_graph_computes_what_arrays_compute(name):
    expression = EXPRESSIONS[name]
    values = onp.random.RandomState(3).rand(2, 3, 3).astype("float32")
    a, b = np.array(values[0]), np.array(values[1])
    graph = expression(mx.sym, mx.sym.var("a").as_np_ndarray(), mx.sym.var("b").as_np_ndarray())
    assert type(graph) is mx.sym.np._symbol._Symbol
    graph = mx.sym.load_json(graph.tojson())
    given = {name: array.as_nd_ndarray() for name, array in (("a", a), ("b", b)) if name in graph.list_arguments()}
    (result,) = graph.bind(mx.cpu(), given).forward()
    expected = expression(mx.nd, a, b)
    assert result.shape == expected.shape
    onp.testing.assert_allclose(result.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)


def test_nodes_are_mxnets():  # names and attributes as MXNet 1.9.1 writes them
    a, b = mx.sym.var("a").as_np_ndarray(), mx.sym.var("b").as_np_ndarray()
    with mx.name.NameManager():
        graph = mx.sym.np.concatenate([a + b, a * 2], axis=1)[:, 1]
    nodes = json.loads(graph.tojson())["nodes"]
    assert [(n["op"], n["name"], n.get("attrs", {})) for n in nodes if n["op"] != "null"] == [
        ("_npi_add", "add0", {}),
        ("_npi_multiply_scalar", "multiply_scalar0", {"scalar": "2.0", "is_int": "True"}),
        ("_npi_concatenate", "concatenate0", {"axis": "1", "num_args": "2"}),
        ("slice", "slice0", {"begin": "(None, 1)", "end": "(None, 2)", "step": "(None, 1)"}),
        ("_npx_reshape", "reshape0", {"newshape": "(-2, -3, -4)"}),
    ]
    assert json.loads(graph.tojson())["attrs"]["is_np_shape"] == ["int", 1]


def test_worlds_are_told_apart():
    classic = mx.sym.var("a")
    assert classic.as_np_ndarray().as_nd_ndarray().list_arguments() == ["a"]
    assert type(classic.as_np_ndarray().as_nd_ndarray()) is mx.sym.Symbol
    with pytest.raises(AttributeError, match="_Symbol object has no attribute slice_axis"):
        classic.as_np_ndarray().slice_axis(axis=0, begin=0, end=1)
    with pytest.raises(IndexError, match="Only integer, slice, or tuple"):
        classic.as_np_ndarray()[..., None]


class Mixed(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.hidden = nn.Dense(5, activation="relu", flatten=False)
            self.weight = self.params.get("weight", shape=(0, 2), allow_deferred_init=True)

    def hybrid_forward(self, F, x, weight):
        y = F.np.dot(self.hidden(x), weight) + 1
        return F.np.concatenate([y, y * 2], axis=-1), y.mean()


NETWORKS = {
    "mixed": (Mixed, (4, 3)),
    "convolutions": (lambda: gluon.model_zoo.vision.resnet18_v1(classes=3, thumbnail=True), (2, 3, 8, 8)),
    "lstm": (lambda: rnn.LSTM(4), (5, 2, 3)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_hybridized_blocks_are_traced(name):
    make, shape = NETWORKS[name]
    net, x = make(), np.random.uniform(size=shape)
    net.initialize(mx.init.Xavier())
    eager = flat(net(x))
    net.hybridize()
    traced = flat(net(x))
    assert net._cached_op is not None
    for before, after in zip(eager, traced, strict=True):
        assert type(after) is np.ndarray and before.shape == after.shape
        onp.testing.assert_allclose(before.asnumpy(), after.asnumpy(), rtol=1e-4, atol=1e-5)
    with autograd.record():
        loss = sum((y**2).sum() for y in flat(net(x)))
    loss.backward()
    assert all(p.grad().asnumpy().any() for p in net.collect_params(".*weight").values())


def flat(outputs):
    return [outputs] if isinstance(outputs, np.ndarray) else [x for part in outputs for x in flat(part)]


def test_exported_blocks_come_back(tmp_path):
    net, x = Mixed(), np.random.uniform(size=(4, 3))
    net.initialize()
    net.hybridize()
    expected = net(x)
    net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"))
    for before, after in zip(expected, again(x), strict=True):
        assert type(after) is np.ndarray
        onp.testing.assert_array_equal(before.asnumpy(), after.asnumpy())


def test_blocks_that_ask_for_sizes_run_eagerly_and_say_so():
    class Sized(nn.HybridBlock):
        def hybrid_forward(self, F, x):
            return x.reshape(x.shape[0], -1) * 2

    net = Sized()
    net.hybridize()
    with pytest.warns(UserWarning, match="cannot be traced and runs eagerly: .*shape"):
        assert net(np.ones((2, 3, 4))).shape == (2, 12)
    assert net(np.ones((3, 2, 2))).shape == (3, 4)


def test_images_and_other_names():
    image = np.array(onp.arange(48).reshape(4, 4, 3), dtype="uint8")
    expected = npx.image.to_tensor(image)
    assert type(expected) is np.ndarray and expected.shape == (3, 4, 4)
    graph = mx.sym.npx.image.to_tensor(mx.sym.var("x").as_np_ndarray())
    (result,) = graph.bind(mx.cpu(), {"x": image.as_nd_ndarray()}).forward()
    onp.testing.assert_array_equal(result.asnumpy(), expected.asnumpy())
    from mxnet.ndarray import numpy as other

    assert other.exp is np.exp and other.linalg.norm is np.linalg.norm
