"""MXNET_CHECK_NAN names the first operator that made a NaN, the ranges of its inputs and the block."""

import os
import subprocess
import sys

import pytest

import mxnet as mx
from mxnet.gluon import nn
from mxnet.ndarray import check_nan


@pytest.fixture
def checking():
    check_nan.enable()
    yield
    check_nan.disable()


class Root(nn.HybridSequential):
    def hybrid_forward(self, F, x):
        return F.sqrt(x - 5)


def test_operator_ranges_and_block(checking):
    net = Root(prefix="root_")
    with pytest.raises(mx.MXNetError, match=r"operator sqrt.* made a NaN in block root \(Root\)\. .*from -4 to -2"):
        net(mx.nd.array([1, 3]))


def test_in_a_hybridized_block(checking):
    net = Root(prefix="root_")
    net.hybridize()
    with pytest.raises(mx.MXNetError, match=r"operator sqrt.* made a NaN in block root"):
        net(mx.nd.array([1, 3]))


def test_numbers_and_old_nans_pass(checking):
    assert mx.nd.sqrt(mx.nd.array([4.0])).asscalar() == 2
    nan = mx.nd.array([float("nan")])
    assert (nan + 1).asnumpy() != (nan + 1).asnumpy()


def test_the_environment_variable():
    code = "import mxnet as mx; mx.nd.log(mx.nd.array([-1]))"
    for value, words in (("1", "operator log"), ("0", "")):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, "MXNET_CHECK_NAN": value})  # fmt: skip
        assert (words in done.stderr) and (done.returncode == 1) == (value == "1")
