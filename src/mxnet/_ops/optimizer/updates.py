"""Gradient descent on one weight: each operator changes its states in place and returns the new weight.

`rescale_grad`, `clip_gradient` (off when negative) and `wd` act in MXNet's order, which differs between optimizers.
"""

from ..._kernels.optimizer import formulas
from ..registry.registry import op
from .update_rules import fill_mixed_types, fill_same, held, limit, updated, updated_master


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
    return updated(formulas.sgd, weight, grad, (), (lr, wd), rescale_grad, limit(clip_gradient))


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
    """Gradient descent with momentum: `mom = momentum * mom - lr * (grad + wd * weight)`, then `weight + mom`."""
    numbers = rescale_grad, limit(clip_gradient), momentum
    return updated(formulas.sgd_momentum, weight, grad, (mom,), (lr, wd), *numbers)


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
    numbers = rescale_grad, limit(clip_gradient)
    return updated_master(formulas.sgd, weight, grad, (), weight32, (lr, wd), *numbers)


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
    numbers = rescale_grad, limit(clip_gradient), momentum
    return updated_master(formulas.sgd_momentum, weight, grad, (mom,), weight32, (lr, wd), *numbers)


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
    """Nesterov's accelerated gradient.

    With s = lr * (grad + wd * weight) the new weight is weight + momentum² * mom - (1 + momentum) * s, and `mom`
    becomes momentum * mom - s.
    """
    numbers = rescale_grad, limit(clip_gradient), momentum
    return updated(formulas.nesterov, weight, grad, (mom,), (lr, wd), *numbers)


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
    numbers = rescale_grad, limit(clip_gradient), momentum
    return updated_master(formulas.nesterov_in_place, weight, grad, (mom,), weight32, (lr, wd), *numbers)


@op("signsgd_update", fill=fill_same, shape="same", differentiable=False)
def signsgd_update(weight, grad, *, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0):
    """A step of size `lr` against the gradient's sign, which neither rescaling nor clipping can change."""
    return updated(formulas.sign_sgd, weight, grad, (), (lr, wd))


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
    numbers = rescale_grad, limit(clip_gradient), held(momentum, weight.dtype), wd_lh
    return updated(formulas.signum, weight, grad, (mom,), (lr, wd), *numbers)
