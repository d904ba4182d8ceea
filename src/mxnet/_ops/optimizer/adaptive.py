"""Optimizer updates of one weight with adaptive rates: Adam and its kin, RMSProp, FTML, FTRL, Adagrad by rows, LAMB."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ..._core.attrs import Fraction
from ..._core.errors import MXNetError
from ..._kernels.optimizer import formulas
from ..registry.registry import op
from ..registry.torch_dtypes import require_floating
from .steps import new_weights
from .update_rules import (
    fill_mixed_types,
    fill_same,
    held,
    limit,
    same_shapes,
    single_precision,
    updated,
    updated_master,
)

Step = Callable[[], Sequence[Tensor]]


def _like_weight(attrs: dict, shapes: list) -> list:
    """The result has the weight's shape, some inputs have another."""
    return [shapes[0]]


def _fill_but_last(attrs: dict, shapes: list) -> list:
    return [*fill_same(attrs, shapes[:-1]), shapes[-1] or (1,)]


def _fill_phase2(attrs: dict, shapes: list) -> list:
    known = shapes[0] or shapes[1]
    return [known, known, (1,), (1,), *[s or known for s in shapes[4:]]]


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
    """Adam: `weight - lr * mean / (sqrt(var) + epsilon)`; the optimizer folds the bias correction into `lr`.

    With g = clip(rescale_grad * grad + wd * weight), `mean` becomes beta1 * mean + (1 - beta1) * g and `var` becomes
    beta2 * var + (1 - beta2) * g².
    """
    numbers = rescale_grad, limit(clip_gradient), held(beta1, weight.dtype), held(beta2, weight.dtype), epsilon
    return updated(formulas.adam, weight, grad, (mean, var), (lr, wd), *numbers)


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
    same_shapes(weight, grad, mean, var)
    scale, bound = rescale_grad.flatten()[0], limit(clip_gradient)
    numbers = 1.0, limit(-1.0), held(beta1), held(beta2), epsilon

    def step() -> list[Tensor]:
        grad.copy_((grad * scale.to(grad.dtype)).clamp_(-bound, bound))  # MXNet leaves the scaled gradient behind
        return [updated(formulas.adamw, weight, grad, (mean, var), (eta * lr, eta * wd), *numbers)]

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
    scale = rescale_grad.flatten()[0]
    numbers = 1.0, limit(clip_gradient), held(beta1), held(beta2), epsilon

    def step() -> list[Tensor]:
        rates, scaled = (eta * lr, eta * wd), grad.float() * scale
        return [updated_master(formulas.adamw, weight, scaled, (mean, var), weight32, rates, *numbers)]

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
    """FTML, follow the moving leader: `weight = -z / d`.

    With g = clip(rescale_grad * grad + wd * weight), `v` becomes beta2 * v + (1 - beta2) * g², the new d is
    (1 - beta1^t) / lr * (sqrt(v / (1 - beta2^t)) + epsilon), and `z` becomes
    beta1 * z + (1 - beta1) * g - (new d - beta1 * d) * weight.
    """
    beta1, beta2 = held(beta1, weight.dtype), held(beta2, weight.dtype)
    own, numbers = (lr, wd, 1 - beta1**t, 1 - beta2**t), (rescale_grad, limit(clip_grad), beta1, beta2, epsilon)
    return updated(formulas.ftml, weight, grad, (d, v, z), own, *numbers)


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
    """RMSProp after Tieleman and Hinton: `weight - lr * g / sqrt(n + epsilon)`.

    g is clip(rescale_grad * grad + wd * weight); `n` becomes gamma1 * n + (1 - gamma1) * g².
    """
    numbers = rescale_grad, limit(clip_gradient), held(gamma1, weight.dtype), epsilon, limit(clip_weights)
    return updated(formulas.rmsprop, weight, grad, (n,), (lr, wd), *numbers)


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
    """RMSProp after Graves: `delta = gamma2 * delta - lr * grad / sqrt(n - g² + epsilon)`, then `weight + delta`.

    `n` and `g` are moving averages, of decay gamma1, of the squared gradient and of the gradient.
    """
    numbers = rescale_grad, limit(clip_gradient), held(gamma1, weight.dtype), gamma2, epsilon, limit(clip_weights)
    return updated(formulas.rmsprop_centered, weight, grad, (n, g, delta), (lr, wd), *numbers)


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
    """FTRL, follow the regularized leader: weights whose |z| stays within `lamda1` become zero.

    `n` becomes n + grad², `z` becomes z + grad - (sqrt(new n) - sqrt(n)) / lr * weight, and the new weight is
    (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd) where |z| > lamda1.
    """
    numbers = rescale_grad, limit(clip_gradient), lamda1, beta
    return updated(formulas.ftrl, weight, grad, (z, n), (lr, wd), *numbers)


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
    rows = history.view(-1, *[1] * (weight.dim() - 1))
    numbers = rescale_grad, limit(clip_gradient), epsilon
    return new_weights(formulas.group_adagrad, [weight], [grad], [[rows]], ([lr], [0.0]), *numbers)[0]


# LAMB, in two phases because the norms between them are the caller's


def _corrections(dtype: torch.dtype, beta1: float, beta2: float, t: int, bias_correction: bool) -> tuple[float, float]:
    """1 - beta ** t of both moments, in the precision of MXNet's kernel; 1 where the bias stays."""
    if not bias_correction:
        return 1.0, 1.0
    powers = held(beta1) ** t, held(beta2) ** t
    if dtype is torch.float16:
        powers = held(powers[0], dtype), held(powers[1], dtype)
    return 1 - powers[0], 1 - powers[1]


def _lamb_direction(
    weight: Tensor, grad: Tensor, mean: Tensor, var: Tensor, own: tuple[float, ...], rescale: float, clip: float,
    beta1: float, beta2: float, epsilon: float,
) -> Tensor:  # fmt: skip
    numbers = rescale, limit(clip), held(beta1, weight.dtype), held(beta2, weight.dtype), epsilon
    return updated(formulas.lamb_direction, weight, grad, (mean, var), own, *numbers)


def _trust_ratio(r1: Tensor, r2: Tensor, lower: float, upper: float) -> Tensor:
    for norm, which in ((r1, "r1"), (r2, "r2")):  # MXNet looks at the first axis only, and reads the first number
        if norm.shape[:1] != (1,):
            raise MXNetError(f"Check failed: {which}_shape[0] == 1U ({norm.shape} vs. 1) : {which} shape incorrect")
    r1, r2 = r1.reshape(-1)[:1], r2.reshape(-1)[:1]
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
    """The direction of a LAMB step: `mean / (sqrt(var) + epsilon) + wd * weight`, bias-corrected if asked.

    With g = clip(rescale_grad * grad), `mean` becomes beta1 * mean + (1 - beta1) * g and `var` becomes
    beta2 * var + (1 - beta2) * g².
    """
    own = *_corrections(weight.dtype, beta1, beta2, t, bias_correction), wd
    return _lamb_direction(weight, grad, mean, var, own, rescale_grad, clip_gradient, beta1, beta2, epsilon)


@op("lamb_update_phase2", fill=_fill_phase2, shape=_like_weight, differentiable=False)
def lamb_update_phase2(weight, g, r1, r2, *, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0):
    """A LAMB step: `weight - lr * (r1 / r2) * g`; the ratio of the norms is 1 where one of them is 0."""
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
    own = *_corrections(weight32.dtype, beta1, beta2, t, bias_correction), wd
    numbers = rescale_grad, clip_gradient, beta1, beta2, epsilon
    return _lamb_direction(weight32, grad.float(), mean, var, own, *numbers)


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
