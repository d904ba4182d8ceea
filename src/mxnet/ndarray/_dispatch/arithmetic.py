"""Python operators (`+`, `<`, …) of NDArrays, from one table: operator, scalar operator, reversed scalar operator."""

import numbers
from functools import partial

import torch

from ..._core.modes import MODES
from ..._core.writes import WRITES, span
from ..._device.copies import FLIGHTS
from ..._device.errors import tells_exhaustion
from ..._ops.registry import observe, registry
from .generated import FAILURES
from .invoke import check_writable, invoke

# dunder: array with array, array with number, number with array
BINARY = {
    "add": ("broadcast_add", "_plus_scalar", "_plus_scalar"),
    "sub": ("broadcast_sub", "_minus_scalar", "_rminus_scalar"),
    "mul": ("broadcast_mul", "_mul_scalar", "_mul_scalar"),
    "truediv": ("broadcast_div", "_div_scalar", "_rdiv_scalar"),
    "mod": ("broadcast_mod", "_mod_scalar", "_rmod_scalar"),
    "pow": ("broadcast_power", "_power_scalar", "_rpower_scalar"),
    "eq": ("broadcast_equal", "_equal_scalar", "_equal_scalar"),
    "ne": ("broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar"),
    "gt": ("broadcast_greater", "_greater_scalar", "_lesser_scalar"),
    "ge": ("broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar"),
    "lt": ("broadcast_lesser", "_lesser_scalar", "_greater_scalar"),
    "le": ("broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar"),
}
COMPARISONS = ("eq", "ne", "gt", "ge", "lt", "le")
REVERSED = ("add", "sub", "mul", "truediv", "mod", "pow")
_NAMESPACES = []  # of the compiled methods, whose functions are replaced while operators are observed

# What `t op= u` calls on floating tensors; `%=` has rules of its own, and always goes through `invoke`.
IN_PLACE = {"add": "add_", "sub": "sub_", "mul": "mul_", "truediv": "div_"}

_SCALAR = """
        {keyword} other.__class__ is float or other.__class__ is int:
            mark = None
            if t.requires_grad:
                if MODES.recording:
                    mark = MODES.epoch
                    if self._ag.__class__ is int and self._ag != mark:
                        return slow(self, other)
                else:
                    t = t.data
            if mark is not None:
                r = scalar_fn(t, scalar=other)
            elif t.dtype is float32:
                r = quick_number(t, numbers[other])
            elif t.is_floating_point():
                r = quick_scalar(t, other)
            else:
                r = scalar_fn(t, scalar=other)
            a = new(NDArray); a._t = r; a._ctx = self._ctx.home; a._ag = mark
            return a
    except FAILURES:
        pass
    return slow(self, other)
"""

_BINARY = """
def operator(self, other):
    try:
        t = self._t  # raises for a sparse array, which goes through `invoke`
        if other.__class__ is NDArray:
            u = other._t
            if t.dtype is u.dtype and self._ctx is other._ctx:
                if not (t.requires_grad or u.requires_grad):
                    r = {without_recording}
                    a = new(NDArray); a._t = r; a._ctx = self._ctx.home; a._ag = None
                    return a
                if MODES.recording:
                    mark = MODES.epoch
                    if (self._ag.__class__ is int and self._ag != mark) or (
                        other._ag.__class__ is int and other._ag != mark
                    ):
                        return slow(self, other)
                    r = array_fn(t, u)
                else:
                    mark = None
                    t = t.data
                    u = u.data
                    r = quick_array(t, u)
                a = new(NDArray); a._t = r; a._ctx = self._ctx.home; a._ag = mark
                return a
""" + _SCALAR.format(keyword="elif").lstrip("\n")

_FORWARD = _BINARY.replace("{without_recording}", "quick_array(t, u)")
# `quick_array` inlined: a Python call takes a third of the time of torch's comparison.
_COMPARISON = _BINARY.replace("{without_recording}", "test(t, u, out=t.new()) if unobserved else quick_array(t, u)")

_REVERSED = """
def operator(self, other):
    try:
        t = self._t""" + _SCALAR.format(keyword="if")

_IN_PLACE = """
def operator(self, other):
    try:
        t = self._t
        if unobserved and not MODES.recording and t.is_floating_point() and not FLIGHTS:
            if other.__class__ is NDArray:
                u = other._t
                if t.dtype is u.dtype and self._ctx is other._ctx:
                    in_place(t.data if t.requires_grad else t, u.data if u.requires_grad else u)
                    if WRITES.watched:
                        WRITES.log.append((t.data_ptr(), t.nbytes) if t.is_contiguous() else span(t))
                    return self
            elif other.__class__ is float or other.__class__ is int:
                n = numbers[other] if t.dtype is float32 else other
                in_place(t.data if t.requires_grad else t, n)
                if WRITES.watched:
                    WRITES.log.append((t.data_ptr(), t.nbytes) if t.is_contiguous() else span(t))
                return self
    except FAILURES:
        pass
    return slow(self, other)
"""


def scalar_attrs(value):
    """A number as the attribute of scalar operators; integer arrays truncate it."""
    return {"scalar": int(value) if isinstance(value, numbers.Integral) else float(value)}


def _instead(value):
    """What to do with an operand that is neither an array nor a number."""
    return "; make an NDArray of it with mx.nd.array" if hasattr(value, "__array__") or type(value) is list else ""


def binary(lhs, rhs, names):
    """`lhs op rhs` where either may be a number; anything else is a TypeError."""
    from ..ndarray import NDArrayBase

    array, scalar, reverse = names
    if isinstance(lhs, NDArrayBase) and isinstance(rhs, NDArrayBase):
        return invoke(registry.find(array), [lhs, rhs], {})
    if isinstance(lhs, NDArrayBase) and isinstance(rhs, numbers.Number):
        return invoke(registry.find(scalar), [lhs], scalar_attrs(rhs))
    if isinstance(lhs, numbers.Number) and isinstance(rhs, NDArrayBase):
        return invoke(registry.find(reverse), [rhs], scalar_attrs(lhs))
    odd = rhs if isinstance(lhs, NDArrayBase) else lhs
    raise TypeError(f"type {type(odd)} not supported{_instead(odd)}")


def install(cls):
    """Give `cls` its operators."""
    for name, names in BINARY.items():
        template = _COMPARISON if name in COMPARISONS else _FORWARD
        _set(cls, f"__{name}__", template, names, partial(_binary_or_equality, name, names=names))
        if name in REVERSED:
            _set(cls, f"__r{name}__", _REVERSED, (names[0], names[2]), partial(_reflected, names))
        if name in IN_PLACE:
            _set(cls, f"__i{name}__", _IN_PLACE, names, partial(_in_place_slow, names))
    cls.__imod__ = lambda self, other: _in_place_slow(BINARY["mod"], self, other)
    cls.__neg__ = _negated
    cls.__abs__ = lambda self: self.abs()
    cls.__matmul__ = _dot
    cls.__div__, cls.__rdiv__, cls.__idiv__ = cls.__truediv__, cls.__rtruediv__, cls.__itruediv__


def _dot(self, other):
    return invoke(registry.find("dot"), [self, other], {})


def _negated(self):
    if observe.watching() or self.stype != "default" or self._t.requires_grad:
        return invoke(registry.find("_mul_scalar"), [self], {"scalar": -1.0})
    a = self.__class__.__new__(self.__class__)
    a._t, a._ctx, a._ag = _negative(self._t), self._ctx.home, None
    return a


_negative = tells_exhaustion(torch.neg)


def _set(cls, name, template, names, slow):
    """Define a method that is compiled when first called, which imports the operators' modules."""

    def first(self, other):
        function = _compile(cls, name, template, names, slow)
        setattr(cls, name, function)
        return function(self, other)

    first.__name__ = name
    setattr(cls, name, first)


def _compile(cls, name, template, names, slow):
    scope = {
        "NDArray": cls,
        "new": cls.__new__,
        "FAILURES": FAILURES,
        "MODES": MODES,
        "WRITES": WRITES,
        "FLIGHTS": FLIGHTS,
        "span": span,
        "float32": torch.float32,
        "names": names,
        "in_place": getattr(torch.Tensor, IN_PLACE.get(name[3:-2], "add_")),
        "test": getattr(torch, name[2:-2], None),
        "slow": slow,
    }
    _set_functions(scope)
    _NAMESPACES.append(scope)
    exec(compile(template, f"<NDArray.{name}>", "exec"), scope)
    function = scope["operator"]
    function.__name__, function.__qualname__ = name, f"NDArray.{name}"
    return function


def _set_functions(scope):
    """Put the operators' functions into a namespace; the quick ones only while nothing observes operators."""
    from ..._ops.elementwise.scalar import ON_FLOAT32, ON_FLOATS, PASSED

    array, number = (registry.find(name) for name in scope["names"][:2])
    array_fn, scalar_fn = observe.observed(array), observe.observed(number)
    scope.update(array_fn=array_fn, scalar_fn=scalar_fn, unobserved=not observe.watching())
    if observe.watching():
        quick = partial(_call_observed, scalar_fn)
        scope.update(quick_array=array_fn, quick_scalar=quick, quick_number=quick, numbers=PASSED)
    else:
        quick = ON_FLOATS[number.name]
        quick_number, numbers = ON_FLOAT32.get(number.name, (quick, PASSED))
        scope.update(quick_array=array.plain or array_fn, quick_scalar=quick)
        scope.update(quick_number=quick_number, numbers=numbers)


def _call_observed(function, tensor, number):
    return function(tensor, scalar=number)


def _refresh_functions():
    for scope in _NAMESPACES:
        _set_functions(scope)


observe.on_change(_refresh_functions)


def _binary_or_equality(name, lhs, rhs, names):
    """`lhs op rhs`; comparisons with None or a string are Python comparisons, not array operations."""
    if name in ("eq", "ne") and (rhs is None or isinstance(rhs, str)):
        return name == "ne"
    return binary(lhs, rhs, names)


def _reflected(names, self, other):
    return binary(other, self, names)


def _in_place_slow(names, self, other):
    """`self op= other` through `invoke`, with all checks."""
    from ..ndarray import NDArrayBase

    check_writable(self)
    array, scalar, _ = names
    if isinstance(other, NDArrayBase):
        return invoke(registry.find(array), [self, other], {}, out=self)
    if isinstance(other, numbers.Number):
        return invoke(registry.find(scalar), [self], scalar_attrs(other), out=self)
    raise TypeError(f"type {type(other)} not supported{_instead(other)}")
