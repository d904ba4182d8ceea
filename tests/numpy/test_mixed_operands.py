"""Numbers and other types beside arrays of `mx.np`: what MXNet gave, at once and in graphs."""

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np


@pytest.fixture(autouse=True)
def numpy_semantics():
    with mx.util.np_shape(True), mx.util.np_array(True):
        yield


def in_graph(function, array):
    symbol = function(mx.sym.var("x").as_np_ndarray())
    return symbol.bind(mx.cpu(), {"x": array}).forward()[0].asnumpy()


def gradients(function, *arrays):
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        result = function(*arrays)
    result.backward()
    return [array.grad.asnumpy().tolist() for array in arrays]


@pytest.mark.parametrize(
    "function, kind, dtype, values",
    [
        (lambda x: x * 2.7, "int32", "float64", [8.1, 0.0, 5.4]),
        (lambda x: x * 2, "int32", "int32", [6, 0, 4]),
        (lambda x: 2 + x, "int32", "int32", [5, 2, 4]),
        (lambda x: 2 * x, "int32", "float64", [6, 0, 4]),
        (lambda x: 2 - x, "uint8", "float64", [-1, 2, 0]),
        (lambda x: mx.sym.np.hypot(x, -1.5), "uint8", "float64", [3.3541019662496847, 1.5, 2.5]),
        (lambda x: x > 2.7, "int32", "bool", [True, False, False]),
        (lambda x: 2.7 > x, "int32", "bool", [False, True, True]),
        (lambda x: mx.sym.np.add(x, 2.7), "bool", "float64", [3.7, 2.7, 3.7]),
        (lambda x: mx.sym.np.add(x, 2), "bool", "int64", [3, 2, 3]),
    ],
)
def test_a_fraction_in_a_graph_makes_integers_double_precision(function, kind, dtype, values):
    result = in_graph(function, np.array([3, 0, 2], dtype=kind))
    assert result.dtype == dtype
    onp.testing.assert_allclose(result, values)


def test_at_once_an_array_of_integers_keeps_its_type():
    x = np.array([3, 0, 2], dtype="int32")
    assert (x * 2.7).dtype == onp.int32 and (x * 2.7).asnumpy().tolist() == [6, 0, 4]
    assert (x == 2.7).asnumpy().tolist() == [False, False, True]


@pytest.mark.parametrize(
    "function, values",
    [
        (lambda x: x == 2, [True, False, True]),
        (lambda x: x < 100, [False, True, False]),
        (lambda x: x >= -1.5, [True, False, True]),
        (lambda x: np.hypot(x, 2), [2, 2, 2]),
        (lambda x: np.copysign(x, -1.5), [-1, 0, -1]),
        (lambda x: np.arctan2(2, x), [1, 1, 1]),
    ],
)
def test_beside_truth_values_numbers_are_truth_values_or_integers(function, values):
    assert function(np.array([True, False, True], dtype="bool")).asnumpy().tolist() == values


def test_an_array_without_axes_has_its_say_about_the_type():
    assert np.multiply(np.array([3], dtype="int32"), np.array(-35, dtype="int64")).dtype == onp.int64
    assert np.add(np.array(1, dtype="int64"), np.array([3], dtype="int8")).dtype == onp.int64


def test_copysign_takes_either_zero_as_positive():
    x, y = np.array([-1.6, -0.5, 0.3, 2.0]), np.array([1.4, -0.0, 0.1, -1.0])
    assert np.copysign(x, y).asnumpy().tolist() == np.array([1.6, 0.5, 0.3, -2.0]).asnumpy().tolist()
    assert gradients(np.copysign, x, y) == [[-1, -1, 1, -1], [0, 0, 0, 0]]


def test_rint_rounds_halves_down():
    assert np.rint(np.array([-4.5, -0.5, 0.5, 1.5, 2.5])).asnumpy().tolist() == [-5, -1, 0, 1, 2]


def test_powers_of_zero_have_the_slopes_of_mxnets_formula():
    inf, nan = float("inf"), float("nan")
    left, right = gradients(np.power, np.array([0.0, 0, -1, 2]), np.array([0.0, 1, 2, 3]))
    onp.testing.assert_allclose(left, [nan, 1, -2, 12])
    onp.testing.assert_allclose(right, [-inf, nan, nan, 5.5451775], rtol=1e-6)


def test_a_power_assigned_is_a_new_array():
    x = before = np.array([2.0, 3.0])
    x **= 2
    assert x.asnumpy().tolist() == [4, 9] and before.asnumpy().tolist() == [2, 3]


def test_vectors_have_their_greatest_element_positive():
    values, vectors = np.linalg.eigh(np.array([[2.0, 1], [1, 3]]))
    onp.testing.assert_allclose(vectors.asnumpy(), [[0.85065085, 0.52573115], [-0.52573115, 0.85065085]], rtol=1e-5)
    left, values, right = np.linalg.svd(np.array([[2.0, 1, 0], [1, 3, 1]]))
    onp.testing.assert_allclose(left.asnumpy(), [[0.49269882, 0.8701999], [0.8701999, -0.49269882]], rtol=1e-5)
    onp.testing.assert_allclose(right.asnumpy()[1], [0.84718037, -0.41275752, -0.33453912], rtol=1e-5)


def test_types_and_shapes_of_statistics():
    assert np.percentile(np.array([1, 2, 4, 7], dtype="float16"), 50).dtype == onp.float32
    assert np.unravel_index(np.array([1, 2], dtype="int32"), (2, 3))[0].dtype == onp.int32
    mean, total = np.average(np.ones((2, 3)), axis=1, weights=np.array([1.0, 2, 3]), returned=True)
    assert mean.shape == (2,) and total.shape == () and total.item() == 6
    assert np.average(np.zeros((0, 3)), axis=1, weights=np.ones(3)).shape == (0,)
    assert np.indices(()).shape == (0,)
    assert gradients(lambda w: np.bincount(np.array([0, 1, 1], dtype="int32"), weights=w), np.ones(3)) == [[0, 0, 0]]


@pytest.mark.parametrize("kind", ["int32", "int8", "int64"])
def test_sums_and_products_of_fractions_are_cut_afterwards(kind):
    x = np.array([[2.6, 1.9, -1.3], [1.5, 1.5, 2.5]])
    assert np.sum(x, axis=1, dtype=kind).asnumpy().tolist() == [3, 5]
    assert np.prod(x, axis=0, dtype=kind).asnumpy().tolist() == [3, 2, -3]


def test_slopes_of_products_divide_by_the_element():
    nan = float("nan")
    onp.testing.assert_array_equal(gradients(np.prod, np.array([0.0, 2, 3])), [[nan, 0, 0]])


def test_numbers_out_of_range_wrap_around_where_they_fill():
    assert np.full((2,), 300, dtype="uint8").asnumpy().tolist() == [44, 44]
    assert np.full((2,), -1.5, dtype="uint8").asnumpy().tolist() == [255, 255]
    assert np.full_like(np.ones(2, dtype="uint8"), 300).asnumpy().tolist() == [44, 44]
    assert np.full((), float("nan"), dtype="uint8").item() == 0
    assert np.full((2,), 1e6, dtype="float16").asnumpy().tolist() == [onp.inf] * 2
    assert (np.ones(2) * 10**40).asnumpy().tolist() == (np.ones(2) * 10**40).asnumpy().tolist() == [onp.inf] * 2


def test_a_negated_node_is_a_product():
    negated = -mx.sym.var("x").as_np_ndarray()
    assert '"_npi_multiply_scalar"' in negated.tojson()
    assert in_graph(lambda x: -x, np.array([1, -2], dtype="int8")).dtype == onp.float64
