"""Composing symbols: names, attributes, indexing, groups, and what is refused."""

import copy
import json
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import MXNetError, NotImplementedForSymbol


def dense(name="fc", **kwargs):
    return mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name=name, **kwargs)


def test_missing_inputs_become_variables_named_after_the_operator():
    assert dense().list_arguments() == ["data", "fc_weight", "fc_bias"]
    assert dense(no_bias=True).list_arguments() == ["data", "fc_weight"]


def test_names_count_per_kind():
    x = mx.sym.var("x")
    assert [(x + 1).name, (x + 2).name, x.exp().name, mx.sym.exp(x).name] == [
        "_plusscalar0",
        "_plusscalar1",
        "exp0",
        "exp1",
    ]
    with mx.name.Prefix("net_"):
        assert dense("fc").list_arguments() == ["data", "net_fc_weight", "net_fc_bias"]


def test_batch_norm_has_states():
    bn = mx.sym.BatchNorm(mx.sym.var("data"), name="bn")
    assert bn.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert bn.list_inputs() == ["data", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"]
    assert bn.list_outputs() == ["bn_output"]


def test_outputs_by_name_number_and_slice():
    parts = mx.sym.split(mx.sym.var("x"), num_outputs=3, name="parts")
    assert parts["parts_output1"].list_outputs() == parts[1].list_outputs() == ["parts_output1"]
    assert parts[1:].list_outputs() == ["parts_output1", "parts_output2"]
    assert [s.list_outputs()[0] for s in parts] == parts.list_outputs()
    with pytest.raises(ValueError, match="Cannot find output"):
        parts["nothing"]
    with pytest.raises(IndexError):
        parts[3]
    with pytest.raises(MXNetError, match="nonnegative"):
        parts[-1]


def test_internals_and_children():
    net = mx.sym.Activation(dense(), act_type="relu", name="act")
    assert net.get_internals().list_outputs() == ["data", "fc_weight", "fc_bias", "fc_output", "act_output"]
    assert net.get_internals()["fc_output"].list_arguments() == net.list_arguments()
    assert net.get_children().list_outputs() == ["fc_output"]
    assert mx.sym.var("x").get_children() is None


def test_a_call_puts_symbols_in_place_of_variables():
    top = mx.sym.FullyConnected(mx.sym.var("middle"), num_hidden=2, name="top")
    net = top(middle=dense("bottom"), name="joined")
    assert net.list_arguments() == ["data", "bottom_weight", "bottom_bias", "top_weight", "top_bias"]
    assert net.name == "joined" and top.name == "top"
    with pytest.raises(MXNetError, match="Keyword argument name nothing not found"):
        top(nothing=dense())
    with pytest.raises(MXNetError, match="only support kwargs"):
        top(dense())
    with pytest.raises(TypeError):
        top(middle=3)


def test_attributes_come_from_the_symbol_and_the_scope():
    with mx.AttrScope(ctx_group="dev1"):
        net = dense(attr={"__mood__": "angry"})
        data = mx.sym.var("w", lr_mult=2, attr={"mood": "calm"})
    assert net.attr("ctx_group") == net.attr("__ctx_group__") == "dev1"
    assert net.list_attr()["__mood__"] == "angry"
    assert net.attr_dict()["fc_weight"]["ctx_group"] == "dev1"
    assert data.list_attr() == {
        "ctx_group": "dev1", "__ctx_group__": "dev1", "mood": "calm", "lr_mult": "2", "__lr_mult__": "2",
    }  # fmt: skip
    assert dense().attr("ctx_group") is None
    with pytest.raises(ValueError, match="string"):
        mx.AttrScope(x=1)
    with pytest.raises(MXNetError, match="deprecated"):
        dense(attr={"weight_lr_mult": "2"})


def test_copies_and_pickles_are_equal_graphs():
    net = mx.sym.Group([dense(), mx.sym.var("z")])
    for twin in (copy.copy(net), copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert twin.tojson() == net.tojson()
    twin = copy.copy(net)
    twin[0]._set_attr(__x__="1")
    assert net[0].attr("__x__") is None


def test_groups():
    a, b = mx.sym.var("a"), mx.sym.var("b")
    assert str(mx.sym.Group([a + b, a])) == "<Symbol group [_plus0, a]>"
    assert mx.sym.Group([a + b, a]).name is None
    with pytest.raises(TypeError):
        mx.sym.Group([])
    with pytest.raises(TypeError):
        mx.sym.Group([a, 3])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: mx.sym.FullyConnected(x), MXNetError, "Required parameter num_hidden"),
        (lambda x: mx.sym.FullyConnected(x, num_hidden="abc"), MXNetError, "Invalid Parameter format for num_hidden"),
        (lambda x: mx.sym.FullyConnected(x, num_hidden=3, foo=1), MXNetError, "Cannot find argument 'foo'"),
        (lambda x: mx.sym.FullyConnected(x, num_hidden=3, foo=x), MXNetError, "name foo not found"),
        (lambda x: mx.sym.FullyConnected(1, num_hidden=3), AssertionError, "must be Symbol"),
        (lambda x: mx.sym.exp(mx.sym.split(x, num_outputs=2)), MXNetError, "single value is required"),
        (lambda x: mx.sym.concat(x, data=x), TypeError, "not both"),
        (lambda x: mx.sym.var(3), TypeError, "string"),
        (lambda x: mx.sym.var("y", bad=1), ValueError, "double underscores"),
        (lambda x: x + "a", TypeError, "not supported"),
        (lambda x: bool(x), NotImplementedForSymbol, "bool"),
        (lambda x: x.asnumpy(), NotImplementedForSymbol, "asnumpy"),
        (lambda x: mx.sym.NoSuchOperator, AttributeError, "NoSuchOperator"),
    ],
)
def test_what_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(mx.sym.var("x"))


def test_functions_have_signatures_and_words():
    import inspect

    names = list(inspect.signature(mx.sym.FullyConnected).parameters)
    assert names[:4] == ["data", "weight", "bias", "num_hidden"] and names[-1] == "kwargs"
    assert "num_hidden" in mx.sym.FullyConnected.__doc__
    assert {"FullyConnected", "contrib", "Variable"} <= set(dir(mx.sym))


def test_numbers_of_numpy_are_written_as_numbers():
    three = np.int64(3)
    variable = mx.sym.var("x", shape=(three, 2), lr_mult=np.float32(0.5), __size__=[three])
    attributes = {"__shape__": "(3, 2)", "__lr_mult__": "0.5", "__size__": "[3]"}
    assert attributes.items() <= variable.list_attr().items()
    assert (variable + 1).infer_shape()[1] == [(3, 2)]
    weight = mx.gluon.Parameter("weight", shape=(three, 2)).var()
    assert weight.attr("__shape__") == "(3, 2)"


def test_an_alias_is_written_under_the_name_it_stands_for():
    symbol = mx.sym.broadcast_axes(mx.sym.var("x"), axis=0, size=2)
    assert symbol.name.startswith("broadcast_axes") and '"op": "broadcast_axis"' in symbol.tojson()


@pytest.mark.parametrize(
    "alias, written, attrs",
    [
        ("_np_repeat", "repeat", {"repeats": 2}),
        ("_npi_argsort", "argsort", {}),
        ("_npi_cast", "Cast", {"dtype": "float64"}),
        ("_npi_clip", "clip", {"a_min": 1, "a_max": 2}),
        ("_npi_hypot_scalar", "_hypot_scalar", {"scalar": 2}),
        ("_npi_maximum_scalar", "_maximum_scalar", {"scalar": 2}),
        ("_npi_minimum_scalar", "_minimum_scalar", {"scalar": 2}),
        ("_npi_split", "_split_v2", {"indices": (), "sections": 2}),
        ("_npi_tile", "tile", {"reps": (2,)}),
        ("cumsum", "_np_cumsum", {"axis": 0}),
        ("_npx_relu", "_npx_relu", {}),
        ("_npx_sigmoid", "_npx_sigmoid", {}),
        ("relu", "relu", {}),
        ("_npi_expand_dims", "expand_dims", {"axis": 0}),
        ("_npi_inv", "_linalg_inverse", {}),
        ("_npi_sort", "sort", {}),
        ("_npi_swapaxes", "SwapAxis", {"dim1": 0, "dim2": 1}),
    ],
)
def test_names_of_numpy_stand_for_older_operators_in_files(alias, written, attrs):
    space = mx.sym._internal if alias.startswith("_") else mx.sym
    symbol = getattr(space, alias)(mx.sym.var("x"), **attrs)
    text = symbol.tojson()
    assert json.loads(text)["nodes"][-1]["op"] == written
    x = mx.nd.array([[2, 1], [1, 3]])
    wanted = symbol.eval(x=x)[0].asnumpy().tolist()
    for name in (alias, written):
        loaded = mx.sym.load_json(text.replace(f'"op": "{written}"', f'"op": "{name}"'))
        assert loaded.eval(x=x)[0].asnumpy().tolist() == wanted


@pytest.mark.parametrize(
    "made, written, name",
    [
        (lambda x, y: mx.sym.np.maximum(x, y), "broadcast_maximum", "maximum0"),
        (lambda x, y: mx.sym.np.minimum(x, y), "broadcast_minimum", "minimum0"),
        (lambda x, y: mx.sym.np.hypot(x, 2), "_hypot_scalar", "hypot_scalar0"),
        (lambda x, y: mx.sym.np.take(x, y, axis=0), "take", "take0"),
        (lambda x, y: mx.sym.np.swapaxes(x, 0, 1), "SwapAxis", "swapaxes0"),
        (lambda x, y: mx.sym.npx.relu(x), "_npx_relu", "relu0"),
    ],
)
def test_functions_of_numpy_name_nodes_after_themselves(made, written, name):
    x, y = (mx.sym.var(n).as_np_ndarray() for n in "xy")
    with mx.name.NameManager():
        node = json.loads(made(x, y).tojson())["nodes"][-1]
    assert (node["op"], node["name"]) == (written, name)
