"""csr batches in bound graphs are multiplied as they are: no dense copy is made of them."""

import numpy as np
import pytest

import mxnet as mx

S = mx.sym
ROWS, COLUMNS = 6, 50


def _batch(seed=0):
    state = np.random.RandomState(seed)
    dense = state.rand(ROWS, COLUMNS).astype("float32") * (state.rand(ROWS, COLUMNS) < 0.1)
    return mx.nd.sparse.csr_matrix(dense), dense


def _machine():
    """A factorization machine: linear terms, and products of pairs of features."""
    x, v, w = S.var("data", stype="csr"), S.var("v", stype="row_sparse"), S.var("w", stype="row_sparse")
    pairs = S.sum(S.square(S.dot(x, v)), axis=1, keepdims=True)
    alone = S.dot(x.square(), S._internal._square_sum(v, axis=1, keepdims=True))
    return S.LogisticRegressionOutput(S.dot(x, w) + 0.5 * pairs - 0.5 * alone, S.var("label"))


def _values(shape, seed):
    return np.random.RandomState(seed).normal(size=shape).astype("float32")


@pytest.fixture
def machines():
    """The machine bound to a csr batch, and to the same numbers in a dense array."""
    batch, dense = _batch()
    v, w, label = _values((COLUMNS, 4), 1), _values((COLUMNS, 1), 2), np.ones((ROWS, 1), "float32")
    made = []
    for data in (batch, mx.nd.array(dense)):
        stype = data.stype == "csr"
        arguments = {
            "data": data,
            "v": mx.nd.array(v).tostype("row_sparse") if stype else mx.nd.array(v),
            "w": mx.nd.array(w).tostype("row_sparse") if stype else mx.nd.array(w),
            "label": mx.nd.array(label),
        }
        gradients = {name: mx.nd.zeros(arguments[name].shape) for name in ("v", "w")}
        made.append(_machine().bind(mx.cpu(), arguments, gradients))
    return made


def test_a_factorization_machine_computes_as_with_dense_data(machines):
    for executor in machines:
        executor.forward(is_train=True)
        executor.backward()
    sparse, dense = machines
    np.testing.assert_allclose(sparse.outputs[0].asnumpy(), dense.outputs[0].asnumpy(), rtol=1e-5, atol=1e-6)
    for name in ("v", "w"):
        np.testing.assert_allclose(
            sparse.grad_dict[name].asnumpy(), dense.grad_dict[name].asnumpy(), rtol=1e-4, atol=1e-6
        )


def test_the_batch_enters_the_graph_as_a_sparse_tensor(machines):
    tensors = machines[0]._tensors()
    names = [node.name for node in machines[0]._program.variables]
    assert tensors[names.index("data")].is_sparse


@pytest.mark.parametrize("name", ["square", "abs", "sign", "sqrt", "negative", "identity"])
@pytest.mark.parametrize("transposed", [False, True])
def test_elementwise_functions_of_a_factor(name, transposed):
    batch, dense = _batch(3)
    weight = _values((ROWS if transposed else COLUMNS, 3), 4)
    symbol = S.dot(getattr(S, name)(S.var("x", stype="csr")), S.var("w"), transpose_a=transposed)
    results = []
    for data in (batch, mx.nd.array(dense)):
        executor = symbol.bind(mx.cpu(), {"x": data, "w": mx.nd.array(weight)}, {"w": mx.nd.zeros(weight.shape)})
        executor.forward(is_train=True)
        executor.backward([mx.nd.ones(executor.outputs[0].shape)])
        results.append((executor.outputs[0].asnumpy(), executor.grad_dict["w"].asnumpy()))
    for left, right in zip(*results, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)


def test_an_element_that_is_stored_twice_is_squared_twice():
    """MXNet's functions work on stored elements; products add them up."""
    batch = mx.nd.sparse.csr_matrix(([2.0, 3.0], [1, 1], [0, 2]), shape=(1, 4))
    symbol = S.dot(S.square(S.var("x", stype="csr")), S.var("w"))
    found = symbol.bind(mx.cpu(), {"x": batch, "w": mx.nd.ones((4, 1))}).forward()[0]
    assert found.asnumpy().tolist() == [[13.0]]
