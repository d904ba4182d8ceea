"""Optimizer updates of one weight: each changes its states in place and returns the new weight.

`rescale_grad`, `clip_gradient` (off when negative) and `wd` act in MXNet's order, which differs between optimizers.
"""

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..registry.registry import op
from ..registry.torch_dtypes import require_floating


@lru_cache(maxsize=1024)
def held(value: float, dtype: torch.dtype = torch.float32) -> float:
    """A number as MXNet holds it: its attributes are float32, in kernels of half precision half as long.

    It shows where such a number is taken from one: 1 - 0.999 is 0.00099998712.
    """
    number = np.float32(value)
    return float(np.float16(number) if dtype is torch.float16 else number)


def same_shapes(weight: Tensor, *others: Tensor) -> None:
    """Torch would broadcast a state of another shape; MXNet refuses it."""
    for i, other in enumerate(others, 1):
        if other.shape != weight.shape:
            raise MXNetError(
                f"Incompatible attr in node  at {i}-th input: expected {list(weight.shape)}, got {list(other.shape)}"
            )


def single_precision(*states: Tensor) -> None:
    """The states of a mixed-precision update are float32."""
    for state in states:
        if state.dtype != torch.float32:
            given = str(state.dtype).removeprefix("torch.")
            raise MXNetError(f"Type inconsistent, Provided = {given}, inferred type = float32")


def clipped(value: Tensor, bound: float) -> Tensor:
    """Cut to a bound, which is none if it is negative."""
    return value.clamp(-bound, bound) if bound >= 0 else value


def scaled(grad: Tensor, rescale: float, clip: float) -> Tensor:
    """The gradient rescaled, then cut."""
    return clipped(grad if rescale == 1 else grad * rescale, clip)


def fill_same(attrs: dict, shapes: list) -> list:
    """Gradient and states have the weight's shape."""
    known = next((s for s in shapes if s), None)
    return [s or known for s in shapes]


def fill_mixed_types(attrs: dict, dtypes: list) -> list:
    """Weight and gradient share a type; states and the master copy are float32."""
    known = dtypes[0] or dtypes[1]
    return [known, known, *["float32"] * (len(dtypes) - 2)]


# Stochastic gradient descent


def _sgd(weight: Tensor, grad: Tensor, lr: float, wd: float, rescale: float, clip: float) -> Tensor:
    if clip >= 0:
        grad, rescale = scaled(grad, rescale, clip), 1.0
    kept = weight if wd == 0 else weight * (1 - lr * wd)
    return torch.sub(kept, grad, alpha=lr * rescale)


def _momentum(mom: Tensor, weight: Tensor, grad: Tensor, lr: float, momentum: float, wd: float) -> Tensor:
    """MXNet's momentum holds the learning rate: it is what gets added to the weight."""
    mom.mul_(momentum)
    if wd != 0:
        mom.add_(weight, alpha=-lr * wd)
    return mom.sub_(grad, alpha=lr)


@op("sgd_update", fill=fill_same, shape="same", differentiable=False)
def sgd_update(
    weight,
    grad,
    *,
    lr: float,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
):
    """Plain gradient descent: `weight - lr * (grad + wd * weight)`."""
    require_floating(weight)
    same_shapes(weight, grad)
    return _sgd(weight, grad, lr, wd, rescale_grad, clip_gradient)


@op("sgd_mom_update", mutates=("mom",), fill=fill_same, shape="same", differentiable=False)
def sgd_mom_update(
    weight,
    grad,
    mom,
    *,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
):
    """Gradient descent with momentum; `mom` becomes the step that is added to the weight."""
    require_floating(weight)
    same_shapes(weight, grad, mom)
    return weight + _momentum(mom, weight, scaled(grad, rescale_grad, clip_gradient), lr, momentum, wd)


@op(
    "mp_sgd_update",
    mutates=("weight32",),
    fill=fill_same,
    fill_types=fill_mixed_types,
    shape="same",
    dtype="any",
    differentiable=False,
)
def mp_sgd_update(
    weight,
    grad,
    weight32,
    *,
    lr: float,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
):
    """`sgd_update` on a float32 master copy of the weight."""
    same_shapes(weight, grad, weight32)
    single_precision(weight32)
    weight32.copy_(_sgd(weight32, grad.float(), lr, wd, rescale_grad, clip_gradient))
    return weight32.to(weight.dtype, copy=True)


@op(
    "mp_sgd_mom_update",
    mutates=("mom", "weight32"),
    fill=fill_same,
    fill_types=fill_mixed_types,
    shape="same",
    dtype="any",
    differentiable=False,
)
def mp_sgd_mom_update(
    weight,
    grad,
    mom,
    weight32,
    *,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
):
    """`sgd_mom_update` on a float32 master copy of the weight."""
    same_shapes(weight, grad, mom, weight32)
    single_precision(mom, weight32)
    weight32.add_(_momentum(mom, weight32, scaled(grad.float(), rescale_grad, clip_gradient), lr, momentum, wd))
    return weight32.to(weight.dtype, copy=True)


def _nesterov(weight: Tensor, mom: Tensor, grad: Tensor, lr: float, momentum: float, wd: float) -> Tensor:
    """The weight after the look-ahead step; `mom` is left decayed, its own step is still to be taken."""
    mom.mul_(momentum)
    ahead = torch.sub(mom, torch.add(grad, weight, alpha=wd), alpha=lr)
    return (weight - mom).add_(ahead, alpha=momentum + 1)


@op("nag_mom_update", mutates=("mom",), fill=fill_same, shape="same", differentiable=False)
def nag_mom_update(
    weight,
    grad,
    mom,
    *,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
):
    """Nesterov's accelerated gradient."""
    require_floating(weight)
    same_shapes(weight, grad, mom)
    grad = scaled(grad, rescale_grad, clip_gradient)
    moved = _nesterov(weight, mom, grad, lr, momentum, wd)
    mom.sub_(torch.add(grad, weight, alpha=wd), alpha=lr)
    return moved


@op(
    "mp_nag_mom_update",
    mutates=("mom", "weight32"),
    fill=fill_same,
    fill_types=fill_mixed_types,
    shape="same",
    dtype="any",
    differentiable=False,
)
def mp_nag_mom_update(
    weight,
    grad,
    mom,
    weight32,
    *,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
):
    """`nag_mom_update` on a float32 master copy, whose decay in `mom` uses the new weight, as in MXNet."""
    same_shapes(weight, grad, mom, weight32)
    single_precision(mom, weight32)
    grad = scaled(grad.float(), rescale_grad, clip_gradient)
    weight32.copy_(_nesterov(weight32, mom, grad, lr, momentum, wd))
    mom.sub_(torch.add(grad, weight32, alpha=wd), alpha=lr)
    return weight32.to(weight.dtype, copy=True)


@op("signsgd_update", fill=fill_same, shape="same", differentiable=False)
def signsgd_update(weight, grad, *, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0):
    """A step of size `lr` against the gradient's sign, which neither rescaling nor clipping can change."""
    require_floating(weight)
    same_shapes(weight, grad)
    return torch.sub(weight * (1 - lr * wd), _sign(grad), alpha=lr)


@op("signum_update", mutates=("mom",), fill=fill_same, shape="same", differentiable=False)
def signum_update(
    weight,
    grad,
    mom,
    *,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    wd_lh: float = 0.0,
):
    """A step of size `lr` along the sign of the momentum; `wd_lh` decays the weight apart from the gradient."""
    require_floating(weight)
    same_shapes(weight, grad, mom)
    momentum = held(momentum, weight.dtype)
    _momentum(mom, weight, scaled(grad, rescale_grad, clip_gradient), 1 - momentum, momentum, wd)
    return (weight * (1 - lr * wd_lh)).add_(_sign(mom), alpha=lr)


def _sign(value: Tensor) -> Tensor:
    """Zero for NaN, as two comparisons give."""
    return torch.sign(value).nan_to_num_(0.0)
