"""Corners of symbols and executors as MXNet 1.9.1 answers them: partial labels, bodies in files, head gradients."""

import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym
from mxnet.base import MXNetError


def test_a_label_knows_how_many_axes_it_has():
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc"), name="sm")
    with pytest.warns(UserWarning, match=r"data: \(0, 5\)\n\tsm_label: \(0,\)"):
        assert net.infer_shape(data=(0, 5)) == (None, None, None)


def test_outer_variables_have_no_attributes_inside_a_body():
    weight = sym.var("w", dtype="float32", wd_mult=3)
    out, _ = sym.contrib.foreach(lambda x, s: (x * weight, s), sym.var("d", shape=(3, 2)), sym.var("s"))
    nodes = json.loads(out.tojson())["nodes"]
    body = next(n for n in nodes if n["op"] == "_foreach")["subgraphs"][0]["nodes"]
    assert next(n for n in nodes if n["name"] == "w")["attrs"]["__wd_mult__"] == "3"
    assert "attrs" not in next(n for n in body if n["name"] == "w")


def test_head_gradients_have_their_outputs_shapes():
    ones = {name: nd.ones((2,)) for name in "ab"}
    executor = (sym.var("a") * sym.var("b")).bind(mx.cpu(), ones, {name: nd.zeros((2,)) for name in "ab"})
    for shape in [(3,), (1,), (2, 1)]:
        executor.forward(is_train=True)
        with pytest.raises(MXNetError, match="operands shape mismatch from.shape"):
            executor.backward(nd.ones(shape))


def test_what_symbols_cannot_do_is_told_in_mxnet_words():
    with pytest.raises(mx.base.NotImplementedForSymbol, match=r'Function __bool__ \(namely operator "bool"\) is not'):
        bool(sym.var("a"))


def test_a_quadratic_goes_to_infinity_on_both_sides():
    x = nd.array([-np.inf, np.inf, 1])
    assert nd.contrib.quadratic(x, a=1, b=2, c=3).asnumpy().tolist() == [np.inf, np.inf, 6]


def test_a_custom_operator_gets_type_numbers_and_counts_its_inputs():
    seen = []

    class Same(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0])

    @mx.operator.register("same_corner")
    class SameProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            seen.append((shapes, dtypes))
            return Same()

    nd.Custom(nd.ones((2,), dtype="float64"), op_type="same_corner")
    assert seen == [([[2]], [1])]
    with pytest.raises(MXNetError, match="Operator Custom expects 1 inputs, but got 2 instead"):
        nd.Custom(nd.ones((2,)), nd.ones((2,)), op_type="same_corner")


def test_states_of_updates_of_many_weights_are_auxiliary():
    """As MXNet lists them: what an update changes besides its weights is no argument."""
    update = mx.sym.multi_mp_sgd_mom_update(lrs=(0.1, 0.2), wds=(0, 0), num_weights=2, name="u")
    assert update.list_arguments() == ["u_weight_0", "u_grad_0", "u_weight_1", "u_grad_1"]
    assert update.list_auxiliary_states() == ["u_mom_0", "u_weight32_0", "u_mom_1", "u_weight32_1"]
    variables = [mx.sym.var(name) for name in ("weight", "grad", "mean", "variance", "scale")]
    update = mx.sym._internal._multi_adamw_update(*variables, lrs=(0.1,), wds=(0,), etas=(1,))
    assert update.list_arguments() == ["weight", "grad", "scale"]
    assert update.list_auxiliary_states() == ["mean", "variance"]


def test_an_update_of_many_weights_changes_its_states():
    names = ("weight", "grad", "mom", "weight32")
    update = mx.sym.multi_mp_sgd_mom_update(*map(mx.sym.var, names), lrs=(0.1,), wds=(0,), momentum=0.5)
    half, states = {"dtype": "float16"}, [mx.nd.array([1.0]), mx.nd.array([2.0])]
    bound = update.bind(mx.cpu(), [mx.nd.array([2], **half), mx.nd.array([4], **half)], aux_states=states)
    assert bound.forward()[0].asscalar() == np.float16(2.1)
    np.testing.assert_allclose([s.asscalar() for s in states], [0.1, 2.1], rtol=1e-6)


@pytest.mark.parametrize("value", [2, "2", -1, 1.0, 0.0, np.float32(1), "1.0", "yes", None])
def test_truth_values_are_true_false_one_and_zero(value):
    x = mx.nd.ones((2, 3))
    for right in (True, 1, np.bool_(True), "1", "true"):  # whatever was right before: 1.0 is equal to it
        assert mx.nd.sum(x, axis=0, keepdims=right).shape == x.sum(axis=0, keepdims=right).shape == (1, 3)
        mx.nd.sum(x, keepdims=right), mx.nd.sum(x, keepdims=False), mx.nd.amp_multicast(x, num_outputs=1, cast_narrow=1)
    with pytest.raises(MXNetError, match=f"for keepdims expect boolean but value='{value}'"):
        mx.sym.sum(mx.sym.var("x"), keepdims=value)
    with pytest.raises(MXNetError, match=f"for keepdims expect boolean but value='{value}'"):
        mx.nd.sum(x, keepdims=value)
    with pytest.raises(MXNetError, match=f"for keepdims expect boolean but value='{value}'"):
        x.sum(axis=0, keepdims=value)
    with pytest.raises(MXNetError, match=f"for cast_narrow expect boolean but value='{value}'"):
        mx.nd.amp_multicast(x, num_outputs=1, cast_narrow=value)
