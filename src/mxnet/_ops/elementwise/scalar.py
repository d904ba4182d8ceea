"""Arithmetic, comparison and logic of an array and one number."""

import math
from collections.abc import Callable

import torch

from ..registry.gradient import with_gradient, without_gradient
from ..registry.registry import op
from ..registry.torch_dtypes import number_for
from .binary import COMPARED, hypotenuse, modulo, power
from .identity import to_dtype
from .masks import kept, marks

Scalar = Callable[[torch.Tensor, float], torch.Tensor]
_MANY = 1 << 14


def _number(data: torch.Tensor, scalar: float) -> torch.Tensor:
    """The number as a tensor; beyond the type's range it is infinite."""
    value = number_for(scalar, data.dtype)
    if data.is_floating_point() and abs(value) > torch.finfo(data.dtype).max:
        value = math.copysign(math.inf, value)
    return torch.full((), value, dtype=data.dtype, device=data.device)


def _divide(data: torch.Tensor, scalar: float) -> torch.Tensor:
    if data.is_floating_point():
        return torch.div(data, scalar)
    return torch.div(data, scalar, rounding_mode="trunc")


def _divided(data: torch.Tensor, scalar: float) -> torch.Tensor:
    if data.is_floating_point():
        return torch.div(_number(data, scalar), data)
    return torch.div(number_for(scalar, data.dtype), data.double()).to(data.dtype)  # 1 / 0 is some number in MXNet, too


def _power(data: torch.Tensor, scalar: float) -> torch.Tensor:
    if data.is_floating_point():
        return torch.pow(data, scalar)
    return to_dtype(torch.pow(data.float(), scalar), data.dtype)


def _powered(data: torch.Tensor, scalar: float) -> torch.Tensor:
    if data.is_floating_point():
        logarithm = math.log(scalar) if scalar > 0 else -math.inf if scalar == 0 else math.nan
        return with_gradient(lambda x: torch.pow(scalar, x), lambda x, y, heads: heads[0] * y[0] * logarithm, data)
    return power(_number(data, scalar), data)


def _modulo(data: torch.Tensor, scalar: float) -> torch.Tensor:
    if scalar and data.is_floating_point():
        return torch.remainder(data, scalar)
    return modulo(data, _number(data, scalar))


def _bounded(clamp: Scalar, passes: Callable[..., torch.Tensor]) -> Scalar:
    """The larger or the smaller one; torch's own slope is quicker for few elements only."""

    def bounded(data: torch.Tensor, scalar: float) -> torch.Tensor:
        bound = number_for(scalar, data.dtype)
        if data.numel() < _MANY or not data.requires_grad or not data.is_floating_point():
            return clamp(data, bound)
        slope = lambda inputs, outputs, heads: kept(heads[0], marks(passes, inputs[0], bound))  # noqa: E731
        return with_gradient(lambda x: clamp(x, bound), slope, data)

    return bounded


def _test(compare: Scalar) -> Scalar:
    """A comparison; its results are numbers of the input's type."""

    def truth(data: torch.Tensor, scalar: float) -> torch.Tensor:
        return without_gradient(lambda x: compare(x, scalar).type(x.dtype), data)

    return truth


# name -> function, its other names, what it does
TABLE: dict[str, tuple[Scalar, tuple[str, ...], str]] = {
    "_plus_scalar": (torch.add, ("_PlusScalar",), "`data + scalar`."),
    "_minus_scalar": (torch.sub, ("_MinusScalar",), "`data - scalar`."),
    "_rminus_scalar": (torch.rsub, ("_RMinusScalar",), "`scalar - data`."),
    "_mul_scalar": (torch.mul, ("_MulScalar",), "`data * scalar`."),
    "_div_scalar": (_divide, ("_DivScalar",), "`data / scalar`; integers truncate."),
    "_rdiv_scalar": (_divided, ("_RDivScalar",), "`scalar / data`; integers truncate."),
    "_mod_scalar": (_modulo, ("_ModScalar",), "`data % scalar`."),
    "_rmod_scalar": (lambda x, s: modulo(_number(x, s), x), ("_RModScalar",), "`scalar % data`."),
    "_power_scalar": (_power, ("_PowerScalar",), "`data ** scalar`."),
    "_rpower_scalar": (_powered, ("_RPowerScalar",), "`scalar ** data`."),
    "_maximum_scalar": (
        _bounded(torch.clamp_min, torch.ge),
        ("_MaximumScalar", "_npi_maximum_scalar"),
        "The larger of each element and `scalar`.",
    ),
    "_minimum_scalar": (
        _bounded(torch.clamp_max, torch.le),
        ("_MinimumScalar", "_npi_minimum_scalar"),
        "The smaller of each element and `scalar`.",
    ),
    "_hypot_scalar": (
        lambda x, s: hypotenuse(x, _number(x, s)),
        ("_HypotScalar", "_npi_hypot_scalar"),
        "`sqrt(data ** 2 + scalar ** 2)`.",
    ),
    "_equal_scalar": (_test(torch.eq), ("_EqualScalar",), "1 where `data == scalar`, else 0."),
    "_not_equal_scalar": (_test(torch.ne), ("_NotEqualScalar",), "1 where `data != scalar`, else 0."),
    "_greater_scalar": (_test(torch.gt), ("_GreaterScalar",), "1 where `data > scalar`, else 0."),
    "_greater_equal_scalar": (_test(torch.ge), ("_GreaterEqualScalar",), "1 where `data >= scalar`, else 0."),
    "_lesser_scalar": (_test(torch.lt), ("_LesserScalar",), "1 where `data < scalar`, else 0."),
    "_lesser_equal_scalar": (_test(torch.le), ("_LesserEqualScalar",), "1 where `data <= scalar`, else 0."),
    "_logical_and_scalar": (
        _test(lambda x, s: (x != 0) & (s != 0)),
        ("_LogicalAndScalar",),
        "1 where `data` and `scalar` are nonzero, else 0.",
    ),
    "_logical_or_scalar": (
        _test(lambda x, s: (x != 0) | (s != 0)),
        ("_LogicalOrScalar",),
        "1 where `data` or `scalar` is nonzero, else 0.",
    ),
    "_logical_xor_scalar": (
        _test(lambda x, s: (x != 0) ^ (s != 0)),
        ("_LogicalXorScalar",),
        "1 where either `data` or `scalar` is nonzero, else 0.",
    ),
    "_scatter_plus_scalar": (torch.add, (), "`data + scalar`, meant for sparse `data`."),
    "_scatter_minus_scalar": (torch.sub, (), "`data - scalar`, meant for sparse `data`."),
}


def operator(function: Scalar):
    def with_scalar(data, *, scalar: float = 1.0, is_int: bool = True):
        if data.is_floating_point():
            return function(data, scalar)
        return among_integers(function, data, scalar, is_int)

    return with_scalar


def among_integers(function: Scalar, data: torch.Tensor, scalar: float, is_int: bool) -> torch.Tensor:
    """Integers cut the number's fraction off, unless it is said to be none; truth values become int64."""
    if not is_int:
        return function(data.double(), scalar)
    data = data.long() if data.dtype is torch.bool else data
    return function(data, number_for(scalar, data.dtype))


# What the operators do to floating tensors that nobody differentiates, called with the number itself.
ON_FLOATS: dict[str, Scalar] = {name: function for name, (function, _, _) in TABLE.items()}
ON_FLOATS.update((f"_{word}_scalar", compare) for word, compare in COMPARED.items())


class Numbers(dict[float, torch.Tensor]):
    """number -> a float32 tensor without axes, once it comes again: torch takes 2 µs to make one for each call.

    Nobody else gets hold of the tensors. 0.0 and -0.0 are equal keys: where their sign counts they stay numbers.
    """

    most = 1024

    def __init__(self, signed_zero: bool) -> None:
        super().__init__()
        self.signed_zero, self.seen = signed_zero, set[float]()

    def __missing__(self, number: float) -> torch.Tensor | float:
        if len(self.seen) >= self.most:
            self.seen.clear()
            self.clear()
        if number not in self.seen:
            self.seen.add(number)
        elif (number or not self.signed_zero) and number == number:
            self[number] = made = torch.tensor(number, dtype=torch.float32, device="cpu")
            return made
        return number


class Passed(dict[float, torch.Tensor]):
    """Numbers that stay numbers."""

    def __missing__(self, number: float) -> float:
        return number


PASSED, TERMS, BOUNDS = Passed(), Numbers(signed_zero=True), Numbers(signed_zero=False)

# The same for float32: the function and where it finds its number.
ON_FLOAT32: dict[str, tuple[Callable[..., torch.Tensor], Numbers]] = {
    "_plus_scalar": (torch.add, TERMS),
    "_minus_scalar": (torch.sub, TERMS),
    "_rminus_scalar": (lambda data, number: number - data, TERMS),
    "_mul_scalar": (torch.mul, TERMS),
    "_div_scalar": (torch.div, TERMS),
    "_rdiv_scalar": (
        lambda data, number: torch.div(number if number.__class__ is torch.Tensor else _number(data, number), data),
        TERMS,
    ),
}
ON_FLOAT32.update((f"_{word}_scalar", (compare, BOUNDS)) for word, compare in COMPARED.items())


for _name, (_function, _aliases, _doc) in TABLE.items():
    _operator = operator(_function)
    _operator.__name__, _operator.__doc__ = _name, _doc
    op(_name, *_aliases, shape="same")(_operator)
