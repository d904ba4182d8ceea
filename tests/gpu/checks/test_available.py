"""Which GPUs there are, what is said where one is missing, and operators that a device lacks."""

import warnings

import numpy as np
import pytest
import simulated
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet._device import available, fallback, waiting
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
    with pytest.raises(MXNetError, match=r"gpu\(-1\) does not exist: this machine has 2 GPUs"):
        nd.ones((2,), ctx=mx.gpu(-1))
    for number in (3, -1):
        with pytest.raises(MXNetError, match=rf"gpu\({number}\) has no memory to report"):
            mx.context.gpu_memory_info(number)
        with pytest.raises(MXNetError, match=rf"gpu\({number}\) has no memory to give back"):
            mx.gpu(number).empty_cache()


def test_virtual_gpus_beside_real_ones(monkeypatch):
    monkeypatch.setenv("MXNET_VIRTUAL_GPUS", "4")
    monkeypatch.setattr(available, "_WARNED", set())
    with pytest.warns(UserWarning, match="MXNET_VIRTUAL_GPUS=4 has no effect beside 2 real.*CUDA_VISIBLE_DEVICES"):
        assert available.device_of(mx.gpu(1)) == torch.device("cuda", 1)
    assert mx.context.num_gpus() == 2


DRIVERS = {
    "The NVIDIA driver on your system is too old (found version 10010).": "driver is too old.*update the driver",
    "Found no NVIDIA driver on your system. Please check": "there is no NVIDIA driver on this machine; install one",
    "No CUDA GPUs are available": "CUDA finds no device; look at CUDA_VISIBLE_DEVICES and at what nvidia-smi shows,",
    "CUDA unknown error": "CUDA cannot be started: CUDA unknown error",
}


ROCM = {
    "No HIP GPUs are available": "ROCm finds no device; look at HIP_VISIBLE_DEVICES and at what rocm-smi shows, use mx",
    "HIP unknown error": "ROCm cannot be started: HIP unknown error; look at what rocm-smi shows, use mx",
}


@pytest.mark.parametrize("text", ROCM)
def test_rocm_without_a_device(monkeypatch, text):
    def init():
        raise RuntimeError(text)

    monkeypatch.setattr(torch.version, "hip", "6.4")
    with pytest.raises(MXNetError, match=r"gpu\(3\) does not exist: .*HIP_VISIBLE_DEVICES"):
        nd.ones((2,), ctx=mx.gpu(3))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "init", init)
    assert pytest.raises(MXNetError, device._find, mx.gpu(0)).match(ROCM[text])
    assert "\n" not in available.why_not(mx.gpu(0)) and "CUDA" not in available.why_not(mx.gpu(0))


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


@pytest.fixture
def apple(monkeypatch):
    """What torch says on a Mac, and what it was asked to do."""
    asked = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "synchronize", lambda: asked.append("synchronize"))
    monkeypatch.setattr(torch.mps, "empty_cache", lambda: asked.append("empty_cache"))
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 1000)
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: 300)
    yield asked
    if device._FALLING:
        observe.unwatch(device._FALLING.pop())


def test_apples_gpu(apple):
    assert available.device_of(mx.gpu(0)) == torch.device("mps") and mx.context.num_gpus() == 1
    assert pytest.raises(MXNetError, device._find, mx.gpu(1)).match(r"this machine has Apple's one GPU, gpu\(0\)")
    assert mx.context.gpu_memory_info(0) == (700, 1000)
    mx.gpu(0).empty_cache()
    nd.waitall()
    waiting.wait(torch.device("mps"))
    assert apple == ["empty_cache", "synchronize", "synchronize"]


def test_virtual_gpus_beside_apples(apple, monkeypatch):
    monkeypatch.setenv("MXNET_VIRTUAL_GPUS", "4")
    monkeypatch.setattr(available, "_WARNED", set())
    with pytest.warns(UserWarning, match="MXNET_VIRTUAL_GPUS=4 has no effect beside Apple's GPU; unset it"):
        assert available.device_of(mx.gpu(0)) == torch.device("mps")


def test_operators_fall_back_from_the_first_use_of_apples_gpu(apple):
    assert not device._FALLING
    device._find(mx.gpu(0))
    device._find(mx.gpu(0))
    assert len(device._FALLING) == 1
    want = nd.erfinv(nd.array([0.5])).asnumpy()
    available._WARNED.clear()
    with simulated.lacking("aten::erfinv.out", "aten::erfinv"), pytest.warns(UserWarning, match="erfinv runs on the"):
        np.testing.assert_allclose(nd.erfinv(nd.array([0.5], ctx=GPU)).asnumpy(), want, rtol=1e-5)


def test_a_gradient_without_a_kernel_is_told(falling):
    """torch's own message says what to set on Apple's GPUs: PYTORCH_ENABLE_MPS_FALLBACK=1."""
    x = nd.ones((3,), ctx=GPU)
    x.attach_grad()
    with autograd.record():
        y = nd.tanh(x)
    with (
        simulated.lacking("aten::tanh_backward.grad_input", "aten::tanh_backward"),
        pytest.raises(MXNetError, match="Error while differentiating: .*tanh_backward"),
    ):
        y.backward()


def test_optimizers_ask_for_no_float64():
    for name in sorted(set(mx.optimizer.Optimizer.opt_registry) - {"test", "ccsgd", "custom"}):
        weight, gradient = nd.ones((3, 2), ctx=GPU), nd.ones((3, 2), ctx=GPU)
        updater = mx.optimizer.get_updater(mx.optimizer.create(name))
        with simulated.lacking(float64=False):
            for _ in range(2):
                updater(0, gradient, weight)
        assert np.isfinite(weight.asnumpy()).all(), name


def test_arrays_of_float64_are_refused_in_one_sentence(falling):
    x, y = nd.ones((3,), ctx=GPU), nd.ones((3,), dtype="float64")
    makers = (
        lambda: nd.ones((2,), ctx=GPU, dtype="float64"),
        lambda: nd.array([1], ctx=GPU, dtype="float64"),
        lambda: nd.empty((2,), ctx=GPU, dtype="float64"),
        lambda: nd.full((2,), 1, ctx=GPU, dtype="float64"),
        lambda: nd.sparse.csr_matrix(np.eye(2), ctx=GPU),
        lambda: mx.np.array([1.0], dtype="float64", ctx=GPU),
        lambda: x.astype("float64"),
        lambda: nd.cast(x, dtype="float64"),
        lambda: y.as_in_context(GPU),
        lambda: mx.sym.exp(mx.sym.var("x")).simple_bind(GPU, x=(2,), type_dict={"x": "float64"}),
    )
    with simulated.lacking(float64=False), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make in makers:
            with pytest.raises(MXNetError, match=r"Apple's GPUs have no float64: use float32 there, or .* on mx.cpu"):
                make()


def test_numbers_of_float64_are_converted_on_the_host():
    x, part = nd.zeros((2, 3), ctx=GPU), np.arange(3.0)
    with simulated.lacking(float64=False), simulated.watched() as events:
        x[:] = np.ones((2, 3))
        x[1] = part
        x[0, 1:] = [4.0, 5.0]
        nd.array(part, ctx=GPU)
        nd.ones((3,), dtype="float64").copyto(x[0])
    assert x.asnumpy().tolist() == [[1, 1, 1], [0, 1, 2]]
    bytes_sent = [int(e.what.split()[0]) for e in simulated.of_kind(events, "h2d")]
    assert bytes_sent[:2] == [24, 12] and not simulated.of_kind(events, "sync")


def test_operators_that_need_float64_run_on_the_cpu(falling):
    x = nd.array(np.arange(12.0).reshape(3, 4), ctx=GPU)
    calls = {
        "mean": lambda: x.mean(axis=1),
        "norm": lambda: nd.norm(x),
        "sum": lambda: nd.sum(x),
        "softmax": lambda: nd.softmax(x),
        "arange": lambda: nd.arange(0, 1, 0.1, ctx=GPU),
    }
    needing = {
        "_histogram": lambda: nd._internal._histogram(x, bin_cnt=3, range=(0, 12))[0],
        "_linspace": lambda: nd.linspace(0, 1, 5, ctx=GPU),
        "gamma": lambda: nd.gamma(x + 0.5),
    }
    want = {name: call().asnumpy() for name, call in {**calls, **needing}.items()}
    with simulated.lacking(float64=False), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name, call in {**calls, **needing, **needing}.items():
            np.testing.assert_allclose(call().asnumpy(), want[name], rtol=1e-5, err_msg=name)
    assert [str(w.message).split()[0] for w in caught] == list(needing)  # one warning each, none for the others
