"""Copies made while recording belong to the graph, in every function and method that copies in MXNet."""

import copy

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd


def _filled(make, fill):
    target = make()
    fill(target)
    return target


def _csr(t):
    return t.reshape((3, 1)).tostype("csr")


def _rows(t):
    return t.reshape((3, 1)).tostype("row_sparse")


def _vector(sparse):
    return sparse.tostype("default").reshape((3,))


def _zeros():
    return nd.zeros((3,))


DENSE = {
    "array": nd.array,
    "array of a type": lambda t: nd.array(t, dtype="float64").astype("float32"),
    "array of integers": lambda t: nd.array(t, dtype="int32").astype("float32"),
    "array in a context": lambda t: nd.array(t, ctx=mx.cpu(1)).as_in_context(mx.cpu(0)),
    "copy": lambda t: t.copy(),
    "astype": lambda t: t.astype("float64").astype("float32"),
    "as_in_context": lambda t: t.as_in_context(mx.cpu(1)).as_in_context(mx.cpu(0)),
    "copyto a context": lambda t: t.copyto(mx.cpu(0)),
    "copyto an array": lambda t: _filled(_zeros, t.copyto),
    "assignment": lambda t: _filled(_zeros, lambda target: target.__setitem__(slice(None), t)),
    "concat": lambda t: nd.concat(t, t, dim=0)[0:3],
    "stack": lambda t: nd.stack(t, t)[0],
    "out=": lambda t: _filled(_zeros, lambda target: nd.broadcast_add(t, nd.zeros((3,)), out=target)),
    "np.array": lambda t: mx.np.array(t.as_np_ndarray()).as_nd_ndarray(),
    "np.array of a type": lambda t: mx.np.array(t.as_np_ndarray(), dtype="float64").as_nd_ndarray().astype("float32"),
    "csr_matrix": lambda t: _vector(nd.sparse.csr_matrix(t.reshape((3, 1)))),
    "row_sparse_array": lambda t: _vector(nd.sparse.row_sparse_array(t.reshape((3, 1)))),
}
SPARSE = {
    "copy": lambda s: _vector(s.copy()),
    "astype": lambda s: _vector(s.astype("float64").astype("float32")),
    "as_in_context": lambda s: _vector(s.as_in_context(mx.cpu(1)).as_in_context(mx.cpu(0))),
    "copyto a dense array": lambda s: _filled(lambda: nd.zeros((3, 1)), s.copyto).reshape((3,)),
    "copyto a sparse array": lambda s: _vector(_filled(lambda: nd.sparse.zeros(s.stype, (3, 1)), s.copyto)),
    "assignment": lambda s: _vector(
        _filled(lambda: nd.sparse.zeros(s.stype, (3, 1)), lambda target: target.__setitem__(slice(None), s))
    ),
    "assignment of a dense array": lambda s: _vector(
        _filled(
            lambda: nd.sparse.zeros(s.stype, (3, 1)),
            lambda target: target.__setitem__(slice(None), s.tostype("default")),
        )
    ),
    "nd.array": lambda s: _vector(nd.array(s)),
    "sparse.array of a type": lambda s: _vector(nd.sparse.array(s, dtype="float64")).astype("float32"),
}


def _gradient(compute):
    x = nd.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        result = compute(x)
    result.backward()
    return x.grad.asnumpy().tolist()


def _check(function):
    assert _gradient(lambda x: x * 2 + function(x * 3)) == [5, 5, 5]
    assert _gradient(lambda x: x * 2 + function(x)) == [3, 3, 3]
    assert _gradient(lambda x: function(x * 3)) == [3, 3, 3]


@pytest.mark.parametrize("name", DENSE)
def test_a_copy_of_a_recorded_array_is_recorded(name):
    _check(DENSE[name])


@pytest.mark.parametrize("stored", [_csr, _rows])
@pytest.mark.parametrize("name", SPARSE)
def test_a_copy_of_a_recorded_sparse_array_is_recorded(name, stored):
    _check(lambda t: SPARSE[name](stored(t)))


@pytest.mark.parametrize(
    "function",
    [
        lambda t: nd.array(t.asnumpy()),
        lambda t: t.detach(),
        copy.copy,
        copy.deepcopy,
        lambda t: _vector(_csr(t).detach()),
    ],
)
def test_what_leaves_the_graph_in_mxnet_is_a_constant(function):
    assert _gradient(lambda x: x * 2 + function(x * 3)) == [2, 2, 2]


def test_part_of_a_recorded_array():
    assert _gradient(lambda x: nd.array((x * 3)[0:2]).sum() + x) == [10, 10, 1]


def test_outside_of_record_a_copy_is_a_constant():
    x = nd.ones((3,))
    x.attach_grad()
    with autograd.record():
        y = x * 3
        with autograd.pause():
            inner = nd.array(y)
        z = x * inner
    z.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [3, 3, 3])
    with pytest.raises(mx.MXNetError, match="not in a computational graph"):
        nd.array(y).backward()


def test_copies_share_no_memory():
    x = nd.ones((3,))
    x.attach_grad()
    with autograd.record():
        y = nd.array(x)
    x[:] = 5
    assert y.asnumpy().tolist() == [1, 1, 1]
