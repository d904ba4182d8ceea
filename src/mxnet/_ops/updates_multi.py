"""Optimizer updates of many weights in one call, on torch's multi-tensor kernels."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .._core.attrs import Floats
from .._core.errors import MXNetError
from .registry import op
from .updates import floating, held, same_shapes, single_precision

Rates = Sequence[float] | Sequence[Tensor]
SGD = ("weight", "grad")
SGD_MOM = ("weight", "grad", "mom")
MP_SGD = ("weight", "grad", "weight32")
MP_SGD_MOM = ("weight", "grad", "mom", "weight32")
ADAM = ("weight", "grad", "mean", "var")
MP_ADAM = ("weight", "grad", "mean", "var", "weight32")


def _names(roles: tuple[str, ...], *after: str, count: str = "num_weights") -> Callable[[dict], tuple[str, ...]]:
    """Inputs come weight by weight: weight_0, grad_0, weight_1, grad_1, … and then what is common to all."""

    def names(attrs: dict) -> tuple[str, ...]:
        return (*(f"{role}_{i}" for i in range(attrs[count]) for role in roles), *after)

    return names


def _number(attrs: dict) -> int:
    return attrs["num_weights"]


def _split(data: Sequence[Tensor], roles: tuple[str, ...]) -> list[list[Tensor]]:
    """One list a role; weights, gradients and states of one parameter share their shape."""
    step = len(roles)
    columns = [list(data[i::step]) for i in range(step)]
    for row in zip(*columns, strict=True):
        same_shapes(*row)
    floating(columns[0][0])
    return columns


def _counted(given: Sequence[Any], number: int, what: str, name: str) -> None:
    if len(given) != number:
        raise MXNetError(
            f"Check failed: Number of {what} is inconsistent with {name} parameter passed. "
            f"Expected number of {what}: {number}, and got {len(given)}"
        )


def _scaled(grads: list[Tensor], rescale: float | Tensor, clip: float) -> list[Tensor]:
    grads = torch._foreach_mul(grads, rescale)  # pyright: ignore[reportAssignmentType]
    if clip >= 0:
        torch._foreach_clamp_max_(grads, clip)
        torch._foreach_clamp_min_(grads, -clip)
    return grads


def _descend(
    weights: list[Tensor],
    grads: list[Tensor],
    moms: list[Tensor] | None,
    lrs: Rates,
    wds: Rates,
    momentum: float,
    rescale: float,
    clip: float,
) -> list[Tensor]:
    """New weights after a step of gradient descent; `moms` change in place."""
    step = _scaled(grads, rescale, clip)
    torch._foreach_add_(step, torch._foreach_mul(weights, wds))  # pyright: ignore[reportArgumentType]
    torch._foreach_mul_(step, lrs)  # pyright: ignore[reportArgumentType]
    if moms is None:
        return torch._foreach_sub(weights, step)  # pyright: ignore[reportReturnType]
    torch._foreach_mul_(moms, momentum)
    torch._foreach_sub_(moms, step)
    return torch._foreach_add(weights, moms)  # pyright: ignore[reportReturnType]


def _masters(weights: list[Tensor], weights32: list[Tensor]) -> list[Tensor]:
    """Float32 weights are their own master copies: MXNet neither reads nor writes `weight32` then."""
    return weights if weights[0].dtype == torch.float32 else weights32


def _stored(weights: list[Tensor], masters: list[Tensor], new: list[Tensor]) -> tuple[Tensor, ...]:
    """Write the master copies; the new weights go out in the weights' precision."""
    if masters is weights:
        return tuple(new)
    torch._foreach_copy_(masters, new)
    return tuple(n.to(weights[0].dtype) for n in new)


def _mixed(
    weights: list[Tensor],
    grads: list[Tensor],
    moms: list[Tensor] | None,
    weights32: list[Tensor],
    lrs: Rates,
    wds: Rates,
    momentum: float,
    rescale: float,
    clip: float,
) -> tuple[Tensor, ...]:
    single_precision(*weights32, *(moms or ()))
    masters = _masters(weights, weights32)
    new = _descend(masters, [g.float() for g in grads], moms, lrs, wds, momentum, rescale, clip)
    return _stored(weights, masters, new)


@op("multi_sgd_update", inputs=_names(SGD), outputs=_number, differentiable=False)
def multi_sgd_update(
    *data, lrs: Floats, wds: Floats, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1
):
    """`sgd_update` of many weights."""
    _counted(lrs, num_weights, "learning rates", "num_weights")
    _counted(wds, num_weights, "weight decays", "num_weights")
    weights, grads = _split(data, SGD)
    return tuple(_descend(weights, grads, None, lrs, wds, 0.0, rescale_grad, clip_gradient))


@op("multi_sgd_mom_update", inputs=_names(SGD_MOM), outputs=_number, mutates=("mom",), differentiable=False)
def multi_sgd_mom_update(
    *data,
    lrs: Floats,
    wds: Floats,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
):
    """`sgd_mom_update` of many weights."""
    _counted(lrs, num_weights, "learning rates", "num_weights")
    _counted(wds, num_weights, "weight decays", "num_weights")
    weights, grads, moms = _split(data, SGD_MOM)
    return tuple(_descend(weights, grads, moms, lrs, wds, momentum, rescale_grad, clip_gradient))


@op(
    "multi_mp_sgd_update",
    inputs=_names(MP_SGD),
    outputs=_number,
    mutates=("weight32",),
    dtype="any",
    differentiable=False,
)
def multi_mp_sgd_update(
    *data, lrs: Floats, wds: Floats, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1
):
    """`mp_sgd_update` of many weights."""
    _counted(lrs, num_weights, "learning rates", "num_weights")
    _counted(wds, num_weights, "weight decays", "num_weights")
    weights, grads, weights32 = _split(data, MP_SGD)
    return _mixed(weights, grads, None, weights32, lrs, wds, 0.0, rescale_grad, clip_gradient)


@op(
    "multi_mp_sgd_mom_update",
    inputs=_names(MP_SGD_MOM),
    outputs=_number,
    mutates=("mom", "weight32"),
    dtype="any",
    differentiable=False,
)
def multi_mp_sgd_mom_update(
    *data,
    lrs: Floats,
    wds: Floats,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
):
    """`mp_sgd_mom_update` of many weights."""
    _counted(lrs, num_weights, "learning rates", "num_weights")
    _counted(wds, num_weights, "weight decays", "num_weights")
    weights, grads, moms, weights32 = _split(data, MP_SGD_MOM)
    return _mixed(weights, grads, moms, weights32, lrs, wds, momentum, rescale_grad, clip_gradient)


# Preloaded: the rates are two arrays behind the weights, so that they need not leave the device


def _preloaded(data: Sequence[Tensor], number: int) -> tuple[Sequence[Tensor], Rates, Rates]:
    *data, lrs, wds = data
    _counted(lrs.flatten(), number, "learning rates", "num_weights")  # pyright: ignore[reportArgumentType]
    _counted(wds.flatten(), number, "weight decays", "num_weights")  # pyright: ignore[reportArgumentType]
    single_precision(lrs, wds)
    return data, lrs.flatten().unbind(), wds.flatten().unbind()


@op(
    "preloaded_multi_sgd_update",
    inputs=_names(SGD, "lrs", "wds"),
    outputs=_number,
    dtype="any",
    differentiable=False,
)
def preloaded_multi_sgd_update(*data, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1):
    """`multi_sgd_update` whose rates are arrays."""
    data, lrs, wds = _preloaded(data, num_weights)
    weights, grads = _split(data, SGD)
    return tuple(_descend(weights, grads, None, lrs, wds, 0.0, rescale_grad, clip_gradient))


@op(
    "preloaded_multi_sgd_mom_update",
    inputs=_names(SGD_MOM, "lrs", "wds"),
    outputs=_number,
    mutates=("mom",),
    dtype="any",
    differentiable=False,
)
def preloaded_multi_sgd_mom_update(
    *data, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1
):
    """`multi_sgd_mom_update` whose rates are arrays."""
    data, lrs, wds = _preloaded(data, num_weights)
    weights, grads, moms = _split(data, SGD_MOM)
    return tuple(_descend(weights, grads, moms, lrs, wds, momentum, rescale_grad, clip_gradient))


@op(
    "preloaded_multi_mp_sgd_update",
    inputs=_names(MP_SGD, "lrs", "wds"),
    outputs=_number,
    mutates=("weight32",),
    dtype="any",
    differentiable=False,
)
def preloaded_multi_mp_sgd_update(*data, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1):
    """`multi_mp_sgd_update` whose rates are arrays."""
    data, lrs, wds = _preloaded(data, num_weights)
    weights, grads, weights32 = _split(data, MP_SGD)
    return _mixed(weights, grads, None, weights32, lrs, wds, 0.0, rescale_grad, clip_gradient)


@op(
    "preloaded_multi_mp_sgd_mom_update",
    inputs=_names(MP_SGD_MOM, "lrs", "wds"),
    outputs=_number,
    mutates=("mom", "weight32"),
    dtype="any",
    differentiable=False,
)
def preloaded_multi_mp_sgd_mom_update(
    *data, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1
):
    """`multi_mp_sgd_mom_update` whose rates are arrays."""
    data, lrs, wds = _preloaded(data, num_weights)
    weights, grads, moms, weights32 = _split(data, MP_SGD_MOM)
    return _mixed(weights, grads, moms, weights32, lrs, wds, momentum, rescale_grad, clip_gradient)


# Adam


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


def _counted_adamw(lrs: Floats, wds: Floats, etas: Floats, number: int) -> None:
    _counted(lrs, number, "learning rates", "num_weights")
    _counted(wds, number, "weight decays", "num_weights")
    _counted(etas, number, "learning rates schedule multiplier", "num_weights")


def _skipped(scale: Tensor) -> bool:
    return not (scale.is_meta or bool(torch.isfinite(scale) & (scale != 0)))


@op(
    "_multi_adamw_update",
    inputs=_names(ADAM, "rescale_grad"),
    outputs=_number,
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
    _counted_adamw(lrs, wds, etas, num_weights)
    weights, grads, means, variances = _split(data[:-1], ADAM)
    scale = data[-1].flatten()[0]
    if _skipped(scale):
        return tuple(w.clone() for w in weights)
    grads = _scaled(grads, scale, clip_gradient)
    return tuple(_adamw(weights, grads, means, variances, beta1, beta2, epsilon, lrs, wds, etas))


@op(
    "_multi_mp_adamw_update",
    inputs=_names(MP_ADAM, "rescale_grad"),
    outputs=_number,
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
    _counted_adamw(lrs, wds, etas, num_weights)
    weights, grads, means, variances, weights32 = _split(data[:-1], MP_ADAM)
    single_precision(*means, *variances, *weights32)
    scale = data[-1].flatten()[0]
    if _skipped(scale):
        return tuple(w.clone() for w in weights)
    masters = _masters(weights, weights32)
    grads = _scaled([g.float() for g in grads], scale, clip_gradient)
    return _stored(weights, masters, _adamw(masters, grads, means, variances, beta1, beta2, epsilon, lrs, wds, etas))


# LAMB


def _norms(tensors: list[Tensor]) -> list[Tensor]:
    return torch._foreach_norm([t.float() for t in tensors])  # pyright: ignore[reportReturnType]


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
    _moments(means, variances, _scaled(grads, attrs["rescale_grad"], attrs["clip_gradient"]), beta1, beta2)
    corrected = attrs["bias_correction"]
    steps = [t if corrected else None for t in attrs["step_count"]]
    step = torch._foreach_div(means, [1.0 if t is None else 1 - beta1**t for t in steps])
    roots = torch._foreach_div(variances, [1.0 if t is None else 1 - beta2**t for t in steps])
    torch._foreach_sqrt_(roots)
    torch._foreach_add_(roots, attrs["epsilon"])
    torch._foreach_div_(step, roots)
    torch._foreach_add_(step, torch._foreach_mul(weights, attrs["wds"]))
    bounds = attrs["lower_bound"], attrs["upper_bound"]
    ratios = [_trust(r1, r2, *bounds) for r1, r2 in zip(norms, _norms(step), strict=True)]  # pyright: ignore[reportArgumentType]
    torch._foreach_mul_(step, [r.to(step[0].dtype) for r in ratios])
    torch._foreach_mul_(step, attrs["learning_rates"])
    return torch._foreach_sub(weights, step)  # pyright: ignore[reportReturnType]


def _counted_lamb(attrs: dict[str, Any]) -> None:
    number = attrs["num_tensors"]
    if number > 45:
        raise MXNetError(f"Invalid number of tensors, the maximum value is 45, and got {number}")
    _counted(attrs["learning_rates"], number, "learning rates", "num_tensors")
    _counted(attrs["wds"], number, "weight decays", "num_tensors")
    _counted(attrs["step_count"], number, "step counts", "num_tensors")


@op(
    "_multi_lamb_update",
    inputs=_names(ADAM, count="num_tensors"),
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
    _counted_lamb(attrs)
    weights, grads, means, variances = _split(data, ADAM)
    return tuple(_lamb(weights, grads, means, variances, _norms(weights), attrs))


@op(
    "_multi_mp_lamb_update",
    inputs=_names(MP_ADAM, count="num_tensors"),
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
    _counted_lamb(attrs)
    weights, grads, means, variances, weights32 = _split(data, MP_ADAM)
    single_precision(*means, *variances, *weights32)
    masters = _masters(weights, weights32)
    new = _lamb(masters, [g.float() for g in grads], means, variances, _norms(weights), attrs)
    return _stored(weights, masters, new)


# What optimizers ask about many arrays


def _arrays(attrs: dict) -> tuple[str, ...]:
    return tuple(f"array_{i}" for i in range(attrs["num_arrays"]))


@op("multi_sum_sq", inputs=_arrays, differentiable=False)
def multi_sum_sq(*data, num_arrays: int):
    """The sum of squares of each array, in float32."""
    floating(data[0])
    return torch.stack(_norms(list(data))).square_()


@op("multi_lars", shape="same", differentiable=False)
def multi_lars(lrs, weights_sum_sq, grads_sum_sq, wds, *, eta: float, eps: float, rescale_grad: float = 1.0):
    """Layer-wise adapted learning rates out of the layers' sums of squares."""
    if lrs.dtype != torch.float32:
        raise MXNetError("MultiLARS only support float")
    same_shapes(lrs, weights_sum_sq, grads_sum_sq, wds)
    norm = weights_sum_sq.sqrt()
    adapted = lrs * eta * norm / (grads_sum_sq.sqrt() * rescale_grad + wds * norm + eps)
    return torch.where((norm > 0) & (grads_sum_sq > 0), adapted, lrs)


@op("all_finite", dtype="any", differentiable=False)
def all_finite(data, *, init_output: bool = True):
    """One if every number is finite in float32, else zero."""
    floating(data)
    return torch.isfinite(data.float()).all().float().reshape(1)


@op("multi_all_finite", inputs=_arrays, differentiable=False)
def multi_all_finite(*data, num_arrays: int = 1, init_output: bool = True):
    """`all_finite` over many arrays at once."""
    for array in data:
        floating(array)
    return torch.stack([torch.isfinite(array.float()).all() for array in data]).all().float().reshape(1)


@op("reset_arrays", inputs=_arrays, outputs=0, mutates=("array",), dtype="any", differentiable=False)
def reset_arrays(*data, num_arrays: int):
    """Fill the arrays with zeros, in place."""
    torch._foreach_zero_(list(data))
    return ()
