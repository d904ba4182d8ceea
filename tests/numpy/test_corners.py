"""`mx.np` where NumPy and MXNet have rules of their own; values and error classes recorded from MXNet."""

import math

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon, np, npx


@pytest.fixture(autouse=True)
def numpy_semantics():
    npx.set_np()
    yield
    npx.reset_np()


def floats(*values):
    return np.array(values)


def integers(*values, dtype="int32"):
    return np.array(values, dtype=dtype)


VALUES = [
    (lambda: np.broadcast_to(np.ones((2, 1, 5)), (-2, 4, -2)).shape, (2, 4, 5)),
    (lambda: np.around(integers(15, 25, -17), -1).tolist(), [10, 20, -10]),
    (lambda: np.around(integers(123456), -3).tolist(), [123000]),
    (lambda: onp.signbit(np.round(floats(-0.5, 0.5)).asnumpy()).tolist(), [False, False]),
    (lambda: np.squeeze(np.array(2.0), -1).shape, ()),
    (lambda: np.arange(np.array(1.5), np.array(4.25), 0.5).tolist(), [1.5, 2, 2.5, 3, 3.5, 4]),
    (lambda: np.arange(integers(3, 5).min()).tolist(), [0, 1, 2]),
    (lambda: np.tile(floats(1.5), integers(3).max()).tolist(), [1.5, 1.5, 1.5]),
    (lambda: np.roll(floats(1, 2), integers(3).max()).tolist(), [2, 1]),
    (lambda: np.hanning(integers(3).max()).tolist(), [0, 1, 0]),
    (lambda: np.linspace(np.array(1.5), np.array(4.5), 3).tolist(), [1.5, 3, 4.5]),  # MXNet: NotImplementedError
    (lambda: repr(round(floats(1.26, -2.5))), "array([ 1., -2.])"),
    (lambda: repr(round(np.array(1.25), 1)), "array(1.2)"),
    (lambda: repr(math.floor(floats(1.26, -2.5))), "array([ 1., -3.])"),
    (lambda: repr(math.ceil(floats(1.26, -2.5))), "array([ 2., -2.])"),
    (lambda: repr(math.trunc(integers(3))), "array([3], dtype=int32)"),
    (lambda: np.tril(np.ones(3), -1).tolist(), [[0, 0, 0], [1, 0, 0], [1, 1, 0]]),
    (lambda: [n.shape for n in np.nonzero(np.array(2.0))], [(1,)]),
    (lambda: npx.nonzero(np.array(0.0)).shape, (0, 1)),
    (lambda: np.take(floats(3.0), np.array(0, dtype="int64"), axis=0, mode="clip").shape, ()),
    (lambda: np.mod(floats(2.0, 5.0), floats(0.0, 3.0)).tolist(), [0, 2]),
    (lambda: np.subtract(np.array([True, False], dtype="bool"), integers(1, 2).astype("float16")).tolist(), [0, -2]),
    (lambda: np.linalg.eigvalsh(integers([1, 2], [2, 4])).dtype, onp.float64),
    (lambda: np.linalg.norm(floats([1.0, -3.0], [2.0, 5.0]), "inf").item(), 5.0),
    (lambda: np.linalg.norm(floats(1.0, -3.0), "-inf").item(), 1.0),
    (lambda: np.linalg.tensorsolve(np.full((1, 1, 1), 2.0), np.full((1, 1, 1), 3.0)).shape, (1, 1, 1)),
    (lambda: np.linalg.tensorsolve(np.array(2.0), np.full((1, 1, 1), 3.0)).tolist(), 1.5),
    (lambda: np.delete(np.arange(5), integers(1, 9, -1)).tolist(), [0, 2, 3, 4]),
    (lambda: np.delete(np.ones((3, 4)), slice(0, 4, 2), axis=1).shape, (3, 2)),
    (lambda: np.delete(np.ones((3, 1)), 0, axis=1).shape, (3, 0)),
    (lambda: np.shares_memory(*(lambda a: (a[:1], a[2:]))(np.ones((3, 4)))), False),
    (lambda: np.may_share_memory(*(lambda a: (a[:2], a[1:]))(np.ones((3, 4)))), True),
    (lambda: onp.isnan(np.var(np.ones((2, 2)), axis=(), ddof=1).asnumpy()).all(), True),
    (lambda: [p.shape for p in np.split(np.ones((0, 3)), [3, 1])], [(0, 3)] * 3),
    (lambda: [p.shape for p in np.hsplit(np.ones((3, 0)), [0, 2, 4])], [(3, 0)] * 4),
    (lambda: [p.shape for p in np.dsplit(np.ones((2, 3, 0)), [2])], [(2, 3, 0)] * 2),
    (lambda: np.array([1621, -1], dtype="uint8").tolist(), [85, 255]),
    (lambda: np.array([2**40], dtype="int32").tolist(), [0]),
]


@pytest.mark.parametrize(("compute", "expected"), VALUES)
def test_values(compute, expected):
    assert compute() == expected


REFUSED = [
    (lambda x: np.exp(x, dtype="abcdefg"), TypeError),
    (lambda x: np.exp(x, dtype=onp.int8), NotImplementedError),
    (lambda x: np.add(x, x, order="C"), NotImplementedError),
    (lambda x: np.add(x, x, casting="mxnet"), TypeError),
    (lambda x: np.isnan(x, out=np.zeros(2)), TypeError),
    (lambda x: np.transpose(np.ones((3, 4, 5)), (0, 0, 1)), ValueError),
    (lambda x: np.transpose(np.ones((3, 4, 5)), (0, 1)), mx.MXNetError),
    (lambda x: np.delete(x, 7), IndexError),
    (lambda x: np.polyval(x, 3), TypeError),
    (lambda x: np.split(np.ones((4, 3)), [3, 1]), mx.MXNetError),
    *[(lambda x, v=v: np.array(v), TypeError) for v in ([[1], [1, 2]], ["a"], [1 + 2j])],
    (lambda x: np.linalg.eigvalsh(np.ones((2, 2), dtype="float16")), mx.MXNetError),
]


@pytest.mark.parametrize(("call", "error"), REFUSED)
def test_refused(call, error):
    with pytest.raises(error):
        call(floats(1.0, 2.0))


def test_sums_are_narrowed_last():
    x = np.full((4096,), 1.0009765625)  # one more than half precision can add to itself
    assert x.sum(dtype="float16").item() == onp.float16(x.asnumpy().astype("float64").sum())


def test_pseudo_inverses_with_a_limit_for_each():
    a = floats([[1.0, 2.0], [3.0, 5.0]], [[1.0, 2.0], [3.0, 5.0]])
    inverse = np.linalg.pinv(a, floats(0.3, 1e-6)).asnumpy()
    onp.testing.assert_allclose(inverse[0], [[0.02896862, 0.07570688], [0.04937334, 0.12903282]], rtol=1e-5)
    onp.testing.assert_allclose(inverse[1], [[-5.0, 2.0], [3.0, -1.0]], rtol=1e-3)


def test_equals_have_one_gradient_and_what_is_kept_has_its_own():
    x, y = floats(1.0, 2.0, 3.0), floats(1.0, 5.0, 0.0)
    for array in (x, y):
        array.attach_grad()
    with autograd.record():
        loss = np.maximum(x, y).sum() + np.delete(x, integers(1)).sum() * 10
    loss.backward()
    assert x.grad.tolist() == [11, 0, 11] and y.grad.tolist() == [0, 1, 0]


class Polynomial(gluon.HybridBlock):
    """A polynomial, and an array filled with a value of the graph."""

    def hybrid_forward(self, F, p, x):
        return F.np.polyval(p, x) + F.np.full((3,), F.np.sum(x))


def test_polynomials_and_fillings_are_part_of_graphs():
    block = Polynomial()
    block.hybridize()
    assert block(floats(1.0, 2.0), floats(1.0, 2.0, 3.0)).tolist() == [9.0, 10.0, 11.0]
    assert block._cached_op is not None


def test_numpy_computes_what_mxnet_leaves_to_it():
    a = floats([2.0, 1.0], [1.0, 3.0])
    q, r = np.linalg.qr(a)
    assert type(q) is np.ndarray and q.dtype == onp.float32
    onp.testing.assert_allclose(np.dot(q, r).asnumpy(), a.asnumpy(), rtol=1e-6)
    onp.testing.assert_allclose(np.linalg.lstsq(a, floats(1.0, 2.0), rcond=None)[0].asnumpy(), [0.2, 0.6], rtol=1e-6)
    assert type(onp.linalg.matrix_power(a, 2)) is np.ndarray


def test_functions_of_numpy_take_these_arrays():
    from mxnet.numpy_dispatch_protocol import _NUMPY_ARRAY_FUNCTION_LIST, with_array_function_protocol

    @with_array_function_protocol
    def failing():
        return onp.concatenate([np.ones((2, 2)), np.ones(3)])

    with pytest.raises(RuntimeError, match="array function protocol failed"):
        failing()
    assert "concatenate" in _NUMPY_ARRAY_FUNCTION_LIST
    assert type(onp.concatenate([np.ones(2), np.ones(3)])) is np.ndarray


class Places(gluon.HybridBlock):
    """Where elements are not zero, and a check that a graph makes."""

    def hybrid_forward(self, F, x):
        return F.npx.nonzero(x), F.npx.constraint_check(x > -1, "too small")


def test_graphs_look_for_places_and_check():
    block = Places()
    block.hybridize()
    places, passed = block(floats(0.0, 2.0, 3.0))
    assert places.tolist() == [[1], [2]] and passed.item() and block._cached_op is not None
    with pytest.raises(ValueError, match="too small"):
        block(floats(0.0, -2.0))


def test_names_where_mxnet_has_them():
    from mxnet.numpy.function_base import meshgrid
    from mxnet.numpy.multiarray import array, zeros
    from mxnet.numpy_extension.utils import load, save

    assert (array, zeros, meshgrid) == (np.array, np.zeros, np.meshgrid) and (load, save) == (npx.load, npx.save)
    assert npx.image.imread is mx.image.imread and mx.rnn.load_checkpoint is mx.model.load_checkpoint


def test_evenly_spaced_halves_are_rounded_as_mxnet_does():
    """By way of NumPy, whose steps are computed in another order, it would be 25008 and 50016."""
    numbers = np.linspace(0.001, 1e5, 12345, dtype="float16").asnumpy()
    assert numbers[[3086, 6172]].tolist() == [24992.0, 49984.0]


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [  # recorded from MXNet 1.9.1
        ("float16", [-0.98052978515625, 0.7967529296875, 3.125244140625]),
        ("float32", [-0.9800000786781311, 0.7972000241279602, 3.123999834060669]),
        ("float64", [-0.980000039935112, 0.7972000360488892, 3.123999905586243]),
    ],
)
def test_percentiles_are_rounded_as_mxnet_rounds_them(dtype, wanted):
    """Each neighbour's part to the input's type, by shares of single precision."""
    data = np.array([0.1, -1.7, 3.3, 2.2, 9.7], dtype=dtype)
    assert [float(np.percentile(data, q)) for q in (10, 33.3, 71)] == wanted


@pytest.mark.parametrize(("name", "value"), [("softmax", 1.0), ("log_softmax", 0.0)])
@pytest.mark.parametrize("attrs", [{}, {"axis": 0}, {"axis": -1}, {"temperature": 2.0}, {"dtype": "float64"}])
def test_softmax_of_an_array_without_axes(name, value, attrs):
    x = np.array(2.5)
    x.attach_grad()
    with autograd.record():
        y = getattr(npx, name)(x, **attrs)
    y.backward()
    assert y.shape == () and y.dtype == attrs.get("dtype", "float32") and y.item() == value and x.grad.item() == 0


def test_softmax_of_an_array_without_axes_has_no_second_axis():
    with pytest.raises(mx.MXNetError):
        npx.softmax(np.array(2.5), axis=1)


PLACES = [0, slice(0, 1), onp.array([0])]


@pytest.mark.parametrize("axis", [0, -1, 1, 5])
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_along_an_axis_an_array_without_axes_stays_as_it_is(place, axis):
    place = np.array(place, dtype="int64") if isinstance(place, onp.ndarray) else place
    for result in (np.insert(np.array(3.0), place, 5.0, axis=axis), np.delete(np.array(3.0), place, axis=axis)):
        assert result.shape == () and result.item() == 3
    if not isinstance(place, np.ndarray):
        with pytest.raises(mx.MXNetError):
            np.insert(np.array(3.0), place, np.array([5.0, 6.0]), axis=axis)


@pytest.mark.parametrize("place", [slice(1, -2, -1), slice(5, 2, 1), slice(2, 5, -1), slice(8, 8)], ids=str)
def test_a_slice_without_places_inserts_nothing(place):
    """As in MXNet and NumPy."""
    data = np.arange(10, dtype="float32")
    assert np.insert(data, place, np.array([])).tolist() == data.tolist()
    table = np.arange(6, dtype="int32").reshape(3, 2)
    assert np.insert(table, slice(-5, -1, -1), np.ones((3, 1), dtype="int32"), axis=1).tolist() == table.tolist()


def test_counts_of_an_array_without_axes():
    three = np.array(3, dtype="int32")
    assert np.bincount(three).tolist() == [0, 0, 0, 1]
    assert np.bincount(three, weights=np.array(2.0)).tolist() == [0, 0, 0, 2]
    assert np.bincount(three, minlength=6).tolist() == [0, 0, 0, 1, 0, 0]
    with pytest.raises(mx.MXNetError):
        np.bincount(np.ones((2, 2), dtype="int32"))


@pytest.mark.parametrize("call", [npx.relu, npx.sigmoid, lambda x: x - x, lambda x: x % x], ids=range(4))
def test_booleans_without_elements_have_every_function(call):
    result = call(np.ones((2, 0), dtype="bool"))
    assert result.shape == (2, 0) and result.dtype == "bool"
    with pytest.raises(mx.MXNetError):
        call(np.ones((2,), dtype="bool"))


def test_the_least_common_multiple_of_booleans():
    both = np.array([True, False], dtype="bool")
    assert np.lcm(both, np.ones(2, dtype="bool")).tolist() == [True, False]


@pytest.mark.parametrize("call", [np.add, np.multiply, np.subtract, np.power, np.mod])
def test_bytes_with_and_without_sign_are_int32_together(call):
    for shape in ((0, 2), (2,)):  # MXNet knows the type, but computes only where there is nothing
        one, other = np.ones(shape, dtype="int8"), np.ones(shape, dtype="uint8")
        assert call(one, other).dtype == call(other, one).dtype == "int32"


def test_uneven_pieces_side_by_side():
    assert [p.shape for p in np.hsplit(np.ones((2, 5)), 3)] == [(2, 2), (2, 2), (2, 1)]
    assert [p.shape for p in np.hsplit(np.ones((1, 1)), 2)] == [(1, 1), (1, 0)]
    for call, shape in ((np.vsplit, (3, 2)), (np.dsplit, (1, 1, 3))):
        with pytest.raises(ValueError, match="equal division"):
            call(np.ones(shape), 2)


def test_systems_are_solved_in_double_precision_unless_both_are_in_single():
    matrix = [[2, 1], [1, 3]]
    for one, other in (("float32", "float64"), ("float32", "int8"), ("int32", "int32"), ("float32", "float32")):
        found = np.linalg.solve(np.array(matrix, dtype=one), np.array(matrix, dtype=other))
        assert found.dtype == ("float32" if one == other == "float32" else "float64")
        assert onp.allclose(found.asnumpy(), onp.eye(2), atol=1e-6)
    with pytest.raises(mx.MXNetError, match="float16"):
        np.linalg.solve(np.array(matrix, dtype="float16"), np.array(matrix))


@pytest.mark.parametrize("axis", [0, -1])
def test_averages_and_different_elements_of_an_array_without_axes(axis):
    three = np.array(3.0)
    mean, total = np.average(three, axis=axis, weights=np.array(2.0), returned=True)
    assert (mean.shape, mean.item(), total.item()) == ((), 3, 2)
    assert [a.tolist() for a in np.unique(three, axis=axis, return_counts=True, return_index=True)] == [[3], [0], [1]]


@pytest.mark.parametrize(("shape", "axis"), [((4, 0, 5), -2), ((0, 5), 0), ((2, 0, 1), 0)])
def test_different_elements_of_nothing(shape, axis):
    found, counts = np.unique(np.ones(shape), axis=axis, return_counts=True)
    assert found.shape == counts.shape == (0,)


def test_quantiles_of_no_rows():
    assert np.quantile(np.ones((0, 2)), 0.3, axis=-1).shape == (0,)
    assert np.quantile(np.ones((3, 0, 2)), 0.3, axis=-1, keepdims=True).shape == (3, 0, 1)


@pytest.mark.parametrize(("ddof", "all_three", "each"), [(3, math.inf, 0.0), (4, 2.529805241462138e-19, 0.0)])
def test_more_degrees_of_freedom_than_elements(ddof, all_three, each):
    """MXNet divides by their difference as a number without sign."""
    x = np.array([1.0, 2.0, 4.0])
    assert np.var(x, ddof=ddof).item() == pytest.approx(all_three, rel=1e-6)
    assert np.var(x, axis=(), ddof=ddof).tolist() == [each] * 3
    assert math.isnan(np.var(x, axis=(), ddof=1)[0].item())


def test_the_deviation_of_what_is_no_number():
    assert onp.isnan(np.std(np.array([math.nan, math.inf, 1.0]), axis=()).asnumpy()).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("dtype", "value", "wanted"),
    [("uint8", -1.5, 255), ("uint8", 300.7, 44), ("uint8", -300.5, 212), ("int8", -1.5, -1), ("int8", 300.7, 44),
     ("int32", 3e10, -2147483648)],
)  # fmt: skip
def test_numbers_to_be_inserted_are_cast_as_cpp_casts(dtype, value, wanted):
    assert np.insert(np.array([1, 2, 3], dtype=dtype), 1, value).asnumpy().tolist() == [1, wanted, 2, 3]


@pytest.mark.parametrize("kind", ["max", "avg", "sum", "lp"])
def test_images_without_channels_are_pooled(kind):
    images = np.zeros((2, 0, 4, 4))
    images.attach_grad()
    with autograd.record():
        found = npx.pooling(images, kernel=(2, 2), pool_type=kind, p_value=2)
    found.backward()
    assert found.shape == (2, 0, 3, 3) and images.grad.shape == images.shape


@pytest.mark.parametrize("value", [3.0, float("-inf")])
def test_an_array_without_axes_has_no_quantiles(value):
    with pytest.raises(mx.MXNetError, match="Invalid axis"):
        np.quantile(np.array(value), 0.5)


def test_names_that_numpy_2_dropped():
    x = np.array([[3.0, 1.0], [2.0, 5.0]])
    assert not np.alltrue(x > 1) and np.alltrue(x > 0, axis=0).asnumpy().tolist() == [True, True]
    assert np.in1d(x, np.array([5.0, 3.0])).asnumpy().tolist() == [True, False, False, True]
    assert np.in1d(x, np.array([5.0, 3.0]), invert=True).asnumpy().tolist() == [False, True, True, False]
    assert np.msort(x).asnumpy().tolist() == [[2, 1], [3, 5]]
    assert np.trapz(x).asnumpy().tolist() == [2, 3.5] and np.trapz(x, dx=2.0, axis=0).asnumpy().tolist() == [5, 6]


@pytest.mark.parametrize(("length", "wanted"), [(1, 1), (0, 0)])
def test_softmax_of_one_number_with_a_length(length, wanted):
    found = npx.softmax(np.array(2.0), axis=0, length=np.array(length, dtype="int32"), use_length=True)
    assert found.shape == () and found.item() == wanted
