"""Shapes and dtypes of a graph: what is deduced, and how MXNet says that something is missing or wrong."""

import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet._graph.infer.fixpoint import type_facts
from mxnet._ops.registry import registry
from mxnet._ops.registry.output_shapes import infer_shape
from mxnet.base import MXNetError


def mlp():
    x = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="fc1"), act_type="relu")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=3, name="fc2"), name="softmax")


def test_weights_and_labels_follow_from_the_data():
    args, outs, aux = mlp().infer_shape(data=(4, 5))
    assert dict(zip(mlp().list_arguments(), args, strict=True)) == {
        "data": (4, 5), "fc1_weight": (8, 5), "fc1_bias": (8,), "fc2_weight": (3, 8), "fc2_bias": (3,),
        "softmax_label": (4,),
    }  # fmt: skip
    assert (outs, aux) == ([(4, 3)], [])


def test_what_is_missing_is_named():
    with pytest.warns(UserWarning, match=r"Cannot decide shape[\s\S]*fc1_weight: \(\)"):
        assert mlp().infer_shape() == (None, None, None)
    with pytest.warns(UserWarning, match=r"Cannot decide type[\s\S]*fc1_weight: None"):
        assert mlp().infer_type() == (None, None, None)


def test_contradictions_name_the_operator(capsys):
    with pytest.raises(MXNetError, match=r"Error in operator fc1: Shape inconsistent, Provided = \[8,9\]"):
        mlp().infer_shape(data=(4, 5), fc1_weight=(8, 9))
    assert "infer_shape error" in capsys.readouterr().out
    with pytest.raises(MXNetError, match="InferShapeKeyword argument name nothing not found"):
        mlp().infer_shape(nothing=(1,))
    with pytest.raises(TypeError, match="shapes"):
        mlp().infer_shape(data=[4, 5])
    with pytest.raises(ValueError, match="positional or kwargs"):
        mlp().infer_shape((4, 5), data=(4, 5))


def test_shapes_in_variables():
    a = mx.sym.var("a", shape=(0, 10))
    b = mx.sym.var("b", shape=(12, 0))
    assert (a + b).infer_shape()[0] == [(12, 10), (12, 10)]


def test_numpy_shapes_say_minus_one_and_none():
    with mx.np_shape(True):
        a = mx.sym.var("a")
        assert a.sin().infer_shape_partial() == ([None], [None], [])
        assert a.sin().infer_shape_partial(a=(-1, 3)) == ([(-1, 3)], [(-1, 3)], [])


def test_types_flow_both_ways():
    args, outs, _ = mlp().infer_type(data="float16")
    assert set(args) == set(outs) == {np.float16}
    assert (
        mx.sym.FullyConnected(mx.sym.var("a"), num_hidden=2, name="f").infer_type(f_bias="float64")[0]
        == [np.float64] * 3
    )


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda x: mx.sym.cast(x, dtype="int32"), [np.int32]),
        (lambda x: mx.sym.shape_array(x), [np.int64]),
        (lambda x: mx.sym.one_hot(x, depth=3), [np.float32]),
        (lambda x: mx.sym.topk(x, ret_typ="both", dtype="int32"), [np.float16, np.int32]),
        (lambda x: mx.sym.where(mx.sym.cast(x, dtype="int32"), x, x), [np.float16]),
        (lambda x: mx.sym.BatchNorm(x), [np.float16]),
        (lambda x: x > 1, [np.float16]),
    ],
)
def test_types_of_outputs(make, wanted):
    assert make(mx.sym.var("x")).infer_type(x="float16")[1] == wanted


def test_half_precision_keeps_its_statistics_in_single():
    args, _, aux = mx.sym.BatchNorm(mx.sym.var("x"), name="bn").infer_type(x="float16")
    assert args == [np.float16, np.float32, np.float32] and aux == [np.float32, np.float32]


def test_mixed_types_are_refused():
    a, b = mx.sym.var("a"), mx.sym.var("b")
    with pytest.raises(MXNetError, match="expected int32, got float32"):
        (a + b).infer_type(a="int32", b="float32")


ZERO_SIZES = [  # recorded from MXNet 1.9.1 under np_shape: symbol, what is given, arguments, outputs
    (lambda x, y: mx.sym.FullyConnected(x, num_hidden=3), {"x": (0, 4)}, [(0, 4), (3, 4), (3,)], [(0, 3)]),
    (lambda x, y: mx.sym.FullyConnected(x, num_hidden=3), {"x": (-1, 4)}, [(-1, 4), (3, 4), (3,)], [(-1, 3)]),
    (lambda x, y: x + y, {"x": (0, 4)}, [(0, 4), (0, 4)], [(0, 4)]),
    (lambda x, y: x + y, {"x": (-1, 4), "y": (3, -1)}, [(3, 4), (3, 4)], [(3, 4)]),
    (lambda x, y: x + y, {"x": ()}, [(), ()], [()]),
    (lambda x, y: x + y, {}, [None, None], [None]),
    (lambda x, y: mx.sym.sum(x), {"x": (2, 0)}, [(2, 0)], [(1,)]),
    (lambda x, y: mx.sym.concat(x, y, dim=0), {"x": (0, 4), "y": (2, 4)}, [(0, 4), (2, 4)], [(2, 4)]),
    (lambda x, y: mx.sym.reshape(x, shape=(-1, 4)), {"x": (0, 4)}, [(0, 4)], [(0, 4)]),
    (lambda x, y: mx.sym.zeros((0, 3)), {}, [], [(0, 3)]),
    (lambda x, y: mx.sym.var("v", shape=(0, 3)) + x, {}, [(0, 3), (0, 3)], [(0, 3)]),
    (lambda x, y: mx.sym.broadcast_add(x, y), {"x": (0, 1), "y": (1, 3)}, [(0, 1), (1, 3)], [(0, 3)]),
    (lambda x, y: mx.sym.dot(x, y), {"x": (2, 0), "y": (0, 3)}, [(2, 0), (0, 3)], [(2, 3)]),
    (lambda x, y: mx.sym.transpose(x), {"x": (-1, 4, 0)}, [(-1, 4, 0)], [(0, 4, -1)]),
]


OPEN_RESHAPES = [  # recorded from MXNet 1.9.1: given shape, reshape codes, shape of the result
    ((0, 5), (-1, 3, 5), (0, 3, 5)),
    ((0, 4), (3, -1), (3, 0)),
    ((6, 0), (-1, 4), (0, 4)),
    ((0, 3, 4), (-3, 0), (0, 4)),
    ((0, 3, 4), (0, 13), (0, 13)),
    ((0, 8), (-4, -1, 2, 0), (0, 2, 8)),
    ((0, 3, 4), (-4, 2, 4, -2), (2, 4, 3, 4)),
]


@pytest.mark.parametrize("given, codes, result", OPEN_RESHAPES)
def test_reshape_of_an_open_size(given, codes, result):
    symbol = mx.sym.reshape(mx.sym.var("x"), shape=codes)
    assert symbol.infer_shape_partial(x=given)[1] == [result]


def test_reshape_knows_what_does_not_depend_on_an_open_size():
    symbol = mx.sym.reshape(mx.sym.var("x"), shape=(0, 0, -1))
    assert symbol.infer_shape_partial(x=(5, 0, 2, 8))[1] == [(5, 0, 16)]


@pytest.mark.parametrize("make, given, arguments, outputs", ZERO_SIZES)
def test_sizes_of_zero_under_numpy_shapes(make, given, arguments, outputs):
    with mx.util.np_shape(True):
        symbol = make(mx.sym.var("x"), mx.sym.var("y"))
        assert symbol.infer_shape_partial(**given)[:2] == (arguments, outputs)


def test_a_size_of_zero_fits_no_other():
    with mx.util.np_shape(True), pytest.raises(MXNetError, match=r"expected \[0,4\], got \[3,0\]"):
        (mx.sym.var("x") + mx.sym.var("y")).infer_shape(x=(0, 4), y=(3, 0))


def test_empty_arrays_are_bound_under_numpy_shapes():
    with mx.util.np_shape(True):
        assert (mx.sym.var("x") * 2).simple_bind(mx.cpu(), x=(0, 3)).forward()[0].shape == (0, 3)


def test_states_of_unknown_batch_that_a_condition_chooses_learn_it_from_what_follows():
    """GluonTS's DeepAR chooses, by flags, between first states whose batch size nobody gave."""
    state, flags = mx.sym.zeros((0, 4)), mx.sym.var("flags")
    chosen = mx.sym.where(flags, state, state)
    following = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=4)
    out = mx.sym.elemwise_add(chosen, following)
    assert out.infer_shape(x=(3, 5), flags=(3, 4))[1] == [(3, 4)]


def test_shapes_of_networks_are_found_without_torchs_compiler():
    """It takes more than a second to load, and torch asks for it where large arrays have a shape and no memory."""
    code = (
        "import sys, mxnet as mx\n"
        "for name in ('resnet18_v1', 'mobilenetv2_0.25', 'squeezenet1.1', 'alexnet', 'densenet121'):\n"
        "    net = mx.gluon.model_zoo.vision.get_model(name)\n"
        "    assert net(mx.sym.var('data')).infer_shape(data=(64, 3, 224, 224))[1] == [(64, 1000)]\n"
        "leaky = mx.sym.LeakyReLU(mx.sym.var('x'), act_type='leaky')\n"
        "assert leaky.infer_shape(x=(64, 32, 208, 208))[1] == [(64, 32, 208, 208)]\n"
        "assert 'torch._dynamo' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def _chain(length):
    values = [mx.sym.var("data", shape=(0, 8))]
    for i in range(length):
        values.append(mx.sym.FullyConnected(values[-1], num_hidden=8, name=f"f{i}"))
        values.append(mx.sym.Activation(values[-1], act_type="tanh", name=f"a{i}"))
    return values


def test_shapes_of_a_growing_graph_are_those_of_the_whole():
    values = _chain(12)
    for i, value in enumerate(values):
        assert value.infer_shape_partial()[1] == [(0, 8)]
        given = value.infer_shape_partial(data=(5, 8))
        assert given[1] == [(5, 8)] and len(given[0]) == 1 + 2 * ((i + 1) // 2)


def test_what_a_later_value_tells_of_earlier_ones_is_learnt_though_they_were_asked_before():
    values = _chain(12)
    assert values[-1].infer_shape_partial()[1] == [(0, 8)]
    out = mx.sym.elemwise_add(values[-1], mx.sym.var("other", shape=(3, 8)))
    assert out.infer_shape()[0][0] == (3, 8)
    assert values[-1].infer_shape_partial()[1] == [(0, 8)]  # without that value, nothing tells


def test_shapes_are_found_anew_after_a_variable_or_a_graph_changes():
    values = _chain(12)
    assert values[-1].infer_shape_partial()[1] == [(0, 8)]
    values[0]._set_attr(__shape__="(7, 8)")
    assert values[-1].infer_shape()[1] == [(7, 8)]
    values[-1]._compose(data=mx.sym.zeros((4, 8), name="zeros"))
    assert values[-1].infer_shape()[1] == [(4, 8)] and "data" not in values[-1].list_arguments()


def test_an_error_after_a_part_was_asked_is_that_of_the_whole_graph():
    def wrong(asked):
        values = _chain(12)
        if asked:
            values[-1].infer_shape_partial(data=(5, 8))
        out = mx.sym.elemwise_add(values[-1], values[0] + mx.sym.var("other", shape=(3, 8)))
        with pytest.raises(MXNetError) as caught:
            out.infer_shape_partial(data=(5, 8))
        return str(caught.value)

    with mx.name.NameManager():
        first = wrong(asked=False)
    with mx.name.NameManager():
        assert wrong(asked=True) == first


def test_each_operator_of_a_growing_graph_is_asked_for_its_shape_a_few_times_only():
    asked = []

    @mx.operator.register("counting")
    class Counting(mx.operator.CustomOpProp):
        def infer_shape(self, in_shape):
            asked.append(1)
            return in_shape, [in_shape[0]], []

    value = mx.sym.var("data", shape=(2, 3))
    for _ in range(60):
        value = mx.sym.Custom(value, op_type="counting")
        assert value.infer_shape()[1] == [(2, 3)]
    assert len(asked) < 60 * 10  # all of them each time: 60 * 30


CASES = [
    ("take", {"axis": -1}, (3, 4), (2, 5)),
    ("Embedding", {"input_dim": 7, "output_dim": 3}, (2, 5), None),
    ("one_hot", {"depth": 6}, (2, 3)),
    ("pick", {"axis": 1}, (3, 4), (3,)),
    ("pick", {"axis": 0, "keepdims": True}, (3, 4), (4,)),
    ("dot", {"transpose_b": True}, (3, 4), (5, 4)),
    ("dot", {}, (4,), (4,)),
    ("dot", {"transpose_a": True}, (4, 2, 3), (4, 5)),
    ("batch_dot", {"transpose_a": True}, (2, 4, 3), (2, 4, 5)),
    ("LayerNorm", {"axis": 1}, (2, 3, 4), None, None),
    ("LayerNorm", {"axis": 1, "output_mean_var": True}, (2, 3, 4), None, None),
    ("InstanceNorm", {}, (2, 3, 4), None, None),
    ("L2Normalization", {"mode": "channel"}, (2, 3, 4)),
    ("LRN", {"nsize": 3}, (2, 3, 4, 4)),
    ("sum", {"axis": (0, 2), "keepdims": True}, (2, 3, 4)),
    ("mean", {"axis": (-1,), "exclude": True}, (2, 3, 4)),
    ("max", {}, (2, 3, 4)),
    ("sum", {"axis": (0, 1, 2), "exclude": True}, (2, 3, 4)),
    ("norm", {"axis": (1,)}, (2, 3, 4)),
    ("argmax", {"axis": 1}, (2, 3, 4)),
    ("argmin", {"keepdims": True}, (2, 3, 4)),
    ("SequenceMask", {"use_sequence_length": True, "axis": 1}, (4, 3, 2), (4,)),
    ("SequenceLast", {"use_sequence_length": True}, (4, 3, 2), (3,)),
    ("stack", {"axis": -1, "num_args": 2}, (2, 3), (2, 3)),
    ("tile", {"reps": (2, 3, 1)}, (4, 5)),
    ("tile", {"reps": (3,)}, (4, 5)),
    ("Pad", {"mode": "edge", "pad_width": (0, 0, 0, 0, 1, 2, 3, 4)}, (2, 3, 4, 5)),
    ("SoftmaxOutput", {}, (2, 3, 4), None),
    ("UpSampling", {"scale": 3, "sample_type": "nearest", "num_args": 1}, (2, 3, 4, 5)),
]


@pytest.mark.parametrize(("name", "attrs", "shapes"), [(name, attrs, shapes) for name, attrs, *shapes in CASES])
def test_rules_for_shapes_say_what_the_computation_does(name, attrs, shapes, monkeypatch):
    """And where sizes are open, what it says about those that are not."""
    op = registry.find(name)
    parsed = op.parse(attrs)
    opened = [
        [s if i != place else (*s[:axis], 0, *s[axis + 1 :]) for i, s in enumerate(shapes)]
        for place, shape in enumerate(shapes)
        for axis in range(len(shape or ()))
    ]
    asked = [shapes, *opened]
    told = [infer_shape(op, parsed, given) for given in asked]
    assert op.shape(op.full(parsed), told[0][0]) is not None
    monkeypatch.setattr(op, "shape", None)
    for given, (ins, outs) in zip(asked, told, strict=True):
        known_ins, computed = infer_shape(op, parsed, given)
        assert ins == known_ins
        assert outs == computed or all(shape is None for shape in computed)


def test_what_was_given_may_be_changed_afterwards():
    total = mx.sym.Variable("x")
    for _ in range(20):
        total = mx.sym.exp(total)
    given = {}
    for name in (None, "float16", "float64"):
        if name is not None:
            given["x"] = name
        assert type_facts(total._entries, given).of(total._entries[0]) == name
