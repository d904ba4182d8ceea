"""Corners of autograd as MXNet 1.9.1 answers them: variables without gradients, in-place operations, wrong calls."""

import numpy as np
import pytest

from mxnet import autograd, nd
from mxnet.base import MXNetError


def test_a_variable_with_null_keeps_its_buffer():
    x = nd.array([1.0, 2.0])
    x.attach_grad(grad_req="null")
    assert x.grad.asnumpy().tolist() == [0, 0]
    with autograd.record():
        y = x * 2
    with pytest.raises(MXNetError):
        y.backward()


def test_in_place_operations_that_would_be_recorded_are_refused():
    x, total = nd.array([1.0, 2.0]), nd.zeros((2,))
    x.attach_grad()
    with autograd.record(), pytest.raises(MXNetError, match="Inplace operations .* are not supported when recording"):
        total += x
    with autograd.record():
        total += 1  # no variable takes part
    assert total.asnumpy().tolist() == [1, 1]


def test_wrong_calls_raise_what_mxnet_raises():
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y, z = x * x, x + 1
    with pytest.raises(AssertionError, match="heads and head_grads must be lists of the same length"):
        autograd.backward([y, z], [nd.ones((2,))])
    with pytest.raises(AssertionError, match="variables cannot be an empty list."):
        autograd.grad(y, [])
    with pytest.raises(MXNetError, match="with respect to the 1-th variable because it does not require gradient"):
        autograd.grad(y, nd.ones((2,)))
    with pytest.raises(MXNetError, match="There are no inputs in computation graph that require gradients"):
        autograd.backward([])


def test_a_function_is_called_once_and_needs_a_backward():
    class Double(autograd.Function):
        def forward(self, x):
            return x * 2

    x, double = nd.array([1.0]), Double()
    x.attach_grad()
    with autograd.record():
        y = double(x)
        with pytest.raises(AssertionError, match="Each Function instance can only be called once"):
            double(x)
    with pytest.raises(MXNetError, match="Double has no backward method"):
        y.backward()


def test_an_unknown_grad_req_is_a_key_error():
    x = nd.ones((2,))
    with pytest.raises(KeyError, match="grad_req must be one of null, write, add, got 'sum'"):
        x.attach_grad("sum")
    with pytest.raises(KeyError, match="got 'sum'"):
        autograd.mark_variables([x], [nd.zeros((2,))], "sum")


def test_the_whole_of_an_array_may_take_numpys_values_while_recording():
    x = nd.array([[1.0, 2.0, 3.0]])
    x.attach_grad()
    with autograd.record():
        x[:] = np.array([4.0, 5.0, 6.0])
        y = x * 2
        y[0] = np.ones((1, 3))
        z = y * y
    z.backward()
    assert x.asnumpy().tolist() == [[4, 5, 6]] and x.grad.asnumpy().tolist() == [[4, 4, 4]]
    for key, value in ((slice(None), 1.0), (slice(None), [1.0]), ([0], np.ones(3)), ((0, slice(0, 2)), np.ones(2))):
        with autograd.record(), pytest.raises(MXNetError, match="already in a computational graph"):
            x[key] = value
