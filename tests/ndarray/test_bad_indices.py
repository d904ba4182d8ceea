"""Sparse arrays whose indices lead out of them: they can be made, as in MXNet, but no operator gets them."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd

MATRICES = {
    "column too large": ([10**6] * 3, [0, 3]),
    "column beyond memory": ([2**40] * 3, [0, 3]),
    "negative column": ([-(10**6)] * 3, [0, 3]),
    "row of more elements than there are": ([1] * 3, [0, 10**7]),
    "rows that overlap": ([1] * 3, [0, -5, 3]),
    "late start": ([1] * 3, [10**7, 3]),
    "too few rows": ([1] * 3, [3]),
}
ROWS = {"row too large": [10**6], "row beyond memory": [2**40], "negative row": [-(10**6)]}


def matrix(columns, starts):
    rows = max(len(starts) - 1, 1)
    return nd.sparse.csr_matrix((np.ones(len(columns), "float32"), columns, starts), shape=(rows, 8))


def rows(numbers):
    return nd.sparse.row_sparse_array((np.ones((len(numbers), 4), "float32"), numbers), shape=(6, 4))


USES = {
    "dot": lambda a: nd.sparse.dot(a, nd.ones((8, 64))),
    "transposed dot": lambda a: nd.sparse.dot(a, nd.ones((a.shape[0], 64)), transpose_a=True),
    "add": lambda a: nd.sparse.add(a, a),
    "multiply": lambda a: a * nd.ones(a.shape),
    "abs": nd.abs,
    "sum": lambda a: nd.sum(a, axis=0),
    "slice": lambda a: a[0:1],
    "dense": lambda a: a.tostype("default"),
    "numpy": lambda a: a.asnumpy(),
    "scipy": lambda a: a.asscipy(),
    "copy": lambda a: a.copy(),
}
UPDATES = {
    "sgd": lambda a: nd.sgd_update(nd.ones((6, 4)), a, lr=0.1),
    "adam": lambda a: nd.adam_update(nd.ones((6, 4)), a, nd.ones((6, 4)), nd.ones((6, 4)), lr=0.1),
    "adagrad": lambda a: nd.sparse.adagrad_update(nd.ones((6, 4)), a, nd.ones((6, 4)), lr=0.1),
    "retain": lambda a: nd.sparse.retain(a, nd.array([0, 1])),
    "add": lambda a: nd.sparse.add(a, a),
    "numpy": lambda a: a.asnumpy(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("parts", MATRICES.values(), ids=MATRICES)
def test_a_matrix_is_refused_where_it_is_used(parts, use):
    bad = matrix(*parts)
    with pytest.raises(mx.MXNetError, match="a csr array of shape .* cannot be used: Check failed"):
        use(bad)


@pytest.mark.parametrize("use", UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("numbers", ROWS.values(), ids=ROWS)
def test_rows_are_refused_where_they_are_used(numbers, use):
    bad = rows(numbers)
    with pytest.raises(mx.MXNetError, match="a row_sparse array of shape .* cannot be used: Check failed"):
        use(bad)


def test_it_can_be_made_and_looked_at_as_in_mxnet():
    bad = matrix(*MATRICES["column too large"])
    assert isinstance(bad, nd.sparse.CSRNDArray) and type(bad).__name__ == "CSRNDArray"
    assert (bad.shape, bad.stype, bad.dtype, "CSRNDArray 1x8" in repr(bad)) == ((1, 8), "csr", np.float32, True)
    assert bad.indices.asnumpy().tolist() == [10**6] * 3 and bad.indptr.asnumpy().tolist() == [0, 3]
    with pytest.raises(mx.MXNetError, match="kCSRIdxErr"):
        bad.check_format()
    bad.check_format(full_check=False)


def test_it_is_sound_when_it_was_written_to():
    bad, good = rows([10**6]), rows([1])
    good.copyto(bad)
    assert type(bad) is nd.sparse.RowSparseNDArray
    np.testing.assert_array_equal(bad.asnumpy(), good.asnumpy())


def test_order_and_repetition_are_not_asked_for():
    assert type(rows([3, 1])) is type(rows([1, 1])) is nd.sparse.RowSparseNDArray
    assert matrix([2, 1, 1], [0, 3]).asnumpy().tolist() == [[0, 2, 1, 0, 0, 0, 0, 0]]
