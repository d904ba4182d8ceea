"""NumPy-semantics operators on elements: unary and binary functions, with arrays or with one number."""

import torch

from ..._core.errors import MXNetError
from ..._device.copies import number
from ..elementwise import binary
from ..elementwise.bool_cast import COMPARISONS, TESTS
from ..elementwise.identity import to_dtype
from ..elementwise.unary import cube_root, half_down
from ..registry.gradient import with_zero_gradients, without_gradient
from ..registry.registry import op


def _back_to_integers(function):
    """`function` on integers computes in floats and gives integers back, as MXNet does."""

    def apply(x):
        return function(x) if x.is_floating_point() else to_dtype(function(x.float()), x.dtype)

    return apply


def _negative(x):
    return -(x.to(torch.int64) if x.dtype is torch.bool else x)


def _invert(x):
    return torch.bitwise_not(x)


def _rint(x):
    return without_gradient(half_down, x)


UNARY = {
    "absolute": torch.abs, "arccos": torch.acos, "arccosh": torch.acosh, "arcsin": torch.asin, "arcsinh": torch.asinh,
    "arctan": torch.atan, "arctanh": torch.atanh, "cbrt": cube_root, "ceil": torch.ceil, "cos": torch.cos,
    "cosh": torch.cosh, "degrees": torch.rad2deg, "exp": torch.exp, "expm1": torch.expm1, "fix": torch.trunc,
    "floor": torch.floor, "log": torch.log, "log10": torch.log10, "log1p": torch.log1p, "log2": torch.log2,
    "radians": torch.deg2rad, "reciprocal": torch.reciprocal, "rint": _rint, "sign": torch.sign,
    "sin": torch.sin, "sinh": torch.sinh, "sqrt": torch.sqrt, "square": torch.square, "tan": torch.tan,
    "tanh": torch.tanh, "trunc": torch.trunc,
}  # fmt: skip
EXACT = {  # integers stay integers, or the answer is a boolean
    "negative": _negative, "bitwise_not": _invert, "isneginf": torch.isneginf, "isposinf": torch.isposinf, **TESTS,
}  # fmt: skip
INTEGRAL = {"absolute": torch.abs, "square": torch.square, "sign": torch.sign}  # have integer kernels of their own


def _of_integers(function, exact):
    def apply(x):
        known = not x.is_floating_point() and x.dtype is not torch.bool and exact is not None
        return exact(x) if known else function(x)  # pyright: ignore[reportOptionalCall]

    return apply


def _register_unary(name, function):
    names = ("_npi_absolute", "_npi_abs") if name == "absolute" else (f"_npi_{name}",)

    def unary(x):
        return function(x)

    unary.__doc__ = f"NumPy's {name}, element by element."
    op(*names, dtype="any", shape="same")(unary)


for _name, _function in UNARY.items():
    _register_unary(_name, _of_integers(_back_to_integers(_function), INTEGRAL.get(_name)))
for _name, _function in EXACT.items():
    _register_unary(_name, _function)


def _common(lhs, rhs):
    """Both in the type that holds both; an integer gives way to any float. MXNet has no int16."""
    dtype = torch.promote_types(lhs.dtype, rhs.dtype)
    dtype = torch.int32 if dtype is torch.int16 else dtype
    return lhs.to(dtype), rhs.to(dtype)


def _subtract(lhs, rhs):
    lhs, rhs = _common(lhs, rhs)
    if lhs.dtype is torch.bool:
        return _of_nothing("_npi_subtract", lhs, rhs)
    return torch.sub(lhs, rhs)


def _of_nothing(name, lhs, rhs):
    """Booleans have no such function, but where there are none MXNet does not look."""
    result = torch.logical_and(lhs, rhs)
    if result.numel():
        raise MXNetError(f"Operator {name} does not support boolean type")
    return result


def _lcm(lhs, rhs):
    """Of booleans, too: 1 where both are."""
    return torch.logical_and(lhs, rhs) if lhs.dtype is rhs.dtype is torch.bool else torch.lcm(lhs, rhs)


def _divide(lhs, rhs):
    lhs, rhs = _common(lhs, rhs)
    return torch.true_divide(lhs, rhs)


def _modulo(lhs, rhs):
    """The sign is the divisor's; the remainder by zero is zero."""
    lhs, rhs = _common(lhs, rhs)
    return _of_nothing("_npi_mod", lhs, rhs) if lhs.dtype is torch.bool else binary.modulo(lhs, rhs)


def _power(lhs, rhs):
    return binary.power(*_common(lhs, rhs))


def _in_one_type(function):
    """Two types become the one that holds both, also where one array has no axes: torch lets the other decide."""
    return lambda lhs, rhs: function(lhs, rhs) if lhs.dtype is rhs.dtype else function(*_common(lhs, rhs))


def _signed(lhs, rhs):
    """The sign of `rhs`, where either zero counts as positive."""
    alike = ((lhs >= 0) & (rhs >= 0)) | ((lhs < 0) & (rhs < 0))
    return torch.where(alike, lhs, -lhs)


def _in_floats(function):
    def apply(lhs, rhs):
        lhs, rhs = _common(lhs, rhs)
        return function(lhs, rhs) if lhs.is_floating_point() else function(lhs.float(), rhs.float())

    return apply


def _in_its_type(function):
    """As `_in_floats`; of two integers of one type the result has that type, too."""
    floats = _in_floats(function)

    def apply(lhs, rhs):
        integral = lhs.dtype == rhs.dtype != torch.bool and not lhs.is_floating_point()
        return to_dtype(floats(lhs, rhs), lhs.dtype) if integral else floats(lhs, rhs)

    return apply


def _scaled(lhs, rhs):
    return lhs * torch.pow(2.0, rhs.to(lhs.dtype))


BINARY = {
    "add": _in_one_type(torch.add), "subtract": _subtract, "multiply": _in_one_type(torch.mul),
    "true_divide": _divide, "mod": _modulo, "power": _power,
    "hypot": _in_floats(torch.hypot), "arctan2": _in_floats(torch.atan2), "copysign": _in_its_type(_signed),
    "lcm": _lcm,
    "ldexp": _in_its_type(_scaled), "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor, **COMPARISONS,
}  # fmt: skip
REVERSED = ("subtract", "true_divide", "mod", "power", "arctan2", "copysign", "ldexp")


def _beside_number(data, name: str, is_int: bool):
    """The array in the type in which a number meets it: a fraction makes integers double precision, but for bits."""
    truth = data.dtype is torch.bool
    if data.is_floating_point() or name == "lcm" or name.startswith("bitwise"):
        return data
    if name == "true_divide":
        return data.float()
    if name in COMPARISONS:
        return data if truth or is_int else data.double()
    return data.double() if not is_int else data.to(torch.int64) if truth else data


def _number(data, scalar: float, name: str, is_int: bool):
    """An array and a number in one type; to arrays of truth values a number is true or false."""
    data = _beside_number(data, name, is_int)
    if data.dtype is torch.float32 or data.dtype is torch.float64:
        return data, number(float(scalar), data.dtype, data.device)
    return data, to_dtype(number(float(scalar), torch.float64, data.device), data.dtype)


def _register_binary(name, function):
    def of_sides(lhs, rhs):
        return function(lhs, rhs)

    def of_coordinates(x1, x2):
        return function(x1, x2)

    of_two = of_coordinates if name in ("hypot", "arctan2") else of_sides  # MXNet calls their inputs so

    of_numbers = _in_its_type(function) if name in ("hypot", "arctan2") else function

    def with_number(data, *, scalar: float = 1.0, is_int: bool = True):
        data, number = _number(data, scalar, name, is_int)
        return of_numbers(data, number)

    def with_number_first(data, *, scalar: float = 1.0, is_int: bool = True):
        data, number = _number(data, scalar, name, is_int)
        return of_numbers(number, data)

    of_two.__doc__ = f"NumPy's {name} of two arrays, element by element."
    with_number.__doc__ = f"NumPy's {name} of an array and a number."
    with_number_first.__doc__ = f"NumPy's {name} of a number and an array."
    op(f"_npi_{name}", dtype="any", shape="broadcast")(of_two)
    if name != "hypot":  # with a number it is the older operator
        op(f"_npi_{name}_scalar", dtype="any", shape="same")(with_number)
    if name in REVERSED:
        op(f"_npi_r{name}_scalar", dtype="any", shape="same")(with_number_first)


for _name, _function in BINARY.items():
    _register_binary(_name, _function)


@op("_npi_around", dtype="any")
def around(x, *, decimals: int = 0):
    """Rounded to so many decimals, halves to even; integers lose the digits below."""
    if x.is_floating_point():
        return torch.round(x, decimals=decimals) + 0.0  # there is no negative zero
    unit = 10 ** max(-decimals, 0)
    return torch.div(x, unit, rounding_mode="trunc") * unit


@op("_npi_nan_to_num", dtype="any")
def nan_to_num(data, *, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None):
    """Numbers in the place of NaN and the infinities."""
    return torch.nan_to_num(data, nan, posinf, neginf)


@op("_npi_where", dtype="any")
def where(condition, x, y):
    """Elements of `x` where the condition holds, of `y` elsewhere."""
    return with_zero_gradients(torch.where(condition != 0, *_common(x, y)), condition)


@op("_npi_where_lscalar", dtype="any")
def where_lscalar(condition, x, *, scalar: float = 0.0):
    """A number where the condition holds, elements of `x` elsewhere."""
    return torch.where(condition != 0, x.new_full((), scalar), x)


@op("_npi_where_rscalar", dtype="any")
def where_rscalar(condition, y, *, scalar: float = 0.0):
    """Elements of `y` where the condition holds, a number elsewhere."""
    return torch.where(condition != 0, y, y.new_full((), scalar))


@op("_npi_where_scalar2", dtype="any", differentiable=False)
def where_scalar2(condition, *, x: float = 0.0, y: float = 0.0):
    """One number where the condition holds, the other elsewhere, in single precision."""
    one, other = (torch.full((), v, dtype=torch.float32, device=condition.device) for v in (x, y))
    return torch.where(condition != 0, one, other)
