"""AdamW and LAMB on many weights in one call."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from ..._core.attrs import Floats
from ..._core.errors import MXNetError
from ..._kernels.optimizer import formulas
from ..registry.registry import op
from .adaptive import unless_skipped
from .multi import check_count, input_names, masters_of, split, stored, weight_count
from .steps import lamb, new_weights
from .update_rules import held, limit, single_precision

ADAM = ("weight", "grad", "mean", "var")
MP_ADAM = ("weight", "grad", "mean", "var", "weight32")


def _adamw(
    weights: list[Tensor],
    grads: list[Tensor],
    states: tuple[list[Tensor], list[Tensor]],
    rates: tuple[Floats, Floats, Floats],
    clip: float,
    *numbers: float,
) -> Sequence[Tensor]:
    lrs, wds, etas = rates
    own = [eta * lr for eta, lr in zip(etas, lrs, strict=True)], [eta * wd for eta, wd in zip(etas, wds, strict=True)]
    return new_weights(formulas.adamw, weights, grads, states, own, 1.0, limit(clip), *numbers)


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
    numbers = clip_gradient, held(beta1), held(beta2), epsilon

    def step() -> Sequence[Tensor]:
        rescaled = [g * scale.to(g.dtype) for g in grads]
        return tuple(_adamw(weights, rescaled, (means, variances), (lrs, wds, etas), *numbers))

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
    numbers = clip_gradient, held(beta1), held(beta2), epsilon

    def step() -> Sequence[Tensor]:
        masters = masters_of(weights, weights32)
        rescaled = [g.float() * scale for g in grads]
        return stored(weights, masters, _adamw(masters, rescaled, (means, variances), (lrs, wds, etas), *numbers))

    return tuple(unless_skipped(scale, [*means, *variances, *weights32], weights, step))


# LAMB


def _lamb(
    weights: list[Tensor],
    grads: list[Tensor],
    states: tuple[list[Tensor], list[Tensor]],
    sizes: list[Tensor],
    attrs: dict[str, Any],
) -> list[Tensor]:
    """New weights; the norms of `sizes` are those of the weights."""
    betas = [held(attrs[name], weights[0].dtype) for name in ("beta1", "beta2")]
    counts = attrs["step_count"]
    corrections = tuple([1 - beta**t if attrs["bias_correction"] else 1.0 for t in counts] for beta in betas)
    bounds = [None if attrs[name] < 0 else attrs[name] for name in ("lower_bound", "upper_bound")]
    new = [w.clone() for w in weights]
    lamb(
        new, grads, *states, attrs["learning_rates"], attrs["wds"], corrections,  # pyright: ignore[reportArgumentType]
        beta1=betas[0], beta2=betas[1], epsilon=attrs["epsilon"], lower=bounds[0], upper=bounds[1],
        rescale=attrs["rescale_grad"], clip=None if attrs["clip_gradient"] < 0 else attrs["clip_gradient"],
        sizes=[size.float() for size in sizes],
    )  # fmt: skip
    return new


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
    return tuple(_lamb(weights, grads, (means, variances), weights, attrs))


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
    new = _lamb(masters, [g.float() for g in grads], (means, variances), weights, attrs)
    return stored(weights, masters, new)
