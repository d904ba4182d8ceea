"""Mathematical functions of one array, element by element."""

import math
from collections.abc import Callable

import torch

from ..._core.errors import MXNetError
from ..registry.gradient import with_gradient, without_gradient
from ..registry.registry import op
from .identity import to_dtype
from .masks import kept, marks
from .rounding import round_away

Unary = Callable[[torch.Tensor], torch.Tensor]


def cube_root(data: torch.Tensor) -> torch.Tensor:
    return with_gradient(
        lambda x: torch.copysign(torch.pow(torch.abs(x), 1 / 3), x),
        lambda inputs, outputs, heads: heads[0] / (3 * outputs[0] * outputs[0]),
        data,
    )


def plain_cpu(data: torch.Tensor) -> bool:
    """May a shortcut depend on the values of `data`? Elsewhere it would wait for the device or break a trace."""
    return data.__class__ is torch.Tensor and data.is_cpu and not torch.compiler.is_compiling()


def _has_no_nan(data: torch.Tensor) -> bool:
    """On the CPU a sum is the cheapest way to learn it; also False where opposite infinities meet."""
    return plain_cpu(data) and not torch.isnan(data.detach().sum())


def _relu_slope(inputs, outputs, heads):
    """The head where the result is positive; the result itself elsewhere, which is 0, or NaN to be handed on."""
    (out,), (head,) = outputs, heads
    if _has_no_nan(out):
        return torch.ops.aten.threshold_backward(head, out, 0)
    return torch.where(out > 0, head, out.detach())


def rectified(data: torch.Tensor) -> torch.Tensor:
    if data.dtype is torch.bool:
        return integers(data).clone()
    return with_gradient(torch.relu, _relu_slope, data)


def half_down(data: torch.Tensor) -> torch.Tensor:
    """Halves are rounded towards minus infinity."""
    lower, upper = torch.floor(data), torch.ceil(data)
    nearer = marks(torch.gt, data - lower, upper.sub_(data))  # the upper one
    return torch.copysign(lower.add_(nearer), data)


def gamma(data: torch.Tensor) -> torch.Tensor:
    """Euler's gamma function."""
    return with_gradient(_gamma, lambda x, y, heads: heads[0] * y[0] * _digamma(x[0]), data)


def log_gamma(data: torch.Tensor) -> torch.Tensor:
    """The logarithm of the absolute value of the gamma function."""
    return with_gradient(torch.lgamma, lambda x, y, heads: heads[0] * _digamma(x[0]), data)


def _digamma(data: torch.Tensor) -> torch.Tensor:
    """MXNet's is plus infinity at its poles."""
    return torch.digamma(data).masked_fill((data <= 0) & (data == torch.floor(data)), math.inf)


def _gamma(data: torch.Tensor) -> torch.Tensor:
    """Euler's gamma function; its logarithm loses the sign, which alternates between the negative integers."""
    if data.dtype is torch.float32 and plain_cpu(data) and data.numel() and data.amin() > 0:
        return data.double().lgamma_().exp_().float()  # float32 rounds away what a factorial is off by
    wide = data.double()
    lower = torch.floor(wide)
    is_integer = lower == wide
    size = torch.exp(torch.lgamma(wide))
    size = torch.where(is_integer, torch.round(size), size)  # factorials
    negative = torch.where(wide < 0, torch.remainder(lower, 2) == 1, torch.signbit(wide))
    return torch.where(negative, -size, size).masked_fill((wide < 0) & is_integer, math.nan).to(data.dtype)


def softsign(data: torch.Tensor) -> torch.Tensor:
    """`data / (1 + abs(data))`; torch's own slope is not a number at infinity."""
    forward = lambda x: x / x.abs().add_(1)  # noqa: E731 - one buffer less than torch's own
    return with_gradient(forward, lambda x, y, heads: heads[0] / x[0].abs().add_(1).square_(), data)


def inverse_root(data: torch.Tensor) -> torch.Tensor:
    """`1 / sqrt(data)`; MXNet's slope is minus infinity at both zeros."""
    return with_gradient(torch.rsqrt, lambda x, y, heads: -0.5 * heads[0] * torch.abs(y[0] * y[0] * y[0]), data)


# Functions that MXNet computes in floating point and casts back when the input holds integers.
FLOATING: dict[str, tuple[Unary, str]] = {
    "arccos": (torch.acos, "Inverse cosine, between 0 and π, of elements between -1 and 1; NaN outside."),
    "arccosh": (torch.acosh, "Inverse hyperbolic cosine of elements from 1 on; NaN below."),
    "arcsin": (torch.asin, "Inverse sine, between -π/2 and π/2, of elements between -1 and 1; NaN outside."),
    "arcsinh": (torch.asinh, "Inverse hyperbolic sine."),
    "arctan": (torch.atan, "Inverse tangent."),
    "arctanh": (torch.atanh, "Inverse hyperbolic tangent of elements between -1 and 1: infinite at both, NaN outside."),
    "cbrt": (cube_root, "Cube root, also of negative elements."),
    "cos": (torch.cos, "Cosine of an angle in radians."),
    "cosh": (torch.cosh, "Hyperbolic cosine: (exp(x) + exp(-x)) / 2."),
    "degrees": (lambda x: x * (180 / math.pi), "Radians to degrees."),
    "erf": (torch.erf, "Gauss error function: 2 / √π times the integral of exp(-t²) from 0 to `data`."),
    "exp": (torch.exp, "Exponential; float32 overflows to infinity above about 88.7, float16 above about 11.09."),
    "expm1": (torch.expm1, "`exp(data) - 1`, exact near zero."),
    "gamma": (gamma, "Gamma function Γ; Γ(n) is (n - 1)! for integers."),
    "gammaln": (log_gamma, "Logarithm of the absolute value of the gamma function."),
    "log": (torch.log, "Natural logarithm; minus infinity at 0, NaN below."),
    "log10": (torch.log10, "Logarithm to base 10; minus infinity at 0, NaN below."),
    "log1p": (torch.log1p, "`log(1 + data)`, exact near zero; minus infinity at -1, NaN below."),
    "log2": (torch.log2, "Logarithm to base 2; minus infinity at 0, NaN below."),
    "radians": (lambda x: x * (math.pi / 180), "Degrees to radians."),
    "rcbrt": (lambda x: torch.reciprocal(cube_root(x)), "Reciprocal of the cube root: 1 / ∛data."),
    "reciprocal": (torch.reciprocal, "`1 / data`; infinite at 0."),
    "rsqrt": (inverse_root, "Reciprocal of the square root, 1 / √data; infinite at 0, NaN below."),
    "sigmoid": (torch.sigmoid, "`1 / (1 + exp(-data))`."),
    "sin": (torch.sin, "Sine of an angle in radians."),
    "sinh": (torch.sinh, "Hyperbolic sine: (exp(x) - exp(-x)) / 2."),
    "softsign": (softsign, "`data / (1 + abs(data))`."),
    "sqrt": (torch.sqrt, "Square root; NaN below 0, and an infinite gradient at 0."),
    "tan": (torch.tan, "Tangent of an angle in radians."),
    "tanh": (torch.tanh, "Hyperbolic tangent: (exp(x) - exp(-x)) / (exp(x) + exp(-x))."),
}

# Functions that integers have, too.
EXACT: dict[str, tuple[Unary, str]] = {
    "abs": (torch.abs, "Absolute value."),
    "negative": (torch.neg, "`-data`."),
    "relu": (rectified, "`max(data, 0)`."),
    "square": (torch.square, "`data * data`."),
}

# Step functions: their gradient is zero everywhere, and integers are their own result.
STEPS: dict[str, tuple[Unary, str]] = {
    "ceil": (torch.ceil, "Smallest integer not below each element; the gradient is zero."),
    "fix": (torch.trunc, "Nearest integer towards zero; the gradient is zero."),
    "floor": (torch.floor, "Largest integer not above each element; the gradient is zero."),
    "rint": (half_down, "Nearest integer, halves rounded down (NumPy rounds them to even); the gradient is zero."),
    "round": (round_away, "Nearest integer, halves rounded away from zero (NumPy: to even); the gradient is zero."),
    "trunc": (torch.trunc, "Integer part: the fraction is cut off; the gradient is zero."),
}


NUMPY = ("relu", "sigmoid")  # `mx.npx` has operators of its own for them


def declare(name: str, function: Unary, doc: str) -> None:
    function.__name__, function.__doc__ = name, doc
    op(name, shape="same")(function)
    if name in NUMPY:
        op(f"_npx_{name}", shape="same")(function)


def floating(function: Unary) -> Unary:
    def unary(data):
        if data.is_floating_point():
            return function(data)
        return to_dtype(function(integers(data).double()), data.dtype)

    return unary


def exact(function: Unary) -> Unary:
    def unary(data):
        return function(data)

    return unary


def step(function: Unary) -> Unary:
    def unary(data):
        return without_gradient(function if data.is_floating_point() else torch.clone, integers(data))

    return unary


def integers(data: torch.Tensor) -> torch.Tensor:
    if data.dtype is torch.bool and data.numel():
        raise MXNetError("boolean arrays have no such function; cast the array to a number type first")
    return data


for _kind, _table in ((floating, FLOATING), (exact, EXACT), (step, STEPS)):
    for _name, (_function, _doc) in _table.items():
        declare(_name, _kind(_function), _doc)


@op("erfinv", shape="same")
def erfinv(data):
    """Inverse of the Gauss error function for elements between -1 and 1; NaN outside of this range."""
    if data.is_floating_point():
        return torch.erfinv(data)
    wide = torch.erfinv(integers(data).double())
    return to_dtype(wide.masked_fill(torch.isnan(wide), 0), data.dtype)


@op("sign", shape="same")
def sign(data):
    """The sign of each element: -1, 0 or 1."""
    return without_gradient(torch.sign, data)


@op("logical_not", shape="same")
def logical_not(data):
    """1 where an element is zero, else 0."""
    return without_gradient(lambda x: torch.logical_not(x).to(x.dtype), data)


def _hard_sigmoid_slope(alpha: float):
    def slope(inputs, outputs, heads):
        if _has_no_nan(outputs[0]):
            return torch.ops.aten.hardtanh_backward(heads[0], outputs[0], 0, 1).mul_(alpha)
        inside = marks(torch.gt, outputs[0], 0).mul_(marks(torch.lt, outputs[0], 1))
        return kept(heads[0] * alpha, inside)

    return slope


@op("hard_sigmoid", shape="same")
def hard_sigmoid(data, *, alpha: float = 0.2, beta: float = 0.5):
    """`alpha * data + beta`, cut off at 0 and 1."""
    if not data.is_floating_point():
        raise MXNetError("hard_sigmoid needs a floating point array; cast it first")
    return with_gradient(lambda x: (alpha * x).add_(beta).clamp_(0, 1), _hard_sigmoid_slope(alpha), data)


def _smooth_l1(square: float) -> Unary:
    def smooth_l1(data):
        near = torch.clamp(data, -1 / square, 1 / square)  # no branch, infinity is like any other number
        return torch.add(data, near, alpha=-0.5).mul_(near.mul_(square))

    return smooth_l1


def _smooth_slope(square: float):
    return lambda inputs, outputs, heads: (inputs[0] * square).clamp_(-1, 1).mul_(heads[0])


@op("smooth_l1", shape="same")
def smooth_l1(data, *, scalar: float = 1.0):
    """Quadratic within `1 / scalar ** 2` of zero, the shifted absolute value outside."""
    if not data.is_floating_point():
        scalar = int(scalar)
    if scalar == 0:
        return data * 0
    square = scalar * scalar
    if data.is_floating_point():
        return with_gradient(_smooth_l1(square), _smooth_slope(square), data)
    size = torch.abs(data)
    return to_dtype(torch.where(size > 1 / square, size - 0.5 / square, 0.5 * square * data * data), data.dtype)
