"""Indices and conditions that are variables: MXNet gives them a gradient of zeros, and the graph goes through them."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd

TABLE = nd.arange(12).reshape((4, 3))
READS = {
    "rows and a slice": lambda x: TABLE[x, :],
    "rows": lambda x: TABLE[x],
    "two arrays": lambda x: TABLE[x, nd.array([0, 1])],
    "a list and an array": lambda x: TABLE[[0, 1], x],
    "pick": lambda x: nd.pick(TABLE[:2], x),
    "pick with keepdims": lambda x: nd.pick(TABLE[:2], x, keepdims=True),
    "gather_nd": lambda x: nd.gather_nd(TABLE, x.reshape((1, 2))),
    "scatter_nd": lambda x: nd.scatter_nd(nd.array([1, 2]), x.reshape((1, 2)), shape=(4,)),
    "where": lambda x: nd.where(x, nd.ones(2), nd.zeros(2)),
}


@pytest.mark.parametrize("name", READS)
def test_indices_get_zeros(name):
    index = nd.array([1, 0])
    index.attach_grad()
    index.grad[:] = 7
    with mx.autograd.record():
        result = READS[name](index)
    result.backward()
    np.testing.assert_array_equal(index.grad.asnumpy(), [0, 0])


def test_the_table_gets_its_gradient_as_before():
    table, index = TABLE.copy(), nd.array([1, 1])
    table.attach_grad()
    index.attach_grad()
    with mx.autograd.record():
        loss = (table[index, :] * 2).sum() + index.sum()
    loss.backward()
    np.testing.assert_array_equal(table.grad.asnumpy(), [[0] * 3, [4] * 3, [0] * 3, [0] * 3])
    np.testing.assert_array_equal(index.grad.asnumpy(), [1, 1])


def test_outside_of_a_record_nothing_is_recorded():
    index = nd.array([1, 0])
    index.attach_grad()
    with pytest.raises(mx.MXNetError, match="Cannot differentiate"):
        TABLE[index, :].backward()
