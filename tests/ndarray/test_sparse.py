"""Sparse arrays: MXNet's storages, values and errors, and what they do in files, pickles, gradients and training."""

import json
import pathlib
import pickle
import sys

import numpy as np
import pytest
from sparse_cases import LINES, PROGRAMS, described, evaluate, names

import mxnet as mx
from mxnet import nd

ANSWERS = json.loads((pathlib.Path(__file__).parent.parent / "data" / "sparse.json").read_text())


def agree(found, wanted):
    """Storage, type and kept rows exactly, values closely."""
    if not isinstance(wanted, list):
        return found == wanted
    return (
        isinstance(found, list)
        and found[:2] == wanted[:2]
        and found[3] == wanted[3]
        and np.allclose(found[2], wanted[2], rtol=1e-5, atol=1e-6)
    )


@pytest.mark.parametrize("line", LINES)
def test_expression(line):
    found = evaluate(line)
    assert agree(found, ANSWERS[line]), f"{line}: {found}, MXNet: {ANSWERS[line]}"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_program(program):
    found, wanted = [described(value) for value in program()], ANSWERS[program.__name__]
    assert all(agree(f, w) for f, w in zip(found, wanted, strict=True)), f"{found}, MXNet: {wanted}"


@pytest.mark.parametrize("name", ["csr", "rows"])
def test_pickle_and_file(name, tmp_path):
    array = names()[name]
    again = pickle.loads(pickle.dumps(array))
    nd.save(str(tmp_path / "a.params"), {"a": array})
    loaded = nd.load(str(tmp_path / "a.params"))["a"]
    for copy in (again, loaded):
        assert type(copy) is type(array)
        assert described(copy) == described(array)
        assert copy.context == array.context


def test_repr():
    assert repr(names()["csr"]) == "\n<CSRNDArray 3x4 @cpu(0)>"


def test_writing():
    rows = names()["rows"]
    rows[:] = names()["other"]
    assert rows.indices.asnumpy().tolist() == [1, 2]
    rows[:] = 0
    assert rows.indices.shape == (0,)
    rows[:] = nd.ones((4, 2))
    assert rows.asnumpy().sum() == 8
    with pytest.raises(TypeError, match="only supports"):
        rows[0] = 1


def test_dense_tensor_is_refused():
    with pytest.raises(mx.MXNetError, match="tostype"):
        names()["csr"]._t


def test_bad_file_is_refused(tmp_path):
    broken = nd.sparse.csr_matrix(([1.0, 2.0], [0, 9], [0, 1, 2]), shape=(2, 3))
    nd.save(str(tmp_path / "bad.params"), [broken])
    with pytest.raises(mx.MXNetError, match="do not fit"):
        nd.load(str(tmp_path / "bad.params"))


def test_product_never_makes_the_matrix_dense():
    """A million columns times three thousand rows would be 12 GB."""
    row = np.arange(3000)
    csr = nd.sparse.csr_matrix((np.ones(3000, "float32"), (row, row * 300)), shape=(3000, 1_000_000))
    weight = nd.ones((1_000_000, 1))
    weight.attach_grad(stype="row_sparse")
    with mx.autograd.record():
        out = nd.dot(csr, weight)
    out.backward()
    assert out.asnumpy().sum() == 3000
    assert weight.grad.data.shape == (3000, 1)


def test_uses_of_a_changing_variable_are_summed():
    rows = names()["rows"]
    rows.attach_grad()
    with mx.autograd.record():
        first = rows * 2
        with mx.autograd.pause():
            rows[:] = names()["other"]
        second = rows * 3
        total = first + second
    total.backward()
    assert (rows.grad.asnumpy() == 5).all()


def test_dense_operators_stay_dense():
    assert type(nd.relu(names()["dense"])) is nd.NDArray
    assert isinstance(names()["dense"].handle.value, int)


def test_a_hybridized_block_takes_sparse_data():
    class Product(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get("weight", shape=(3, 2))

        def hybrid_forward(self, F, x, weight):
            return F.sparse.dot(x, weight)

    net = Product()
    net.initialize(mx.init.One())
    net.hybridize()
    with mx.autograd.record():
        result = net(mx.nd.array([[1, 0, 2]]).tostype("csr"))
    result.backward()
    assert result.asnumpy().tolist() == [[3, 3]]
    assert net.weight.grad().asnumpy().tolist() == [[1, 1], [0, 0], [2, 2]]


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_a_cast_to_the_same_storage_hands_its_gradient_on(stype):
    array = nd.array(np.eye(3)).tostype(stype)
    array.attach_grad()
    with mx.autograd.record():
        cast = nd.cast_storage(array, stype=stype)
    cast.backward(nd.ones((3, 3)) * 2)
    assert cast.stype == array.grad.stype == stype
    np.testing.assert_array_equal(array.grad.asnumpy(), np.full((3, 3), 2, "float32"))


def test_without_scipy_a_sentence_tells_what_to_install(monkeypatch):
    matrix = nd.sparse.csr_matrix(([1.0], [1], [0, 1]), shape=(1, 2))
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    for call in (matrix.asscipy, lambda: nd.sparse.csr_matrix(([1.0], ([0], [1])), shape=(2, 2))):
        with pytest.raises(ImportError, match="scipy could not be imported.* pip install scipy"):
            call()


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_rows_of_a_transposed_product(share):
    """Few elements are sorted by columns, of many each column has a mark."""
    random = np.random.RandomState(0)
    few, dense = random.rand(20, 40) * (random.rand(20, 40) < share), nd.array(random.rand(20, 3))
    few[:, 7] = 0
    product = nd.sparse.dot(nd.array(few).tostype("csr"), dense, transpose_a=True)
    assert product.stype == "row_sparse"
    np.testing.assert_array_equal(product.indices.asnumpy(), np.flatnonzero(few.any(0)))
    np.testing.assert_allclose(product.asnumpy(), few.T @ dense.asnumpy(), rtol=1e-5)


def test_the_parts_of_a_sparse_array_are_copies():
    csr = mx.nd.sparse.csr_matrix(([1.0, 2.0], [0, 2], [0, 1, 2]), shape=(2, 3))
    rows = mx.nd.sparse.row_sparse_array((np.ones((1, 3)), [1]), shape=(2, 3))
    for part in (csr.data, csr.indices, csr.indptr, rows.data, rows.indices):
        part[:] = 0
    assert csr.asnumpy().tolist() == [[1, 0, 0], [0, 0, 2]]
    assert rows.asnumpy().tolist() == [[0, 0, 0], [1, 1, 1]]


def test_parts_that_do_not_belong_together_are_refused():
    with pytest.raises(mx.MXNetError, match="2 values are kept, but indices say where 1 belong"):
        mx.nd.sparse.csr_matrix(([1.0, 2.0], [0], [0, 1]), shape=(1, 2))
    with pytest.raises(mx.MXNetError, match="1 values are kept, but indices say where 2 belong"):
        mx.nd.sparse.row_sparse_array((np.ones((1, 3)), [0, 1]), shape=(4, 3))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_matrix_with_empty_rows_times_a_dense_one(dtype):
    few = np.zeros((5, 6))
    few[1, 2], few[1, 5], few[3, 0] = 2, -1, 4
    dense = np.arange(12.0).reshape(6, 2)
    matrix, weight = nd.array(few, dtype=dtype).tostype("csr"), nd.array(dense, dtype=dtype)
    weight.attach_grad()
    with mx.autograd.record():
        out = nd.sparse.dot(matrix, weight)
    out.backward(nd.ones((5, 2), dtype=dtype))
    assert out.asnumpy().tolist() == [[0, 0], [-2, -1], [0, 0], [0, 4], [0, 0]]
    assert weight.grad.asnumpy().tolist() == (few.T @ np.ones((5, 2))).tolist()
    assert nd.sparse.dot(matrix[4:5], weight).asnumpy().tolist() == [[0, 0]]
    assert nd.sparse.dot(matrix[1:4], weight).asnumpy().tolist() == [[-2, -1], [0, 0], [0, 4]]
    nothing = nd.sparse.zeros("csr", (5, 6), dtype=dtype)
    assert nd.sparse.dot(nothing, weight).asnumpy().tolist() == [[0, 0]] * 5


def test_a_dense_array_as_dense_is_a_copy():
    dense = nd.ones((2, 2))
    other = dense.tostype("default")
    other[:] = 3
    assert dense.asnumpy().tolist() == [[1, 1], [1, 1]] and other.asnumpy().tolist() == [[3, 3], [3, 3]]
