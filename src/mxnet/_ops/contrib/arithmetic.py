"""Arithmetic on every element: a quadratic function, a scale by the last axis' length, and comparison of two arrays."""

import math

import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..elementwise.identity import to_dtype
from ..registry.gradient import with_gradient
from ..registry.registry import op


@op("_contrib_quadratic", shape="same")
def quadratic(data, *, a: float = 0.0, b: float = 0.0, c: float = 0.0):
    """a·x² + b·x + c."""
    if not data.is_floating_point():
        return to_dtype(data * (a * data + b) + c, data.dtype)
    slope = lambda inputs, outputs, heads: _line(inputs[0], 2 * a, b).mul_(heads[0])  # noqa: E731
    return with_gradient(lambda x: _parabola(x, a, b, c), slope, data)


def _line(data: Tensor, factor: float, shift: float) -> Tensor:
    """factor·x + shift, in one pass over memory; MXNet rounds float16 after each step."""
    if data.dtype is torch.float16:
        return (data * factor).add_(shift)
    return torch.add(data.new_full((), shift), data, alpha=factor)


def _parabola(data: Tensor, a: float, b: float, c: float) -> Tensor:
    if data.dtype is torch.float16:
        return _line(data, a, b).mul_(data).add_(c)
    return torch.addcmul(data.new_full((), c), _line(data, a, b), data)


@op("_contrib_backward_quadratic", shape="same")
def backward_quadratic(ograd, data, *, a: float = 0.0, b: float = 0.0, c: float = 0.0):
    """The gradient of `quadratic`."""
    return ograd * (2 * a * data + b)


@op("_contrib_div_sqrt_dim", shape="same")
def div_sqrt_dim(data):
    """Divide by the square root of the last axis' length."""
    length = math.sqrt(data.shape[-1])
    return data / length if data.is_floating_point() else torch.div(data, int(length), rounding_mode="trunc")


@op("_contrib_allclose", dtype="any", shape=lambda attrs, shapes: [()], differentiable=False)
def allclose(a, b, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = True):
    """One (uint8) if all of `a` is within `atol + rtol * |b|` of `b`, else zero."""
    if a.shape != b.shape:
        raise MXNetError(f"allclose compares arrays of one shape, got {tuple(a.shape)} and {tuple(b.shape)}")
    return torch.isclose(a, b.to(a.dtype), rtol, atol, equal_nan).all().to(torch.uint8)
