"""Arithmetic, comparison and logic of two arrays: of one shape (`elemwise_*`), or of shapes that broadcast."""

from collections.abc import Callable

import torch

from ..._core.errors import MXNetError
from ..registry.gradient import with_gradient, without_gradient
from ..registry.registry import op
from ..registry.shape_rules import bracket, fill_same
from .identity import to_dtype
from .masks import marks

Binary = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def divide(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    if lhs.is_floating_point():
        return torch.div(lhs, rhs)
    return torch.div(lhs, rhs, rounding_mode="trunc")


def _remainder(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    zero = rhs == 0
    return torch.remainder(lhs, rhs.masked_fill(zero, 1)).masked_fill(zero, 0)


def modulo(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    """The remainder has the sign of the divisor, and is 0 where that is 0; that of integers has no slope."""
    slopes = _modulo_slopes if lhs.is_floating_point() else _no_slopes
    return with_gradient(_remainder, lambda inputs, outputs, heads: slopes(*inputs, heads[0]), lhs, rhs)


def _no_slopes(lhs: torch.Tensor, rhs: torch.Tensor, head: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.zeros_like(head), torch.zeros_like(head)


def _modulo_slopes(lhs: torch.Tensor, rhs: torch.Tensor, head: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return head, -head * torch.floor(lhs / rhs)


def _power_slopes(base: torch.Tensor, exponent: torch.Tensor, out: torch.Tensor, head: torch.Tensor):
    return head * exponent * torch.pow(base, exponent - 1), head * out * torch.log(base)


def power(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    if not lhs.is_floating_point():
        return to_dtype(torch.pow(lhs.float(), rhs.float()), lhs.dtype)  # MXNet, too, has the digits of float32 here
    return with_gradient(
        torch.pow, lambda inputs, outputs, heads: _power_slopes(*inputs, outputs[0], heads[0]), lhs, rhs
    )


def hypotenuse(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    if lhs.is_floating_point():
        return torch.hypot(lhs, rhs)
    return to_dtype(torch.hypot(lhs.float(), rhs.float()), lhs.dtype)


def _choice(choose: Binary, prefers_left: Binary, prefers_right: Binary) -> Binary:
    """The larger or smaller of two; where they are equal the left one gets the whole gradient, beside NaN none."""

    def slopes(inputs, outputs, heads):
        tests = zip((prefers_left, prefers_right), inputs, strict=True)
        return [marks(test, *inputs).mul_(heads[0]) if side.requires_grad else None for test, side in tests]

    def choice(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        return with_gradient(choose, slopes, lhs, rhs)

    return choice


def _truth(test: Callable[..., torch.Tensor]) -> Binary:
    """A comparison; its results are numbers of the inputs' type."""

    def compare(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        return test(lhs, rhs).type(lhs.dtype)  # faster than `to`

    def truth(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        if lhs.requires_grad or rhs.requires_grad:
            return without_gradient(compare, lhs, rhs)
        if lhs.shape == rhs.shape and lhs.dtype is torch.float32:
            return test(lhs, rhs, out=torch.empty_like(lhs))  # one pass instead of a comparison and a cast
        return test(lhs, rhs).type(lhs.dtype)

    return truth


maximum = _choice(torch.maximum, torch.ge, torch.lt)
minimum = _choice(torch.minimum, torch.le, torch.gt)

# name of the broadcasting operator -> function, its other names, names of the same-shape operator, what it does
TABLE: dict[str, tuple[Binary, tuple[str, ...], tuple[str, ...], str]] = {
    "broadcast_add": (
        torch.add,
        ("broadcast_plus",),
        ("elemwise_add", "_add", "_plus", "_Plus"),
        "Sum of two arrays.",
    ),
    "broadcast_sub": (
        torch.sub,
        ("broadcast_minus",),
        ("elemwise_sub", "_sub", "_minus", "_Minus"),
        "Difference of two arrays.",
    ),
    "broadcast_mul": (torch.mul, (), ("elemwise_mul", "_mul", "_Mul"), "Product of two arrays."),
    "broadcast_div": (divide, (), ("elemwise_div", "_div", "_Div"), "Quotient of two arrays; integers truncate."),
    "broadcast_mod": (modulo, (), ("_mod", "_Mod"), "Remainder with the sign of the divisor; 0 where that is 0."),
    "broadcast_power": (power, (), ("_power", "_Power"), "`lhs` to the power of `rhs`."),
    "broadcast_maximum": (maximum, ("_npi_maximum",), ("_maximum", "_Maximum"), "The larger of two elements."),
    "broadcast_minimum": (minimum, ("_npi_minimum",), ("_minimum", "_Minimum"), "The smaller of two elements."),
    "broadcast_hypot": (hypotenuse, (), ("_hypot", "_Hypot"), "`sqrt(lhs ** 2 + rhs ** 2)`."),
    "broadcast_equal": (_truth(torch.eq), (), ("_equal", "_Equal"), "1 where both are equal, else 0."),
    "broadcast_not_equal": (_truth(torch.ne), (), ("_not_equal", "_Not_Equal"), "1 where both differ, else 0."),
    "broadcast_greater": (_truth(torch.gt), (), ("_greater", "_Greater"), "1 where `lhs > rhs`, else 0."),
    "broadcast_greater_equal": (
        _truth(torch.ge),
        (),
        ("_greater_equal", "_Greater_Equal"),
        "1 where `lhs >= rhs`, else 0.",
    ),
    "broadcast_lesser": (_truth(torch.lt), (), ("_lesser", "_Lesser"), "1 where `lhs < rhs`, else 0."),
    "broadcast_lesser_equal": (
        _truth(torch.le),
        (),
        ("_lesser_equal", "_Lesser_Equal"),
        "1 where `lhs <= rhs`, else 0.",
    ),
    "broadcast_logical_and": (
        _truth(torch.logical_and),
        (),
        ("_logical_and", "_Logical_And"),
        "1 where both are nonzero, else 0.",
    ),
    "broadcast_logical_or": (
        _truth(torch.logical_or),
        (),
        ("_logical_or", "_Logical_Or"),
        "1 where one of both is nonzero, else 0.",
    ),
    "broadcast_logical_xor": (
        _truth(torch.logical_xor),
        (),
        ("_logical_xor", "_Logical_Xor"),
        "1 where exactly one of both is nonzero, else 0.",
    ),
}


def _written(test: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A comparison that writes numbers at once: an `out` without elements takes the shape of the result."""
    return lambda lhs, rhs: test(lhs, rhs, out=lhs.new())


# With an array or a number on the right.
COMPARED: dict[str, Callable[..., torch.Tensor]] = {
    "equal": _written(torch.eq),
    "not_equal": _written(torch.ne),
    "greater": _written(torch.gt),
    "greater_equal": _written(torch.ge),
    "lesser": _written(torch.lt),
    "lesser_equal": _written(torch.le),
}

# What the broadcasting operators do where nobody differentiates.
PLAIN: dict[str, Binary] = {
    "broadcast_add": torch.add,
    "broadcast_sub": torch.sub,
    "broadcast_mul": torch.mul,
    "broadcast_div": divide,
    "broadcast_maximum": torch.maximum,
    "broadcast_minimum": torch.minimum,
}
PLAIN.update((f"broadcast_{word}", test) for word, test in COMPARED.items())


def broadcasting(function: Binary) -> Binary:
    def binary(lhs, rhs):
        return function(lhs, rhs)

    return binary


def same_shape(function: Binary) -> Binary:
    def binary(lhs, rhs):
        if lhs.shape != rhs.shape:
            raise MXNetError(
                f"Incompatible attr in node  at 1-th input: expected {bracket(lhs.shape)}, got {bracket(rhs.shape)}\n"
                "The shapes must be equal; the broadcast operators repeat axes of length 1."
            )
        return function(lhs, rhs)

    return binary


_SECOND = {  # by the rule of shapes
    "broadcast": "The second input; axes of length 1 of either input are repeated to the length of the other's axis.",
    "same": "The second input, of the shape of `lhs`: this operator does not broadcast.",
}
_PARAMETERS = {
    rule: f"Parameters\n----------\nlhs\n    The first input.\nrhs\n    {second}" for rule, second in _SECOND.items()
}


def declare(names: tuple[str, ...], function: Binary, doc: str, **rules) -> None:
    function.__name__, function.__doc__ = names[0], f"{doc}\n\n{_PARAMETERS[rules['shape']]}"
    op(*names, **rules)(function)


for _name, (_function, _aliases, _same, _doc) in TABLE.items():
    _rules = {"shape": "broadcast", "plain": PLAIN.get(_name)}
    declare((_name, *_aliases), broadcasting(_function), f"{_doc} The shapes broadcast.", **_rules)
    declare(_same, same_shape(_function), f"{_doc} The shapes are equal.", shape="same", fill=fill_same)

declare(("_grad_add",), same_shape(torch.add), "Sum of two gradients.", shape="same", fill=fill_same)
declare(
    ("_scatter_elemwise_div",),
    same_shape(divide),
    "Quotient of two arrays, meant for sparse `lhs`.",
    shape="same",
    fill=fill_same,
)


@op("add_n", "ElementWiseSum", shape="same", fill=fill_same)
def add_n(*args, num_args: int = 0):
    """Sum of any number of arrays of one shape."""
    if not args:
        raise MXNetError("value 0 for Parameter num_args should be greater equal to 1")
    for term in args[1:]:
        if term.shape != args[0].shape:
            raise MXNetError(
                "Incompatible attr in node  at 1-th input: "
                f"expected {bracket(args[0].shape)}, got {bracket(term.shape)}"
            )
    total = args[0].clone() if len(args) == 1 else args[0] + args[1]
    for term in args[2:]:
        total = total.add_(term)
    return total
