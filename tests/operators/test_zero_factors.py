"""Products with a factor of zero: BLAS does not read the other operands, so NaN leaves no trace in MXNet."""

import numpy as np
import pytest

from mxnet import MXNetError, autograd, nd

ODD = [[np.nan, 1.0], [2.0, np.inf]]
CALLS = {
    "gemm2": lambda a: nd.linalg.gemm2(a, a, alpha=0),
    "syrk": lambda a: nd.linalg.syrk(a, alpha=0),
    "trmm": lambda a: nd.linalg.trmm(a, a, alpha=0),
    "trsm": lambda a: nd.linalg.trsm(nd.array([[1, 0], [1, 1]]), a, alpha=0),
    "gemm": lambda a: nd.linalg.gemm(a, a, nd.ones((2, 2)), alpha=0, beta=1) - 1,
    "gemm with beta": lambda a: nd.linalg.gemm(nd.ones((2, 2)), nd.ones((2, 2)), a, alpha=1, beta=0) - 2,
}


@pytest.mark.parametrize("name", CALLS)
def test_results_and_gradients_are_zero(name):
    data = nd.array(ODD)
    data.attach_grad()
    with autograd.record():
        result = CALLS[name](data)
    result.backward()
    assert result.asnumpy().tolist() == data.grad.asnumpy().tolist() == [[0, 0], [0, 0]]
    assert CALLS[name](data).asnumpy().tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(("batch", "shape"), [((), (1, 1)), ((3,), (1, 2, 2)), ((3,), (2, 2))])
def test_the_summand_of_gemm_is_not_broadcast(batch, shape):
    A = nd.ones((*batch, 2, 2))
    with pytest.raises(MXNetError, match="Shape inconsistent, Provided ="):
        nd.linalg.gemm(A, A, nd.ones(shape))
