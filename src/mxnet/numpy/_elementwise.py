"""`mx.np` functions of elements, made from tables: each is one operator, or NumPy itself for plain numbers."""

import numbers

import numpy as onp

from .._ops.numpy.elementwise import BINARY, EXACT, REVERSED, UNARY
from ._call import binary, call, check_ufunc, unary

SAME = {  # other names of a function
    "abs": "absolute", "fabs": "absolute", "deg2rad": "radians", "rad2deg": "degrees", "invert": "bitwise_not",
    "divide": "true_divide", "remainder": "mod",
}  # fmt: skip
TURNED = {"greater": "less", "greater_equal": "less_equal", "less": "greater", "less_equal": "greater_equal"}
_SPELLED = {"bitwise_not": "invert", "mod": "remainder"}


def _unary(name, operator):
    plain = getattr(onp, _SPELLED.get(operator, operator))

    boolean = name in ("isfinite", "isinf", "isnan", "isneginf", "isposinf")

    def function(x, out=None, **kwargs):
        check_ufunc(name, kwargs)
        if boolean and out is not None and out.dtype != onp.bool_:
            raise TypeError("the `out` parameter should be a boolean array")
        return unary(operator, x, out, plain)

    return _named(function, name, f"NumPy's {name}, element by element.")


def _binary(name, operator):
    plain = getattr(onp, operator)
    reverse = f"r{operator}" if operator in REVERSED else TURNED.get(operator, operator)

    def function(x1, x2, out=None, **kwargs):
        check_ufunc(name, kwargs)
        return binary(operator, x1, x2, out, plain, reverse)

    return _named(function, name, f"NumPy's {name} of two arrays or numbers, broadcast.")


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__module__, function.__doc__ = "mxnet.numpy", doc
    return function


FUNCTIONS = {name: _unary(name, name) for name in (*UNARY, *EXACT)}
FUNCTIONS.update({name: _binary(name, name) for name in (*BINARY, "maximum", "minimum")})
for _name, _operator in SAME.items():
    FUNCTIONS[_name] = (_binary if _operator in BINARY else _unary)(_name, _operator)
globals().update(FUNCTIONS)


def around(x, decimals=0, out=None, **kwargs):
    """Rounded to so many decimals, halves to even."""
    check_ufunc("around", kwargs)
    return call("_npi_around", x, decimals=decimals, out=out)


round = round_ = around


def clip(a, a_min, a_max, out=None):
    """Every element brought between two bounds."""
    if a_min is None and a_max is None:
        raise ValueError("array_clip: must set either max or min")
    if isinstance(a, numbers.Number):
        return onp.clip(a, a_min, a_max)
    low = -onp.inf if a_min is None else a_min
    high = onp.inf if a_max is None else a_max
    return call("_npi_clip", a, a_min=low, a_max=high, out=out)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None, **kwargs):
    """Numbers in the place of NaN and the infinities; without `copy` in the array itself."""
    return call("_npi_nan_to_num", x, nan=nan, posinf=posinf, neginf=neginf, out=None if copy else x)


__all__ = [*FUNCTIONS, "around", "clip", "nan_to_num", "round", "round_"]
