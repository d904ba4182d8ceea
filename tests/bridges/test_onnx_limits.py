"""ONNX files that ask for more than they hold: refused with the node's name, at once and in little memory."""

import os
import resource
import signal
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxnet as mx
from mxnet.contrib.onnx.onnx2mx import _functions, _isolated
from mxnet.contrib.onnx.onnx2mx.import_onnx import GraphProto


def model(nodes, outputs, constants=(), functions=(), inputs=()):
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs]
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=name) for name in outputs], stored)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=functions)


def node(op, inputs, name="huge", **attrs):
    return helper.make_node(op, inputs, ["y"], name=name, **attrs)


def one(op, *constants, **attrs):
    named = [(f"c{i}", value) for i, value in enumerate(constants)]
    return model([node(op, [name for name, _ in named], **attrs)], ["y"], named)


def doubled(times):
    """A list of two numbers joined to itself again and again."""
    nodes = [helper.make_node("Concat", [f"x{i}"] * 2, [f"x{i + 1}"], name=f"n{i}", axis=0) for i in range(times)]
    return model(nodes, [f"x{times}"], [("x0", np.array([1, 2], np.int64))])


def laughs(levels):
    """Functions that each call the next one ten times."""
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    functions = []
    for level in range(levels):
        kind, domain = ("Add", "") if level == levels - 1 else (f"F{level + 1}", "mine")
        places = ["a", *(f"t{i}" for i in range(9)), "b"]
        wide = lambda name, double=kind == "Add": [name, name] if double else [name]
        body = [
            helper.make_node(kind, wide(old), [new], domain=domain)
            for old, new in zip(places, places[1:], strict=False)
        ]
        functions.append(helper.make_function("mine", f"F{level}", ["a"], ["b"], body, versions))
    return model(
        [helper.make_node("F0", ["x"], ["y"], domain="mine")], ["y"], [("x", np.ones(2, np.float32))], functions
    )


def endless():
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    body = [helper.make_node("F", ["a"], ["b"], domain="mine")]
    function = helper.make_function("mine", "F", ["a"], ["b"], body, versions)
    return model(
        [helper.make_node("F", ["x"], ["y"], domain="mine")], ["y"], [("x", np.ones(2, np.float32))], [function]
    )


def loop(turns):
    value = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Add", ["s", "s"], ["t"])],
        "body",
        [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("s", TensorProto.FLOAT, [1])],
        [value("on", TensorProto.BOOL, []), value("t", TensorProto.FLOAT, [1])],
    )
    return model([node("Loop", ["n", "", "x"], body=body)], ["y"], [("n", np.int64(turns))], inputs=[("x", [1])])


ints = lambda *values: np.array(values, np.int64)
HOSTILE = {
    "ConstantOfShape": one("ConstantOfShape", ints(300_000_000)),
    "ConstantOfShape of negative size": one("ConstantOfShape", ints(-3)),
    "ConstantOfShape of 2^62 squared": one("ConstantOfShape", ints(2**62, 2**62)),
    "Range": one("Range", np.int64(0), np.int64(300_000_000), np.int64(1)),
    "Range of two inputs": one("Range", np.int64(0), np.int64(4)),
    "Range without end": one("Range", np.float32(0), np.float32(1), np.float32(0)),
    "Range to infinity": one("Range", np.float32(0), np.float32(np.inf), np.float32(1)),
    "Expand": one("Expand", np.ones(1, np.float32), ints(1 << 30)),
    "Tile": one("Tile", np.ones(2, np.float32), ints(1 << 30)),
    "Pad": one("Pad", np.ones(2, np.float32), ints(0, 1 << 30)),
    "OneHot": one("OneHot", ints(1, 2), np.int64(1 << 30), np.array([0, 1], np.float32)),
    "Loop": loop(2**31 - 1),
    "a Pad of 2^30 whose length a Slice takes": model(
        [
            node("Pad", ["a", "p"]),
            helper.make_node("Identity", ["y"], ["out"], name="i"),
            helper.make_node("Slice", ["y", "out", "c"], ["z"], name="s"),
        ],
        ["z"],
        [("a", np.ones(2, np.float32)), ("p", ints(1 << 29, 1 << 29))],
    ),
    "a join of 2^40 numbers": doubled(40),
    "functions of 10^9 nodes": laughs(9),
    "a function that calls itself": endless(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_refused_at_once(name):
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(mx.MXNetError, match="node |the graph: the model has more than 100000 nodes"):
        GraphProto().from_onnx(HOSTILE[name])
    assert time.process_time() - start < 2
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < (600 << 20 if "join" in name else 64 << 20)  # a join reaches the limit by doubling


def in_branch(nodes, constants):
    """The nodes inside both branches of an If."""
    stored = [helper.make_node("Constant", [], [n], value=numpy_helper.from_array(v, n)) for n, v in constants]
    graph = helper.make_graph([*stored, *nodes], "branch", [], [onnx.ValueInfoProto(name="y")])
    return model([node("If", ["go"], then_branch=graph, else_branch=graph)], ["y"], inputs=[("go", [1]), ("x", [1])])


WIDE = [helper.make_node("Expand", ["a", "n"], ["e"]), helper.make_node("Add", ["e", "x"], ["y"])]
NUMBERS = [("a", np.ones(1, np.float32)), ("n", np.array([10**7]))]
LISTS = {  # ONNX's inference would take 140 bytes for each number of these lists
    "input": model([node("Add", ["x", "x"])], ["y"], inputs=[("x", [10**7])]),
    "random": model([helper.make_node("RandomNormal", [], ["r"], shape=[10**7]), node("Mul", ["r", "r"])], ["y"]),
    "branch": in_branch(WIDE, NUMBERS),
    "function": model(
        [helper.make_node("F", ["x"], ["y"], domain="mine")],
        ["y"],
        functions=[
            helper.make_function(
                "mine",
                "F",
                ["x"],
                ["y"],
                [helper.make_node("Constant", [], [n], value=numpy_helper.from_array(v, n)) for n, v in NUMBERS] + WIDE,
                [helper.make_opsetid("", 17)],
            )
        ],
        inputs=[("x", [1])],
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_long_lists_are_not_taken_for_shapes(name):
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        GraphProto().from_onnx(LISTS[name])
    except mx.MXNetError as error:
        assert "is too large" in str(error) and "(Expand)" in str(error)
    assert time.process_time() - start < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256 << 10


@pytest.mark.parametrize(("op", "attribute"), [("Split", "num_outputs"), ("Scan", "num_scan_inputs")])
def test_counts_that_a_node_does_not_bear_are_refused(op, attribute):
    body = helper.make_graph([], "body", [], [])
    more = {"body": body} if op == "Scan" else {}
    wrong = model([node(op, ["x"], **{attribute: 10**8}, **more)], ["y"], inputs=[("x", [4])])
    with pytest.raises(mx.MXNetError, match=rf"node huge \({op}\): {attribute} is 100000000, the node has 1"):
        GraphProto().from_onnx(wrong)


def test_the_settings_raise_the_limits(monkeypatch):
    monkeypatch.setenv("MXNET_ONNX_MAX_CONSTANT_BYTES", "1000")
    small = one("ConstantOfShape", ints(300))
    with pytest.raises(mx.MXNetError, match=r"node huge \(ConstantOfShape\).*1200 bytes, 1072 are allowed.*MXNET_ONNX"):
        GraphProto().from_onnx(small)
    monkeypatch.setenv("MXNET_ONNX_MAX_CONSTANT_BYTES", "1200")
    _, args, _ = GraphProto().from_onnx(small)
    assert [value.shape for value in args.values()] == [(300,)]
    monkeypatch.setenv("MXNET_ONNX_MAX_NODES", "3")
    with pytest.raises(mx.MXNetError, match="more than 3 nodes.*raise MXNET_ONNX_MAX_NODES"):
        GraphProto().from_onnx(doubled(4))
    GraphProto().from_onnx(doubled(3))


def test_the_sum_of_all_constants_is_bounded(monkeypatch):
    monkeypatch.setenv("MXNET_ONNX_MAX_CONSTANT_BYTES", "4000")
    nodes = [helper.make_node("ConstantOfShape", ["s"], [f"y{i}"], name=f"n{i}") for i in range(4)]
    with pytest.raises(mx.MXNetError, match=r"node n2 \(ConstantOfShape\)"):
        GraphProto().from_onnx(model(nodes, [f"y{i}" for i in range(4)], [("s", ints(500))]))


def test_a_constant_that_takes_long_stays_in_the_graph():
    left, right = np.ones((300, 400), np.float32), np.ones((400, 300), np.float32)
    sym, args, _ = GraphProto().from_onnx(one("MatMul", left, right))
    assert sorted(args) == ["c0", "c1"]
    assert sym.eval(**args)[0].asnumpy().tolist() == (left @ right).tolist()


def test_weights_of_a_wrong_size():
    damaged = one("Abs", np.ones(3, np.float32))
    damaged.graph.initializer[0].dims[0] = 1 << 40
    with pytest.raises(mx.MXNetError, match="the tensor 'c0' of shape .* is damaged|cannot be inferred"):
        GraphProto().from_onnx(damaged)


def test_an_element_type_that_is_none():
    damaged = one("Abs", np.ones(3, np.float32))
    damaged.graph.value_info.append(helper.make_tensor_value_info("v", TensorProto.FLOAT, [1]))
    damaged.graph.value_info[0].type.tensor_type.elem_type = 99
    with pytest.raises(mx.MXNetError, match="ONNX has no element type 99|cannot be inferred"):
        GraphProto().from_onnx(damaged)


def test_no_outputs():
    with pytest.raises(mx.MXNetError, match="the graph has no outputs"):
        GraphProto().from_onnx(model([], []))


def test_an_operator_that_is_missing_is_both_errors():
    with pytest.raises(NotImplementedError, match=r"node huge \(Nonsense\)") as caught:
        GraphProto().from_onnx(model([node("Nonsense", ["x"])], ["y"], inputs=[("x", [1])]))
    assert isinstance(caught.value, mx.MXNetError)


def test_a_name_that_is_no_text(tmp_path):
    """protobuf reads such strings, and gives them as bytes."""
    made = model([node("Relu", ["data"])], ["y"], inputs=[("data", [1])]).SerializeToString()
    path = tmp_path / "a.onnx"
    path.write_bytes(made.replace(b"data", b"d\xf8ta"))
    for read in (mx.contrib.onnx.import_model, mx.contrib.onnx.get_model_metadata):
        with pytest.raises(mx.MXNetError, match=r"NodeProto\.input is no text in UTF-8: b'd\\xf8ta'"):
            read(str(path))


def texts(*values):
    return helper.make_tensor("c0", TensorProto.STRING, [len(values)], [value.encode() for value in values])


def with_texts(nodes, outputs):
    graph = helper.make_graph(nodes, "g", [], [onnx.ValueInfoProto(name=name) for name in outputs], [texts("a" * 40)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def chain(levels):
    """Functions that each call the next one, the last one an operator."""
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    names = [*((f"F{level}", "mine") for level in range(1, levels)), ("Relu", "")]
    functions = [
        helper.make_function("mine", f"F{level}", ["a"], ["b"], [helper.make_node(name, ["a"], ["b"], domain=domain)],
                             versions)
        for level, (name, domain) in enumerate(names)
    ]  # fmt: skip
    return model([helper.make_node("F0", ["x"], ["y"], domain="mine")], ["y"], (), functions, [("x", [2])])


def many(op, count, elements, **attrs):
    """The same node of a large constant again and again."""
    large = helper.make_node("ConstantOfShape", ["n"], ["a"], value=numpy_helper.from_array(np.ones(1, np.float32)))
    nodes = [helper.make_node(op, ["a"], [f"y{i}"], **attrs) for i in range(count)]
    return model([large, *nodes], ["y0"], [("n", np.array([elements]))])


LONG = {
    "a pattern that goes back and forth": with_texts([node("RegexFullMatch", ["c0"], pattern="(a+)+b")], ["y"]),
    "a text joined with itself": with_texts(
        [helper.make_node("StringConcat", [f"c{i}"] * 2, [f"c{i + 1}"]) for i in range(40)], ["c40"]),
    "grams as long as an attribute says": one(
        "TfIdfVectorizer", np.ones(60, np.int64), max_gram_length=2**31, max_skip_count=2**31, min_gram_length=1,
        mode="TF", ngram_counts=[0], ngram_indexes=[0], pool_int64s=[1]),
    "many sums of a large constant": many("ReduceSum", 3000, 20_000_000),
    "a function that Python computes": many("Erf", 1, 20_000_000),
    "a window as large as an attribute says": many("MaxPool", 1, 4, kernel_shape=[2**31]),
}  # fmt: skip


@pytest.mark.parametrize("file", LONG.values(), ids=LONG)
def test_constants_that_take_long_are_not_computed(file):
    """They stay in the graph, or are refused if MXNet has no such operator."""
    start = time.process_time()
    try:
        GraphProto().from_onnx(file)
    except mx.MXNetError:
        pass
    assert time.process_time() - start < 2


def test_functions_that_call_each_other_on_many_levels():
    with pytest.raises(mx.MXNetError, match="functions call each other on more than 100 levels"):
        GraphProto().from_onnx(chain(3000))
    symbol, _, _ = GraphProto().from_onnx(chain(50))
    assert symbol.list_arguments() == ["x"]


def test_a_shape_of_more_dimensions_than_any_array_has():
    """Each of 131,074 dimensions became a node of the graph."""
    shape = np.ones(131_074, np.int64)
    file = model([node("Expand", ["x", "c0"])], ["y"], [("c0", shape)], inputs=[("x", [1])])
    with pytest.raises(mx.MXNetError, match="node huge .*a shape of 131074 dimensions is not possible"):
        GraphProto().from_onnx(file)


def test_what_ends_the_process_in_which_onnx_infers_shapes_is_told(monkeypatch):
    """Its C++ code reads beyond lists, and takes any memory that an attribute claims; this process goes on."""
    file = one("Reshape", np.ones(4, np.float32), np.array([2, 2], np.int64))
    for fault, words in (
        (lambda data: os.kill(os.getpid(), signal.SIGSEGV), "the package onnx fails on it"),
        (lambda data: bytes(1 << 33), ": MemoryError$"),
        (lambda data: {}[0], ": 0$"),
    ):
        monkeypatch.setattr(_functions, "_inferred", fault)
        with pytest.raises(mx.MXNetError, match=f"the shapes of the model's values cannot be inferred.*{words}"):
            GraphProto().from_onnx(file)


def test_inference_that_takes_too_long_is_ended(monkeypatch):
    def forever(data):
        while True:
            pass

    monkeypatch.setattr(_isolated, "SECONDS", 1)
    with pytest.raises(mx.MXNetError, match="it takes more time than so few bytes should"):
        _isolated.isolated(forever, b"")


def test_the_process_of_inference_leaves_nothing_behind():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        assert _isolated.isolated(lambda data: data * 2, b"ab") == b"abab"
    assert len(os.listdir("/proc/self/fd")) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_large_weights_keep_their_values():
    """They do not go through the process that infers shapes."""
    weight = np.arange(40_000, dtype=np.float32).reshape(200, 200)
    file = model([node("MatMul", ["x", "w"])], ["y"], [("w", weight)], inputs=[("x", [1, 200])])
    symbol, arguments, _ = GraphProto().from_onnx(file)
    assert symbol.list_arguments() == ["x", "w"]
    np.testing.assert_array_equal(arguments["w"].asnumpy(), weight)


def test_an_input_without_a_type(tmp_path):
    file = model([node("Relu", ["x"])], ["y"])
    file.graph.input.add().name = "x"
    onnx.save(file, tmp_path / "a.onnx")
    net = mx.contrib.onnx.import_to_gluon(str(tmp_path / "a.onnx"), mx.cpu())
    assert net(mx.nd.array([-1, 2])).asnumpy().tolist() == [0, 2]
