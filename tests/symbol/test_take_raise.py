"""`take(mode="raise")`: indices out of bound are told when an executor's outputs are read, as by MXNet's engine."""

import numpy as np
import pytest

import mxnet as mx

BOUND = "indices out of bound"


def _executor(indices):
    symbol = mx.sym.take(mx.sym.var("a"), mx.sym.BlockGrad(mx.sym.var("i")), mode="raise", axis=1)
    return symbol.bind(
        mx.cpu(),
        {"a": mx.nd.array([[1, 2, 3], [4, 5, 6]]), "i": mx.nd.array(indices)},
        {"a": mx.nd.zeros((2, 3))},
    )


@pytest.mark.parametrize("index", [3, -1, 30])
def test_an_executor_tells_it_when_outputs_are_read(index):
    executor = _executor([0, index])
    held = executor.outputs[0]
    results = executor.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match=BOUND):
        executor.outputs[0].asnumpy()
    with pytest.raises(mx.MXNetError, match=BOUND):
        results[0].asnumpy()
    with pytest.raises(mx.MXNetError, match=BOUND):
        list(results)
    with pytest.raises(mx.MXNetError, match=BOUND):
        executor.backward([mx.nd.ones((2, 2))])
    assert np.isnan(held.asnumpy()).all()


def test_the_next_forward_is_good_again():
    executor = _executor([0, 5])
    executor.forward(is_train=True)
    executor.arg_dict["i"][:] = [2, 1]
    executor.forward(is_train=True)
    np.testing.assert_array_equal(executor.outputs[0].asnumpy(), [[3, 2], [6, 5]])
    executor.backward([mx.nd.ones((2, 2))])
    np.testing.assert_array_equal(executor.grad_dict["a"].asnumpy(), [[0, 1, 1], [0, 1, 1]])


def test_a_single_call_and_a_block_tell_it_at_once():
    data, indices = mx.nd.ones((3,)), mx.nd.array([4])
    with pytest.raises(mx.MXNetError, match=BOUND):
        mx.nd.take(data, indices, mode="raise").asnumpy()
    block = mx.gluon.nn.HybridLambda(lambda F, a, i: F.take(a, i, mode="raise"))
    block.hybridize()
    with pytest.raises(mx.MXNetError, match=BOUND):
        block(data, indices).asnumpy()
