"""Indices and conditions that are variables: MXNet gives them a gradient of zeros, and the graph goes through them."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd


def table():
    return nd.arange(12).reshape((4, 3))


READS = {
    "rows and a slice": lambda x: table()[x, :],
    "rows": lambda x: table()[x],
    "two arrays": lambda x: table()[x, nd.array([0, 1])],
    "a list and an array": lambda x: table()[[0, 1], x],
    "pick": lambda x: nd.pick(table()[:2], x),
    "pick with keepdims": lambda x: nd.pick(table()[:2], x, keepdims=True),
    "gather_nd": lambda x: nd.gather_nd(table(), x.reshape((1, 2))),
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
    rows, index = table(), nd.array([1, 1])
    rows.attach_grad()
    index.attach_grad()
    with mx.autograd.record():
        loss = (rows[index, :] * 2).sum() + index.sum()
    loss.backward()
    np.testing.assert_array_equal(rows.grad.asnumpy(), [[0] * 3, [4] * 3, [0] * 3, [0] * 3])
    np.testing.assert_array_equal(index.grad.asnumpy(), [1, 1])


def test_outside_of_a_record_nothing_is_recorded():
    index = nd.array([1, 0])
    index.attach_grad()
    with pytest.raises(mx.MXNetError, match="Cannot differentiate"):
        table()[index, :].backward()
