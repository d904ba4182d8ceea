"""Which modules a typical training program loads: torch's and numba's own, ours, and no others."""

import re
import subprocess
import sys

import pytest

PROGRAM = """
import logging, sys
import numpy as np
import torch
{compiler}
at_first = set(sys.modules)
import mxnet as mx
from mxnet import autograd, gluon, nd

images, labels = np.random.rand(64, 1, 28, 28).astype("float32"), np.random.randint(0, 10, 64)
train, val = mx.io.NDArrayIter(images, labels, 16, shuffle=True), mx.io.NDArrayIter(images, labels, 16)
net = mx.sym.Convolution(mx.sym.var("data"), kernel=(5, 5), num_filter=8)
net = mx.sym.Activation(mx.sym.BatchNorm(net), act_type="relu")
net = mx.sym.Pooling(net, pool_type="max", kernel=(2, 2), stride=(2, 2))
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=10), name="softmax")
module = mx.mod.Module(net)
module.fit(train, val, num_epoch=2, optimizer="adam", eval_metric=["acc", "ce"], initializer=mx.init.Xavier(),
           batch_end_callback=mx.callback.Speedometer(16, 2))
module.predict(val)
module.save_checkpoint("a", 1)
mx.model.load_checkpoint("a", 1)

net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(8, 3), gluon.nn.BatchNorm(), gluon.nn.MaxPool2D(), gluon.nn.Dropout(0.5), gluon.nn.Dense(10))
net.initialize(mx.init.Xavier())
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {{"learning_rate": 0.1, "momentum": 0.9}})
loss, accuracy, others = gluon.loss.SoftmaxCrossEntropyLoss(), mx.metric.Accuracy(), mx.metric.create(
    ["mae", "mse", "rmse", "pearsonr"])
for x, y in gluon.data.DataLoader(gluon.data.ArrayDataset(images, labels.astype("float32")), 16, shuffle=True):
    with autograd.record():
        out = net(x)
        step = loss(out, y)
    step.backward()
    trainer.step(16)
    accuracy.update(y, out)
    others.update([y], [out.max(axis=1)])
print(accuracy.get(), others.get(), step.mean().asscalar(), file=sys.stderr)
net.save_parameters("n.params")
net.load_parameters("n.params")
net.export("n")
lstm = gluon.rnn.LSTM(8)
lstm.initialize()
lstm(nd.ones((3, 2, 4)))
nd.ones((3, 4))[[0, 1], [1, 2]].asnumpy()
mx.nd.random.normal(nd.zeros(3), nd.ones(3)).asnumpy(), mx.np.random.normal(mx.np.zeros(3), mx.np.ones(3)).asnumpy()
mx.profiler.set_config(profile_all=True)
mx.profiler.set_state("run")
net(x).wait_to_read()
mx.profiler.set_state("stop")
nd.waitall()
print(*sorted(set(sys.modules) - at_first))
"""
NO_COMPILER = "sys.modules['numba'] = None"
# numba itself loads scipy.linalg, where it is installed, when it looks up what it can compile
COMPILER = "from numba.core.registry import cpu_target; cpu_target.target_context.refresh()"
OURS = {"mxnet", "__mp_main__", *sys.stdlib_module_names}
LATE = re.compile(
    r"numba\.|llvmlite\.|numpy\.|_?cython_?|_cyutility"
)  # parts of packages that were there, loaded later


@pytest.mark.parametrize("compiler", [NO_COMPILER, COMPILER], ids=["plain", "numba"])
def test_a_training_program_loads_only_what_it_needs(tmp_path, compiler):
    if compiler == COMPILER:
        pytest.importorskip("numba")
    text = PROGRAM.format(compiler=compiler)
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert "mxnet.gluon.trainer" in loaded  # the list is of this program
    assert [name for name in loaded if name.split(".")[0] not in OURS and not LATE.match(name)] == []


def test_shapes_of_large_layers_load_no_compiler():
    """torch's meta functions of these import sympy, which takes a second."""
    code = (
        "import sys, mxnet as mx; S, d = mx.sym, mx.sym.Variable('d'); big = (8, 64, 224, 224);"
        "print(S.Deconvolution(d, num_filter=256, kernel=(4, 4), stride=(2, 2), pad=(1, 1)).infer_shape(d=big)[1],"
        "S.Convolution(d, num_filter=256, kernel=(3, 3)).infer_shape(d=big)[1],"
        "S.ROIPooling(d, S.Variable('r'), pooled_size=(7, 7), spatial_scale=0.1).infer_shape(d=big, r=(300, 5))[1]);"
        "print([m for m in ('sympy', 'torch._dynamo') if m in sys.modules])"
    )
    shapes, loaded = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    assert shapes == "[(8, 256, 448, 448)] [(8, 256, 222, 222)] [(300, 64, 7, 7)]"
    assert loaded == "[]"
