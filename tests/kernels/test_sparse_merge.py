"""Sums and products of csr matrices by a compiled loop are what sorting gives; what has no order is left to that."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet._kernels import tuning
from mxnet._kernels.runtime.loader import CompiledModule
from mxnet._kernels.sparse import merge

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def at_once():
    if merge._code.get(wait=True) is None:
        pytest.skip("no kernels for this processor")


def few(seed, shape=(40, 30)):
    random = np.random.RandomState(seed)
    return nd.array(random.randint(-2, 3, shape) * (random.rand(*shape) < 0.3)).tostype("csr")


def parts(array):
    return [part.asnumpy() for part in (array.data, array.indices, array.indptr)]


@pytest.mark.parametrize("call", [nd.sparse.add, nd.sparse.subtract, nd.sparse.multiply])
@pytest.mark.parametrize("seeds", [(0, 1), (0, 0)])
def test_sums_differences_and_products(call, seeds):
    one, other = map(few, seeds)
    assert merge.merge_csr(one._parts, other._parts, "elemwise_add") is not None
    quick = call(one, other)
    with mx.runtime.kernels_off():
        slow = call(one, other)
    for found, wanted in zip(parts(quick), parts(slow), strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(quick.asnumpy(), call(one.tostype("default"), other.tostype("default")).asnumpy())


def test_nan_and_rows_without_elements():
    one = nd.sparse.csr_matrix(([np.nan, 1], [1, 2], [0, 0, 2, 2]), shape=(3, 4))
    total = nd.sparse.add(one, nd.sparse.csr_matrix(([-1.0], [2], [0, 0, 1, 1]), shape=(3, 4)))
    np.testing.assert_array_equal(total.data.asnumpy(), [np.nan])
    np.testing.assert_array_equal(total.indptr.asnumpy(), [0, 0, 1, 1])


def test_products_of_what_is_not_finite():
    one = nd.sparse.csr_matrix(([np.inf, np.nan, 2], [0, 2, 3], [0, 3, 3]), shape=(2, 4))
    product = one * nd.sparse.csr_matrix(([5.0, 7], [3, 1], [0, 1, 2]), shape=(2, 4))
    np.testing.assert_array_equal(product.data.asnumpy(), [np.nan, np.nan, 10])
    np.testing.assert_array_equal(product.indptr.asnumpy(), [0, 3, 3])


def test_few_elements_do_not_load_a_compiler(monkeypatch):
    one, code = few(0, (4, 4)), CompiledModule("sparse.merge_kernels", after=tuning.SPARSE_COMPILE)
    assert merge.merge_csr(one._parts, one._parts, "elemwise_mul") is not None
    monkeypatch.setattr(merge.merge_csr, "code", code)
    assert merge.merge_csr(one._parts, one._parts, "elemwise_mul") is None
    assert code._future is None and 0 < code._work < 100


def test_what_is_not_in_order():
    fine, unsorted = few(0, (1, 9)), nd.sparse.csr_matrix(([1.0, 2, 3], [2, 0, 2], [0, 3]), shape=(1, 9))
    assert merge.merge_csr(fine._parts, unsorted._parts, "elemwise_add") is None
    starts = fine._parts[2].clone()
    starts[-1] += 1000  # behind the end
    assert merge.merge_csr((*fine._parts[:2], starts), fine._parts, "elemwise_add") is None
    total = nd.sparse.add(unsorted, unsorted)
    np.testing.assert_array_equal(total.asnumpy(), [[4, 0, 8, 0, 0, 0, 0, 0, 0]])


def some_rows(seed, count=12, shape=(40, 3, 2)):
    random = np.random.RandomState(seed)
    rows = np.sort(random.choice(shape[0], count, replace=False))
    return nd.sparse.row_sparse_array((random.randint(-2, 3, (count, *shape[1:])), rows), shape=shape, dtype="float32")


@pytest.mark.parametrize("call", [nd.sparse.add, nd.sparse.subtract, nd.sparse.multiply])
@pytest.mark.parametrize("others", [(1, 12), (0, 12), (1, 40), (1, 0)])
def test_arrays_of_some_rows(call, others):
    one, other = some_rows(0), some_rows(*others) if others[1] else nd.sparse.zeros("row_sparse", (40, 3, 2))
    assert (merge.merge_rows(one._parts, other._parts, "elemwise_add") is None) == (others == (0, 12))
    quick = call(one, other)
    with mx.runtime.kernels_off():
        slow = call(one, other)
    for name in ("data", "indices"):
        np.testing.assert_array_equal(getattr(quick, name).asnumpy(), getattr(slow, name).asnumpy())
    np.testing.assert_array_equal(quick.asnumpy(), call(one.tostype("default"), other.tostype("default")).asnumpy())


def test_sums_of_several_arrays():
    arrays = [some_rows(seed, count) for seed, count in ((0, 5), (1, 9), (2, 40))]
    quick = nd.add_n(*arrays)
    with mx.runtime.kernels_off():
        slow = nd.add_n(*arrays)
    for name in ("data", "indices"):
        np.testing.assert_array_equal(getattr(quick, name).asnumpy(), getattr(slow, name).asnumpy())
    alone = nd.add_n(arrays[0])
    assert alone.stype == "row_sparse" and (alone.asnumpy() == arrays[0].asnumpy()).all()


def test_rows_that_are_not_finite_or_in_order():
    one = nd.sparse.row_sparse_array(([[np.inf, 1]], [1]), shape=(4, 2))
    product = one * nd.sparse.row_sparse_array(([[2.0, np.nan]], [2]), shape=(4, 2))
    np.testing.assert_array_equal(product.data.asnumpy(), [[np.nan, 0], [0, np.nan]])
    unsorted = nd.sparse.row_sparse_array(([[1.0, 1], [2, 2]], [3, 1]), shape=(4, 2))
    assert merge.merge_rows(one._parts, unsorted._parts, "elemwise_add") is None
    np.testing.assert_array_equal((one + unsorted).asnumpy(), [[0, 0], [np.inf, 3], [0, 0], [1, 1]])
