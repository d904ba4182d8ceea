"""Shapes and dtypes of a graph: what is deduced, and how MXNet says that something is missing or wrong."""

import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
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
