"""`check_numeric_gradient` with gradients in sparse storage."""

import numpy as np
import pytest

import mxnet as mx
from mxnet.test_utils import check_numeric_gradient


class _Square(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        assert in_data[0].stype == out_data[0].stype == aux[0].stype
        self.assign(out_data[0], req[0], mx.nd.sparse.square(in_data[0]))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        assert in_grad[0].stype == in_data[0].stype
        self.assign(in_grad[0], req[0], 2 * mx.nd.sparse.elemwise_mul(in_data[0], out_grad[0]))


@mx.operator.register("square_in_storage")
class _SquareProp(mx.operator.CustomOpProp):
    def list_auxiliary_states(self):
        return ["aux"]

    def infer_shape(self, in_shape):
        return in_shape, in_shape, in_shape

    def infer_type(self, in_type):
        return in_type, in_type, in_type

    def infer_storage_type(self, in_stype):
        return in_stype, in_stype, in_stype

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        return ["default"], in_stype, in_stype, in_stype, in_stype

    def create_operator(self, ctx, shapes, dtypes):
        return _Square()


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_a_custom_operator_with_gradients_in_its_storage(stype):
    np.random.seed(0)
    data = mx.sym.Variable("data", stype=stype)
    symbol = mx.sym.Custom(data=data, aux=mx.sym.Variable("aux"), op_type="square_in_storage")
    x = mx.nd.array(np.random.uniform(-1, 1, size=(4, 10))).tostype(stype)
    check_numeric_gradient(symbol, [x], [mx.nd.zeros_like(x)], grad_stype_dict={"data": stype})
