"""Graphs that MXNet's oneDNN backend has fused, in reals and 8 bits: read from its files and run with its numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.base import MXNetError

FOLDER = Path(__file__).parent.parent / "data" / "onednn"
ATTENTION = ("attention_reals", "attention_calibrated")
WAYS = ("reals", "calibrated", "channels", "open", *ATTENTION)


def read(way):
    """The symbol, arguments, states and what MXNet computed."""
    symbol, arguments, states = mx.model.load_checkpoint(str(FOLDER / way), 0)
    recorded = np.load(FOLDER / f"{way}.npz")
    return symbol, {**arguments, "data": nd.array(recorded["data"])}, states, recorded


def run(symbol, arguments, states, train=False):
    some = {n: arguments[n] for n in symbol.list_arguments()}
    aux = {n: states[n] for n in symbol.list_auxiliary_states()}
    return [o.asnumpy() for o in symbol.bind(mx.cpu(), some, aux_states=aux, grad_req="null").forward(is_train=train)]


@pytest.mark.parametrize("way", WAYS)
def test_files_are_written_as_they_were_read(way):
    text = (FOLDER / f"{way}-symbol.json").read_text()
    assert mx.sym.load_json(text).tojson() == text.rstrip("\n")


@pytest.mark.parametrize("way", WAYS)
def test_outputs_have_mxnets_names_shapes_and_types(way):
    symbol, _, _, recorded = read(way)
    inside = symbol.get_internals()
    _, shapes, _ = inside.infer_shape(data=recorded["data"].shape)
    _, dtypes, _ = inside.infer_type(data="float32")
    facts = dict(zip(inside.list_outputs(), zip(shapes, dtypes, strict=True), strict=True))
    assert recorded.files
    for name in recorded.files:
        assert facts[name] == (recorded[name].shape, recorded[name].dtype.type), name
    norms = 0 if way in ATTENTION else 2
    assert [n.rpartition("_")[2] for n in symbol.list_auxiliary_states()] == ["mean", "var"] * norms


def every_output(way):
    """(name, value, what MXNet gave) of all outputs in the graph."""
    symbol, arguments, states, recorded = read(way)
    inside = symbol.get_internals()
    names = [name for name in recorded.files if name != "data"]
    values = run(mx.sym.Group([inside[n] for n in names]), arguments, states)
    return [(name, value, recorded[name]) for name, value in zip(names, values, strict=True)]


@pytest.mark.parametrize("way", ["reals", "calibrated", "channels", *ATTENTION])
def test_every_output_has_mxnets_value(way):
    for name, value, expected in every_output(way):
        if expected.dtype == np.float32:
            np.testing.assert_allclose(value, expected, rtol=2e-5, atol=2e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(value, expected, err_msg=name)


def test_without_calibration_signed_data_is_as_in_mxnet_but_for_its_weights_of_7_bits():
    reals = read("reals")[3]
    results = {name: (value, expected) for name, value, expected in every_output("open")}
    found = [name for name in results if name.endswith("dequantize_output")]
    assert len(found) == 4
    for name in found:
        value, expected = results[name]
        exact = reals[name.replace("_dequantize", "")]
        scale = np.abs(exact).max()
        assert np.abs(value - expected).max() < 0.06 * scale, name
        if "eltwise" not in name:  # MXNet takes this function of sums that are not scaled yet
            assert np.abs(value - exact).max() < 0.1 * scale, name


def test_blocks_run_them():
    expected = read("calibrated")[3]["quantized_sg_mkldnn_fully_connected_1_output"]
    block = gluon.SymbolBlock.imports(
        str(FOLDER / "calibrated-symbol.json"), ["data"], str(FOLDER / "calibrated-0000.params")
    )
    data = nd.array(read("calibrated")[3]["data"])
    for _ in range(3):
        np.testing.assert_allclose(block(data)[0].asnumpy(), expected, rtol=1e-5)
    block.hybridize()
    np.testing.assert_allclose(block(data)[0].asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("way", ["reals", "calibrated", *ATTENTION])
def test_training_changes_nothing_and_gradients_are_zero(way):
    symbol, arguments, states, _ = read(way)
    before = {n: v.asnumpy() for n, v in states.items()}
    for trained, predicted in zip(run(symbol, arguments, states, True), run(symbol, arguments, states), strict=True):
        np.testing.assert_array_equal(trained, predicted)
    assert all((states[n].asnumpy() == v).all() for n, v in before.items())
    data = arguments["data"]
    data.attach_grad()
    block = gluon.SymbolBlock.imports(str(FOLDER / f"{way}-symbol.json"), ["data"], str(FOLDER / f"{way}-0000.params"))
    with autograd.record():
        outputs = block(data)
        total = outputs.sum() if isinstance(outputs, nd.NDArray) else sum(out.sum() for out in outputs)
    total.backward()
    assert not data.grad.asnumpy().any()


def test_new_parameters_are_noticed():
    symbol, arguments, states, _ = read("calibrated")
    executor = symbol.bind(mx.cpu(), arguments, aux_states=states, grad_req="null")
    first = [o.asnumpy() for o in executor.forward()]
    arguments["net_conv0_weight"][:] *= -1
    second = [o.asnumpy() for o in executor.forward()]
    assert all((a != b).any() for a, b in zip(first, second, strict=True))
    arguments["net_conv0_weight"][:] *= -1
    for value, again in zip(first, executor.forward(), strict=True):
        np.testing.assert_array_equal(value, again.asnumpy())


def changed(change):
    """The calibrated graph with one of its fused nodes changed."""
    data = json.loads((FOLDER / "calibrated-symbol.json").read_text())
    change(next(node for node in data["nodes"] if node["op"] == "_sg_mkldnn_conv"))
    return json.dumps(data)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda node: node.pop("subgraphs"), "needs 1 subgraph, it has 0"),
        (lambda node: node["inputs"].pop(), "inputs and its subgraph"),
        (lambda node: node["subgraphs"][0].update(heads=[[0, 0, 0]]), "cannot be made of nothing"),
        (lambda node: node["subgraphs"][0]["nodes"][2].update(op="FullyConnected", attrs={"num_hidden": "2"}),
         "cannot be made of FullyConnected"),
    ],
)  # fmt: skip
def test_nodes_that_do_not_fit_are_refused(change, words):
    with pytest.raises(MXNetError, match=words):
        mx.sym.load_json(changed(change))


def test_older_files_say_relu_where_newer_ones_say_activation():
    def rename(node):
        node["attrs"]["with_relu"] = node["attrs"].pop("with_act")

    _, arguments, states, recorded = read("calibrated")
    value = run(mx.sym.load_json(changed(rename)), arguments, states)[0]
    np.testing.assert_allclose(value, recorded["quantized_sg_mkldnn_fully_connected_1_output"], rtol=1e-5)


def test_data_that_is_not_quantized_is_refused():
    symbol, arguments, states, _ = read("calibrated")
    node = symbol.get_internals()["quantized_sg_mkldnn_conv_bn_act_0_output"]
    data = json.loads(node.tojson())
    place = next(i for i, n in enumerate(data["nodes"]) if n["op"] == "_contrib_quantize_v2")
    data["nodes"][place]["attrs"]["out_type"] = "uint8"
    data["nodes"][place]["attrs"]["min_calib_range"] = "-1"
    with pytest.raises(MXNetError, match=r"Expect int8 when data_min < 0\.0"):
        run(mx.sym.load_json(json.dumps(data)), arguments, states)


@pytest.mark.parametrize("name", ["conv", "fully_connected", "selfatt_qk", "selfatt_valatt"])
def test_they_are_no_functions(name):
    more = {"heads": 2} if "att" in name else {}
    with pytest.raises(MXNetError, match="inside a graph read from a file"):
        getattr(nd._internal, f"_sg_mkldnn_{name}")(nd.ones((1, 2)), quantized=True, **more)


def attention(operator, **attrs):
    """The outputs of an operator of the attention, as if it had been calibrated otherwise."""
    _, arguments, states, _ = read("attention_calibrated")
    data = json.loads((FOLDER / "attention_calibrated-symbol.json").read_text())
    node = next(n for n in data["nodes"] if n["op"] == operator)
    kept = {k: v for k, v in node["attrs"].items() if "calib" not in k}
    node["attrs"] = {**kept, "enable_float_output": "False", **attrs}
    count = 1 if node["attrs"]["enable_float_output"] == "True" else 3
    data["heads"] = [[data["nodes"].index(node), i, 0] for i in range(count)]
    return run(mx.sym.load_json(json.dumps(data)), arguments, states)


@pytest.mark.parametrize(
    ("operator", "attrs", "dtype", "total", "ends"),
    [
        ("_sg_mkldnn_selfatt_qk", {"enable_float_output": "True"}, "float32", 363.64352, []),
        ("_sg_mkldnn_selfatt_qk", {"min_calib_range": "-3", "max_calib_range": "2.5"}, "int8", 13500, [-3, 2.5]),
        ("_sg_mkldnn_selfatt_qk", {}, "int32", 357073, [-2204285, 2204285]),  # MXNet says -0 and 0 here
        ("_sg_mkldnn_selfatt_valatt", {"enable_float_output": "True"}, "float32", 155.29704, []),
        ("_sg_mkldnn_selfatt_valatt", {"min_calib_range": "-3", "max_calib_range": "2.5"}, "int8", 6591, [-3, 2.5]),
        ("_sg_mkldnn_selfatt_valatt", {}, "int32", 1254838, [-267339.15625, 267339.15625]),
    ],
)
def test_attention_in_every_type(operator, attrs, dtype, total, ends):
    result, *found = attention(operator, **attrs)
    assert result.dtype == dtype
    np.testing.assert_allclose(np.abs(result.astype("float64")).sum(), total, 0 if "int" in dtype else 1e-7)
    np.testing.assert_allclose(np.ravel(found), ends)
