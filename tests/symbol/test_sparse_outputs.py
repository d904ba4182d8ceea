"""Sparse outputs of executors keep the rows that MXNet keeps: rows of zeros stay, absent rows are passed over."""

import numpy as np
import pytest

import mxnet as mx

L, R = mx.sym.var("l", stype="row_sparse"), mx.sym.var("r", stype="row_sparse")
INTERNAL = mx.sym._internal
# (what, rows kept, values in them), from MXNet
CASES = {
    "quotient": (INTERNAL._scatter_elemwise_div(L, R), [0, 2, 3], [[1, 0.5], [np.nan, np.nan], [np.inf, np.nan]]),
    "abs": (mx.sym.abs(L), [0, 2, 3], [[1, 2], [0, 0], [3, 0]]),
    "plus": (INTERNAL._scatter_plus_scalar(L, scalar=3), [0, 2, 3], [[4, 5], [3, 3], [6, 3]]),
    "sum": (L + R, [0, 1, 2, 3], [[2, 6], [2, 2], [0, 0], [3, 0]]),
    "product": (L * R, [0, 1, 2, 3], [[1, 8], [0, 0], [0, 0], [0, 0]]),
    "variable": (L, [0, 2, 3], [[1, 2], [0, 0], [3, 0]]),
    "squares": (INTERNAL._square_sum(L, axis=1, keepdims=True), [0, 2, 3], [[5], [0], [9]]),
}


def bound(symbol, **more):
    left = mx.nd.sparse.row_sparse_array((np.array([[1, 2], [0, 0], [3, 0]], "f"), [0, 2, 3]), shape=(5, 2))
    right = mx.nd.sparse.row_sparse_array((np.array([[1, 4], [2, 2]], "f"), [0, 1]), shape=(5, 2))
    arrays = {"l": left, "r": right}
    return symbol.bind(mx.cpu(), {name: arrays[name] for name in symbol.list_arguments()}, **more)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("train", [False, True])
def test_rows_of_outputs(name, train):
    symbol, rows, values = CASES[name]
    (out,) = bound(symbol).forward(is_train=train)
    assert out.stype == "row_sparse" and out.indices.asnumpy().tolist() == rows
    np.testing.assert_array_equal(out.data.asnumpy(), values)


def test_dense_results_of_absent_rows():
    (out,) = bound(INTERNAL._scatter_plus_scalar(L, scalar=3) + 1).forward()
    assert out.stype == "default" and out.asnumpy().tolist() == [[5, 6], [1, 1], [4, 4], [7, 4], [1, 1]]


def test_gradient_beside_a_sparse_output():
    gradient = mx.nd.zeros((5, 2))
    executor = bound(-L, args_grad={"l": gradient})
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((5, 2)))
    assert executor.outputs[0].indices.asnumpy().tolist() == [0, 2, 3]
    assert gradient.asnumpy().tolist() == [[-1, -1]] * 5
