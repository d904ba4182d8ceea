"""Memory over long runs: how many bytes a step of training or an inference leaves behind.

Resident bytes are counted after the C library has given back the pages that it keeps for later. Where it is glibc, the
bytes in use are counted, too: holes between them do not matter, so that a short run tells as much as a long one.
"""

import ctypes
import functools
import gc
import itertools
import json
import os
import pathlib
import subprocess
import sys
from typing import NamedTuple

import numpy as np

LIMIT = 1024  # bytes a step
SAMPLES = 50


def _net(hybridize):
    import mxnet as mx

    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(4, 3, activation="relu"), mx.gluon.nn.BatchNorm(), mx.gluon.nn.GlobalAvgPool2D())
    net.add(mx.gluon.nn.Dropout(0.3), mx.gluon.nn.Dense(3))
    net.initialize()
    if hybridize:
        net.hybridize()
    return net


def _gluon(hybridize):
    """A step of a Gluon loop, with metric and logging of the loss, as people write it."""
    import mxnet as mx

    net, loss = _net(hybridize), mx.gluon.loss.SoftmaxCELoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    metric, losses = mx.metric.Accuracy(), [0.0]
    x, y = mx.nd.random.uniform(shape=(4, 1, 8, 8)), mx.nd.array([0, 1, 2, 0])

    def step():
        with mx.autograd.record():
            output = net(x)
            value = loss(output, y)
        value.backward()
        trainer.step(4)
        metric.update([y], [output])
        losses[0] = value.mean().asscalar()

    return step


def _module():
    import mxnet as mx

    x = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4)
    x = mx.sym.Dropout(mx.sym.Activation(mx.sym.BatchNorm(x), act_type="relu"), p=0.3)
    x = mx.sym.FullyConnected(mx.sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg"), num_hidden=3)
    module = mx.mod.Module(mx.sym.SoftmaxOutput(x, name="softmax"))
    module.bind([("data", (4, 1, 8, 8))], [("softmax_label", (4,))])
    module.init_params()
    module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.01, "momentum": 0.9})
    metric = mx.metric.Accuracy()
    batch = mx.io.DataBatch([mx.nd.random.uniform(shape=(4, 1, 8, 8))], [mx.nd.array([0, 1, 2, 0])])

    def step():
        module.forward_backward(batch)
        module.update()
        module.update_metric(metric, batch.label)

    return step


def _inference(hybridize):
    import mxnet as mx

    net, x = _net(hybridize), mx.nd.random.uniform(shape=(4, 1, 8, 8))
    return lambda: net(x).asnumpy()


def _predictor():
    import mxnet as mx

    symbol = mx.sym.FullyConnected(mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4), num_hidden=3)
    executor = symbol.simple_bind(mx.cpu(), data=(4, 1, 8, 8), grad_req="null")
    x = mx.nd.random.uniform(shape=(4, 1, 8, 8))
    return lambda: executor.forward(data=x)[0].asnumpy()


def _sizes():
    """Shapes of images, more of them than any cache keeps, over and over."""
    return itertools.cycle([(1 + i % 3, 1, 8 + i % 37, 8 + i % 41) for i in range(3 * 37 * 41)])


def _symbol():
    import mxnet as mx

    x = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4)
    x = mx.sym.Pooling(mx.sym.Activation(mx.sym.BatchNorm(x), act_type="relu"), kernel=(2, 2), pool_type="max")
    x = mx.sym.FullyConnected(mx.sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg"), num_hidden=3)
    return mx.sym.SoftmaxOutput(x, name="softmax")


def _module_shapes():
    """A step of a Module that is bound anew for each size."""
    import mxnet as mx

    module, sizes = mx.mod.Module(_symbol()), _sizes()
    module.bind([("data", (4, 1, 8, 8))], [("softmax_label", (4,))])
    module.init_params()
    module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.01, "momentum": 0.9})

    def step():
        shape = next(sizes)
        module.forward_backward(mx.io.DataBatch([mx.nd.ones(shape)], [mx.nd.zeros(shape[0])]))
        module.update()

    return step


def _executor_shapes():
    """An executor of its own for each size, forward and backward."""
    import mxnet as mx

    symbol, sizes = _symbol(), _sizes()

    def step():
        shape = next(sizes)
        executor = symbol.simple_bind(mx.cpu(), data=shape, softmax_label=shape[:1])
        executor.forward(is_train=True, data=mx.nd.ones(shape))
        executor.backward()
        mx.nd.waitall()

    return step


def _inference_shapes():
    """A hybridized network that predicts images of ever other sizes."""
    import mxnet as mx

    net, sizes = _net(True), _sizes()
    return lambda: net(mx.nd.ones(next(sizes))).asnumpy()


def _shapes(hybridize):
    """A step of training with images of ever other sizes, more of them than any cache keeps."""
    import mxnet as mx

    net, loss = mx.gluon.nn.HybridSequential(), mx.gluon.loss.SoftmaxCELoss()
    net.add(mx.gluon.nn.Conv2D(4, 3, activation="relu"), mx.gluon.nn.BatchNorm(), mx.gluon.nn.MaxPool2D(2))
    net.add(mx.gluon.nn.GlobalAvgPool2D(), mx.gluon.nn.Dense(3))
    net.initialize()
    if hybridize:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    sizes = _sizes()

    def step():
        shape = next(sizes)
        with mx.autograd.record():
            value = loss(net(mx.nd.ones(shape)), mx.nd.zeros(shape[0]))
        value.backward()
        trainer.step(shape[0])
        (mx.nd.reshape(mx.nd.ones(shape), shape=(-1, shape[3])) * 2).sum().asscalar()

    return step


def shrink_caches(most):
    """Every cache by shape, those there are and those to come, keeps a few entries, so that a short run fills them."""
    from mxnet._core.lru import Recent
    from mxnet._graph.inference import packed_conv
    from mxnet._graph.ir import call
    from mxnet._graph.lower import program
    from mxnet._kernels.pool.windows import Windows
    from mxnet._ops.nn import pooling

    program.MAX_CACHED_CODES = packed_conv.MOST_VIEWS = call.MAX_INFERRED = most
    pooling.windows_of = functools.lru_cache(most)(Windows)
    known = [each for each in gc.get_objects() if type(each) is Recent]
    for cache in known:
        cache.clear()
        cache.most = most
    return known


SHAPES = {
    "eager Gluon": lambda: _shapes(False),
    "hybridized Gluon": lambda: _shapes(True),
    "hybridized inference": _inference_shapes,
    "Module": _module_shapes,
    "executors": _executor_shapes,
}
TRAINING = {"eager Gluon": lambda: _gluon(False), "hybridized Gluon": lambda: _gluon(True), "Module": _module}
INFERENCE = {"eager": lambda: _inference(False), "hybridized": lambda: _inference(True), "executor": _predictor}


class Slope(NamedTuple):
    """What a step leaves behind."""

    resident: float  # bytes
    objects: float  # of Python
    used: float  # bytes that were asked for and not freed; NaN where the C library does not tell


class _Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
                                                     "fsmblks", "uordblks", "fordblks", "keepcost")]  # fmt: skip


_LIBRARY = ctypes.CDLL(None)


def _used():
    if not hasattr(_LIBRARY, "mallinfo2"):
        return float("nan")
    _LIBRARY.mallinfo2.restype = _Heap
    told = _LIBRARY.mallinfo2()
    return told.uordblks + told.hblkhd


def _resident():
    if hasattr(_LIBRARY, "malloc_trim"):
        _LIBRARY.malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def slopes(step, count):
    """What a step leaves behind: straight lines through the second half of the run."""
    places, found = [], []
    for _ in range(count // 2):
        step()
    gc.collect()
    gc.freeze()  # what is there already need not be looked at again and again
    try:
        for _ in range(count // 8):  # entries of caches that are frozen, thus not counted, make room for new ones
            step()
        for number in range(count - count // 2):
            step()
            if number % max(1, count // SAMPLES) == 0:
                gc.collect()
                places.append(number)
                found.append((_resident(), len(gc.get_objects()), _used()))
    finally:
        gc.unfreeze()
    return Slope(*np.polyfit(places, np.array(found, float), 1)[0].tolist())


def measured(kind, name, count, caches=None):
    """The same in a process of its own; with `caches`, no cache of shapes keeps more entries, torch's included."""
    path = [str(pathlib.Path(__file__).parents[1]), *sys.path]
    call = f"from reliability import memory; memory.report({kind!r}, {name!r}, {count}, {caches})"
    code = f"import sys; sys.path[:0] = {path!r}; {call}"
    bounds = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": str(caches), "LRU_CACHE_CAPACITY": str(caches)} if caches else {}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **bounds})
    assert done.returncode == 0, done.stderr
    return Slope(*json.loads(done.stdout.splitlines()[-1]))


def report(kind, name, count, caches=None):
    step = {"training": TRAINING, "inference": INFERENCE, "shapes": SHAPES}[kind][name]()
    if caches:
        step()  # functions are made at their first use
        known = shrink_caches(caches)
    print(json.dumps(slopes(step, count)))
    if caches:
        assert 1 <= max(cache.total() for cache in known) <= caches
