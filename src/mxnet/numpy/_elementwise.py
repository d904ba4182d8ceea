"""`mx.np` functions of elements, made from tables: each is one operator, or NumPy itself for plain numbers."""

import numbers
from pathlib import Path

import numpy as onp

from .._core.advice.entries import entries
from .._ops.numpy.elementwise import BINARY, EXACT, REVERSED, UNARY
from ._call import binary, call, check_ufunc, unary

SAME = {  # other names of a function
    "abs": "absolute", "fabs": "absolute", "deg2rad": "radians", "rad2deg": "degrees", "invert": "bitwise_not",
    "divide": "true_divide", "remainder": "mod",
}  # fmt: skip
TURNED = {"greater": "less", "greater_equal": "less_equal", "less": "greater", "less_equal": "greater_equal"}
_SPELLED = {"bitwise_not": "invert", "mod": "remainder"}

_WORDS = entries(Path(__file__).with_name("elementwise_words.txt"))
_OUT = """out : ndarray, optional
    Where to write the result; it must have the shape and the type of the result.
**kwargs
    NumPy's `where`, `casting`, `order`, `dtype` and `subok`. Only their default values are supported."""
_UNARY_PARAMETERS = f"""x : ndarray or number
    The input.
{_OUT}"""
_BINARY_PARAMETERS = f"""x1, x2 : ndarray or number
    The inputs. Arrays of different shapes are broadcast against each other.
{_OUT}"""
_RETURNED = "ndarray, or a NumPy number if all inputs are numbers"


def _unary(name, operator):
    plain = getattr(onp, _SPELLED.get(operator, operator))

    boolean = name in ("isfinite", "isinf", "isnan", "isneginf", "isposinf")

    def function(x, out=None, **kwargs):
        check_ufunc(name, kwargs)
        if boolean and out is not None and out.dtype != onp.bool_:
            raise TypeError("the `out` parameter should be a boolean array")
        return unary(operator, x, out, plain)

    return _named(function, name, _UNARY_PARAMETERS)


def _binary(name, operator):
    plain = getattr(onp, operator)
    reverse = f"r{operator}" if operator in REVERSED else TURNED.get(operator, operator)

    def function(x1, x2, out=None, **kwargs):
        check_ufunc(name, kwargs)
        return binary(operator, x1, x2, out, plain, reverse)

    return _named(function, name, _BINARY_PARAMETERS)


def _named(function, name, parameters):
    function.__name__ = function.__qualname__ = name
    function.__module__ = "mxnet.numpy"
    function.__doc__ = _docstring(name, parameters)
    return function


def _docstring(name, parameters):
    """Summary, details, parameters, notes and an example; notes that functions share are named by a word."""
    meanings, example = _WORDS[name]
    sections = [meanings["about"], meanings.get("more"), f"Parameters\n----------\n{parameters}"]
    sections.append(f"Returns\n-------\n{_RETURNED}")
    notes = meanings.get("notes")
    sections.append(notes and f"Notes\n-----\n{_WORDS['*'].meanings.get(notes, notes)}")
    sections.append(f"Examples\n--------\n>>> from mxnet import np\n{example}\n")
    return "\n\n".join(filter(None, sections))


FUNCTIONS = {name: _unary(name, name) for name in (*UNARY, *EXACT)}
FUNCTIONS.update({name: _binary(name, name) for name in (*BINARY, "maximum", "minimum")})
for _name, _operator in SAME.items():
    FUNCTIONS[_name] = (_binary if _operator in BINARY else _unary)(_name, _operator)
globals().update(FUNCTIONS)


def around(x, decimals=0, out=None, **kwargs):
    """Round to `decimals` digits behind the point, halves to even.

    Numbers halfway between two results are rounded to the even one: 0.5 to 0 and 1.5 to 2. The gradient is 0
    everywhere.

    Parameters
    ----------
    x : ndarray or number
        The input.
    decimals : int, default 0
        Number of digits behind the point.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    **kwargs
        NumPy's `where`, `casting`, `order`, `dtype` and `subok` at their defaults.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.around(np.array([1.25, 2.5]), 0)
    array([1., 2.])
    """
    check_ufunc("around", kwargs)
    return call("_npi_around", x, decimals=decimals, out=out)


round = round_ = around


def clip(a, a_min, a_max, out=None):
    """Limit every element to [a_min, a_max].

    Elements below `a_min` become `a_min`, those above `a_max` become `a_max`, and NaN stays NaN. The gradient is passed
    on where the element was not changed and is 0 elsewhere.

    Parameters
    ----------
    a : array_like
        The input.
    a_min : number or None
        The lowest value; None sets no lower limit. Not both limits may be None.
    a_max : number or None
        The highest value; None sets no upper limit.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.clip(np.array([-1, 2, 9]), 0, 5)
    array([0., 2., 5.])
    """
    if a_min is None and a_max is None:
        raise ValueError("array_clip: must set either max or min")
    if isinstance(a, numbers.Number):
        return onp.clip(a, a_min, a_max)
    low = -onp.inf if a_min is None else a_min
    high = onp.inf if a_max is None else a_max
    return call("_npi_clip", a, a_min=low, a_max=high, out=out)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None, **kwargs):
    """The array with numbers in the place of NaN and the infinities.

    Parameters
    ----------
    x : array_like
        The input.
    copy : bool, default True
        Whether to copy; otherwise the input itself is changed.
    nan : number, default 0.0
        The number in the place of NaN.
    posinf : number, optional
        The number in the place of infinity; None: the greatest of the data type.
    neginf : number, optional
        The number in the place of minus infinity; None: the least of the data type.
    **kwargs
        NumPy's further arguments at their defaults.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.nan_to_num(np.array([np.nan, np.inf, 1]), posinf=9)
    array([0., 9., 1.])
    """
    return call("_npi_nan_to_num", x, nan=nan, posinf=posinf, neginf=neginf, out=None if copy else x)


__all__ = [*FUNCTIONS, "around", "clip", "nan_to_num", "round", "round_"]
