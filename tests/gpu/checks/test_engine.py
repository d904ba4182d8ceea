"""Asynchrony as MXNet has it: who waits, and when errors are reported."""

import gc
import re

import numpy as np
import pytest
import simulated

import mxnet as mx
from mxnet import autograd, nd
from mxnet._device import late
from mxnet._device.errors import explained
from mxnet.base import MXNetError
from mxnet.gluon import nn
from mxnet.ndarray import naive_engine

GPU = mx.gpu(0)


@pytest.fixture
def naive():
    naive_engine.enable()
    yield
    naive_engine.disable()


def test_waiting():
    x = nd.ones((3,), ctx=GPU) + 1
    for wait in (nd.waitall, x.wait_to_read, x.wait_to_write, x.asnumpy, x.sum().asscalar, x.tolist):
        with simulated.watched() as events:
            wait()
        assert simulated.of_kind(events, "sync"), wait


def test_waiting_for_the_cpu_waits_for_no_gpu():
    with simulated.watched() as events:
        nd.ones((3,)).wait_to_read()
        nd.ones((3,)).asnumpy()
    assert not events


def test_an_index_outside_is_reported_late():
    x = nd.array(np.arange(12.0).reshape(4, 3), ctx=GPU)
    calls = {
        "index 7 is out of bounds for axis 0 with size 4": [
            lambda: x[nd.array([1, 7], ctx=GPU)],
            lambda: nd.gather_nd(x, nd.array([[7]], ctx=GPU)),
        ],
        "indices out of bound": [lambda: nd.take(x, nd.array([9], ctx=GPU), mode="raise")],
    }
    for text, makers in calls.items():
        for make in makers:
            for wait in (nd.waitall, lambda: x.asnumpy(), lambda: x.wait_to_read(), lambda: float(x[0, 0].asscalar())):
                with simulated.watched() as events:
                    make()
                assert not simulated.of_kind(events, "sync", "assert"), events
                with pytest.raises((MXNetError, IndexError), match=text):
                    wait()
                wait()  # it is reported once


def test_a_matrix_that_is_not_positive_is_reported_late():
    bad = nd.array([[1.0, 2.0], [2.0, 1.0]], ctx=GPU)
    factor = nd.linalg.potrf(bad)
    with pytest.raises(MXNetError, match="not positive definite"):
        factor.asnumpy()
    singular = nd.linalg.inverse(nd.zeros((2, 2), ctx=GPU))
    with pytest.raises(MXNetError, match="singular"):
        singular.wait_to_read()


def test_an_error_of_the_device_says_that_it_comes_late():
    x = nd.ones((3,), ctx=GPU)
    with simulated.failing("aten::exp.out"):
        y = nd.exp(x)
        with pytest.raises(MXNetError, match="device-side assert.*NaiveEngine"):
            y.asnumpy()


def test_naive_engine_names_the_operator(naive):
    x = nd.ones((3,), ctx=GPU)
    with simulated.failing("aten::exp.out"), pytest.raises(MXNetError, match="operator exp"):
        nd.exp(x)
    net = mx.sym.exp(mx.sym.var("x"), name="grown")
    with simulated.failing("aten::exp.out"), pytest.raises(MXNetError, match="exp.*grown"):
        net.bind(GPU, {"x": x}).forward()


def test_naive_engine_waits_after_each_operator(naive):
    x = nd.ones((3,), ctx=GPU)
    with simulated.watched() as events:
        nd.exp(x)
        x + x
        x + 1
    assert len(simulated.of_kind(events, "sync")) == 3
    x.attach_grad()
    with autograd.record():
        y = nd.exp(x)
    with simulated.watched() as events:
        y.backward()
    assert simulated.of_kind(events, "sync")


def test_out_of_memory_says_what_to_do():
    with simulated.memory_limit(1 << 20), pytest.raises(MXNetError) as caught:
        nd.ones((1024, 1024), ctx=GPU)
    text = str(caught.value)
    for words in (
        "Tried to allocate 4 MiB",
        "gpu(0)",
        "free",
        "smaller batch",
        "MXNET_BACKWARD_DO_MIRROR",
        "empty_cache",
    ):
        assert words in text, text
    net = nn.Dense(512)
    net.initialize(ctx=GPU)
    net.hybridize()
    x = nd.ones((256, 512), ctx=GPU)
    net(x)
    with simulated.memory_limit(1 << 10), pytest.raises(MXNetError, match="smaller batch"):
        net(x)
    x.attach_grad()
    with autograd.record():
        y = net(x)
    with simulated.memory_limit(1 << 10), pytest.raises(MXNetError, match="smaller batch"):
        y.backward()
    assert net(x).asnumpy().shape == (256, 512)


def test_whatever_does_not_fit_is_told_in_the_same_words(tmp_path):
    def trained():
        net = nn.Dense(64, in_units=64)
        net.initialize(ctx=GPU)
        trainer = mx.gluon.Trainer(net.collect_params(), "adam")
        with autograd.record():
            y = net(nd.ones((4, 64), ctx=GPU))
        y.backward()
        return trainer

    def assign():
        x[::-1] = nd.ones((64, 64))

    x, trainer = nd.ones((64, 64), ctx=GPU), trained()
    nd.save(str(tmp_path / "x"), [x])
    store, sparse = mx.kv.create("local"), nd.sparse.zeros("row_sparse", (64, 64), ctx=GPU)
    makers = (
        lambda: trainer.step(4),
        x.copy,
        x.T.copy,
        x.attach_grad,
        assign,
        lambda: x.astype("float64"),
        lambda: x[::-1],
        lambda: x[nd.zeros((64,), ctx=GPU)],
        lambda: x[1:].copyto(GPU),
        lambda: nd.empty((64, 64), ctx=GPU),
        lambda: nd.load(str(tmp_path / "x")),
        lambda: store.init("x", x),
        lambda: mx.np.ones((64, 64), ctx=GPU),
        lambda: x.T,
        lambda: -x,
        lambda: mx.np.array(x.as_np_ndarray(), ctx=GPU)[::-1],
        lambda: mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=64).simple_bind(GPU, data=(64, 64)),
        lambda: sparse.tostype("default"),
    )
    gc.collect()  # memory of tests before must not come free meanwhile
    for make in makers:
        with simulated.memory_limit(1 << 4), pytest.raises(MXNetError, match="out of memory.*smaller batch"):
            make()


def test_memory_information():
    free, total = mx.context.gpu_memory_info(0)
    x = nd.ones((1 << 20,), ctx=GPU)
    assert mx.context.gpu_memory_info(0) == (free - x._t.nbytes, total)
    with simulated.watched() as events:
        mx.gpu(1).empty_cache()
        mx.cpu().empty_cache()
    assert [e.what for e in simulated.of_kind(events, "empty_cache")] == ["1"]


def test_conditions_are_not_kept_after_discarding():
    nd.take(nd.ones((2,), ctx=GPU), nd.array([5], ctx=GPU), mode="raise")
    assert late.PENDING
    late.discard()
    nd.waitall()


@pytest.mark.parametrize("bad", [None, 0, 70])
def test_a_program_that_never_waits_keeps_few_conditions(bad, monkeypatch):
    """Those that hold are forgotten without waiting; the first that failed is told when somebody waits."""
    monkeypatch.setattr(late, "_MOST", 50)
    x, good = nd.arange(4, ctx=GPU), nd.array([1], ctx=GPU)
    wrong = nd.array([9], ctx=GPU)
    with simulated.watched() as events:
        for i in range(200):
            nd.take(x, wrong if i in (bad, 150 if bad is not None else -1) else good, mode="raise")
    assert not simulated.of_kind(events, "sync", "race", "assert") and len(late.PENDING) < 110
    if bad is not None:
        with pytest.raises(MXNetError, match="indices out of bound"):
            nd.waitall()
    nd.waitall()


def test_a_gpu_that_the_build_of_torch_does_not_know():
    text = explained(RuntimeError("CUDA error: no kernel image is available for execution on the device\nCUDA kernel"))
    assert re.search(r"no kernels for this GPU \(simulated, compute capability 8.0\); install a build of torch", text)
    assert "\n" not in text


def test_copies_that_do_not_fit_are_told_in_the_same_words():
    host, there = nd.ones((512, 512)), nd.ones((512, 512), ctx=mx.gpu(1))
    for make in (
        lambda: nd.array(np.ones((512, 512)), ctx=GPU),
        lambda: nd.array(host, ctx=GPU),
        lambda: nd.array(host, ctx=GPU, dtype="float16"),
        lambda: host.as_in_context(GPU),
        lambda: there.as_in_context(GPU),
        lambda: nd.zeros((512, 512), ctx=GPU),
    ):
        with simulated.memory_limit(1 << 10), pytest.raises(MXNetError, match="smaller batch"):
            make()
