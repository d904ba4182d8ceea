"""Predictions of a hybridized network beside those of the eager one."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet._graph.lower import program


def images(batch=2, size=17):
    mx.random.seed(8)
    return nd.random.normal(shape=(batch, 3, size, size))


def with_statistics(net, x):
    """A network whose batch norms do something."""
    net.initialize(mx.init.Xavier(magnitude=3))
    net(x)
    for name, parameter in net.collect_params().items():
        if name.endswith(("gamma", "beta", "running_mean", "running_var")):
            parameter.set_data(nd.random.uniform(0.5, 1.5, shape=parameter.shape))
    return net


def folding(net):
    (made,) = net._cached_op._programs.values()
    return made._folding


def folded_now(net):
    made = folding(net)
    return bool(made) and made._state is not None and made._state[1] is not None


def agree(net, x):
    """Four hybridized runs (seen, folded, folded, done again) beside the eager one."""
    net.hybridize(False)
    want = net(x).asnumpy()
    net.hybridize(True, clear=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "OPERATOR_ERRORS", ())  # the unfolded graph must not hide a failure
        for _ in range(4):
            np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-5, atol=1e-5 * np.abs(want).max())
    assert folded_now(net)
