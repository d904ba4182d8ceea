"""What tests of whole models on simulated GPUs share."""

import numpy as np
import pytest
import simulated

import mxnet as mx

CPU, GPU, GPUS = mx.cpu(), mx.gpu(0), [mx.gpu(0), mx.gpu(1)]


@pytest.fixture(autouse=True)
def no_races():
    simulated.EVENTS.clear()
    yield
    assert not simulated.of_kind(simulated.EVENTS, "race", "assert")


def values(net):
    """The parameters of a network, of the first of its contexts."""
    return {name: _value(p) for name, p in net._collect_params_with_prefix().items()}


def _value(parameter):
    ctx = parameter.list_ctx()[0]
    if parameter._stype == "default":
        return parameter.data(ctx).asnumpy()
    return parameter.row_sparse_data(mx.nd.arange(parameter.shape[0], ctx=ctx)).asnumpy()


def assert_same(left, right, rtol=1e-3, atol=1e-4):
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_allclose(right[name], left[name], rtol=rtol, atol=atol, err_msg=name)
