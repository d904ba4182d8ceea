"""Symbol files: old ages are understood, and broken or hostile ones are refused in words."""

import json

import pytest

import mxnet as mx
from mxnet.base import MXNetError

GOOD = {
    "nodes": [
        {"op": "null", "name": "a", "inputs": []},
        {"op": "null", "name": "w", "inputs": []},
        {"op": "null", "name": "b", "inputs": []},
        {
            "op": "FullyConnected",
            "name": "f",
            "attrs": {"num_hidden": "2"},
            "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
        },
    ],
    "arg_nodes": [0, 1, 2],
    "heads": [[3, 0, 0]],
    "attrs": {"mxnet_version": ["int", 10901]},
}


def load(change=None):
    data = json.loads(json.dumps(GOOD))
    if change is not None:
        change(data)
    return mx.sym.load_json(json.dumps(data))


def node(**fields):
    return lambda data: data["nodes"][3].update(fields)


def test_the_good_file_loads():
    assert load().list_arguments() == ["a", "w", "b"]


def test_files_of_0_8():
    def old(data):
        del data["attrs"]
        data["nodes"] = [
            {"op": "null", "param": {}, "name": "data", "inputs": [], "attr": {"lr_mult": "0.2"}},
            {"op": "null", "param": {}, "name": "gamma", "inputs": []},
            {"op": "null", "param": {}, "name": "beta", "inputs": []},
            {"op": "BatchNorm", "param": {"eps": "0.1"}, "name": "bn", "inputs": [[0, 0], [1, 0], [2, 0]],
             "attr": {"ctx_group": "stage1", "gamma_lr_mult": "3"}, "backward_source_id": -1},
        ]  # fmt: skip
        data["heads"] = [[3, 0]]

    symbol = load(old)
    assert symbol.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    attrs = symbol.attr_dict()
    assert attrs["data"]["__lr_mult__"] == "0.2"
    assert attrs["gamma"]["__lr_mult__"] == "3"
    assert attrs["bn"]["ctx_group"] == "stage1" and attrs["bn"]["eps"] == "0.1"
    assert attrs["bn_moving_var"]["__init__"] == '["one", {}]'


def test_the_whole_axis_of_old_argmax():
    def old(data):
        data["attrs"] = {"mxnet_version": ["int", 900]}
        data["nodes"][3] = {"op": "argmax", "name": "m", "attr": {"axis": "-1"}, "inputs": [[0, 0]]}

    assert load(old).attr("axis") is None


BROKEN = {
    "no heads": lambda d: d.pop("heads"),
    "empty heads": lambda d: d.update(heads=[]),
    "head out of range": lambda d: d.update(heads=[[99, 0, 0]]),
    "negative head": lambda d: d.update(heads=[[-1, 0, 0]]),
    "output out of range": lambda d: d.update(heads=[[3, 5, 0]]),
    "fractional head": lambda d: d.update(heads=[[1.5, 0, 0]]),
    "nodes are no list": lambda d: d.update(nodes={}),
    "cycle": node(inputs=[[3, 0, 0], [1, 0, 0], [2, 0, 0]]),
    "input before its definition": node(inputs=[[9, 0, 0], [1, 0, 0], [2, 0, 0]]),
    "too few inputs": node(inputs=[[0, 0, 0]]),
    "too many inputs": node(inputs=[[0, 0, 0]] * 9),
    "inputs are nothing": node(inputs=None),
    "unknown operator": node(op="Nope"),
    "operator is a number": node(op=7),
    "name is missing": lambda d: d["nodes"][3].pop("name"),
    "attribute is a number": node(attrs={"num_hidden": 3}),
    "attribute is nonsense": node(attrs={"num_hidden": "abc"}),
    "attribute is code": node(attrs={"num_hidden": "__import__('os').getcwd()"}),
    "attribute is endless": node(attrs={"num_hidden": "9" * 5000}),
    "endless outputs": node(op="SliceChannel", attrs={"num_outputs": "999999999999"}, inputs=[[0, 0, 0]]),
    "endless inputs": node(op="Concat", attrs={"num_args": "999999999999"}, inputs=[[0, 0, 0]]),
    "variable with inputs": lambda d: d["nodes"][1].update(inputs=[[0, 0, 0]]),
    "version is a word": lambda d: d.update(attrs={"mxnet_version": "x"}),
    "subgraph is empty": node(subgraphs=[{}]),
    "loop without body": node(
        op="_foreach",
        inputs=[[0, 0, 0]],
        attrs={
            "num_args": "2",
            "num_outputs": "1",
            "num_out_data": "1",
            "in_state_locs": "[]",
            "in_data_locs": "[0]",
            "remain_locs": "[]",
        },
    ),  # fmt: skip
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused(name):
    with pytest.raises(MXNetError):
        load(BROKEN[name])


def test_an_unknown_operator_is_told_with_its_node():
    graph = json.loads(mx.sym.exp(mx.sym.Variable("x"), name="boom").tojson())
    graph["nodes"][1]["op"] = "Nope"
    with pytest.raises(MXNetError, match="Failed loading Op boom of type Nope: Operator Nope is not registered"):
        mx.sym.load_json(json.dumps(graph))


@pytest.mark.parametrize("text", ["", "null", "[]", "3", json.dumps(GOOD)[:80], "[" * 100_000, '{"nodes":' * 20_000])
def test_what_is_no_graph_is_refused(text):
    with pytest.raises(MXNetError, match="JSON"):
        mx.sym.load_json(text)


def test_files(tmp_path):
    path = str(tmp_path / "net-symbol.json")
    load().save(path)
    assert mx.sym.load(path).tojson() == load().tojson()
    with pytest.raises(MXNetError, match=r"Open \"[^\"]*\": No such file or directory \("):
        mx.sym.load(str(tmp_path / "nothing.json"))
    with pytest.raises(MXNetError, match=r"Open \"[^\"]*no/net.json\": No such file or directory \("):
        load().save(str(tmp_path / "no" / "net.json"))
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MXNetError, match="not text"):
        mx.sym.load(str(tmp_path / "bytes.json"))
    with pytest.raises(TypeError):
        mx.sym.load(3)


def test_numpy_shapes_are_marked():
    with mx.np_shape(True):
        assert '"is_np_shape": ["int", 1]' in mx.sym.var("a").tojson()
    assert "is_np_shape" not in mx.sym.var("a").tojson()


def test_casts_of_mixed_precision_stay_out_of_files():
    x = mx.sym.var("x")
    net = mx.sym.exp(mx.sym.amp_cast(x, dtype="float16"), name="e")
    assert "amp_cast" not in net.tojson()
    assert "amp_cast" in net.tojson(remove_amp_cast=False)


def test_a_cast_that_is_an_output_stays_in_files():
    """As real MXNet writes it: casts between operators are left out, that of the output is not."""
    half = mx.sym.exp(mx.sym.amp_cast(mx.sym.var("x"), dtype="float16"), name="e")
    wide = mx.sym.amp_cast(mx.sym.amp_cast(half, dtype="float32", name="one"), dtype="float64", name="two")
    saved = json.loads(mx.sym.Group([wide, half]).tojson())
    assert [node["name"] for node in saved["nodes"]] == ["x", "e", "two"]
    assert saved["heads"] == [[2, 0, 0], [1, 0, 0]]


def test_bodies_of_a_branch_must_fit():
    x = mx.sym.var("x")
    text = mx.sym.contrib.cond(mx.sym.sum(x) > 0, lambda: [x, x * 2], lambda: [x - 1, x * 3])[0].tojson()
    graph = json.loads(text)
    branch = next(node for node in graph["nodes"] if node["op"] == "_cond")
    branch["subgraphs"][2]["heads"].pop()
    with pytest.raises(MXNetError, match="which does not fit _cond"):
        mx.sym.load_json(json.dumps(graph))


@pytest.mark.parametrize("shape", ["Convolution", "(2,(2,", "('a',)", "(1, 2"])
def test_a_variable_whose_shape_is_none(shape):
    x = mx.sym.var("x", attr={"__shape__": shape})
    with pytest.raises(MXNetError, match="which is no shape"):
        (x * 2).infer_shape_partial()


def test_unknown_sizes_in_files_from_before_numpy_shapes():
    weight = mx.sym.var("weight", shape=(8, 0))
    text = mx.sym.FullyConnected(mx.sym.var("data"), weight, num_hidden=8, no_bias=True).tojson()
    assert mx.sym.load_json(text).attr_dict()["weight"] == {"__shape__": "(8, 0)"}
    with mx.util.np_shape(True):
        symbol = mx.sym.load_json(text)
        assert symbol.attr_dict()["weight"] == {"__shape__": "[8,-1]"}
        assert symbol.infer_shape(data=(2, 3)) == ([(2, 3), (8, 3)], [(2, 8)], [])
        assert "is_np_shape" in symbol.tojson()
