"""Functions of `mx.np` that are one operator: what they show and how they are called; operators by themselves."""

import inspect
import json

import numpy as onp
import pytest

import mxnet as mx
from mxnet import _numpy_op_doc, np, npx
from mxnet.base import MXNetError
from mxnet.numpy_op_signature import _get_builtin_op

CUBE = onp.arange(24, dtype="float32").reshape(2, 3, 4)


@pytest.fixture(autouse=True)
def manners():
    npx.set_np()
    yield
    npx.reset_np()


@pytest.mark.parametrize("name", [n for n in vars(_numpy_op_doc) if n.startswith("_np")])
def test_the_signature_shown_is_numpys(name):
    shown = _get_builtin_op(name)
    assert str(inspect.signature(shown)) == str(inspect.signature(getattr(_numpy_op_doc, name)))
    assert shown.__doc__ == getattr(_numpy_op_doc, name).__doc__


def test_other_faces_show_the_operators_signature():
    assert str(inspect.signature(mx.nd.np.prod)) == (
        "(a=None, axis=_Null, dtype=_Null, keepdims=_Null, initial=_Null, out=None, name=None, **kwargs)"
    )
    assert str(inspect.signature(mx.sym.np.diag)) == "(data=None, k=_Null, name=None, attr=None, out=None, **kwargs)"
    assert str(inspect.signature(mx.nd.npx.reshape)).startswith("(a=None, newshape=_Null, reverse=_Null, order=_Null")
    assert np.sum is not mx.nd.np.sum and mx.nd.np.sum is mx.nd.np.sum
    assert (np.sum.__module__, mx.nd.np.sum.__module__) == ("mxnet.numpy", "mxnet.ndarray.numpy")


def test_arguments_are_the_operators():
    x = np.array(CUBE)
    assert np.prod(x, 0, None, True).shape == (1, 3, 4)  # the operator's fourth is keepdims, whatever help says
    assert np.sum(x, axis="(0, 2)", name="total").shape == (3,)
    assert np.roll(data=x, shift=1).shape == np.roll(a=x, shift=1).shape == x.shape
    assert np.diag(array=x[0, 0]).shape == np.diag(data=x[0, 0]).shape == (4, 4)
    assert npx.nonzero(x=x).shape == npx.nonzero(a=x).shape == (23, 3)
    assert np.copy(x, order="K").shape == x.shape  # an operator without attributes ignores what it is given
    out = np.zeros((3, 4))
    assert np.max(x, axis=0, out=out) is out and out[2, 3] == 23
    a = mx.sym.var("a").as_np_ndarray()
    node = json.loads(mx.sym.np.sum(a, axis=None, name="total").tojson())["nodes"][1]
    assert (node["name"], node["attrs"]) == ("total", {"axis": "None"})
    assert mx.sym.np.roll(a=a, shift=1, name="rolled").name == "rolled"


def test_what_is_wrong_is_said_as_in_mxnet():
    x = np.array(CUBE)
    for value in ([1, 2], 5, onp.ones(3)):
        with pytest.raises(AssertionError, match="Argument a must have NDArray type, but got"):
            np.sum(value)
    with pytest.raises(AssertionError, match="Positional arguments must have NDArray type, but got 1.0"):
        np.atleast_2d(1.0)
    with pytest.raises(MXNetError, match=r"num_inputs == infered_num_inputs \(1 vs. 2\)"):
        np.matmul(None, x)
    with pytest.raises(MXNetError, match="Cannot find argument 'where'"):
        np.sum(x, where=True)
    with pytest.raises(MXNetError, match="Required parameter newshape"):
        np.reshape(x)


def test_operators_by_themselves():
    x = np.array(CUBE)
    for space in (np, mx.nd.np):
        assert (space._internal.add_scalar(x, scalar=2) == x + 2).all()
        assert type(space._internal.slice(x, begin=(0,), end=(1,))) is np.ndarray
    node = mx.sym.np._internal.add_scalar(mx.sym.var("a").as_np_ndarray(), scalar=2, name="plus")
    assert type(node) is mx.sym.np._symbol._Symbol and node.name == "plus"
    assert {"add_scalar", "pad", "slice"} <= set(dir(np._internal)) & set(dir(mx.sym.np._internal))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = np._internal.nothing


MASKS = [((3, 4), (3, 4), 0), ((), (), 0), ((2, 3, 4), (2, 3), 0), ((2, 3, 4), (3,), 1), ((2, 3, 4), (3, 4), 1)]


@pytest.mark.parametrize("shape, mask, start", MASKS)
def test_values_where_a_mask_holds(shape, mask, start):
    random = onp.random.RandomState(1)
    data, holds = onp.array(random.rand(*shape), "float32"), onp.array(random.rand(*mask) > 0.3)
    key = (slice(None),) * start + (holds,)
    count = int(holds.sum())
    for value in (2.5, random.rand(*shape[:start], count, *shape[start + len(mask) :]).astype("float32")):
        expected = data.copy()
        expected[key] = value
        array, where = np.array(data), np.array(holds, dtype="bool")
        if start == 0:
            other = array.copy()
            other[where] = value if isinstance(value, float) else np.array(value)
            onp.testing.assert_array_equal(other.asnumpy(), expected)
        if isinstance(value, float):
            np._internal.boolean_mask_assign_scalar(array, where, value, start_axis=start, out=array)
        else:
            np._internal.boolean_mask_assign_tensor(array, where, np.array(value), start_axis=start, out=array)
        onp.testing.assert_array_equal(array.asnumpy(), expected)


TRUTHS = [  # an index, the shape of what is read, how many elements a write changes; as MXNet has them
    (True, (1, 2, 3, 4), 24),
    (False, (0, 2, 3, 4), 0),
    ((0, True), (1, 3, 4), 12),
    ((True, 0), (1, 3, 4), 12),
    ((False, 1), (0, 3, 4), 0),
    ((0, True, True, 1), (1, 4), 4),
]


@pytest.mark.parametrize("key, shape, changed", TRUTHS)
def test_truth_values_in_an_index(key, shape, changed):
    array = np.array(CUBE)
    assert array[key].shape == shape
    array[key] = -1
    assert int((array == -1).sum()) == changed
    asked = array[np.array(True, dtype="bool")]
    assert asked.shape == (1, 2, 3, 4)


def test_a_mask_that_does_not_fit_is_refused():
    with pytest.raises(MXNetError, match="boolean index did not match indexed array"):
        np._internal.boolean_mask_assign_scalar(np.zeros((2, 3)), np.array([True, False, True]), 1.0)
    with pytest.raises(MXNetError, match="cannot assign"):
        np._internal.boolean_mask_assign_tensor(np.zeros(3), np.array([1, 1, 0]), np.ones(3))


PLACES = [
    1,
    -1,
    0,
    slice(0, 2),
    slice(None, None, 2),
    slice(3, 0, -1),
    slice(3, 1),
    slice(0, 3, -1),
    [0, 2],
    [2],
    [3, 0, 3],
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("axis", [None, 0, 2])
def test_insert_and_delete_are_numpys(place, axis):
    data = onp.arange(64, dtype="float32").reshape(4, 4, 4)
    array = np.array(data)
    given = np.array(place, dtype="int64") if isinstance(place, list) else place
    check = onp.testing.assert_array_equal
    check(np.delete(array, given, axis).asnumpy(), onp.delete(data, place, axis))
    check(np.insert(array, given, 7.5, axis).asnumpy(), onp.insert(data, place, 7.5, axis))
    if axis is not None and (not isinstance(place, slice) or range(4)[place]):
        row = onp.arange(16, dtype="float32").reshape(4, 4)
        if not isinstance(place, int):
            row = onp.expand_dims(row, axis)
        check(np.insert(array, given, np.array(row), axis).asnumpy(), onp.insert(data, place, row, axis))


def test_small_calls_take_the_short_way(monkeypatch):
    x = np.array(CUBE)
    np.sum(x), x + x, np.concatenate([x, x]), npx.relu(x)
    monkeypatch.setattr("mxnet.ndarray._dispatch.generated.invoke", None)  # the long way would call it
    assert np.sum(x, axis=0).shape == (3, 4) and (x + x).shape == np.exp(x).shape == npx.relu(x).shape == x.shape
    assert np.concatenate([x, x]).shape == (4, 3, 4) and type(np.concatenate([x, x])) is np.ndarray
    assert [type(p) for p in np.split(x, 2)] == [np.ndarray, np.ndarray]


SLOPES = {  # the gradient of each element of arange(4), as MXNet has it
    "np.percentile(x, 30) + x.sum()": [1, 1, 1, 1],
    "np.unique(x).sum() + x.sum()": [1, 1, 1, 1],
    "np.average(x, weights=x + 1, returned=True)[1] + x.sum()": [1, 1, 1, 1],
    "np.average(x, weights=np.arange(4) + 1)": [0.1, 0.2, 0.3, 0.4],
    "np.pad((x * x).reshape(2, 2), ((2, 1), (0, 0))).sum()": [0, 2, 4, 6],
    "np.ediff1d(x * x, to_end=x).sum()": [1, 1, 1, 7],
    "np.linalg.norm(x, ord=1) * 2": [0, 2, 2, 2],
    "np.where(x > 1, x, 0).sum()": [0, 0, 1, 1],  # MXNet's own goes to the elements that were not taken
}


@pytest.mark.parametrize("text", SLOPES)
@pytest.mark.parametrize("hybrid", [False, True])
def test_gradients(text, hybrid):
    class Block(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return eval(text, {"np": F.np, "x": x})

    block, x = Block(), np.arange(4)
    x.attach_grad()
    if hybrid:
        block.hybridize()
    with mx.autograd.record():
        y = block(x)
    y.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), SLOPES[text], rtol=1e-6)


def test_a_gradient_that_is_not_wanted_goes_with_the_first_backward():
    x, w = np.ones(3), np.ones(3)
    x.attach_grad("null")
    w.attach_grad()
    assert x.grad.sum() == 0
    with mx.autograd.record():
        y = (x * w).sum()
    y.backward()
    assert x.grad is None and w.grad.sum() == 3


@pytest.mark.parametrize("order", [1, -1, 2, -2, "nuc", "fro", None])
def test_norms_of_matrices_are_the_same_in_a_graph(order):
    matrix = np.array(CUBE[1])
    graph = mx.sym.np.linalg.norm(mx.sym.var("a").as_np_ndarray(), ord=order)
    (found,) = graph.bind(mx.cpu(), {"a": matrix.as_nd_ndarray()}).forward()
    for value in (found, np.linalg.norm(matrix, ord=order)):
        onp.testing.assert_allclose(value.asnumpy(), onp.linalg.norm(CUBE[1].astype("float64"), order), 1e-4, 1e-4)


def test_names_that_programs_take_from_other_modules():
    from mxnet.gluon.contrib.cnn.conv_layers import Activation
    from mxnet.gluon.contrib.rnn.rnn_cell import SequentialRNNCell
    from mxnet.gluon.model_zoo.model_store import download
    from mxnet.ndarray.op import CachedOp
    from mxnet.numpy_extension.utils import ndarray

    assert (Activation, SequentialRNNCell) == (mx.gluon.nn.Activation, mx.gluon.rnn.SequentialRNNCell)
    assert (download, CachedOp, ndarray) == (mx.gluon.utils.download, mx.nd.CachedOp, np.ndarray)
    assert mx.nd.contrib.uniform is mx.nd.random.uniform and mx.sym.contrib.uniform is mx.sym.random.uniform
    assert mx.autograd.Symbol is mx.sym.Symbol
