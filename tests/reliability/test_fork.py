"""A forked process goes on with arrays and networks of its parent, whose threads it does not have."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
import numpy as np, torch, mxnet as mx
torch.set_num_threads(4)
net = mx.gluon.nn.HybridSequential()
net.add(mx.gluon.nn.Conv2D(64, 3, padding=1), mx.gluon.nn.BatchNorm())
net.add(mx.gluon.nn.Conv2D(64, 1), mx.gluon.nn.Dense(256))
net.initialize()
x = mx.nd.random.uniform(shape=(2, 32, 56, 56))
net(x)
if {hybrid}:
    net.hybridize()
want = [net(x).asnumpy() for _ in range(4)][-1]
product = mx.nd.dot(mx.nd.ones((500, 500)), mx.nd.ones((500, 500))).asnumpy()
child = os.fork()
if not child:
    signal.alarm(60)
    good = np.allclose(net(x).asnumpy(), want, rtol=1e-3, atol=1e-4)
    good &= (mx.nd.dot(mx.nd.ones((500, 500)), mx.nd.ones((500, 500))).asnumpy() == product).all()
    os._exit(0 if good and torch.get_num_threads() == 1 else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(code if torch.get_num_threads() == 4 else 5)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("hybrid", [False, True])
def test_a_child_computes(hybrid):
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(hybrid=hybrid)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


WHILE_LOADING = """
import os, signal, sys, threading
import mxnet as mx
from mxnet._kernels.conv.winograd import f4x4 as winograd
from mxnet._kernels.runtime.loader import Loader
hold = threading.Event()
other = Loader(hold.wait, None)
other.get(wait=False)
child = os.fork()
if not child:
    signal.alarm(60)
    x = mx.nd.ones((8, 64, 56, 56))
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Convolution(x, mx.nd.ones((64, 64, 3, 3)), kernel=(3, 3), num_filter=64, no_bias=True)
    y.backward()
    os._exit(0 if other.get(wait=True) is None and not winograd.code.get(wait=True) else 1)
hold.set()
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(code if other.get(wait=True) and winograd.code.get(wait=True) else 5)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_does_not_wait_for_code_that_its_parent_was_compiling():
    pytest.importorskip("numba")
    done = subprocess.run([sys.executable, "-c", WHILE_LOADING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
