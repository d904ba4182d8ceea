"""Blocks: children of both ages, hooks, files, copies, tracing, error messages."""

import copy
import json
import os
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


def same(a, b, **kwargs):
    np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), **{"rtol": 1e-5, "atol": 1e-6, **kwargs})


def mlp(container=nn.HybridSequential, **kwargs):
    net = container(**kwargs)
    with net.name_scope():
        net.add(nn.Dense(4, activation="relu"), nn.BatchNorm(), nn.Dense(2))
    return net


@pytest.fixture
def x():
    return nd.random.uniform(shape=(3, 5))


class Printing(gluon.HybridBlock):
    """Tells which F it was called with."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.dense = nn.Dense(2)
        self.seen = []

    def hybrid_forward(self, F, x):
        self.seen.append(F.__name__)
        return self.dense(x)


def test_hybridized_python_is_entered_once(x):
    net = Printing()
    net.initialize()
    expected = net(x)
    assert net.seen == ["mxnet.ndarray"]
    net.hybridize()
    same(net(x), expected)
    assert net.seen == ["mxnet.ndarray", "mxnet.symbol"]
    same(net(x), expected)
    same(net(nd.concat(x, x, dim=0))[:3], expected)
    assert len(net.seen) == 2
    net.hybridize(False)
    net(x)
    assert net.seen[-1] == "mxnet.ndarray"


def test_children_of_the_oldest_code(x):
    class MySequential(nn.Block):
        def add(self, block):
            self._children.append(block)

        def forward(self, x):
            for block in self._children:
                x = block(x)
            return x

    net = MySequential()
    with net.name_scope():
        net.add(nn.Dense(3))
        net.add(nn.Dense(2))
    net.initialize()
    assert net(x).shape == (3, 2)
    assert list(net._children.keys()) == ["0", "1"]
    assert net._children[0] is net._children["0"] is list(net._children.values())[0]
    assert [net._children[key] for key in net._children] == list(net._children.values())
    assert len(net._children[:1]) == 1 and "1" in net._children and net._children[1] in net._children


def test_replacing_a_child(x):
    pretrained, finetuned = nn.HybridSequential(), gluon.HybridBlock()
    pretrained.add(nn.Dense(3))
    pretrained.initialize()
    finetuned.features = nn.HybridSequential()
    finetuned.features = pretrained
    assert list(finetuned._children.values()) == [pretrained]
    with pytest.raises(TypeError, match="Changing attribute type for features"):
        finetuned.features = nn.Dense(3)


def test_hooks_are_called_and_detached(x):
    net, calls = mlp(), []
    net.initialize()
    before = net.register_forward_pre_hook(lambda block, inputs: calls.append(("before", block, inputs)))
    with net.register_forward_hook(lambda block, inputs, out: calls.append(("after", block, out))):
        out = net(x)
    before.detach()
    net(x)
    assert calls == [("before", net, (x,)), ("after", net, out)]


def test_operator_hooks_see_every_result(x):
    net, seen = mlp(prefix="n_"), []
    net.initialize()
    net.hybridize()
    net.register_op_hook(lambda name, operator, array: seen.append((name, operator, array.shape)))
    net(x)
    assert (b"n_dense0_fwd_output", b"FullyConnected", (3, 4)) in seen
    assert (b"n_dense1_fwd_output", b"FullyConnected", (3, 2)) in seen


def test_apply_visits_children_first():
    net, seen = mlp(), []
    assert net.apply(seen.append) is net
    assert seen[-1] is net and len(seen) == 5


def test_save_and_load_parameters(tmp_path, x):
    net, file = mlp(), str(tmp_path / "net.params")
    net.initialize()
    expected = net(x)
    net.save_parameters(file)
    assert sorted(nd.load(file))[:2] == ["0.bias", "0.weight"]
    other = mlp(nn.Sequential)
    other.load_parameters(file)
    same(other(x), expected)
    two = mlp()
    two.load_parameters(file, ctx=[mx.cpu(0), mx.cpu(1)])
    same(two(x.as_in_context(mx.cpu(1))), expected)


def test_load_parameters_says_what_is_wrong(tmp_path, x):
    net, file = mlp(), str(tmp_path / "net.params")
    net.initialize()
    net(x)
    net.save_parameters(file)
    larger, smaller = mlp(), nn.HybridSequential()
    larger.add(nn.Dense(2))
    smaller.add(nn.Dense(4))
    with pytest.raises(AssertionError, match="Parameter '3.weight' is missing in file"):
        larger.load_parameters(file)
    larger.load_parameters(file, allow_missing=True)
    with pytest.raises(ValueError, match="Parameter '1.gamma' loaded from file .* is not present in ParameterDict"):
        smaller.load_parameters(file)
    smaller.load_parameters(file, ignore_extra=True)
    wrong = nn.HybridSequential()
    wrong.add(nn.Dense(3))
    with pytest.raises(AssertionError, match=r"shape incompatible expected \(3, 0\) vs saved \(4, 5\)"):
        wrong.load_parameters(file, ignore_extra=True)


def test_load_parameters_casts_when_told(tmp_path):
    net, file = nn.Dense(2, in_units=3), str(tmp_path / "net.params")
    net.initialize()
    net.cast("float16")
    net.save_parameters(file)
    with pytest.raises(AssertionError, match="Set cast_dtype=True to cast"):
        nn.Dense(2, in_units=3).load_parameters(file)
    for source, dtype in (("current", "float32"), ("saved", "float16")):
        loaded = nn.Dense(2, in_units=3)
        loaded.load_parameters(file, cast_dtype=True, dtype_source=source)
        assert loaded.weight.data().dtype == np.dtype(dtype)


def test_older_files_and_names(tmp_path, x):
    net, file = mlp(), str(tmp_path / "net.params")
    net.initialize()
    expected = net(x)
    with pytest.warns(UserWarning, match="save_params is deprecated"):
        net.save_params(file)
    assert "dense0_weight" in nd.load(file)
    other = mlp()
    with pytest.warns(UserWarning, match="load_params is deprecated"):
        other.load_params(file)
    same(other(x), expected)


def test_save_and_load_a_tree(tmp_path, x):
    net, prefix = mlp(nn.HybridSequential), str(tmp_path / "net")
    net.initialize()
    net.hybridize()
    expected = net(x)
    net.save(prefix)
    other = mlp()
    other.load(prefix)
    same(other(x), expected)


def test_export_and_import(tmp_path, x):
    net = mlp()
    net.initialize()
    with pytest.raises(RuntimeError, match="Please first call block.hybridize"):
        nn.Dense(2).export("x")
    net.hybridize()
    expected = net(x)
    assert net.export(str(tmp_path / "net"), epoch=3) is None
    symbol_file, params_file = str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0003.params")
    assert {name[:4] for name in nd.load(params_file)} == {"arg:", "aux:"}
    loaded = gluon.SymbolBlock.imports(symbol_file, ["data"], params_file)
    same(loaded(x), expected)
    with autograd.record():
        loaded(x).sum().backward()
    assert len(loaded.collect_params()._params) == 8


def test_features_of_a_symbol(x):
    net = mlp(prefix="net_")
    net.initialize()
    net(x)
    inner = net(mx.sym.var("data")).get_internals()
    features = gluon.SymbolBlock(
        [inner["net_dense0_relu_fwd_output"], inner["net_dense1_fwd_output"]],
        mx.sym.var("data"),
        params=net.collect_params(),
    )
    hidden, out = features(x)
    same(hidden, net[0](x))
    same(out, net(x))
    assert [s.name for s in features(mx.sym.var("other"))] == ["net_dense0_relu_fwd", "net_dense1_fwd"]


@pytest.mark.parametrize("hybrid", [False, True])
def test_pickles_and_copies(x, hybrid):
    net = mlp()
    net.initialize()
    if hybrid:
        net.hybridize()
    expected = net(x)
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        same(other(x), expected)
        assert list(other.collect_params().keys()) == list(net.collect_params().keys())
        with autograd.record():
            other(x).sum().backward()
        assert float(other[2].bias.grad().sum().asscalar()) == 6
        assert other[0].weight is not net[0].weight


class Nested(gluon.HybridBlock):
    """Takes and gives nested lists, with an input that may be missing."""

    def hybrid_forward(self, F, x, pair, extra=None):
        a, (b, c) = pair
        out = x + a if extra is None else x + a + extra
        return [out, [b * c, b]], c


@pytest.mark.parametrize("hybrid", [False, True])
def test_nested_inputs_and_outputs(hybrid):
    one = nd.ones((2,))
    net = Nested()
    if hybrid:
        net.hybridize()
    (out, (product, b)), c = net(one, [one, [one * 2, one * 3]])
    same(out, one * 2)
    same(product, one * 6)
    same(b, one * 2)
    same(c, one * 3)
    net(one, [one, [one, one]], None)
    if hybrid:
        formats = r"does not match .* Stored format = \[0, \[0, \[0, 0\]\]\], input format = \[0, \[0, \[0, 0\]\], 0\]"
        with pytest.raises(ValueError, match=f"The argument structure of HybridBlock {formats}"):
            net(one, [one, [one, one]], one)


def test_unregistered_blocks_are_noticed():
    class Careless(gluon.Block):
        def __init__(self):
            super().__init__()
            self.layers = {"a": [nn.Dense(2)]}

    with pytest.warns(UserWarning, match='"Careless.layers" is an unregistered container with Blocks'):
        Careless().collect_params()


def test_infer_shape_and_type(x):
    net = mlp()
    net.infer_shape(x)
    assert net[0].weight.shape == (4, 5) and net[2].weight.shape == (2, 4)
    with pytest.raises(mx.MXNetError, match="expected float64, got float32"):
        net.infer_type(x.astype("float64"))
    net.infer_type(x)
    assert np.dtype(net[2].weight.dtype) == np.float32


def test_shapes_that_cannot_be_inferred_are_explained():
    net = nn.Dense(2, flatten=False)
    net.initialize()
    net(nd.ones((2, 3)))
    with pytest.raises(mx.MXNetError):
        net(nd.ones((2, 4)))


def test_the_block_never_called_is_named():
    net = mlp(prefix="net_")
    net.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match=r"never called is 'net_dense0' \(Dense\)"):
        net[0].weight.data()


@pytest.mark.parametrize("backend", ["eager", "MKLDNN"])
def test_backends(x, backend):
    net = mlp()
    net.initialize()
    expected = net(x)
    net.hybridize(backend=backend)
    same(net(x), expected)


def test_blocks_with_arrays_inside_hybrid_and_other_blocks(x):
    class Plain(gluon.Block):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(20)
            self.weight = nd.ones((20, 20))

        def forward(self, x):
            x = nd.relu(self.dense(x))
            return nd.relu(nd.dot(x, self.weight) + 1)

    net = nn.Sequential()
    net.add(Plain(), mlp())
    net.initialize()
    expected = net(x)
    net.hybridize()
    same(net(x), expected)


def test_context_of_the_data_decides(x):
    net = mlp()
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    for hybrid in (False, True):
        net.hybridize(hybrid)
        for ctx in (mx.cpu(1), mx.cpu(0)):
            out = net(x.as_in_context(ctx))
            assert out.context == ctx


def test_an_unknown_backend_is_an_error(x):
    net = mlp()
    net.initialize()
    net.hybridize(backend="nowhere")
    with pytest.raises(mx.MXNetError, match="backend 'nowhere' is not known; torch.compile has .*inductor"):
        net(x)


def test_embedding_with_sparse_gradients_trains():
    net = nn.Embedding(5, 2, sparse_grad=True)
    net.initialize(mx.init.One())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    with autograd.record():
        net(nd.array([1, 3, 3])).backward()
    assert net.weight.grad().stype == "row_sparse"
    np.testing.assert_array_equal(net.weight.grad().indices.asnumpy(), [1, 3])
    trainer.step(1)
    np.testing.assert_array_equal(net.weight.data().asnumpy()[:, 0], [1, 0, 1, -1, 1])


def test_unused_inputs_and_parameters_are_warned_about(x):
    class Unused(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.weight = self.params.get("weight", shape=(2,))
                self.dense = nn.Dense(2)

        def hybrid_forward(self, F, x, y, weight):
            return self.dense(x)

    net = Unused(prefix="net_")
    net.initialize()
    net.hybridize()
    with pytest.warns(UserWarning) as caught:
        assert net(x, x).shape == (3, 2)
    texts = [str(w.message) for w in caught]
    assert "The 1-th input to HybridBlock is not used by any computation. Is this intended?" in texts
    assert "Parameter net_weight is not used by any computation. Is this intended?" in texts


def spoil(description, way):
    if way == "text":
        return description[: len(description) // 2]
    tree = json.loads(description)
    (entry,) = tree.values()
    if way == "child":
        entry["children"] = {}
    elif way == "name":
        entry["orig_name"] = 3
    elif way == "graph":
        entry["symbol"] = "{}"
    elif way == "twice":
        entry["children"] = dict.fromkeys(entry["children"], "0")
    else:
        tree = {"dense0": entry} if way == "class" else [tree]
    return json.dumps(tree)


@pytest.mark.parametrize("way", ["text", "child", "name", "graph", "twice", "class", "list"])
def test_a_damaged_description_of_a_tree_changes_nothing(tmp_path, x, way):
    net, prefix = mlp(nn.HybridSequential), str(tmp_path / "net")
    net.initialize()
    net.hybridize()
    net(x)
    net.save(prefix)
    (tmp_path / "net-model.manifest.json").unlink()
    path = tmp_path / "net-model.json"
    path.write_text(spoil(path.read_text(), way))
    other = mlp(nn.HybridSequential)
    before = [*other._children, other.name, *other.collect_params()]
    with pytest.raises(mx.MXNetError, match="net-model.json|malformed"):
        other.load(prefix)
    assert [*other._children, other.name, *other.collect_params()] == before


def test_both_files_of_a_tree_belong_together(tmp_path, x):
    """The parameters of another save are not taken for those of this description."""
    net, prefix = mlp(), str(tmp_path / "net")
    net.initialize()
    net(x)
    net.save(prefix)
    (tmp_path / "net-model.params").write_bytes(b"other")
    os.utime(tmp_path / "net-model.params", (0, 0))
    with pytest.raises(mx.MXNetError, match="net-model.params: it has 5 bytes, the manifest says"):
        mlp().load(prefix)
