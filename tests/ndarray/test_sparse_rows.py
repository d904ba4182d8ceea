"""Rows of dense arrays that are stored, rows that are written, and the order of a matrix's elements by column."""

import numpy as np
import pytest
import torch

from mxnet import autograd, nd
from mxnet._ops.sparse import parts


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "int8", "uint8"])
@pytest.mark.parametrize("width", [1, 5, 16, 17, 40])
@pytest.mark.parametrize("filled", [0.1, 0.9])
def test_rows_that_are_not_all_zero_are_stored(dtype, width, filled):
    random = np.random.RandomState(width)
    numbers = random.randint(-3, 4, (30, width)) * (random.rand(30, 1) < filled)
    numbers[4], numbers[4, -1] = 0, 1  # the last element alone
    dense = nd.array(numbers.astype(dtype), dtype=dtype)
    stored = dense.tostype("row_sparse")
    wanted = np.flatnonzero((dense.asnumpy() != 0).any(1))
    np.testing.assert_array_equal(stored.indices.asnumpy(), wanted)
    np.testing.assert_array_equal(stored.data.asnumpy(), dense.asnumpy()[wanted])


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e-45, -1e-45])
def test_rows_of_unusual_numbers_are_stored(number):
    dense = np.zeros((3, 20), "float32")
    dense[1, 2], dense[2, 18] = number, number
    assert nd.array(dense).tostype("row_sparse").indices.asnumpy().tolist() == [1, 2]


def test_opposite_numbers_do_not_hide_a_row():
    dense = nd.array([[0, 0], [-2, 2], [np.inf, -np.inf], [-128, 64]])
    assert dense.tostype("row_sparse").indices.asnumpy().tolist() == [1, 2, 3]
    bytes_ = nd.array([[-128, 64, 64], [0, 0, 0]], dtype="int8")
    assert bytes_.tostype("row_sparse").indices.asnumpy().tolist() == [0]


@pytest.mark.parametrize("shape", [(7,), (7, 1), (7, 3), (7, 2, 3), (7, 0)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64])
def test_rows_are_written_at_their_places(shape, dtype):
    places = torch.tensor([5, 0, 2])
    rows = torch.arange(1, 1 + 3 * int(np.prod(shape[1:]))).reshape(3, *shape[1:]).to(dtype)
    target = torch.zeros(shape, dtype=dtype)
    assert torch.equal(
        parts.write_rows(target, places, rows), torch.zeros(shape, dtype=dtype).index_copy(0, places, rows)
    )
    turned = torch.zeros(shape[::-1], dtype=dtype).permute(*range(len(shape))[::-1])  # rows are not contiguous
    assert torch.equal(parts.write_rows(turned, places, rows), target)


def test_no_rows_are_written():
    target = torch.ones(3, 2)
    assert torch.equal(parts.write_rows(target, torch.zeros(0, dtype=torch.int64), torch.zeros(0, 2)), torch.ones(3, 2))


def test_a_row_outside_is_an_error():
    with pytest.raises(IndexError):
        parts.write_rows(torch.zeros(3, 2), torch.tensor([3]), torch.ones(1, 2))


def _gradient(matrix, weight):
    with autograd.record():
        result = nd.sparse.dot(matrix, weight)
    result.backward()
    return weight.grad.tostype("default").asnumpy()


@pytest.mark.parametrize("stype", ["row_sparse", "default"])
def test_the_order_by_column_is_that_of_each_matrix(stype):
    """It is kept from product to product: other columns, other rows of the same columns, then the first ones again."""
    weight = nd.ones((6, 2)).tostype(stype)
    weight.attach_grad(stype=stype)
    matrices = [
        ([1, 2, 3, 4], [5, 0, 0, 2], [0, 2, 4]),
        ([1, 2, 3, 4], [5, 1, 0, 2], [0, 2, 4]),
        ([1, 2, 3, 4], [5, 1, 0, 2], [0, 1, 4]),
        ([9, 8, 7, 6], [5, 0, 0, 2], [0, 2, 4]),
        ([1, 2, 3], [5, 0, 2], [0, 2, 3]),
    ]
    for data, columns, starts in matrices * 2:
        matrix = nd.sparse.csr_matrix((data, columns, starts), shape=(2, 6))
        wanted = matrix.tostype("default").asnumpy().T.sum(1, keepdims=True).repeat(2, 1)
        np.testing.assert_array_equal(_gradient(matrix, weight), wanted)
