"""ELU, `softrelu` and tanh by compiled kernels: values and slopes as exact as floats are, and what is left to torch."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet._kernels.elementwise import elu

kernels = elu._code.get(wait=True)
pytestmark = pytest.mark.skipif(kernels is None, reason="kernels are made for processors with AVX2")

SLOPE = 0.75
EDGES = [np.nan, np.inf, -np.inf, 0.0, 1e38, -1e38, -87.0, -87.5, 1e-30, -1e-30]
# call, what comes out, and its slope
CASES = {
    "elu": (
        lambda x: nd.LeakyReLU(x, act_type="elu", slope=SLOPE),
        lambda x: np.where(x > 0, x, SLOPE * np.expm1(x)),
        lambda x: np.where(x > 0, 1, SLOPE * np.exp(x)),
    ),
    "softrelu": (
        lambda x: nd.Activation(x, act_type="softrelu"),
        lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
        lambda x: 1 / (1 + np.exp(-x)),
    ),
    "tanh": (
        lambda x: nd.Activation(x, act_type="tanh"),
        np.tanh,
        lambda x: 1 - np.tanh(x) ** 2,
    ),
}


@pytest.fixture
def numbers():
    random = np.random.RandomState(0)
    drawn = [random.randn(9001) * scale for scale in (1, 20, 1e-3, 1e-7)]
    return np.concatenate([*drawn, EDGES]).astype(np.float32)


# tanh's slope is computed from its value, as in MXNet: near 1 it loses the digits that the value has lost
SLOPE_TOLERANCE = {"tanh": 2e-6}


def close(found, wanted, atol=1e-37):  # powers below exp(-87) are zero
    np.testing.assert_allclose(found, wanted, rtol=4e-7, atol=atol)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("threads", [1, 2])
def test_values_and_slopes(name, threads, numbers, monkeypatch):
    ran = []
    run = elu._map
    monkeypatch.setattr(elu, "_map", lambda name, *rest: ran.append(name) or run(name, *rest))
    call, value, slope = CASES[name]
    data, before = nd.array(numbers), torch.get_num_threads()
    data.attach_grad()
    torch.set_num_threads(threads)
    try:
        with autograd.record():
            out = call(data)
        out.backward(nd.full(out.shape, 3))
    finally:
        torch.set_num_threads(before)
    assert ran == ([name] if name == "tanh" else [name, f"{name}_slope"])
    with np.errstate(all="ignore"):
        close(out.asnumpy(), value(numbers.astype(np.float64)))
        close(data.grad.asnumpy(), 3 * slope(numbers.astype(np.float64)), SLOPE_TOLERANCE.get(name, 1e-37))


@pytest.mark.parametrize("name", CASES)
def test_the_slope_of_the_slope(name):
    call = CASES[name][0]
    data = nd.random.uniform(-2, 2, shape=(1 << 15,))
    data.attach_grad()
    with autograd.record():
        (slope,) = autograd.grad(call(data), [data], create_graph=True)
    slope.backward()
    x = data.asnumpy().astype(np.float64)
    wanted = {
        "elu": np.where(x > 0, 0, SLOPE * np.exp(x)),
        "softrelu": np.exp(-x) / (1 + np.exp(-x)) ** 2,
        "tanh": -2 * np.tanh(x) * (1 - np.tanh(x) ** 2),
    }
    np.testing.assert_allclose(data.grad.asnumpy(), wanted[name], rtol=1e-5, atol=1e-6)


def test_images_in_another_order():
    image = torch.randn(2, 16, 32, 40)
    plain, last = image.clone().requires_grad_(), image.to(memory_format=torch.channels_last).requires_grad_()
    head = torch.randn_like(image)
    for data in (plain, last):
        elu.elu("softrelu", data, torch.nn.functional.softplus).backward(head)
    assert plain.grad is not None and last.grad is not None
    torch.testing.assert_close(last.grad, plain.grad, rtol=0, atol=0)


def test_what_is_left_to_torch():
    many = torch.randn(1 << 16)
    left = [many[:99], many.double(), many.half(), many[::2], many.view(256, 256).T[:, :200]]
    assert elu.elu.ready("elu", many, None) and not any(elu.elu.ready("elu", few, None) for few in left)
    with mx.runtime.kernels_off():
        assert not elu.elu.ready("elu", many, None)
