"""Operators on the stored elements of matrices give what they give on dense ones, and keep MXNet's elements."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet._ops.sparse import parts as _parts


def few(seed, shape=(40, 30), dtype="float32"):
    random = np.random.RandomState(seed)
    values = random.randint(-2, 3, shape) * (random.rand(*shape) < 0.3)
    values[3] = 0
    return nd.array(values, dtype=dtype).tostype("csr")


def parts(array):
    return [part.asnumpy().tolist() for part in (array.data, array.indices, array.indptr)]


def same(found, wanted, stype="csr"):
    assert found.stype == stype and found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.asnumpy(), wanted.asnumpy())
    if stype == "csr":
        found.check_format()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("name", ["elemwise_add", "elemwise_sub", "elemwise_mul", "_maximum", "_minimum"])
def test_two_matrices(name, dtype):
    one, other = few(0, dtype=dtype), few(1, dtype=dtype)
    call = getattr(nd._internal, name) if name.startswith("_") else getattr(nd.sparse, name)
    found = call(one, other)
    same(found, call(one.tostype("default"), other.tostype("default")))
    assert parts(found) == parts(found.tostype("default").tostype("csr"))  # no zeros are kept


def test_products_of_what_is_not_finite():
    """Infinity times what is not there is no number, as in MXNet."""
    one = nd.sparse.csr_matrix(([np.inf, np.nan, 2, 0], [0, 2, 3, 1], [0, 3, 4]), shape=(2, 4))
    product = one * nd.sparse.csr_matrix(([5.0, 7], [3, 1], [0, 1, 2]), shape=(2, 4))
    np.testing.assert_equal(parts(product), [[np.nan, np.nan, 10], [0, 2, 3], [0, 3, 3]])


def test_without_elements():
    nothing, ones = nd.sparse.zeros("csr", (3, 4)), nd.ones((3, 4))
    for array in (nothing * nothing, nothing + nothing, nothing * ones, nd.broadcast_mul(nothing, ones[:1])):
        assert array.stype == "csr" and parts(array) == [[], [], [0, 0, 0, 0]]
    assert nothing.norm().asnumpy().tolist() == [0] and nothing.norm(axis=0).asnumpy().tolist() == [0] * 4
    assert parts(nd.dot(nd.ones((2, 3)), nothing)) == [[], [], [0, 0, 0]]
    assert nd.dot(nothing, ones.T).asnumpy().tolist() == [[0] * 3] * 3
    assert len(nd.dot(nothing, ones, transpose_a=True).indices) == 0
    assert parts(nd.take(nothing, nd.array([1, 1]))) == [[], [], [0, 0, 0]]


@pytest.mark.parametrize("shape", [(1,), (1, 1), (30,), (1, 30), (40, 1), (40, 30)])
@pytest.mark.parametrize("call", [nd.broadcast_mul, nd.broadcast_div])
def test_times_numbers_rows_and_columns(call, shape):
    matrix, factor = few(0), nd.array(np.random.RandomState(2).rand(*shape) + 1)
    found = call(matrix, factor)
    same(found, call(matrix.tostype("default"), factor))
    assert parts(found)[1:] == parts(matrix)[1:]


def test_times_what_is_not_contiguous():
    matrix, dense = few(0), nd.array(np.random.RandomState(2).rand(30, 40)).T
    same(nd.elemwise_mul(matrix, dense), matrix.tostype("default") * dense)
    same(nd.elemwise_mul(dense, matrix), matrix.tostype("default") * dense)
    column = few(0, (5, 1))
    same(
        nd.broadcast_mul(column, nd.arange(5).reshape((5, 1))), column.tostype("default") * nd.arange(5).reshape((5, 1))
    )


def test_what_cannot_be_broadcast_is_refused():
    with pytest.raises(mx.MXNetError):
        nd.broadcast_mul(few(0), nd.ones((7,)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("attrs", [{}, {"keepdims": True}, {"axis": 0}, {"axis": 1}, {"axis": (-1,), "keepdims": True}])
@pytest.mark.parametrize("order", [1, 2])
def test_norms(order, attrs, dtype):
    matrix = few(0, dtype=dtype)
    found, wanted = matrix.norm(ord=order, **attrs), matrix.tostype("default").norm(ord=order, **attrs)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype and found.stype == "default"
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-6)


def test_the_gradient_of_a_norm_and_of_a_product():
    matrix, other = few(0), few(1)
    for array in (matrix, other):
        array.attach_grad()
    with mx.autograd.record():
        total = (matrix * other).sum() + matrix.norm()
    total.backward()
    wanted = other.asnumpy() + matrix.asnumpy() / matrix.norm().asscalar()
    assert matrix.grad.stype == other.grad.stype == "csr"
    np.testing.assert_allclose(matrix.grad.asnumpy(), wanted, rtol=1e-5)
    np.testing.assert_array_equal(other.grad.asnumpy(), matrix.asnumpy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_products_with_dense_ones(first, across, turned, stype, dtype):
    """The matrix on either side, either one transposed, with the gradient of the dense one."""
    matrix = few(0, dtype=dtype)
    inner = matrix.shape[0 if (across if first else not turned) else 1]
    other = turned if first else not across
    dense = nd.array(np.random.RandomState(3).rand(*((7, inner) if other else (inner, 7))), dtype=dtype)
    dense.attach_grad()
    attrs = {"transpose_a": across, "transpose_b": turned}

    def call(matrix, **more):
        return nd.dot(*((matrix, dense) if first else (dense, matrix)), **attrs, **more)

    with mx.autograd.record():
        wanted = call(matrix.tostype("default"))
    wanted.backward()
    slope, found = dense.grad.copy(), call(matrix, forward_stype=stype)
    assert found.stype == stype and found.dtype == wanted.dtype
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-5, atol=1e-5)
    with mx.autograd.record():
        found = call(matrix, forward_stype=stype)
    assert found.stype == stype
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-5, atol=1e-5)
    found.backward()
    np.testing.assert_allclose(dense.grad.asnumpy(), slope.asnumpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("recorded", [False, True])
def test_a_dense_one_times_a_matrix_has_all_columns_of_it(recorded):
    """MXNet's answer: zeros of columns that the matrix stores are kept in each row."""
    matrix = nd.sparse.csr_matrix(([5.0, 6, 7, 0], [0, 1, 0, 2], [0, 2, 3, 4]), shape=(3, 4))
    left = nd.array([[1, 2, 3], [4, 5, 6]])
    if recorded:
        left.attach_grad()
    with mx.autograd.record(recorded):
        product = nd.dot(left, matrix)
    assert product.stype == "csr"
    assert parts(product) == [[19, 6, 0, 55, 24, 0], [0, 1, 2, 0, 1, 2], [0, 3, 6]]


def test_rows_that_are_taken_keep_their_zeros():
    matrix = nd.sparse.csr_matrix(([5.0, 6, 7, 0], [0, 1, 0, 2], [0, 2, 3, 4]), shape=(3, 4))
    assert parts(nd.take(matrix, nd.array([2, 0, 2]))) == [[0, 5, 6, 0], [2, 0, 1, 2], [0, 1, 3, 4]]
    assert parts(nd.take(matrix, nd.array([7, -3], dtype="int32"))) == [[0, 5, 6], [2, 0, 1], [0, 1, 3]]
    assert parts(nd.take(matrix, nd.array([7, -3]), mode="wrap")) == [[7, 5, 6], [0, 0, 1], [0, 1, 3]]
    assert nd.take(matrix, nd.array([1]), axis=1).stype == "default"


@pytest.mark.parametrize("most", [1, 9, 1 << 16, 1 << 40])
def test_the_order_of_numbers(most):
    import torch

    numbers = torch.from_numpy(np.random.RandomState(0).randint(0, most, 3000))
    assert _parts._stable_argsort(numbers).equal(torch.argsort(numbers, stable=True))


def test_retained_rows():
    rows = nd.sparse.row_sparse_array((np.array([[1, np.inf], [2, 0]]), [1, 3]), shape=(5, 2))
    for wanted in ([1, 2, 4], [4, 1, 2, 1]):
        kept = nd.sparse.retain(rows, nd.array(wanted))
        assert kept.indices.asnumpy().tolist() == [1, 2, 4] and kept.data.asnumpy().tolist() == [
            [1, np.inf],
            [0, 0],
            [0, 0],
        ]
    kept = nd.sparse.retain(nd.sparse.zeros("row_sparse", (5, 2)), nd.array([1]))
    assert kept.data.shape == (0, 2) and kept.indices.shape == (0,)


def test_retained_rows_of_a_variable():
    """What is left out is zero, even where it is infinite."""
    rows = nd.sparse.row_sparse_array((np.array([[1, np.inf], [2, 0]]), [1, 3]), shape=(5, 2))
    rows.attach_grad()
    with mx.autograd.record():
        kept = nd.sparse.retain(rows, nd.array([3]))
    kept.backward()
    assert kept.asnumpy().tolist() == [[0, 0]] * 3 + [[2, 0], [0, 0]]
    assert rows.grad.asnumpy().tolist() == [[0, 0]] * 3 + [[1, 1], [0, 0]]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_means_of_integers_stay_integers(dtype):
    """Of csr along an axis; those of dense arrays are floats."""
    rows = nd.array([[1, 2], [4, 0], [7, 0]], dtype=dtype).tostype("csr")
    for axis, means in ((0, [4, 0]), (1, [1, 2, 3])):
        found = nd.mean(rows, axis=axis)
        assert found.asnumpy().dtype == dtype and found.asnumpy().tolist() == means


def test_rows_that_are_not_there_cannot_be_retained():
    rows = nd.ones((3, 2)).tostype("row_sparse")
    for wanted in ([-1], [3]):
        with pytest.raises(mx.MXNetError, match="has rows 0 to 2"):
            nd.sparse.retain(rows, nd.array(wanted))


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_casts_are_recorded(stype, dtype):
    x = nd.array([[1, 0], [2, 3]])
    x.attach_grad()
    with mx.autograd.record():
        y = x.tostype(stype).astype(dtype)
    y.backward()
    assert y.stype == stype and y.asnumpy().dtype == dtype and (x.grad.asnumpy() == 1).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float16"])
def test_sums_keep_their_type(dtype):
    rows = nd.array([[1, 2], [0, 0], [3, 0]], dtype=dtype).tostype("row_sparse")
    total = nd.add_n(rows, rows).asnumpy()
    assert total.dtype == dtype and total.tolist() == [[2, 4], [0, 0], [6, 0]]
