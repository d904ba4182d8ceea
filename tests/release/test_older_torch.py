"""The oldest torch that pyproject.toml admits lacks names of later ones; ReMX does without them.

A process takes those names away before it imports mxnet. The suite itself runs with the oldest torch in the workflows.
"""

import os
import subprocess
import sys

OLDER = """
import ctypes, sys
import torch
if hasattr(torch.compiler, "is_exporting"):
    del torch.compiler.is_exporting
stash = torch._C._stash_obj_in_tls
def without_a_reference(key, value):
    stash(key, value)
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(value))
probe = object()
count = sys.getrefcount(probe)
stash("test.probe", probe)
if sys.getrefcount(probe) > count:  # as before torch 2.7, which drops a reference that it has not taken
    torch._C._stash_obj_in_tls = without_a_reference
"""
PROGRAM = """
import gc
import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._device import backward
assert not backward._STASH_COUNTS

class Twice(autograd.Function):
    def forward(self, x):
        return 2 * x
    def backward(self, dy):
        return 2 * dy

net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(4, 3), gluon.nn.MaxPool2D(), gluon.nn.Dropout(0.5), gluon.nn.Dense(2))
net.initialize()
net.hybridize()
x = nd.ones((2, 1, 8, 8))
x.attach_grad()
for _ in range(50):
    with autograd.record():
        y = Twice()(net(x))
    y.backward()
    gc.collect()
print((x > 0).astype("bool").sum().asscalar(), x.grad.shape)
"""


def test_a_program_runs_without_what_later_versions_brought():
    done = subprocess.run(
        [sys.executable, "-c", OLDER + PROGRAM], capture_output=True, text=True, timeout=300, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-4:] == ["(2,", "1,", "8,", "8)"]
