"""Gradients that are passed through a function unchanged, or multiplied by a number."""

import torch
from torch import Tensor

from ..elementwise.rounding import round_away
from ..registry.gradient import with_gradient
from ..registry.registry import op


@op("_contrib_gradientmultiplier", shape="same")
def gradient_multiplier(data, *, scalar: float = 1.0, is_int: bool = True):
    """Identity forward; backward multiplies the gradient by `scalar` (negative: gradient reversal)."""
    return with_gradient(Tensor.clone, lambda inputs, outputs, heads: heads[0] * scalar, data)


@op("_contrib_backward_gradientmultiplier", shape="same")
def backward_gradient_multiplier(data, *, scalar: float = 1.0, is_int: bool = True):
    """The gradient of `gradientmultiplier`."""
    return (data * scalar).to(data.dtype)


def _straight_through(function, data: Tensor) -> Tensor:
    return with_gradient(function, lambda inputs, outputs, heads: heads[0].clone(), data)


@op("_contrib_round_ste", shape="same")
def round_ste(data):
    """Round to the nearest integer; the gradient is passed through unchanged (straight-through estimator)."""
    return _straight_through(round_away, data)


@op("_contrib_sign_ste", shape="same")
def sign_ste(data):
    """The sign, with a straight-through gradient: the gradient of the result is passed on unchanged."""
    return _straight_through(torch.sign, data)
