"""Operator attributes: one reader for what Python code passes and what a `-symbol.json` holds.

An operator's keyword-only parameters are its attributes; their annotations say what is accepted:
`int` (32 bits, as MXNet's), `Long` (64 bits), `float`, `bool`, `str`, `tuple` (MXNet's Shape, sizes of 64 bits),
`Shapes`, `Floats`, `Dtype`, `Literal[...]` (an enumeration), each optionally `| None`; `Count`, `Fraction`, `Factor`
and `Sizes` are numbers and shapes within bounds.
"""

import ast
import math
import numbers
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from .dtypes import dtype_name
from .errors import MXNetError

if typing.TYPE_CHECKING:
    Floats = tuple[float, ...]
    Shapes = tuple[tuple[int, ...], ...]
    Dtype = str
    Long = int
else:

    class Floats(tuple):
        """Annotation: a tuple of real numbers."""

    class Shapes(tuple):
        """Annotation: a tuple of shapes."""

    class Dtype(str):
        """Annotation: a data type, as its canonical name."""

    class Long(int):
        """Annotation: an integer of 64 bits."""


@dataclass(frozen=True)
class Bound:
    """What numbers an attribute admits; `low` and `high` are admitted themselves."""

    low: float | None = None
    high: float | None = None
    nonzero: bool = False

    def check(self, name: str, value: typing.Any) -> None:
        """Raise what MXNet says of a value outside."""
        if self.nonzero:
            if 0 in value:
                sizes = ",".join(map(str, value))
                raise MXNetError(
                    f"value [{sizes}]for Parameter {name} is invalid, the input shape must be nonzero in all dimensions"
                )
        elif self.high is not None and not self.low <= value <= self.high:  # type: ignore[operator]
            raise MXNetError(f"value {value:g} for Parameter {name} exceed bound [{self.low:g},{self.high:g}]")
        elif self.low is not None and value < self.low:
            raise MXNetError(f"value {value:g} for Parameter {name} should be greater equal to {self.low:g}")


Count = typing.Annotated[int, Bound(1)]
Factor = typing.Annotated[float, Bound(0)]
Fraction = typing.Annotated[float, Bound(0, 1)]
Sizes = typing.Annotated[tuple, Bound(nonzero=True)]  # type: ignore[type-arg]


class _Null:
    """MXNet's mark for an attribute that was not given; `None` is a value some attributes take."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "_Null"

    def __reduce__(self) -> str:
        return "NULL"


NULL = _Null()
_WORDS = {"true": True, "false": False, "none": None}
_INT32, _INT64 = 1 << 31, 1 << 63
# Inputs or outputs of one call; names are made for all of them before anything is computed.
COUNTS = frozenset({"num_args", "num_arrays", "num_outputs", "num_tensors", "num_weights", "sections"})
MOST_COUNTED = 1 << 20


def literal(text: str) -> object:
    """A Python literal out of a string; words of other languages (`true`, `none`) are understood."""
    word = text.strip()
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    try:
        return ast.literal_eval(word.replace("L", "")) if word[:1] in "([" else ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        if word[:1] + word[-1:] in ("()", "[]"):
            parts = [p for p in word[1:-1].split(",") if p.strip()]
            if any(bracket in part for part in parts for bracket in "()[]"):
                raise ValueError(text) from None
            return tuple(literal(p) for p in parts)
        try:
            return float(word)  # inf, nan, 1e-5f
        except ValueError:
            raise ValueError(text) from None


def _integer(value: object, above: int = _INT32) -> int:
    """An integer of the width that MXNet's parser admits; `above` is the first beyond it."""
    number = value if type(value) is int else _any_integer(value)
    if -above <= number < above:
        return number
    raise ValueError(value)


def _long(value: object) -> int:
    return _integer(value, _INT64)


def _any_integer(value: object) -> int:
    if isinstance(value, str):
        value = literal(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real) and float(value).is_integer():
        return int(float(value))
    return _scalar(value, int)


def _real(value: object) -> float:
    if type(value) is float:
        return value
    if isinstance(value, str):
        value = literal(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return _scalar(value, float)


def _scalar(value: object, kind: type) -> typing.Any:
    """One-element arrays count as numbers, as they do when Python formats them."""
    item = getattr(value, "item", None) or getattr(value, "asscalar", None)
    if item is None:
        raise ValueError(value)
    number = item()
    if not isinstance(number, numbers.Real) or (kind is int and not float(number).is_integer()):
        raise ValueError(value)
    return kind(float(number))


def python_number(value: typing.Any, kind: type, what: str) -> typing.Any:
    """A Python number out of a number or a one-element array, as control flow takes them."""
    if hasattr(value, "asscalar"):
        value = value.asscalar()
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise ValueError(f"Cannot convert {what} to python {kind.__name__}") from None


def _boolean(value: object) -> bool:
    if type(value) is bool:
        return value
    if isinstance(value, str):
        value = literal(value)
    if isinstance(value, numbers.Integral) and value in (0, 1):
        return bool(value)
    if type(value).__name__ in ("bool", "bool_"):  # NumPy's, under its newer and its older name
        return bool(value)
    raise ValueError(value)


def _is_none(value: object) -> bool:
    return value is None or (isinstance(value, str) and value == "None")


def _items(value: object) -> tuple[object, ...]:
    if isinstance(value, str):
        value = literal(value)
    if isinstance(value, numbers.Number) or getattr(value, "shape", None) == ():
        return (value,)
    return tuple(value)  # type: ignore[arg-type]


def _shape(value: object) -> tuple[int | None, ...]:
    if type(value) is int:
        return (value,)
    if type(value) is tuple and set(map(type, value)) == {int}:  # what most programs give
        return value
    return tuple(None if _is_none(v) else _long(v) for v in _items(value))


def _reals(value: object) -> tuple[float, ...]:
    """MXNet reads a single infinite number, but none among several."""
    reals = tuple(_real(v) for v in _items(value))
    if not all(map(math.isfinite, reals)):
        raise ValueError(value)
    return reals


def _shapes(value: object) -> tuple[tuple[int | None, ...], ...]:
    return tuple(_shape(v) for v in _items(value))


def text(value: object) -> str:
    """An attribute's value as MXNet writes it: Python's `str`, the same under every NumPy version."""
    if isinstance(value, str):
        return value
    if isinstance(value, (tuple, list)):
        inner = [repr(v) if isinstance(v, str) else text(v) for v in value]
        if isinstance(value, list):
            return f"[{', '.join(inner)}]"
        return f"({inner[0]},)" if len(inner) == 1 else f"({', '.join(inner)})"
    if isinstance(value, np.generic) and isinstance(value, numbers.Number):
        return str(value.item()) if not isinstance(value, np.floating) else str(value)
    return str(value)


_READERS: dict[object, tuple[str, Callable[[object], object]]] = {
    int: ("int", _integer),
    Long: ("long", _long),
    float: ("float", _real),
    bool: ("boolean", _boolean),
    str: ("string", text),
    tuple: ("Shape(tuple)", _shape),
    Floats: ("tuple of <float>", _reals),
    Shapes: ("tuple of <Shape(tuple)>", _shapes),
    Dtype: ("dtype", dtype_name),
}


@dataclass(frozen=True)
class Attr:
    """One attribute: its name, MXNet's word for its type, how to read a value, its default."""

    name: str
    kind: str
    read: Callable[[object], object]
    default: object
    required: bool

    def describe(self) -> str:
        tail = "required" if self.required else f"optional, default={self.default!r}"
        return f"{self.name} : {self.kind}, {tail}"

    def parse(self, value: object, operator: str) -> object:
        try:
            return self.read(value)
        except MXNetError as error:
            words = str(error)
        except (ValueError, TypeError, OverflowError):
            words = f"Invalid Parameter format for {self.name} expect {self.kind} but value='{value}'"
        raise MXNetError(f'{words}, in operator {operator}(name="", {self.name}="{value}")')


def _optional(read: Callable[[object], object]) -> Callable[[object], object]:
    def reader(value: object) -> object:
        return None if _is_none(value) else read(value)

    return reader


def _choice(names: tuple[str, ...], dtype: bool) -> Callable[[object], object]:
    def reader(value: object) -> object:
        chosen = dtype_name(value) if dtype or isinstance(value, (type, np.dtype)) else str(value)
        if chosen not in names:
            valid = ", ".join(repr(n) for n in sorted(names))
            near = get_close_matches(chosen, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise MXNetError(f"Invalid Input: '{chosen}', valid values are: {{{valid}}}{hint}")
        return chosen

    return reader


def _or_default(read: Callable[[object], object], default: object) -> Callable[[object], object]:
    def reader(value: object) -> object:
        return default if value is None else read(value)

    return reader


def _bounded(read: Callable[[object], object], name: str, bound: Bound) -> Callable[[object], object]:
    def reader(value: object) -> object:
        number = read(value)
        bound.check(name, number)
        return number

    return reader


def attribute(name: str, annotation: object, default: object, required: bool) -> Attr:
    """The `Attr` that an operator's parameter declares."""
    optional = False
    bound: Bound | None = None
    if typing.get_origin(annotation) is typing.Annotated:
        annotation, bound = typing.get_args(annotation)
    if isinstance(annotation, types.UnionType):
        parts = [a for a in typing.get_args(annotation) if a is not type(None)]
        optional, annotation = len(parts) < len(typing.get_args(annotation)), parts[0]
    elif typing.get_origin(annotation) is typing.Union:
        parts = [a for a in typing.get_args(annotation) if a is not type(None)]
        optional, annotation = True, parts[0]
    if typing.get_origin(annotation) is typing.Literal:
        names = tuple(str(a) for a in typing.get_args(annotation))
        kind, read = "{" + ", ".join(repr(n) for n in names) + "}", _choice(names, name == "dtype")
        if name == "dtype":
            read = _or_default(read, default)
    else:
        kind, read = _READERS[annotation]
    if name in COUNTS and kind == "int":
        read = _bounded(read, name, Bound(-_INT32, MOST_COUNTED))
    if bound is not None:
        read = _bounded(read, name, bound)
    if optional:
        kind, read = f"{kind} or None", _optional(read)
    return Attr(name, kind, read, default, required)
