"""MXNet's settings of cuDNN and tensor cores hold while ReMX computes; a torch program beside it keeps its own."""

import threading

import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet._device import settings
from mxnet._ops.nn import convolution
from mxnet.base import MXNetError

GPU = mx.gpu(0)

SETTINGS = [
    ({}, {}, {"benchmark": True, "conv": "tf32", "matmul": "ieee"}),
    ({"MXNET_CUDNN_AUTOTUNE_DEFAULT": "0"}, {}, {"benchmark": False}),
    ({"MXNET_CUDNN_AUTOTUNE_DEFAULT": "0"}, {"cudnn_tune": "fastest"}, {"benchmark": True}),
    ({}, {"cudnn_tune": "off"}, {"benchmark": False}),
    ({}, {"cudnn_off": True}, {"enabled": False}),
    ({"MXNET_CUDA_ALLOW_TENSOR_CORE": "0"}, {}, {"conv": "ieee", "rnn": "ieee", "matmul": "ieee"}),
    ({"MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION": "1"}, {}, {"matmul": "tf32"}),
    ({"MXNET_ENFORCE_DETERMINISM": "1"}, {}, {"deterministic": True, "algorithms": (True, True)}),
]
NAMES = ("enabled", "benchmark", "deterministic", "algorithms", "matmul", "conv", "rnn")


@pytest.mark.parametrize(("environment", "attributes", "expected"), SETTINGS)
def test_settings_hold_during_a_call_only(monkeypatch, environment, attributes, expected):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    before = {name: settings.get(name) for name in NAMES}
    seen, convolve = [], torch.conv2d

    def watched(*inputs):
        seen.append({name: settings.get(name) for name in NAMES})
        return convolve(*inputs)

    monkeypatch.setitem(convolution._CONVOLVE, 2, watched)
    data, weight = nd.ones((1, 2, 5, 5), ctx=GPU), nd.ones((3, 2, 3, 3), ctx=GPU)
    nd.Convolution(data, weight, kernel=(3, 3), num_filter=3, no_bias=True, **attributes)
    assert {name: seen[0][name] for name in expected} == expected
    assert {name: settings.get(name) for name in NAMES} == before
    nd.Convolution(data.as_in_context(mx.cpu()), weight.as_in_context(mx.cpu()), kernel=(3, 3), num_filter=3,
                   no_bias=True, **attributes)  # fmt: skip
    assert seen[-1] == before  # nothing changes for the CPU


def test_settings_hold_during_backward_too(monkeypatch):
    monkeypatch.setenv("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "1")
    before, seen = settings.get("matmul"), []
    x = nd.ones((2, 2), ctx=GPU)
    x.attach_grad()
    with autograd.record():
        y = nd.dot(x, x)
    y._t.register_hook(lambda grad: seen.append(settings.get("matmul")))
    y.backward()
    assert seen == ["tf32"] and settings.get("matmul") == before


def test_a_failing_call_gives_the_settings_back():
    before = {name: settings.get(name) for name in NAMES}
    with pytest.raises(MXNetError):
        nd.Convolution(nd.ones((1, 2, 5, 5), ctx=GPU), nd.ones((3, 5, 3, 3), ctx=GPU), kernel=(3, 3), num_filter=3,
                       no_bias=True)  # fmt: skip
    assert {name: settings.get(name) for name in NAMES} == before


def test_wrong_setting(monkeypatch):
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "maybe")
    with pytest.raises((MXNetError, ValueError), match="MXNET_CUDNN_AUTOTUNE_DEFAULT must be 0, 1 or 2"):
        settings.wanted()


def _held():
    return {name: settings.get(name) for name in NAMES}


def _convolved(**attributes):
    data, weight = nd.ones((1, 2, 5, 5), ctx=GPU), nd.ones((3, 2, 3, 3), ctx=GPU)
    data.attach_grad()
    with autograd.record():
        return nd.Convolution(data * 1, weight, kernel=(3, 3), num_filter=3, no_bias=True, **attributes), data


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"cudnn_off": True}, {"enabled": False}),
        ({"cudnn_tune": "off"}, {"benchmark": False}),
        ({}, {"benchmark": True}),
    ],
)
def test_an_operators_own_settings_hold_for_its_gradient(attributes, expected):
    before, inside, behind = _held(), [], []
    result, data = _convolved(**attributes)
    result._t.grad_fn.register_prehook(lambda heads: inside.append(_held()))
    product = result._t.grad_fn.next_functions[0][0]  # computed behind it, in the same pass
    product.register_prehook(lambda heads: behind.append(_held()))
    result.backward()
    assert {name: inside[0][name] for name in expected} == expected
    assert behind[0]["enabled"] and behind[0]["benchmark"]
    assert _held() == before and data.grad.asnumpy().any()


def test_a_gradient_that_fails_gives_the_settings_back():
    before = _held()
    result, _ = _convolved(cudnn_off=True)

    def fail(heads):
        raise ValueError("wrong")

    result._t.grad_fn.register_prehook(fail)
    with pytest.raises((MXNetError, ValueError), match="wrong"):
        result.backward()
    assert _held() == before


def test_scopes_of_threads_that_overlap():
    """The one that began first ends first: torch's own settings come back behind the last."""
    before, first, second = _held(), settings.Scope(True), settings.Scope(True, "off", True)
    assert before["enabled"] and not before["benchmark"]
    first.__enter__()
    assert settings.get("benchmark")
    second.__enter__()
    assert not settings.get("benchmark") and not settings.get("enabled")
    first.__exit__()
    assert not settings.get("benchmark") and not settings.get("enabled")
    second.__exit__()
    assert _held() == before


def test_many_threads_leave_torchs_settings():
    before, stop, errors = _held(), threading.Barrier(4), []

    def work(number):
        stop.wait()
        try:
            for i in range(15):
                result, _ = _convolved(cudnn_off=bool((number + i) % 2), cudnn_tune=(None, "off", "fastest")[i % 3])
                result.backward()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and _held() == before and not settings._OPEN and not settings._CHANGED


def test_what_a_program_changes_meanwhile_stays():
    before = torch.backends.cudnn.benchmark
    try:
        torch.backends.cudnn.benchmark = False
        with settings.Scope(True, "fastest"):
            torch.backends.cudnn.benchmark = True  # as it was put for the call
            torch.backends.cudnn.deterministic = True
        assert torch.backends.cudnn.deterministic
        with settings.Scope(True, "fastest"):
            torch.backends.cudnn.benchmark = False
            with settings.Scope(True, "fastest"):
                assert torch.backends.cudnn.benchmark
        assert not torch.backends.cudnn.benchmark
    finally:
        torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = before, False
