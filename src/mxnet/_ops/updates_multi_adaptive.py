"""Adam and LAMB on many weights in one call, on torch's multi-tensor kernels."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .._core.attrs import Floats
from .._core.errors import MXNetError
from .many_arrays import norms_of
from .registry import op
from .updates import held, single_precision
from .updates_adaptive import unless_skipped
from .updates_multi import check_count, input_names, masters_of, scaled, split, stored, weight_count

ADAM = ("weight", "grad", "mean", "var")
MP_ADAM = ("weight", "grad", "mean", "var", "weight32")


def _moments(means: list[Tensor], variances: list[Tensor], grads: list[Tensor], beta1: float, beta2: float) -> None:
    torch._foreach_mul_(means, beta1)
    torch._foreach_add_(means, grads, alpha=1 - beta1)
    torch._foreach_mul_(variances, beta2)
    torch._foreach_addcmul_(variances, grads, grads, 1 - beta2)


def _adamw(
    weights: list[Tensor],
    grads: list[Tensor],
    means: list[Tensor],
    variances: list[Tensor],
    beta1: float,
    beta2: float,
    epsilon: float,
    lrs: Floats,
    wds: Floats,
    etas: Floats,
) -> list[Tensor]:
    _moments(means, variances, grads, held(beta1), held(beta2))
    roots = torch._foreach_sqrt(variances)
    torch._foreach_add_(roots, epsilon)
    new = torch._foreach_mul(weights, [1 - eta * wd for eta, wd in zip(etas, wds, strict=True)])
    torch._foreach_addcdiv_(new, means, roots, [-eta * lr for eta, lr in zip(etas, lrs, strict=True)])
    return new  # pyright: ignore[reportReturnType]


def _check_adamw(lrs: Floats, wds: Floats, etas: Floats, number: int) -> None:
    check_count(lrs, number, "learning rates", "num_weights")
    check_count(wds, number, "weight decays", "num_weights")
    check_count(etas, number, "learning rates schedule multiplier", "num_weights")


@op(
    "_multi_adamw_update",
    inputs=input_names(ADAM, "rescale_grad"),
    outputs=weight_count,
    mutates=("mean", "var"),
    differentiable=False,
)
def multi_adamw_update(
    *data,
    lrs: Floats,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    wds: Floats,
    etas: Floats,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
):
    """`_adamw_update` of many weights; the array behind them rescales all gradients."""
    _check_adamw(lrs, wds, etas, num_weights)
    weights, grads, means, variances = split(data[:-1], ADAM)
    scale = data[-1].flatten()[0]

    def step() -> list[Tensor]:
        rescaled = scaled(grads, scale, clip_gradient)
        return _adamw(weights, rescaled, means, variances, beta1, beta2, epsilon, lrs, wds, etas)

    return tuple(unless_skipped(scale, [*means, *variances], weights, step))


@op(
    "_multi_mp_adamw_update",
    inputs=input_names(MP_ADAM, "rescale_grad"),
    outputs=weight_count,
    mutates=("mean", "var", "weight32"),
    dtype="any",
    differentiable=False,
)
def multi_mp_adamw_update(
    *data,
    lrs: Floats,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    wds: Floats,
    etas: Floats,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
):
    """`_mp_adamw_update` of many weights."""
    _check_adamw(lrs, wds, etas, num_weights)
    weights, grads, means, variances, weights32 = split(data[:-1], MP_ADAM)
    single_precision(*means, *variances, *weights32)
    scale = data[-1].flatten()[0]

    def step() -> Sequence[Tensor]:
        masters = masters_of(weights, weights32)
        rescaled = scaled([g.float() for g in grads], scale, clip_gradient)
        fresh = _adamw(masters, rescaled, means, variances, beta1, beta2, epsilon, lrs, wds, etas)
        return stored(weights, masters, fresh)

    return tuple(unless_skipped(scale, [*means, *variances, *weights32], weights, step))


# LAMB


def _trust(r1: Tensor, r2: Tensor, lower: float, upper: float) -> Tensor:
    r1 = r1.clamp_min(lower) if lower >= 0 else r1
    r1 = r1.clamp_max(upper) if upper >= 0 else r1
    return torch.where((r1 == 0) | (r2 == 0), torch.ones_like(r1), r1 / r2)


def _lamb(
    weights: list[Tensor],
    grads: list[Tensor],
    means: list[Tensor],
    variances: list[Tensor],
    norms: list[Tensor],
    attrs: dict[str, Any],
) -> list[Tensor]:
    beta1, beta2 = (held(attrs[name], weights[0].dtype) for name in ("beta1", "beta2"))
    _moments(means, variances, scaled(grads, attrs["rescale_grad"], attrs["clip_gradient"]), beta1, beta2)
    corrected = attrs["bias_correction"]
    steps = [t if corrected else None for t in attrs["step_count"]]
    step = torch._foreach_div(means, [1.0 if t is None else 1 - beta1**t for t in steps])
    roots = torch._foreach_div(variances, [1.0 if t is None else 1 - beta2**t for t in steps])
    torch._foreach_sqrt_(roots)
    torch._foreach_add_(roots, attrs["epsilon"])
    torch._foreach_div_(step, roots)
    torch._foreach_add_(step, torch._foreach_mul(weights, attrs["wds"]))
    bounds = attrs["lower_bound"], attrs["upper_bound"]
    ratios = [_trust(r1, r2, *bounds) for r1, r2 in zip(norms, norms_of(step), strict=True)]  # pyright: ignore[reportArgumentType]
    torch._foreach_mul_(step, [r.to(step[0].dtype) for r in ratios])
    torch._foreach_mul_(step, attrs["learning_rates"])
    return torch._foreach_sub(weights, step)  # pyright: ignore[reportReturnType]


def _check_lamb(attrs: dict[str, Any]) -> None:
    number = attrs["num_tensors"]
    if number > 45:
        raise MXNetError(f"Invalid number of tensors, the maximum value is 45, and got {number}")
    check_count(attrs["learning_rates"], number, "learning rates", "num_tensors")
    check_count(attrs["wds"], number, "weight decays", "num_tensors")
    check_count(attrs["step_count"], number, "step counts", "num_tensors")


@op(
    "_multi_lamb_update",
    inputs=input_names(ADAM, count="num_tensors"),
    outputs=lambda attrs: attrs["num_tensors"],
    mutates=("mean", "var"),
    differentiable=False,
)
def multi_lamb_update(
    *data,
    learning_rates: Floats,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-6,
    wds: Floats,
    rescale_grad: float = 1.0,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    clip_gradient: float = -1.0,
    bias_correction: bool = True,
    step_count: tuple,
    num_tensors: int = 1,
):
    """Both phases of LAMB, norms included, for many weights."""
    attrs = locals()
    _check_lamb(attrs)
    weights, grads, means, variances = split(data, ADAM)
    return tuple(_lamb(weights, grads, means, variances, norms_of(weights), attrs))


@op(
    "_multi_mp_lamb_update",
    inputs=input_names(MP_ADAM, count="num_tensors"),
    outputs=lambda attrs: attrs["num_tensors"],
    mutates=("mean", "var", "weight32"),
    dtype="any",
    differentiable=False,
)
def multi_mp_lamb_update(
    *data,
    learning_rates: Floats,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-6,
    wds: Floats,
    rescale_grad: float = 1.0,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    clip_gradient: float = -1.0,
    bias_correction: bool = True,
    step_count: tuple,
    num_tensors: int = 1,
):
    """`_multi_lamb_update` on float32 master copies; the weights' norm is that of the weights themselves."""
    attrs = locals()
    _check_lamb(attrs)
    weights, grads, means, variances, weights32 = split(data, MP_ADAM)
    single_precision(*means, *variances, *weights32)
    masters = masters_of(weights, weights32)
    new = _lamb(masters, [g.float() for g in grads], means, variances, norms_of(weights), attrs)
    return stored(weights, masters, new)
