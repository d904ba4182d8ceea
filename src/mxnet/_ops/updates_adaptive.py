"""Optimizer updates with adaptive rates: Adam and its kin, RMSProp, FTML, FTRL, Adagrad by rows, LAMB."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from .._core.attrs import Fraction
from .._core.errors import MXNetError
from .dtypes import require_floating
from .registry import op
from .updates import clipped, fill_mixed_types, fill_same, held, same_shapes, scaled, single_precision

Step = Callable[[], Sequence[Tensor]]


def _decayed(grad: Tensor, weight: Tensor, wd: float, rescale: float, clip: float) -> Tensor:
    """Adam, RMSProp and FTML clip what weight decay has been added to."""
    grad = grad if rescale == 1 else grad * rescale
    return clipped(grad if wd == 0 else torch.add(grad, weight, alpha=wd), clip)


def _like_weight(attrs: dict, shapes: list) -> list:
    """The result has the weight's shape, some inputs have another."""
    return [shapes[0]]


def _fill_but_last(attrs: dict, shapes: list) -> list:
    return [*fill_same(attrs, shapes[:-1]), shapes[-1] or (1,)]


def _fill_phase2(attrs: dict, shapes: list) -> list:
    known = shapes[0] or shapes[1]
    return [known, known, (1,), (1,), *[s or known for s in shapes[4:]]]


def _moments(mean: Tensor, var: Tensor, grad: Tensor, beta1: float, beta2: float) -> None:
    mean.mul_(beta1).add_(grad, alpha=1 - beta1)
    var.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)


@op("adam_update", mutates=("mean", "var"), fill=fill_same, shape="same", differentiable=False)
def adam_update(
    weight,
    grad,
    mean,
    var,
    *,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
):
    """Adam; the optimizer folds the bias correction into `lr`."""
    require_floating(weight)
    same_shapes(weight, grad, mean, var)
    beta1, beta2 = held(beta1, weight.dtype), held(beta2, weight.dtype)
    _moments(mean, var, _decayed(grad, weight, wd, rescale_grad, clip_gradient), beta1, beta2)
    return torch.addcdiv(weight, mean, var.sqrt().add_(epsilon), value=-lr)


def unless_skipped(scale: Tensor, changed: Sequence[Tensor], kept: Sequence[Tensor], step: Step) -> Sequence[Tensor]:
    """What `step` returns, and `changed` as it leaves them, unless the loss scale says to leave the step out.

    A scale of zero, infinity or NaN says so: then all stays as it was, and copies of `kept` are returned. On a GPU both
    cases are computed and the device selects one, so that the host need not wait. Without values (meta) any one counts.
    """
    if scale.is_meta:
        return step()
    usable = torch.isfinite(scale) & (scale != 0)
    if scale.is_cpu:
        return step() if bool(usable) else [t.clone() for t in kept]
    before = [t.clone() for t in changed]
    results = step()
    for now, old in zip(changed, before, strict=True):
        now.copy_(torch.where(usable, now, old))
    return [torch.where(usable, new, old) for new, old in zip(results, kept, strict=True)]


def _adamw(weight: Tensor, mean: Tensor, var: Tensor, lr: float, wd: float, eta: float, epsilon: float) -> Tensor:
    return torch.addcdiv(weight * (1 - eta * wd), mean, var.sqrt().add_(epsilon), value=-eta * lr)


@op(
    "_adamw_update", mutates=("mean", "var"), fill=_fill_but_last, shape=_like_weight, dtype="any", differentiable=False
)
def adamw_update(
    weight,
    grad,
    mean,
    var,
    rescale_grad,
    *,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    wd: float = 0.0,
    eta: float,
    clip_gradient: float = -1.0,
):
    """Adam with decoupled weight decay; the step is left out when `rescale_grad` is zero or not finite."""
    require_floating(weight)
    same_shapes(weight, grad, mean, var)
    scale = rescale_grad.flatten()[0]

    def step() -> list[Tensor]:
        grad.copy_(clipped(grad * scale.to(grad.dtype), clip_gradient))  # MXNet leaves the scaled gradient behind
        _moments(mean, var, grad, held(beta1), held(beta2))
        return [_adamw(weight, mean, var, lr, wd, eta, epsilon)]

    return unless_skipped(scale, (grad, mean, var), (weight,), step)[0]


@op(
    "_mp_adamw_update",
    mutates=("mean", "var", "weight32"),
    fill=_fill_but_last,
    fill_types=fill_mixed_types,
    shape=_like_weight,
    dtype="any",
    differentiable=False,
)
def mp_adamw_update(
    weight,
    grad,
    mean,
    var,
    weight32,
    rescale_grad,
    *,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    wd: float = 0.0,
    eta: float,
    clip_gradient: float = -1.0,
):
    """`_adamw_update` on a float32 master copy of the weight."""
    same_shapes(weight, grad, mean, var, weight32)
    single_precision(mean, var, weight32)
    scale = rescale_grad.flatten()[0]

    def step() -> list[Tensor]:
        _moments(mean, var, clipped(grad.float() * scale, clip_gradient), held(beta1), held(beta2))
        weight32.copy_(_adamw(weight32, mean, var, lr, wd, eta, epsilon))
        return [weight32.to(weight.dtype, copy=True)]

    return unless_skipped(scale, (mean, var, weight32), (weight,), step)[0]


@op("ftml_update", mutates=("d", "v", "z"), fill=fill_same, shape="same", differentiable=False)
def ftml_update(
    weight,
    grad,
    d,
    v,
    z,
    *,
    lr: float,
    beta1: Fraction = 0.6,
    beta2: Fraction = 0.999,
    epsilon: float = 1e-8,
    t: int,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_grad: float = -1.0,
):
    """Follow the moving leader."""
    require_floating(weight)
    same_shapes(weight, grad, d, v, z)
    grad = _decayed(grad, weight, wd, rescale_grad, clip_grad)
    beta1, beta2 = held(beta1, weight.dtype), held(beta2, weight.dtype)
    v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    rate = (v / (1 - beta2**t)).sqrt_().add_(epsilon).mul_((1 - beta1**t) / lr)
    z.mul_(beta1).add_(grad, alpha=1 - beta1).sub_(torch.sub(rate, d, alpha=beta1).mul_(weight))
    d.copy_(rate)
    return (z / rate).neg_()


@op("rmsprop_update", mutates=("n",), fill=fill_same, shape="same", differentiable=False)
def rmsprop_update(
    weight,
    grad,
    n,
    *,
    lr: float,
    gamma1: float = 0.95,
    epsilon: float = 1e-8,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
):
    """RMSProp after Tieleman and Hinton."""
    require_floating(weight)
    same_shapes(weight, grad, n)
    grad, gamma1 = _decayed(grad, weight, wd, rescale_grad, clip_gradient), held(gamma1, weight.dtype)
    n.mul_(gamma1).addcmul_(grad, grad, value=1 - gamma1)
    return clipped(torch.addcdiv(weight, grad, (n + epsilon).sqrt_(), value=-lr), clip_weights)


@op("rmspropalex_update", mutates=("n", "g", "delta"), fill=fill_same, shape="same", differentiable=False)
def rmspropalex_update(
    weight,
    grad,
    n,
    g,
    delta,
    *,
    lr: float,
    gamma1: float = 0.95,
    gamma2: float = 0.9,
    epsilon: float = 1e-8,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
):
    """RMSProp after Graves: centred second moment, momentum in `delta`."""
    require_floating(weight)
    same_shapes(weight, grad, n, g, delta)
    grad, gamma1 = _decayed(grad, weight, wd, rescale_grad, clip_gradient), held(gamma1, weight.dtype)
    n.mul_(gamma1).addcmul_(grad, grad, value=1 - gamma1)
    g.mul_(gamma1).add_(grad, alpha=1 - gamma1)
    spread = torch.addcmul(n, g, g, value=-1).add_(epsilon).sqrt_()
    delta.mul_(gamma2).addcdiv_(grad, spread, value=-lr)
    return clipped(weight + delta, clip_weights)


@op("ftrl_update", mutates=("z", "n"), fill=fill_same, shape="same", differentiable=False)
def ftrl_update(
    weight,
    grad,
    z,
    n,
    *,
    lr: float,
    lamda1: float = 0.01,
    beta: float = 1.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
):
    """Follow the regularized leader: weights whose `z` stays within `lamda1` become zero."""
    require_floating(weight)
    same_shapes(weight, grad, z, n)
    grad = scaled(grad, rescale_grad, clip_gradient)
    before = n.sqrt()
    n.addcmul_(grad, grad)
    root = n.sqrt()
    z.add_(grad).sub_((root - before).mul_(weight).div_(lr))
    shrunk = torch.sub(torch.sign(z) * lamda1, z)
    return (shrunk / ((root + beta).div_(lr).add_(wd))).mul_(z.abs() > lamda1)


@op("_contrib_group_adagrad_update", mutates=("history",), differentiable=False)
def group_adagrad_update(
    weight,
    grad,
    history,
    *,
    lr: float,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    epsilon: float = 1e-5,
):
    """Adagrad with one rate for each row: `history` holds a number for every row of the weight."""
    require_floating(weight)
    same_shapes(weight, grad)
    if history.numel() != weight.shape[0]:
        raise MXNetError(
            f"group_adagrad_update keeps one history value a row: weight {tuple(weight.shape)} needs "
            f"({weight.shape[0]}, 1), got {tuple(history.shape)}"
        )
    grad = scaled(grad, rescale_grad, clip_gradient).reshape(weight.shape[0], -1)
    rows = history.view(-1, 1)
    rows.add_(grad.square().mean(1, keepdim=True))
    return weight - (grad * lr / (rows + epsilon).sqrt_()).view_as(weight)


# LAMB, in two phases because the norms between them are the caller's


def _lamb_direction(
    weight: Tensor,
    grad: Tensor,
    mean: Tensor,
    var: Tensor,
    beta1: float,
    beta2: float,
    epsilon: float,
    t: int,
    bias_correction: bool,
    wd: float,
) -> Tensor:
    kind = weight.dtype
    _moments(mean, var, grad, held(beta1, kind), held(beta2, kind))
    powers = held(beta1) ** t, held(beta2) ** t
    if kind is torch.float16:
        powers = held(powers[0], kind), held(powers[1], kind)
    first, second = (mean / (1 - powers[0]), var / (1 - powers[1])) if bias_correction else (mean, var)
    return torch.add(first / (second.sqrt().add_(epsilon)), weight, alpha=wd)


def _trust_ratio(r1: Tensor, r2: Tensor, lower: float, upper: float) -> Tensor:
    if r1.shape != (1,) or r2.shape != (1,):
        wrong, which = (r1, "r1") if r1.shape != (1,) else (r2, "r2")
        raise MXNetError(f"Check failed: {which}_shape[0] == 1U ({wrong.shape} vs. 1) : {which} shape incorrect")
    r1 = r1.clamp_min(lower) if lower >= 0 else r1
    r1 = r1.clamp_max(upper) if upper >= 0 else r1
    return torch.where((r1 == 0) | (r2 == 0), torch.ones_like(r1), r1 / r2)


@op("lamb_update_phase1", mutates=("mean", "var"), fill=fill_same, shape="same", differentiable=False)
def lamb_update_phase1(
    weight,
    grad,
    mean,
    var,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-6,
    t: int,
    bias_correction: bool = True,
    wd: float,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
):
    """The direction of a LAMB step."""
    require_floating(weight)
    same_shapes(weight, grad, mean, var)
    grad = scaled(grad, rescale_grad, clip_gradient)
    return _lamb_direction(weight, grad, mean, var, beta1, beta2, epsilon, t, bias_correction, wd)


@op("lamb_update_phase2", fill=_fill_phase2, shape=_like_weight, differentiable=False)
def lamb_update_phase2(weight, g, r1, r2, *, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0):
    """A LAMB step along `g`, its length scaled by the ratio of the norms `r1 / r2`."""
    same_shapes(weight, g)
    return weight - g * (_trust_ratio(r1, r2, lower_bound, upper_bound) * lr)


def _phase1_types(attrs: dict, dtypes: list) -> list:
    return ["float16", "float16", "float32", "float32", "float32"]


@op(
    "mp_lamb_update_phase1",
    mutates=("mean", "var"),
    fill=fill_same,
    fill_types=_phase1_types,
    dtype="any",
    differentiable=False,
)
def mp_lamb_update_phase1(
    weight,
    grad,
    mean,
    var,
    weight32,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-6,
    t: int,
    bias_correction: bool = True,
    wd: float,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
):
    """`lamb_update_phase1` on a float32 master copy; the direction is float32."""
    same_shapes(weight, grad, mean, var, weight32)
    single_precision(mean, var, weight32)
    grad = scaled(grad.float(), rescale_grad, clip_gradient)
    return _lamb_direction(weight32, grad, mean, var, beta1, beta2, epsilon, t, bias_correction, wd)


@op(
    "mp_lamb_update_phase2",
    mutates=("weight32",),
    fill=_fill_phase2,
    shape=_like_weight,
    dtype="any",
    differentiable=False,
)
def mp_lamb_update_phase2(
    weight, g, r1, r2, weight32, *, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0
):
    """`lamb_update_phase2` from a float32 master copy, which this call reads and, as in MXNet, leaves as it is."""
    same_shapes(weight, g)
    same_shapes(weight, weight32)
    single_precision(g, r1, r2, weight32)
    return (weight32 - g * (_trust_ratio(r1, r2, lower_bound, upper_bound) * lr)).to(weight.dtype)
