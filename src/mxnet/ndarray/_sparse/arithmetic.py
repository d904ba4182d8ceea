"""Python operators of sparse arrays: arrays of one shape use elementwise operators, which keep the storage type."""

from .._dispatch.arithmetic import BINARY, _binary_or_equality, binary
from ..ndarray import NDArray


def _same_shape(lhs, rhs):
    return isinstance(lhs, NDArray) and isinstance(rhs, NDArray) and lhs.shape == rhs.shape


_WORDS = """{about} Arrays of one shape keep their storage type.

Parameters
----------
lhs : NDArray or number
    The first operand.
rhs : NDArray or number
    The second operand.

Returns
-------
NDArray

Examples
--------
>>> x = mx.nd.array([[0, 2]]).tostype("csr")
>>> y = mx.nd.sparse.{name}(x, x)
>>> y.stype, y.asnumpy()
({shown}, dtype=float32))
"""


def _binary_function(name, elementwise, names, about, shown):
    """Arrays of one shape use the elementwise operator, which keeps the storage type; others are broadcast."""

    def function(lhs, rhs):
        array_name, *scalars = names
        return binary(lhs, rhs, (elementwise if _same_shape(lhs, rhs) else array_name, *scalars))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _WORDS.format(name=name, about=about, shown=shown)
    return function


add = _binary_function(
    "add", "elemwise_add", BINARY["add"], "`lhs + rhs`, element by element.", "'csr', array([[0., 4.]]"
)
subtract = _binary_function(
    "subtract", "elemwise_sub", BINARY["sub"], "`lhs - rhs`, element by element.", "'csr', array([[0., 0.]]"
)
multiply = _binary_function(
    "multiply", "elemwise_mul", BINARY["mul"], "`lhs * rhs`, element by element.", "'csr', array([[0., 4.]]"
)
divide = _binary_function(
    "divide", "elemwise_div", BINARY["truediv"], "`lhs / rhs`, element by element.", "'default', array([[nan,  1.]]"
)


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
