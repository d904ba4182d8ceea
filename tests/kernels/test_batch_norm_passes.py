"""Batch norm of training by compiled passes gives what torch gives, with its gradients and moving statistics."""

import pytest
import torch
import torch.nn.functional as F

from mxnet._kernels import tuning
from mxnet._kernels.norm import batch_norm_passes as passes
from mxnet._kernels.norm.fused_norm import fused_norm
from mxnet._kernels.runtime.loader import simd_width

pytest.importorskip("numba", reason="kernels are what numba compiles")
if not simd_width():
    pytest.skip("kernels are made for processors with AVX2", allow_module_level=True)

LAST = torch.channels_last
EPS, MOMENTUM = 1e-3, 0.9
SHAPES = [(1, 16, 3, 5), (2, 48, 9, 7), (3, 272, 8, 8), (2, 1040, 5, 5), (4, 64, 40, 31)]


@pytest.fixture(params=[1, 3], autouse=True)
def threads(request, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: request.param)
    monkeypatch.setattr(tuning, "CHANNELS_LAST_PER_THREAD", 1)


class Case:
    """Inputs of a batch norm, and what double precision makes of them."""

    def __init__(self, shape, *, active, added, far=0.0):
        torch.manual_seed(7)
        self.active, channels = active, shape[1]
        self.data = (torch.randn(shape) * 2 + 3 + far).contiguous(memory_format=LAST).requires_grad_()
        self.addend = torch.randn(shape).contiguous(memory_format=LAST).requires_grad_() if added else None
        self.gamma, self.beta = (torch.rand(channels) + 0.5).requires_grad_(), torch.randn(channels).requires_grad_()
        self.moving = torch.randn(channels), torch.rand(channels) + 1
        self.head = torch.randn(shape)

    def inputs(self):
        return [t for t in (self.data, self.addend, self.gamma, self.beta) if t is not None and t.requires_grad]

    def run(self):
        moving = [t.clone() for t in self.moving]
        options = self.active, EPS, MOMENTUM
        result = fused_norm.run(self.data, self.gamma, self.beta, moving, self.addend, *options)
        return result, *torch.autograd.grad(result, self.inputs(), self.head), *moving

    def exact(self):
        wide = {id(t): t.detach().double().requires_grad_() for t in self.inputs()}
        data, gamma, beta = (wide[id(t)] for t in (self.data, self.gamma, self.beta))
        result = F.batch_norm(data, None, None, gamma, beta, True, 0.0, EPS)
        if self.addend is not None:
            result = result + wide.get(id(self.addend), self.addend.double())
        result = result.relu() if self.active else result
        found = torch.autograd.grad(result, list(wide.values()), self.head.double())
        variance, mean = torch.var_mean(data.detach(), (0, 2, 3), correction=0)
        pairs = zip(self.moving, (mean, variance), strict=True)
        return result, *found, *(old.double() * MOMENTUM + new * (1 - MOMENTUM) for old, new in pairs)

    def check(self):
        for got, want in zip(self.run(), self.exact(), strict=True):
            assert got.shape == want.shape
            torch.testing.assert_close(got.double(), want, rtol=0, atol=3e-6 * want.abs().max().item() + 1e-6)


@pytest.mark.parametrize("active", [True, False])
@pytest.mark.parametrize("added", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_gradients_and_statistics(shape, added, active):
    case = Case(shape, active=active, added=added)
    assert passes.applies(case.data, case.addend)
    case.check()
    case.check()  # by the same plan


@pytest.mark.parametrize("active", [True, False])
def test_an_addend_that_learns_nothing_still_stops_the_gradient(active):
    case = Case(SHAPES[1], active=active, added=True)
    case.addend.requires_grad_(False)
    case.check()


def test_data_far_from_zero():
    """One pass of squares would lose all digits of the variance."""
    case = Case(SHAPES[4], active=False, added=False, far=1000.0)
    data, gamma, beta = (t.detach() for t in (case.data, case.gamma, case.beta))
    mean, inverse, *_ = passes.forward(data, None, gamma, beta, EPS, False, torch.empty_like(data)).double()
    variance, exact = torch.var_mean(data.double(), (0, 2, 3), correction=0)
    torch.testing.assert_close(mean, exact, rtol=1e-6, atol=0)
    torch.testing.assert_close(inverse, torch.rsqrt(variance + EPS), rtol=1e-6, atol=0)


def test_nan_and_infinity_stay_in_their_channels():
    case = Case(SHAPES[1], active=True, added=False)
    with torch.no_grad():
        case.data[0, 3, 0, 0], case.data[1, 5, 2, 2] = float("nan"), float("inf")
    result, by_data, *_ = case.run()
    hurt = [3, 5]
    rest = [i for i in range(case.data.shape[1]) if i not in hurt]
    assert by_data[:, rest].isfinite().all() and result[:, rest].isfinite().all()
    assert result[:, hurt].isnan().any()


def test_numbers_of_channels_that_do_not_lie_together():
    case = Case(SHAPES[1], active=True, added=False)
    case.gamma = torch.rand(2, SHAPES[1][1]).t()[:, 0].requires_grad_()
    case.check()
    case.moving = tuple(torch.stack((m, m), 1)[:, 0] for m in case.moving)
    wanted, options = case.exact()[-2:], (True, EPS, MOMENTUM)
    fused_norm.run(case.data, case.gamma, case.beta, case.moving, None, *options).sum().backward()
    for got, want in zip(case.moving, wanted, strict=True):
        torch.testing.assert_close(got.double(), want, rtol=3e-6, atol=3e-6)


def test_what_is_left_to_torch(monkeypatch):
    channels = 24 if passes.code.get(wait=True).WIDE == 16 else 12
    case = Case((2, channels, 9, 7), active=True, added=True)
    assert not passes.applies(case.data, case.addend)
    case.check()
    other = Case(SHAPES[1], active=True, added=True)
    other.addend = other.addend.detach().contiguous().requires_grad_()
    assert not passes.applies(other.data, other.addend)
    other.check()
    monkeypatch.setattr(passes, "applies", lambda *_: False)
    Case(SHAPES[1], active=True, added=False).check()


def test_a_large_mean_costs_no_more_digits_than_in_torch():
    """The factor and the shift of a channel are computed in double precision."""
    torch.manual_seed(7)
    data = (100 + torch.randn(4, 32, 24, 24)).contiguous(memory_format=torch.channels_last)
    gamma, beta = torch.rand(32) + 0.5, torch.randn(32)
    passes.forward(data, None, gamma, beta, EPS, False, result := torch.empty_like(data))
    plain = torch.native_batch_norm(data, gamma, beta, None, None, True, 0.0, EPS)[0]
    wide = [t.double() for t in (data, gamma, beta)]
    exact = torch.native_batch_norm(*wide, None, None, True, 0.0, EPS)[0]
    assert (result - exact).abs().mean() <= 1.02 * (plain - exact).abs().mean()
