"""Wherever a dtype is taken, an object that has a `dtype` stands for it."""

import gc
import weakref

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd, sym

DOUBLES = {
    "NDArray": lambda: nd.ones((1,), dtype="float64"),
    "mx.np": lambda: mx.np.ones((1,), dtype="float64"),
    "csr": lambda: nd.sparse.zeros("csr", (2, 2), dtype="float64"),
    "Parameter": lambda: gluon.Parameter("p", shape=(1,), dtype="float64"),
    "np.dtype": lambda: np.dtype("float64"),
}


def _cast_parameter(dtype):
    parameter = gluon.Parameter("p", shape=(1,))
    parameter.initialize()
    parameter.cast(dtype)
    return parameter.data()


def _cast_block(dtype):
    block = gluon.nn.Dense(2, in_units=2)
    block.initialize()
    block.cast(dtype)
    return block.weight.data()


def _dense(dtype):
    block = gluon.nn.Dense(2, in_units=2, dtype=dtype)
    block.initialize()
    return block.weight.data()


class _Double(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0].astype(out_data[0]) * 2)


@mx.operator.register("dtype_of_an_array")
class _DoubleProp(mx.operator.CustomOpProp):
    wanted = np.float64

    def infer_type(self, in_type):
        return in_type, [self.wanted], []

    def create_operator(self, ctx, shapes, dtypes):
        return _Double()


def _custom(dtype):
    _DoubleProp.wanted = dtype
    return nd.Custom(nd.ones((2,)), op_type="dtype_of_an_array")


PLACES = {
    "astype": lambda d: nd.ones((2,)).astype(d),
    "astype, copy=False": lambda d: nd.ones((2,)).astype(d, copy=False),
    "cast": lambda d: nd.cast(nd.ones((2,)), dtype=d),
    "array": lambda d: nd.array([1, 2], dtype=d),
    "array of an array": lambda d: nd.array(nd.ones((2,)), dtype=d),
    "zeros": lambda d: nd.zeros((2,), dtype=d),
    "empty": lambda d: nd.empty((2,), dtype=d),
    "full": lambda d: nd.full((2,), 3, dtype=d),
    "arange": lambda d: nd.arange(3, dtype=d),
    "eye": lambda d: nd.eye(3, dtype=d),
    "uniform": lambda d: nd.random.uniform(shape=(2,), dtype=d),
    "one_hot": lambda d: nd.one_hot(nd.array([1]), 3, dtype=d),
    "argsort": lambda d: nd.argsort(nd.ones((2,)), dtype=d),
    "csr_matrix": lambda d: nd.sparse.csr_matrix(np.eye(2), dtype=d),
    "csr astype": lambda d: nd.sparse.csr_matrix(np.eye(2)).astype(d),
    "sparse.zeros": lambda d: nd.sparse.zeros("row_sparse", (2, 2), dtype=d),
    "np.array": lambda d: mx.np.array([1, 2], dtype=d),
    "np.zeros": lambda d: mx.np.zeros((2,), dtype=d),
    "np astype": lambda d: mx.np.ones((2,)).astype(d),
    "np astype, copy=False": lambda d: mx.np.ones((2,)).astype(d, copy=False),
    "sym.cast": lambda d: sym.cast(sym.var("x"), dtype=d).bind(mx.cpu(), {"x": nd.ones((2,))}).forward()[0],
    "Symbol.astype": lambda d: sym.var("x").astype(d).bind(mx.cpu(), {"x": nd.ones((2,))}).forward()[0],
    "sym.var": lambda d: sym.relu(sym.var("x", dtype=d)).simple_bind(mx.cpu(), x=(2,)).outputs[0],
    "type_dict": lambda d: sym.relu(sym.var("x")).simple_bind(mx.cpu(), x=(2,), type_dict={"x": d}).outputs[0],
    "Parameter.cast": _cast_parameter,
    "Block.cast": _cast_block,
    "Dense": _dense,
    "CastAug": lambda d: mx.image.CastAug(d)(nd.ones((2,))),
    "begin_state": lambda d: gluon.rnn.LSTMCell(3).begin_state(2, func=nd.zeros, dtype=d)[0],
    "CustomOpProp.infer_type": _custom,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", DOUBLES)
def test_an_object_with_a_dtype_stands_for_it(place, kind):
    assert np.dtype(PLACES[place](DOUBLES[kind]()).dtype) == np.float64


@pytest.mark.parametrize("kind", sorted(set(DOUBLES) - {"Parameter"}))  # which the block would take for one of its own
def test_a_transform_casts_to_the_dtype_of_an_object(kind):
    assert gluon.data.vision.transforms.Cast(DOUBLES[kind]())(nd.ones((2,))).dtype == np.float64


def test_an_array_that_stood_for_a_dtype_is_not_kept():
    array = nd.ones((1,), dtype="float64")
    gone = weakref.ref(array._t)
    nd.ones((2,)).astype(array)
    del array
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("dtype", [np.ones(2), object(), "no type", 3])
def test_what_numpy_refuses_as_a_dtype_is_a_type_error(dtype):
    with pytest.raises(TypeError, match="is not a data type"):
        nd.ones((2,)).astype(dtype)
