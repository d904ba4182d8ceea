"""Gradient descent on many weights in one call, and what such operators share."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ..._core.attrs import Floats
from ..._core.errors import MXNetError
from ..._kernels.optimizer import formulas
from ..registry.registry import op
from ..registry.torch_dtypes import require_floating
from .steps import new_weights
from .update_rules import limit, same_shapes, single_precision

Rates = Sequence[float] | Sequence[Tensor]
SGD = ("weight", "grad")
SGD_MOM = ("weight", "grad", "mom")
MP_SGD = ("weight", "grad", "weight32")
MP_SGD_MOM = ("weight", "grad", "mom", "weight32")


def input_names(roles: tuple[str, ...], *after: str, count: str = "num_weights") -> Callable[[dict], tuple[str, ...]]:
    """Inputs come weight by weight: weight_0, grad_0, weight_1, grad_1, … and then what is common to all."""

    def names(attrs: dict) -> tuple[str, ...]:
        return (*(f"{role}_{i}" for i in range(attrs[count]) for role in roles), *after)

    return names


def weight_count(attrs: dict) -> int:
    """As many outputs as weights."""
    return attrs["num_weights"]


def split(data: Sequence[Tensor], roles: tuple[str, ...]) -> list[list[Tensor]]:
    """One list a role; weights, gradients and states of one parameter share their shape."""
    step = len(roles)
    columns = [list(data[i::step]) for i in range(step)]
    for row in zip(*columns, strict=True):
        same_shapes(*row)
    require_floating(columns[0][0])
    return columns


def check_count(given: Sequence[Any], number: int, what: str, name: str) -> None:
    """Each weight has a rate, a decay, and so on, of its own."""
    if len(given) != number:
        raise MXNetError(
            f"Check failed: Number of {what} is inconsistent with {name} parameter passed. "
            f"Expected number of {what}: {number}, and got {len(given)}"
        )


def descended(
    weights: list[Tensor],
    grads: list[Tensor],
    moms: list[Tensor] | None,
    lrs: Rates,
    wds: Rates,
    momentum: float,
    rescale: float,
    clip: float,
) -> tuple[Tensor, ...]:
    """New weights after a step of gradient descent; `moms` change in place."""
    if moms is None:
        return tuple(new_weights(formulas.sgd, weights, grads, [], (lrs, wds), rescale, limit(clip)))
    shared = rescale, limit(clip), momentum
    return tuple(new_weights(formulas.sgd_momentum, weights, grads, [moms], (lrs, wds), *shared))


def masters_of(weights: list[Tensor], weights32: list[Tensor]) -> list[Tensor]:
    """Float32 weights are their own master copies: MXNet neither reads nor writes `weight32` then."""
    return weights if weights[0].dtype == torch.float32 else weights32


def stored(weights: list[Tensor], masters: list[Tensor], new: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Write the master copies; the new weights go out in the weights' precision."""
    if masters is weights:
        return tuple(new)
    torch._foreach_copy_(masters, list(new))
    return tuple(n.to(weights[0].dtype) for n in new)


def _descended_masters(
    weights: list[Tensor],
    grads: list[Tensor],
    moms: list[Tensor] | None,
    weights32: list[Tensor],
    lrs: Rates,
    wds: Rates,
    *shared: float,
) -> tuple[Tensor, ...]:
    single_precision(*weights32, *(moms or ()))
    masters = masters_of(weights, weights32)
    return stored(weights, masters, descended(masters, [g.float() for g in grads], moms, lrs, wds, *shared))


@op("multi_sgd_update", inputs=input_names(SGD), outputs=weight_count, differentiable=False)
def multi_sgd_update(
    *data, lrs: Floats, wds: Floats, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1
):
    """`sgd_update` of many weights."""
    check_count(lrs, num_weights, "learning rates", "num_weights")
    check_count(wds, num_weights, "weight decays", "num_weights")
    weights, grads = split(data, SGD)
    return descended(weights, grads, None, lrs, wds, 0.0, rescale_grad, clip_gradient)


@op("multi_sgd_mom_update", inputs=input_names(SGD_MOM), outputs=weight_count, mutates=("mom",), differentiable=False)
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
    check_count(lrs, num_weights, "learning rates", "num_weights")
    check_count(wds, num_weights, "weight decays", "num_weights")
    weights, grads, moms = split(data, SGD_MOM)
    return descended(weights, grads, moms, lrs, wds, momentum, rescale_grad, clip_gradient)


@op(
    "multi_mp_sgd_update",
    inputs=input_names(MP_SGD),
    outputs=weight_count,
    mutates=("weight32",),
    dtype="any",
    differentiable=False,
)
def multi_mp_sgd_update(
    *data, lrs: Floats, wds: Floats, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1
):
    """`mp_sgd_update` of many weights."""
    check_count(lrs, num_weights, "learning rates", "num_weights")
    check_count(wds, num_weights, "weight decays", "num_weights")
    weights, grads, weights32 = split(data, MP_SGD)
    return _descended_masters(weights, grads, None, weights32, lrs, wds, 0.0, rescale_grad, clip_gradient)


@op(
    "multi_mp_sgd_mom_update",
    inputs=input_names(MP_SGD_MOM),
    outputs=weight_count,
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
    check_count(lrs, num_weights, "learning rates", "num_weights")
    check_count(wds, num_weights, "weight decays", "num_weights")
    weights, grads, moms, weights32 = split(data, MP_SGD_MOM)
    return _descended_masters(weights, grads, moms, weights32, lrs, wds, momentum, rescale_grad, clip_gradient)


# Preloaded: the rates are two arrays behind the weights, so that they need not leave the device


def _preloaded(data: Sequence[Tensor], number: int) -> tuple[Sequence[Tensor], Rates, Rates]:
    *data, lrs, wds = data
    check_count(lrs.flatten(), number, "learning rates", "num_weights")  # pyright: ignore[reportArgumentType]
    check_count(wds.flatten(), number, "weight decays", "num_weights")  # pyright: ignore[reportArgumentType]
    single_precision(lrs, wds)
    return data, lrs.flatten().unbind(), wds.flatten().unbind()


@op(
    "preloaded_multi_sgd_update",
    inputs=input_names(SGD, "lrs", "wds"),
    outputs=weight_count,
    dtype="any",
    differentiable=False,
)
def preloaded_multi_sgd_update(*data, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1):
    """`multi_sgd_update` whose rates are arrays."""
    data, lrs, wds = _preloaded(data, num_weights)
    weights, grads = split(data, SGD)
    return descended(weights, grads, None, lrs, wds, 0.0, rescale_grad, clip_gradient)


@op(
    "preloaded_multi_sgd_mom_update",
    inputs=input_names(SGD_MOM, "lrs", "wds"),
    outputs=weight_count,
    mutates=("mom",),
    dtype="any",
    differentiable=False,
)
def preloaded_multi_sgd_mom_update(
    *data, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1
):
    """`multi_sgd_mom_update` whose rates are arrays."""
    data, lrs, wds = _preloaded(data, num_weights)
    weights, grads, moms = split(data, SGD_MOM)
    return descended(weights, grads, moms, lrs, wds, momentum, rescale_grad, clip_gradient)


@op(
    "preloaded_multi_mp_sgd_update",
    inputs=input_names(MP_SGD, "lrs", "wds"),
    outputs=weight_count,
    mutates=("weight32",),
    dtype="any",
    differentiable=False,
)
def preloaded_multi_mp_sgd_update(*data, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1):
    """`multi_mp_sgd_update` whose rates are arrays."""
    data, lrs, wds = _preloaded(data, num_weights)
    weights, grads, weights32 = split(data, MP_SGD)
    return _descended_masters(weights, grads, None, weights32, lrs, wds, 0.0, rescale_grad, clip_gradient)


@op(
    "preloaded_multi_mp_sgd_mom_update",
    inputs=input_names(MP_SGD_MOM, "lrs", "wds"),
    outputs=weight_count,
    mutates=("mom", "weight32"),
    dtype="any",
    differentiable=False,
)
def preloaded_multi_mp_sgd_mom_update(
    *data, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1
):
    """`multi_mp_sgd_mom_update` whose rates are arrays."""
    data, lrs, wds = _preloaded(data, num_weights)
    weights, grads, moms, weights32 = split(data, MP_SGD_MOM)
    return _descended_masters(weights, grads, moms, weights32, lrs, wds, momentum, rescale_grad, clip_gradient)
