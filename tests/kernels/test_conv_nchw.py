"""NCHW convolutions of few or odd channels, and by Winograd tiles, give what torch's own kernels give.

Gradients included; each with the compiled code, and without it.
"""

import numpy as np
import pytest
import torch

from mxnet import autograd, nd
from mxnet._kernels import registry, tuning
from mxnet._kernels.conv import choose, nchw_few_channels
from mxnet._kernels.conv.winograd import f4x4

ONE, ODD, FEW, WINOGRAD = "nchw_one_channel", "nchw_odd_channels", "nchw_few_channels", "winograd_f4x4"
CONVOLUTIONS = [  # images, channels, filters, kernel, stride, pad, size, the ways without and with compiled code
    (40, 1, 6, (5, 5), (1, 1), (2, 2), 28, (ONE, FEW)),
    (40, 1, 20, (3, 5), (2, 1), (0, 1), 24, (ONE, ONE)),
    (9, 1, 5, (3, 5), (1, 1), (0, 1), (11, 13), (ONE, FEW)),
    (3, 3, 7, (4, 2), (1, 1), (2, 0), (5, 9), (None, FEW)),
    (4, 3, 32, (5, 5), (1, 1), (2, 2), 32, (None, FEW)),
    (4, 4, 3, (1, 1), (1, 1), (0, 0), 8, (None, FEW)),
    (4, 3, 8, (3, 3), (1, 1), (0, 0), (9, 9), (None, None)),
    (4, 3, 8, (7, 7), (1, 1), (3, 3), 20, (None, None)),
    (32, 20, 50, (5, 5), (1, 1), (0, 0), 12, (ODD, WINOGRAD)),
    (30, 20, 50, (5, 5), (1, 1), (0, 0), 12, (ODD, ODD)),
    (30, 18, 32, (3, 3), (2, 2), (1, 1), 15, (ODD, ODD)),
    (8, 32, 64, (3, 3), (1, 1), (0, 0), (13, 10), (None, WINOGRAD)),
    (8, 32, 36, (5, 5), (1, 1), (2, 2), (16, 17), (ODD, WINOGRAD)),
    (8, 32, 32, (3, 3), (1, 1), (1, 0), 10, (None, None)),
]


@pytest.fixture
def taken():
    """The ways that computed; None: torch's own."""
    with registry.traced() as log:
        names = (d.kernel.removeprefix("conv.") for d in log if d.kernel.startswith("conv."))
        yield lambda: [None if name == "torch" else name for name in names]


@pytest.fixture(params=[False, True], ids=["plain", "compiled"])
def compiled(request, monkeypatch):
    """Is the code that numba compiles taken?"""
    loaders = nchw_few_channels._code, f4x4.code
    if not request.param:
        for loader in loaders:
            monkeypatch.setattr(loader, "get", lambda wait: None)
    elif None in [loader.get(wait=True) for loader in loaders]:
        pytest.skip("numba compiles nothing here")
    monkeypatch.setattr(tuning, "CONV_COMPILED_WORK", 1)
    monkeypatch.setattr(tuning, "CONV_WORK", 1)
    return request.param


def arrays(*shapes):
    random = np.random.RandomState(0)
    made = [nd.array(random.uniform(-1, 1, shape)) for shape in shapes]
    for a in made:
        a.attach_grad()
    return made


def tensors(given):
    return [torch.tensor(a.asnumpy(), dtype=torch.float64, requires_grad=True) for a in given]


def close(found, expected):
    expected = expected.detach().numpy()
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-4, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("case", CONVOLUTIONS)
@pytest.mark.parametrize("at_a_time", [1 << 22, 1 << 16])
def test_convolution(case, at_a_time, taken, compiled, monkeypatch):
    images, channels, filters, kernel, stride, pad, size, ways = case
    monkeypatch.setattr(tuning, "CONV_PATCHES", at_a_time)
    sizes = size if isinstance(size, tuple) else (size, size)
    given = arrays((images, channels, *sizes), (filters, channels, *kernel), (filters,))
    theirs = tensors(given)
    with autograd.record():
        y = nd.Convolution(*given, kernel=kernel, stride=stride, pad=pad, num_filter=filters)
        loss = (y * y * y).sum()
    loss.backward()
    expected = torch.conv2d(*theirs, stride, pad)
    (expected**3).sum().backward()
    assert taken() == [ways[compiled]]
    close(y, expected)
    assert y._t.is_contiguous()
    for ours, their in zip(given, theirs, strict=True):
        close(ours.grad, their.grad)


@pytest.mark.parametrize("channels, window, way", [(1, 3, FEW), (3, 3, FEW), (32, 5, WINOGRAD)])
def test_only_the_gradients_asked_for(channels, window, way, taken, compiled):
    data, weight = nd.ones((32, channels, 15, 15)), nd.ones((36, channels, window, window))
    weight.attach_grad()
    with autograd.record():
        y = nd.Convolution(data, weight, kernel=(window, window), num_filter=36, no_bias=True)
    y.backward()
    if compiled:
        assert taken() == [way]
    np.testing.assert_allclose(weight.grad.asnumpy(), 32 * (16 - window) ** 2, rtol=1e-5)
    data.attach_grad()
    with autograd.record():
        y = nd.Convolution(data, weight.detach(), kernel=(window, window), num_filter=36, no_bias=True)
    y.backward()
    np.testing.assert_allclose(data.grad.asnumpy()[:, :, 4:-4, 4:-4], 36 * window**2, rtol=1e-5)


def test_nan_and_infinity_in_a_convolution_of_few_channels(compiled):
    data, weight = arrays((2, 1, 12, 13), (4, 1, 3, 3))
    data[0, 0, 5, 6], data[1, 0, 0, 12] = np.nan, np.inf
    theirs = tensors([data, weight])
    with autograd.record():
        y = nd.Convolution(data, weight, kernel=(3, 3), num_filter=4, no_bias=True)
    y.backward()
    expected = torch.conv2d(*theirs)
    expected.sum().backward()
    np.testing.assert_allclose(y.asnumpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(weight.grad.asnumpy(), theirs[1].grad.numpy(), rtol=1e-4)


def test_a_bias_that_is_no_vector_of_floats_is_refused(compiled):
    data, weight = torch.ones(2, 1, 12, 12), torch.ones(4, 1, 3, 3, requires_grad=True)
    for bias in (torch.ones(3), torch.ones(4, dtype=torch.float64)):
        with pytest.raises(RuntimeError):
            choose.conv2d(data, weight, bias, (), (), (), 1)
    assert choose.conv2d(torch.ones(2, 0, 12, 12), weight, None, (), (), (), 1) is None


def test_threads_share_out_what_one_does(compiled):
    results, before = [], torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            data, weight = arrays((31, 3, 40, 40), (13, 3, 3, 3))
            with autograd.record():
                y = nd.Convolution(data, weight, kernel=(3, 3), num_filter=13, no_bias=True, pad=(1, 1))
            y.backward()
            results.append([a.asnumpy() for a in (y, data.grad, weight.grad)])
    finally:
        torch.set_num_threads(before)
    for one, three in zip(*results, strict=True):
        np.testing.assert_allclose(three, one, rtol=1e-4, atol=1e-5)


def test_gradients_of_gradients(taken, compiled):
    given = arrays((2, 1, 10, 10), (3, 1, 3, 3))
    theirs = tensors(given)

    with autograd.record():
        y = nd.Convolution(*given, kernel=(3, 3), num_filter=3, no_bias=True)
        slope = autograd.grad((y * y).sum(), [given[1]], create_graph=True)[0]
        loss = (slope * slope).sum()
    loss.backward()
    y = torch.conv2d(*theirs)
    (slope,) = torch.autograd.grad((y * y).sum(), theirs[1], create_graph=True)
    (slope * slope).sum().backward()
    assert taken() == [FEW if compiled else ONE]
    for ours, their in zip(given, theirs, strict=True):
        close(ours.grad, their.grad)
