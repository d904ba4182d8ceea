"""Which GPUs there are, what is said where one is missing, and operators that a device lacks."""

import numpy as np
import pytest
import simulated
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet._device import available, fallback
from mxnet._ops.registry import device, observe, registry
from mxnet.base import MXNetError

GPU = mx.gpu(0)


@pytest.fixture
def falling():
    """What torch_device does when it first meets Apple's GPU."""
    available._WARNED.clear()
    observe.watch(device._with_fallback, graphs=True)
    yield
    observe.unwatch(device._with_fallback)


def test_numbers():
    assert mx.context.num_gpus() == 2
    with pytest.raises(MXNetError, match=r"gpu\(3\) does not exist: this machine has 2 GPUs, gpu\(0\) to gpu\(1\)"):
        nd.ones((2,), ctx=mx.gpu(3))
    with pytest.raises(MXNetError, match=r"gpu\(3\) has no memory to report"):
        mx.context.gpu_memory_info(3)


def test_virtual_gpus_beside_real_ones(monkeypatch):
    monkeypatch.setenv("MXNET_VIRTUAL_GPUS", "4")
    monkeypatch.setattr(available, "_WARNED", set())
    with pytest.warns(UserWarning, match="MXNET_VIRTUAL_GPUS=4 has no effect beside 2 real.*CUDA_VISIBLE_DEVICES"):
        assert available.device_of(mx.gpu(1)) == torch.device("cuda", 1)
    assert mx.context.num_gpus() == 2


DRIVERS = {
    "The NVIDIA driver on your system is too old (found version 10010).": "driver is too old.*update the driver",
    "Found no NVIDIA driver on your system. Please check": "there is no NVIDIA driver on this machine; install one",
    "CUDA unknown error": "CUDA cannot be started: CUDA unknown error",
}


@pytest.mark.parametrize("text", DRIVERS)
def test_drivers(monkeypatch, text):
    def init():
        raise RuntimeError(text)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(torch.cuda, "init", init)
    assert pytest.raises(MXNetError, device._find, mx.gpu(0)).match(DRIVERS[text])
    assert "\n" not in available.why_not(mx.gpu(0))


def test_a_build_without_cuda(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert pytest.raises(MXNetError, device._find, mx.gpu(0)).match("neither CUDA nor ROCm; install one that has")
    monkeypatch.setenv("MXNET_VIRTUAL_GPUS", "2")
    assert pytest.raises(MXNetError, device._find, mx.gpu(5)).match(r"MXNET_VIRTUAL_GPUS=2 makes gpu\(0\) to gpu\(1\)")


def test_operators_without_a_kernel_run_on_the_cpu(falling):
    x = nd.array([0.1, 0.5], ctx=GPU)
    x.attach_grad()
    want = nd.erfinv(nd.array([0.1, 0.5])).asnumpy()
    with (
        simulated.lacking("aten::erfinv.out", "aten::erfinv"),
        pytest.warns(UserWarning, match="erfinv runs on the CPU") as warned,
    ):
        for _ in range(3):
            with autograd.record():
                y = nd.erfinv(x)
            y.backward()
        net = mx.sym.erfinv(mx.sym.var("x")).bind(GPU, {"x": x})
        z = net.forward()[0]
    assert len([w for w in warned if "runs on the CPU" in str(w.message)]) == 1
    assert y.context == GPU and y._t.device.type == "cuda" and x.grad.asnumpy().all()
    np.testing.assert_allclose(y.asnumpy(), want, rtol=1e-5)
    np.testing.assert_allclose(z.asnumpy(), want, rtol=1e-5)


def test_states_are_copied_back(falling):
    def run(ctx):
        weight, grad, state = (nd.array([1.0, 2.0], ctx=ctx) for _ in range(3))
        nd.sgd_mom_update(weight, grad, state, lr=0.1, momentum=0.9, out=weight)
        return weight.asnumpy(), state.asnumpy()

    want = run(mx.cpu())
    op = registry.find("sgd_mom_update")

    def lacks(*tensors, **attrs):
        if not tensors[0].is_cpu:
            raise NotImplementedError("no kernel")
        return function(*tensors, **attrs)

    function, op.fn = op.fn, lacks
    try:
        with pytest.warns(UserWarning, match="sgd_mom_update runs on the CPU"):
            found = run(GPU)
    finally:
        op.fn = function
    np.testing.assert_allclose(found, want, rtol=1e-6)


def test_other_errors_stay_errors(falling):
    with pytest.raises(MXNetError):
        nd.dot(nd.ones((2, 3), ctx=GPU), nd.ones((2, 3), ctx=GPU))
    assert not fallback.lacking(TypeError("an integer is required"))


def test_no_float64_is_asked_of_a_device_that_lacks_it(falling):
    x = nd.array(np.arange(12.0).reshape(3, 4), ctx=GPU)
    calls = {
        "mean": lambda: x.mean(axis=1),
        "norm": lambda: nd.norm(x),
        "histogram": lambda: nd._internal._histogram(x, bin_cnt=3, range=(0, 12))[0],
        "sum": lambda: nd.sum(x),
        "softmax": lambda: nd.softmax(x),
        "linspace": lambda: nd.linspace(0, 1, 5, ctx=GPU),
        "arange": lambda: nd.arange(0, 1, 0.1, ctx=GPU),
    }
    want = {name: call().asnumpy() for name, call in calls.items()}
    with simulated.lacking(float64=False):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, call in calls.items():
                np.testing.assert_allclose(call().asnumpy(), want[name], rtol=1e-5, err_msg=name)
