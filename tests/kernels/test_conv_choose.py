"""One table chooses how convolutions are computed: for eager calls, training graphs and folded inference."""

import os
import sys

import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet._core.lru import Recent
from mxnet._graph.training.convolution import channels_last_convolution
from mxnet._kernels import registry, tuning
from mxnet._kernels.conv import choose, direct
from mxnet._kernels.conv.problem import EAGER, TRAINING
from mxnet._kernels.conv.winograd import f4x4
from mxnet._kernels.runtime.buffers import buffer
from mxnet.gluon import nn

ONES = (1, 1)
HOME = os.path.dirname(mx.__file__)
MOST_CALLS = 20  # Python functions of ours below the operator; comprehensions count


def kernels(log):
    return [decision.kernel for decision in log]


@pytest.fixture
def compiled():
    if f4x4.code.get(wait=True) is None:
        pytest.skip("no kernels for this processor")


def calls_of(function):
    """The functions of this project that a call runs, one after the other."""
    seen = []

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(HOME):
            seen.append(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize("size", [56, 7], ids=["many tiles", "few tiles"])
@pytest.mark.usefixtures("compiled")
def test_a_training_step_costs_few_python_calls(size):
    """However many buffers other kernels have made in this thread."""
    for number in range(20):
        buffer(f"of another kernel, {number}", 8)
    data = torch.randn(8, 64, size, size).contiguous(memory_format=torch.channels_last).requires_grad_()
    weight, attrs = torch.randn(64, 64, 3, 3, requires_grad=True), {"kernel": (3, 3), "pad": ONES, "num_filter": 64}

    def forward():
        return channels_last_convolution(data, weight, None, **attrs)

    for _ in range(2):
        forward()
    operator, *below = calls_of(forward)
    assert operator == "channels_last_convolution" and len(below) <= MOST_CALLS, below


@pytest.mark.parametrize(
    ("mode", "data", "weight", "stride", "way"),
    [
        (EAGER, (32, 3, 32, 32), (32, 3, 3, 3), 1, "nchw_few_channels"),
        (EAGER, (16, 64, 32, 32), (64, 64, 3, 3), 1, "winograd_f4x4"),
        (EAGER, (64, 1, 28, 28), (20, 1, 5, 5), 2, "nchw_one_channel"),
        (EAGER, (64, 20, 12, 12), (50, 20, 5, 5), 2, "nchw_odd_channels"),
        (EAGER, (16, 64, 32, 32), (64, 64, 3, 3), 2, "torch"),
        (TRAINING, (16, 64, 32, 32), (64, 64, 3, 3), 1, "winograd_f4x4"),
        (TRAINING, (16, 64, 32, 32), (64, 64, 7, 7), 1, "channels_last"),
    ],
)
@pytest.mark.usefixtures("compiled")
def test_each_way_is_chosen_and_told(mode, data, weight, stride, way):
    """Also from the second time on, when the choice is known."""
    tensors = torch.randn(data), torch.randn(weight, requires_grad=True)
    pad = (weight[2] // 2,) * 2
    for _ in range(2):
        with registry.traced() as log:
            result = choose.conv2d(*tensors, None, (stride, stride), pad, ONES, 1, mode)
        (decision,) = [each for each in log if each.kernel.startswith("conv.")]
        assert decision.kernel == f"conv.{way}" and decision.used and decision.rule
        assert (result is None) == (way == "torch")
    if result is not None:
        exact = torch.conv2d(*(t.detach().double() for t in tensors), None, stride, pad)
        assert (result - exact).abs().max() < 1e-5 * exact.abs().max()


def test_the_rule_of_torchs_own_convolution_names_what_is_convolved():
    with registry.traced() as log:
        result = choose.conv2d(torch.ones(1, 2, 5, 5), torch.ones(2, 2, 3, 3, requires_grad=True), None, (), (), (), 1)
    assert result is None
    assert log == [
        ("conv.torch", True, "no kernel is faster for a window of 3x3, stride 1x1, data of (1, 2, 5, 5), 2 filters")
    ]


@pytest.mark.parametrize("mode", [EAGER, TRAINING])
def test_nothing_but_torch_while_kernels_are_off(mode):
    data, weight = torch.randn(16, 128, 32, 32), torch.randn(128, 128, 3, 3, requires_grad=True)
    with registry.kernels_off(), registry.traced() as log:
        assert choose.conv2d(data, weight, None, ONES, ONES, ONES, 1, mode) is None
        out = channels_last_convolution(data, weight, None, kernel=(3, 3), pad=ONES, num_filter=128)
        assert choose.deconv(torch.ones(1, 4, 1, 1), torch.ones(4, 4, 3, 3), None, (), (), (), (), 1) is None
    assert not log and torch.equal(out, torch.conv2d(data, weight, padding=1))


def test_eager_calls_that_are_not_recorded_are_torchs():
    data, weight = torch.randn(16, 64, 32, 32), torch.randn(64, 64, 3, 3)
    assert choose.conv2d(data, weight, None, ONES, ONES, ONES, 1) is None
    with torch.no_grad():
        assert choose.conv2d(data, weight.requires_grad_(), None, ONES, ONES, ONES, 1) is None


def test_choices_follow_the_number_of_threads_the_dtype_and_the_shape(monkeypatch):
    seen = []
    monkeypatch.setattr(
        choose, "_decide", lambda problem, decide=choose._decide: seen.append(problem) or decide(problem)
    )
    weight = torch.randn(32, 32, 3, 3, requires_grad=True)
    for data in (torch.randn(2, 32, 8, 8), torch.randn(2, 32, 9, 8), torch.randn(2, 32, 8, 8)):
        choose.conv2d(data, weight, None, ONES, ONES, ONES, 1)
    assert len(seen) == 2
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    choose.conv2d(torch.randn(2, 32, 8, 8), weight, None, ONES, ONES, ONES, 1)
    choose.conv2d(torch.randn(2, 32, 8, 8).double(), weight, None, ONES, ONES, ONES, 1)
    assert [problem.threads for problem in seen[2:]] == [7, 7] and len(seen) == 4


def test_code_that_is_being_compiled_is_asked_for_again(monkeypatch):
    monkeypatch.setattr(f4x4.code, "earned", lambda work, wait: None)
    monkeypatch.setattr(f4x4.code, "state", lambda: ("compiling", "numba compiles it"))
    call = (
        torch.randn(4, 64, 16, 16),
        torch.randn(64, 64, 3, 3, requires_grad=True),
        None,
        ONES,
        ONES,
        ONES,
        1,
        TRAINING,
    )
    with registry.traced() as log:
        choose.conv2d(*call)
    assert kernels(log) == ["conv.channels_last"] and not choose._choices
    monkeypatch.undo()
    if f4x4.code.get(wait=True) is not None:
        with registry.traced() as log:
            choose.conv2d(*call)
        assert kernels(log)[0] == "conv.winograd_f4x4"


def test_no_more_choices_are_kept_than_a_limit(monkeypatch):
    monkeypatch.setattr(choose, "_choices", Recent(3))
    for size in range(4, 12):
        choose.conv2d(torch.ones(1, 2, size, size), torch.ones(2, 2, 3, 3, requires_grad=True), None, (), (), (), 1)
    assert 1 <= choose._choices.total() <= 3


@pytest.mark.usefixtures("compiled")
def test_a_network_tells_its_ways_in_inference_and_in_training():
    mx.random.seed(1)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(64, 3, padding=1, in_channels=64), nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(64, 1))
    net.initialize()
    net.hybridize()
    x = nd.random.normal(shape=(2, 64, 32, 32))
    direct._code.get(wait=True)
    for _ in range(4):
        net(x).wait_to_read()
    with registry.traced() as log:
        net(x).wait_to_read()
    assert [name for name in kernels(log) if name.startswith("conv.")] == [
        "conv.packed_winograd_f4x4",
        "conv.packed_direct",
    ]
    with registry.traced() as log, autograd.record():
        net(x)
    assert kernels(log)[0] == "conv.winograd_f4x4" and "norm.fused_batch_norm" in kernels(log)


def test_limits_are_read_when_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(tuning, "WINOGRAD_CHANNELS", {3: 1 << 20, 5: 1 << 20})
    with registry.traced() as log:
        choose.conv2d(torch.ones(4, 64, 16, 16), torch.ones(64, 64, 3, 3), None, ONES, ONES, ONES, 1, TRAINING)
    assert kernels(log) == ["conv.channels_last"]
