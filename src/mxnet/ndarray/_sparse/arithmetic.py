"""Python operators of sparse arrays: arrays of one shape use elementwise operators, which keep the storage type."""

from .._dispatch.arithmetic import BINARY, _binary_or_equality, binary
from ..ndarray import NDArray


def _same_shape(lhs, rhs):
    return isinstance(lhs, NDArray) and isinstance(rhs, NDArray) and lhs.shape == rhs.shape


def _binary_function(elementwise, names, doc):
    """Arrays of one shape use the elementwise operator, which keeps the storage type; others are broadcast."""

    def function(lhs, rhs):
        array_name, *scalars = names
        return binary(lhs, rhs, (elementwise if _same_shape(lhs, rhs) else array_name, *scalars))

    function.__doc__ = doc
    return function


add = _binary_function("elemwise_add", BINARY["add"], "Element by element `lhs + rhs`; either may be a number.")
subtract = _binary_function("elemwise_sub", BINARY["sub"], "Element by element `lhs - rhs`; either may be a number.")
multiply = _binary_function("elemwise_mul", BINARY["mul"], "Element by element `lhs * rhs`; either may be a number.")
divide = _binary_function("elemwise_div", BINARY["truediv"], "Element by element `lhs / rhs`; either may be a number.")
for _name in ("add", "subtract", "multiply", "divide"):
    globals()[_name].__name__ = globals()[_name].__qualname__ = _name


def _inplace(function):
    def operator(self, other):
        result = function(self, other)
        (result if result.stype in ("default", self.stype) else result.tostype("default")).copyto(self)
        return self

    return operator


def _plain(name):
    def operator(self, other):
        return _binary_or_equality(name, self, other, BINARY[name])

    return operator


def install(cls):
    """Give the sparse classes their operators."""
    for name in BINARY:
        setattr(cls, f"__{name}__", _plain(name))
    for name, function in (("add", add), ("sub", subtract), ("mul", multiply), ("truediv", divide)):
        setattr(cls, f"__{name}__", lambda self, other, f=function: f(self, other))
        setattr(cls, f"__i{name}__", _inplace(function))
    cls.__div__, cls.__idiv__ = cls.__truediv__, cls.__itruediv__
