"""`+`, `<` and their kin on NDArrays, one table for all: operator, scalar operator, reversed scalar operator."""

import numbers

from .._core.modes import MODES
from .._ops import observe, registry
from .faces import FAILURES
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
REVERSED = ("add", "sub", "mul", "truediv", "mod", "pow")
_SCOPES = []  # of the compiled operators, whose functions change while operators are watched
INPLACE = ("add", "sub", "mul", "truediv", "mod")

_TEMPLATE = """
def operator(self, other):
    try:
        t = self._t  # a sparse array has none, and goes the slow way
        if other.__class__ is NDArray:
            u = other._t
            if t.dtype is u.dtype and self._ctx is other._ctx:
                mark = None
                if t.requires_grad or u.requires_grad:
                    if MODES.recording:
                        mark = MODES.epoch
                        if (self._ag.__class__ is int and self._ag != mark) or (
                            other._ag.__class__ is int and other._ag != mark
                        ):
                            return slow(self, other)
                    else:
                        t = t.data
                        u = u.data
                r = array_fn(t, u)
                if r is t or r is u: r = r.clone()
                a = new(NDArray); a._t = r; a._ctx = self._ctx; a._ag = mark
                return a
        elif other.__class__ is float or other.__class__ is int:
            mark = None
            if t.requires_grad:
                if MODES.recording:
                    mark = MODES.epoch
                    if self._ag.__class__ is int and self._ag != mark:
                        return slow(self, other)
                else:
                    t = t.data
            r = scalar_fn(t, scalar=other)
            if r is t: r = r.clone()
            a = new(NDArray); a._t = r; a._ctx = self._ctx; a._ag = mark
            return a
    except FAILURES:
        pass
    return slow(self, other)
"""


def scalar_attrs(value):
    """A number as the scalar operators take it; integer arrays cut its fraction off."""
    return {"scalar": int(value) if isinstance(value, numbers.Integral) else float(value)}


def binary(lhs, rhs, names):
    """`lhs op rhs` where either may be a number; the rest of what MXNet accepts is a TypeError."""
    from .ndarray import NDArrayBase

    array, scalar, reverse = names
    if isinstance(lhs, NDArrayBase) and isinstance(rhs, NDArrayBase):
        return invoke(registry.find(array), [lhs, rhs], {})
    if isinstance(lhs, NDArrayBase) and isinstance(rhs, numbers.Number):
        return invoke(registry.find(scalar), [lhs], scalar_attrs(rhs))
    if isinstance(lhs, numbers.Number) and isinstance(rhs, NDArrayBase):
        return invoke(registry.find(reverse), [rhs], scalar_attrs(lhs))
    odd = rhs if isinstance(lhs, NDArrayBase) else lhs
    raise TypeError(f"type {type(odd)} not supported")


def install(cls):
    """Give `cls` its operators."""
    for name, names in BINARY.items():
        setattr(cls, f"__{name}__", _forward(cls, name, names))
        if name in REVERSED:
            setattr(cls, f"__r{name}__", _backward(name, names))
        if name in INPLACE:
            setattr(cls, f"__i{name}__", _inplace(name, names))
    cls.__neg__ = lambda self: invoke(registry.find("_mul_scalar"), [self], {"scalar": -1.0})
    cls.__abs__ = lambda self: self.abs()
    cls.__matmul__ = lambda self, other: cls.__dict__["_dot"](self, other)
    cls._dot = _dot
    cls.__div__, cls.__rdiv__, cls.__idiv__ = cls.__truediv__, cls.__rtruediv__, cls.__itruediv__
    cls.__imod__ = _inplace("mod", BINARY["mod"])


def _dot(self, other):
    return invoke(registry.find("dot"), [self, other], {})


def _forward(cls, name, names):
    """Built when first used: the operator families are loaded then."""

    def first(self, other):
        function = _compile(cls, name, names)
        setattr(cls, f"__{name}__", function)
        return function(self, other)

    first.__name__ = f"__{name}__"
    return first


def _compile(cls, name, names):
    scope = {
        "NDArray": cls,
        "new": cls.__new__,
        "FAILURES": FAILURES,
        "MODES": MODES,
        "names": names,
        "slow": lambda lhs, rhs: _equality(name, lhs, rhs, names),
    }
    _take_functions(scope)
    _SCOPES.append(scope)
    exec(compile(_TEMPLATE, f"<NDArray.__{name}__>", "exec"), scope)
    function = scope["operator"]
    function.__name__, function.__qualname__ = f"__{name}__", f"NDArray.__{name}__"
    return function


def _take_functions(scope):
    array, number, _ = scope["names"]
    scope["array_fn"] = observe.observed(registry.find(array))
    scope["scalar_fn"] = observe.observed(registry.find(number))


def _take_functions_anew():
    for scope in _SCOPES:
        _take_functions(scope)


observe.on_change(_take_functions_anew)


def _equality(name, lhs, rhs, names):
    """`x == None` and `x == "a"` are plain questions, not array operations."""
    if name in ("eq", "ne") and not isinstance(rhs, numbers.Number) and not hasattr(rhs, "_ctx"):
        if rhs is None or isinstance(rhs, str):
            return name == "ne"
    return binary(lhs, rhs, names)


def _backward(name, names):
    def function(self, other):
        return binary(other, self, names)

    function.__name__ = f"__r{name}__"
    return function


def _inplace(name, names):
    array, scalar, _ = names

    def function(self, other):
        check_writable(self)
        from .ndarray import NDArrayBase

        if isinstance(other, NDArrayBase):
            return invoke(registry.find(array), [self, other], {}, out=self)
        if isinstance(other, numbers.Number):
            return invoke(registry.find(scalar), [self], scalar_attrs(other), out=self)
        raise TypeError(f"type {type(other)} not supported")

    function.__name__ = f"__i{name}__"
    return function
