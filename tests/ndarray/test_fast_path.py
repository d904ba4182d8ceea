"""The short ways of everyday calls give what the long ways give: those that run while operators are watched."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from mxnet._ops.registry import observe

CALLS = """
a + b | a - row | a * b | a / b | b ** a | a % b | a + 1 | 1 - a | a * 2.5 | 2 / a | a ** 2 | 2 ** a | -a | 3 % b
a > b | a == b | a != row | a >= 2 | a < 2.5 | a == 3 | a <= row
a.sum() | a.sum(axis=1) | a.sum(axis=-1, keepdims=True) | a.sum(axis=(0, 1)) | a.sum(axis=[0]) | v.sum(axis=0)
a.sum(axis=0, exclude=True) | a.mean() | a.mean(axis=1) | a.max() | a.min(axis=0) | v.max(axis=0) | a.max(axis=(0, 1))
a.argmax(axis=1) | a.argmax() | v.argmin(axis=0) | a.argmax(axis=0, keepdims=True) | a.norm() | a.norm(axis=1)
nd.softmax(a) | nd.softmax(a, axis=0) | nd.softmax(a, temperature=2.0) | nd.log_softmax(a) | a.clip(2, 4)
nd.FullyConnected(a, w, bias, num_hidden=2) | nd.FullyConnected(a, w, num_hidden=2, no_bias=True)
nd.FullyConnected(cube, wide, bias, num_hidden=2) | nd.Activation(a, act_type="tanh") | nd.relu(-a)
nd.take(a, idx) | nd.take(a, idx, axis=1) | nd.take(a, far) | nd.take(a, far, mode="wrap") | nd.pick(a, idx)
nd.pick(a, far, axis=1) | nd.pick(a, idx, keepdims=True) | nd.one_hot(idx, 3) | nd.one_hot(idx, 3, on_value=5)
a.reshape((3, 2)) | a.reshape(-1) | a.reshape(3, -1) | a.reshape(shape=(0, 3, 1)) | a.reshape((-2, 1)) | a.T
nd.reshape(a, shape=(3, 2)) | a.transpose((1, 0)) | cube.transpose((2, 0, 1)) | cube.transpose((-1, 0, 1)) | cube.T
a.expand_dims(0) | a.expand_dims(-1) | a.flatten() | cube.flatten()
nd.concat(a, b, dim=0) | nd.concat(a, b) | nd.stack(a, b) | nd.stack(a, b, axis=-1) | nd.add_n(a, b, a)
a[1] | a[-1] | a[0:1] | a[:, 1] | a[0, 1] | a[-1, -1] | a[:, 0:2] | a[..., 1] | a[None, 1] | a[idx] | a[::2] | v[2]
v[-1] | cube[0, 1, 2] | cube[1, :, 0] | cube[:, 1:2, 0:1] | a[idx, idx]
a.copy() | a.astype("int32") | (a * 100).astype("uint8") | (a / 2).astype(np.float64) | a.astype(bool)
a.astype("float32") | nd.zeros((2, 3)) | nd.ones(3) | nd.full((2,), 7) | nd.zeros([2])
nd.array([[1, 2], [3, 4]]) | nd.array(np.arange(6).reshape(2, 3)) | nd.zeros((2,), dtype="int32")
"""
LINES = [line.strip() for line in CALLS.replace("\n", "|").split("|") if line.strip()]


def scope(dtype="float32"):
    given = {
        "a": [[1, 2, 3], [4, 5, 6]], "b": [[2, 2, 1], [4, 9, 7]], "row": [1, 5, 3], "v": [3, 1, 2], "bias": [1, 2],
        "w": [[1, 0, 2], [3, 1, 1]], "wide": [[1, 0, 2, 1, 1, 1], [3, 1, 1, 2, 2, 2]],
        "cube": [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [0, 1, 2]]],
    }  # fmt: skip
    made = {name: nd.array(values, dtype=dtype) for name, values in given.items()}
    return {**made, "nd": nd, "np": np, "idx": nd.array([1, 0], dtype="int32"), "far": nd.array([7, -1])}


@pytest.fixture
def slowly():
    """What the function given computes while operators are watched."""

    def run(function):
        def wrapper(op):
            return op.fn

        observe.watch(wrapper)
        try:
            return function()
        finally:
            observe.unwatch(wrapper)

    return run


def outcome(line, dtype):
    try:
        result = eval(line, scope(dtype))
    except (mx.MXNetError, ValueError, IndexError, TypeError, AssertionError) as error:
        return type(error), None, None
    return result.shape, result.dtype, result.asnumpy().tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("line", LINES)
def test_same_result(line, dtype, slowly):
    assert outcome(line, dtype) == slowly(lambda: outcome(line, dtype))


@pytest.mark.parametrize(
    "number", [0, 0.0, -0.0, 1, 0.1, -7, 2**24 + 1, 1e40, 1e-50, float("inf"), float("nan"), 10**400]
)
@pytest.mark.parametrize("line", "x + n|n - x|x - n|x * n|x / n|n / x|x == n|x > n|x <= n|n % x|x ** 2 + n".split("|"))
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_numbers_that_come_again(line, number, dtype, slowly):
    """From the second time on torch gets a tensor that was kept; the sign of a zero stays."""
    x = nd.array([-2.0, -0.0, 0.0, 0.1, 3, float("inf"), float("nan")], dtype=dtype)

    def run():
        try:
            values = eval(line, {"x": x, "n": number}).asnumpy()
        except (mx.MXNetError, OverflowError) as error:
            return type(error)
        return [(str(v), bool(np.signbit(v))) for v in values]

    expected = slowly(run)
    assert [run() for _ in range(3)] == [expected] * 3


def test_in_place_numbers_leave_the_kept_ones_alone():
    a, b = nd.zeros((2,)), nd.ones((2,))
    for _ in range(3):
        a += 2.5
        b *= 2.5
        (nd.ones((1,)) * 2.5)[:] = 0
    assert a.asnumpy().tolist() == [7.5, 7.5]
    assert b.asnumpy().tolist() == [15.625, 15.625]


def test_means_divide_as_torch_does():
    values = np.random.RandomState(0).rand(37, 11).astype("float32")
    assert nd.array(values).mean().asscalar() == mx.nd.array(values)._t.mean().item()


@pytest.mark.parametrize(
    "key", [0, -1, slice(None), slice(0, 1), (0, 1), (slice(None), 1), (Ellipsis, 0), (1, slice(0, 2))]
)
@pytest.mark.parametrize("value", [7, 2.5, "part", "row"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_assignments_are_numpys(key, value, dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    ours = nd.array(array, dtype=dtype)
    if isinstance(value, str):
        shape = np.array(array[key]).shape
        value = nd.array(np.full(shape or (1,), 9)) if value == "part" else nd.array([8])
    array[key] = (
        value
        if not isinstance(value, nd.NDArray)
        else value.asnumpy().reshape(np.shape(array[key]) if value.size > 1 else -1)[()]
    )
    ours[key] = value
    assert (ours.asnumpy() == array).all()


@pytest.mark.parametrize("operator", ["+=", "-=", "*=", "/=", "%="])
def test_in_place_writes_into_the_same_memory_and_only_outside_graphs(operator):
    for other in (2, 2.5, nd.array([[2.0, 4, 5]]), nd.array([[1.0, 2, 3], [3, 2, 1]])):
        space = {"x": nd.array([[1.0, 2, 3], [4, 5, 6]]), "other": other}
        view, expected = space["x"][0], eval(f"x {operator[0]} other", space).asnumpy()
        exec(f"x {operator} other", space)
        assert (space["x"].asnumpy() == expected).all()
        assert (view.asnumpy() == expected[0]).all()
    space["x"].attach_grad()
    with autograd.record(), pytest.raises(mx.MXNetError, match="inplace operations"):
        exec(f"x {operator} other", space)


def test_parts_share_memory_where_mxnets_do():
    a, v = nd.arange(6).reshape((2, 3)), nd.arange(3)
    a[1][:] = 7
    a[0, 1][:] = 9
    a[:, 0][:] = -1  # a copy
    v[2][:] = 5
    a[1:][0, 2][:] = 6
    assert a.asnumpy().tolist() == [[0, 9, 2], [7, 7, 6]]
    assert v.asnumpy().tolist() == [0, 1, 5]
    row, turned = nd.arange(3).reshape((1, 3)), a.T
    row[:, 1][:] = 8  # one element lies in one run of memory
    turned[:] = 0
    assert row.asnumpy().tolist() == [[0, 8, 2]]
    assert a[0, 1].asscalar() == 9


def test_attributes_that_may_change_are_read_again():
    a = nd.array([[-1.0, 2], [3, 4]])
    axis = nd.array([1], dtype="int32")  # an array as attribute may change between two calls
    first = a.sum(axis=axis)
    axis[:] = 0
    assert first.asnumpy().tolist() == [1, 7]
    assert a.sum(axis=axis).asnumpy().tolist() == [2, 6]


def test_recorded_parts_have_gradients():
    x = nd.array([[1.0, 2, 3], [4, 5, 6]])
    x.attach_grad()
    with autograd.record():
        y = (
            x[1].sum()
            + 2 * x[0, 1]
            + x[:, 2].sum()
            + x.reshape((3, 2))[0].sum()
            + x[nd.array([0, 0])].sum()
            - (1 - x).sum()
        )
    y.backward()
    assert x.grad.asnumpy().tolist() == [[4, 6, 4], [2, 2, 3]]
