"""Sparse arrays times dense ones, and rows that are retained, by compiled loops: what places that are picked give."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import nd
from mxnet._kernels.sparse import merge

pytest.importorskip("numba")


@pytest.fixture
def both(both_ways):
    """Results of the loops, after they were found to be those of torch's calls."""
    if merge._code.get(wait=True) is None:
        pytest.skip("no kernels for this processor")

    def run(function, used=True):
        plain, quick = both_ways(function, used=used)
        assert quick.stype == plain.stype and quick.dtype == plain.dtype and quick.shape == plain.shape
        for one, other in zip(quick._parts, plain._parts, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one.numpy(), other.numpy())
        return quick

    return run


def few(shape, share=0.3, dtype="float32"):
    random = np.random.RandomState(shape[0])
    numbers = random.randn(*shape) * (random.rand(*shape) < share)
    return nd.array(numbers, dtype=dtype).tostype("csr")


SHAPES = [(1, 1), (7, 1), (1, 7), (40, 30), (300, 70)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_times_its_own_shape(shape, dtype, both):
    matrix, dense = few(shape, 0.6, dtype), nd.array(np.random.RandomState(0).randn(*shape), dtype=dtype)
    for pair in ((matrix, dense), (dense, matrix)):
        product = both(lambda pair=pair: nd.elemwise_mul(*pair), used=dtype == "float32")
        np.testing.assert_array_equal(product.asnumpy(), matrix.asnumpy() * dense.asnumpy())


@pytest.mark.parametrize("call", [nd.broadcast_mul, nd.broadcast_div])
@pytest.mark.parametrize("shape", SHAPES)
def test_times_and_by_a_row_a_column_and_a_number(shape, call, both):
    matrix, random = few(shape), np.random.RandomState(1)
    for other in ((1, shape[1]), (shape[0], 1), (1, 1), (shape[1],), (1,), shape):
        factors = nd.array(random.rand(*other) + 0.5)
        found = both(lambda factors=factors: call(matrix, factors))
        np.testing.assert_array_equal(found.asnumpy(), call(matrix.tostype("default"), factors).asnumpy())


def test_special_numbers_and_turned_ones(both):
    special = np.resize([np.nan, np.inf, -np.inf, 0, 1e-45, 3e38], (40, 30)).astype(np.float32)
    matrix = few((40, 30))
    both(lambda: nd.elemwise_mul(matrix, nd.array(special)))
    both(lambda: nd.broadcast_div(matrix, nd.array(special[:1])))
    both(lambda: nd.elemwise_mul(nd.array(special).tostype("csr"), nd.array(special.T.copy()).T))
    both(lambda: nd.elemwise_mul(nd.sparse.zeros("csr", (40, 30)), nd.array(special)), used=False)


@pytest.mark.parametrize("columns", [[0, 9], [-1, 0]])
def test_elements_beside_the_matrix_are_left_to_the_plain_way(columns):
    code = merge._code.get(wait=True)
    parts = torch.ones(2), torch.tensor(columns), torch.tensor([0, 1, 2])
    dense, result = torch.ones(2, 9), torch.empty(2)
    places = [t.data_ptr() for t in (*parts, dense, result)]
    assert not code.multiply_dense(*places, False, 2, 2, 9, 9, 1)
    parts[1].copy_(torch.tensor([0, 8]))
    assert code.multiply_dense(*places, False, 2, 2, 9, 9, 1)
    for starts in ([0, 3, 2], [0, 1, 3], [1, 1, 2], [0, -1, 2]):
        parts[2].copy_(torch.tensor(starts))
        assert not code.multiply_dense(*places, False, 2, 2, 9, 9, 1)


def rows(dtype="float32", width=(3,)):
    dense = np.random.RandomState(0).randint(1, 9, (20, *width)) * (np.arange(20) % 3 > 0).reshape(
        -1, *[1] * len(width)
    )
    return nd.array(dense, dtype=dtype).tostype("row_sparse")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64"])
@pytest.mark.parametrize("asked", [[0], [1, 2], [2, 1, 2], range(20), [19], [0, 3, 6]], ids=str)
def test_retained_rows(asked, dtype, both):
    for width in ((3,), (2, 5), (1,)):
        array, index = rows(dtype, width), nd.array(list(asked))
        found = both(lambda array=array, index=index: nd.sparse.retain(array, index))
        kept = np.isin(np.arange(20), list(asked)).reshape(-1, *[1] * len(width))
        np.testing.assert_array_equal(found.asnumpy(), array.asnumpy() * kept)


def test_rows_that_the_array_does_not_have_are_refused():
    with pytest.raises(mx.MXNetError, match="rows 0 to 19"):
        nd.sparse.retain(rows("float32", (3,)), nd.array([4, 25]))


def test_retained_of_nothing_and_of_what_is_not_in_order(both):
    both(lambda: nd.sparse.retain(nd.sparse.zeros("row_sparse", (20, 3)), nd.array([1, 2])), used=False)
    both(lambda: nd.sparse.retain(nd.sparse.row_sparse_array((np.ones((2, 3)), [4, 2]), shape=(20, 3)), nd.array([5])))


def test_results_keep_their_places():
    """Whoever asks for the places gets copies, and an index may be written to after the call."""
    matrix, index = few((40, 30)), nd.array([1, 2], dtype="int64")
    product, kept = matrix * nd.ones((40, 30)), nd.sparse.retain(rows(), index)
    expected = matrix.asnumpy(), kept.asnumpy()
    product.indices[:], matrix.indptr[:], index[:] = 0, 0, 5
    np.testing.assert_array_equal(product.asnumpy(), expected[0])
    np.testing.assert_array_equal(kept.asnumpy(), expected[1])
    assert kept.asnumpy()[1:3].all()
