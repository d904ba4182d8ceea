"""Graphs of sparse arrays compute MXNet's outputs and gradients, on stored values where MXNet does."""

import json
import pathlib

import numpy as np
import pytest
import sparse_graphs as graphs

import mxnet as mx
from mxnet._graph.infer.storage import sparse_plan

S = mx.sym
ANSWERS = json.loads((pathlib.Path(__file__).parents[1] / "data" / "sparse_graphs.json").read_text())


def _agree(found, wanted):
    assert found["stype"] == wanted["stype"] and found.get("rows") == wanted.get("rows")
    np.testing.assert_allclose(found["values"], wanted["values"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", graphs.CASES)
def test_outputs_and_gradients_are_those_of_mxnet(name):
    found, wanted = graphs.answers(name), ANSWERS[name]
    assert found.keys() == wanted.keys()
    for key, value in found.items():
        for one, other in zip(value, wanted[key], strict=True) if key == "outputs" else [(value, wanted[key])]:
            _agree(one, other)


@pytest.mark.parametrize("name", ["csr times rows", "a scaled table", "a table used twice", "factorization machine"])
def test_a_monitored_run_computes_the_same(name, monkeypatch):
    bind = mx.sym.Symbol.bind

    def monitored(*args, **kwargs):
        executor = bind(*args, **kwargs)
        executor.set_monitor_callback(lambda name, array: None)
        return executor

    monkeypatch.setattr(mx.sym.Symbol, "bind", monitored)
    test_outputs_and_gradients_are_those_of_mxnet(name)


def test_mirrored_graphs_compute_the_same(monkeypatch):
    monkeypatch.setenv("MXNET_BACKWARD_DO_MIRROR", "1")
    test_outputs_and_gradients_are_those_of_mxnet("factorization machine")


def _sparse_variables(symbol, wanted=("w",), w="default"):
    return sparse_plan(symbol._entries, {"x": "csr", "w": w, "v": "default"}, set(wanted)).variables


def test_which_variables_stay_sparse():
    x, w, v = S.var("x"), S.var("w"), S.var("v")
    assert _sparse_variables(S.dot(x, w)) == {"x"}
    assert _sparse_variables(S.dot(S.square(x), w)) == {"x"}
    assert _sparse_variables(S.dot(S.exp(x), w)) == set()
    assert _sparse_variables(S.Group([S.dot(x, w), S.dot(S.exp(x), v)])) == {"x"}
    assert _sparse_variables(S.dot(x, w), {"x", "w"}) == set()  # the gradient of a csr matrix is dense
    assert _sparse_variables(S.dot(x, w), w="row_sparse") == {"x", "w"}
    assert _sparse_variables(S.exp(w), w="row_sparse") == set()


def test_no_dense_copy_of_a_wide_batch_or_table():
    """16 rows of 2**31 columns: a dense copy would take 128 GB."""
    batch = mx.nd.sparse.csr_matrix(([1.0, 2, 3], [7, 2**30, 2**31 - 1], [0, 1, 1, 3, *[3] * 13]), shape=(16, 2**31))
    table = mx.nd.sparse.row_sparse_array(([[1.0], [2.0]], [7, 2**30]), shape=(2**31, 1))
    x, w = S.var("x", stype="csr"), S.var("w", stype="row_sparse")
    squares = S.dot(S.square(x), S._internal._square_sum(w, axis=1, keepdims=True))
    symbol = S.dot(x, w) + squares + S.sum(x, axis=1, keepdims=True)
    gradient = mx.nd.sparse.zeros("row_sparse", table.shape)
    executor = symbol.bind(mx.cpu(), {"x": batch, "w": table}, {"w": gradient}, {"x": "null", "w": "write"})
    assert executor.forward(is_train=True)[0].asnumpy()[:3].ravel().tolist() == [1 + 1 + 1, 0, 4 + 16 + 5]
    executor.backward(mx.nd.ones((16, 1)))
    assert gradient.indices.asnumpy().tolist() == [7, 2**30, 2**31 - 1]
    assert gradient.data.asnumpy().ravel().tolist() == [1 + 2, 2 + 2 * 2 * 4, 3]


class _Linear(mx.gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(2**22, 2), grad_stype="row_sparse")

    def hybrid_forward(self, F, x, weight):
        return F.broadcast_add(F.dot(x, weight), F.sum(F.square(x), axis=1, keepdims=True))


@pytest.mark.parametrize("hybrid", [False, True])
def test_blocks_multiply_csr_batches_as_they_are(hybrid):
    """A dense copy of this batch would take 16 GB."""
    starts = [0, 1, 1, 3, *[3] * 1021]
    batch = mx.nd.sparse.csr_matrix(([1.0, 2, 3], [7, 2**20, 2**22 - 1], starts), shape=(1024, 2**22))
    block = _Linear()
    block.initialize(mx.init.One())
    block.hybridize(hybrid)
    with mx.autograd.record():
        result = block(batch)
    result.backward()
    assert result.asnumpy()[:3].tolist() == [[2, 2], [0, 0], [18, 18]]
    gradient = block.weight.grad()
    assert gradient.stype == "row_sparse" and gradient.indices.asnumpy().tolist() == [7, 2**20, 2**22 - 1]
    assert gradient.data.asnumpy().tolist() == [[1, 1], [2, 2], [3, 3]]
    np.testing.assert_array_equal(block(batch).asnumpy(), result.asnumpy())
