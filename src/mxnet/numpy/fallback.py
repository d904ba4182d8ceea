"""`mx.np` functions that NumPy itself computes, on copies and without gradients, as MXNet does with most of them."""

import functools
from pathlib import Path

import numpy as onp

from .._core.advice.entries import entries
from ..ndarray.ndarray import NDArrayBase
from ._creation import array

_NAMES = (
    "allclose alltrue apply_along_axis apply_over_axes argpartition argwhere array_equal array_equiv choose compress"
    " corrcoef correlate count_nonzero cov digitize divmod extract flatnonzero float_power frexp heaviside histogram2d"
    " histogram_bin_edges histogramdd i0 in1d interp intersect1d isclose isin ix_ lexsort min_scalar_type modf msort"
    " nanargmax nanargmin nancumprod nancumsum nanmax nanmedian nanmin nanpercentile nanprod nanquantile ndim packbits"
    " partition piecewise poly polyadd polydiv polyfit polyint polymul polysub positive promote_types ptp real"
    " result_type rollaxis roots searchsorted select setdiff1d setxor1d signbit size spacing take_along_axis trapz"
    " tril_indices_from trim_zeros triu_indices_from union1d unpackbits unwrap vander"
    " genfromtxt"
).split()


def _inward(value):
    if isinstance(value, NDArrayBase):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return type(value)(_inward(v) for v in value)
    return value


def _outward(value, ctx):
    if isinstance(value, onp.ndarray):
        return array(value, ctx=ctx)
    if isinstance(value, (list, tuple)):
        results = [_outward(v, ctx) for v in value]
        return type(value)(results) if type(value) in (list, tuple) else tuple(results)
    return value


def _context(values):
    """The device of the first array, to which the results go back; None: there is none."""
    for value in values:
        if isinstance(value, NDArrayBase):
            return value.ctx
        found = _context(value) if isinstance(value, (list, tuple)) else None
        if found is not None:
            return found
    return None


def through_numpy(function):
    """`function` of NumPy for `mx.np` arrays."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        out = kwargs.pop("out", None)
        given = {k: _inward(v) for k, v in kwargs.items()}
        result = function(*(_inward(a) for a in args), **given)
        if out is not None:
            out[...] = result
            return out
        return _outward(result, _context([*args, *kwargs.values()]))

    wrapper.__module__ = "mxnet.numpy"
    wrapper.__doc__ = _docstring(function.__name__)
    return wrapper


_FILE = Path(__file__).with_name("fallback_words.txt")
_WORDS = entries(_FILE)


_HOW = "NumPy computes it on a copy in host memory: there is no gradient, and a GPU waits."
_RETURNED = "ndarray, or a number or a tuple as NumPy returns it\n    New arrays on the context of the inputs."


def _docstring(name):
    """What a function computes, its parameters and an example; further parameters are NumPy's."""
    if name not in _WORDS:  # a function of NumPy that a program calls with our arrays
        return f"NumPy's own {name}, computed on a copy, without a gradient."
    meanings, example = _WORDS[name]
    known = {**_WORDS["*"].meanings, **meanings}
    more = f"{known['more']}\n\n" if "more" in known else ""
    lines = [f"{known['about']}\n\n{more}{_HOW}\n\nParameters\n----------"]
    for parameter in known["takes"].split():
        kind, _, meaning = known[parameter].partition("; ")
        lines.append(f"{parameter} : {kind}\n    {meaning}")
    lines.append(f"\nReturns\n-------\n{known.get('returns', _RETURNED)}")
    lines.append(f"\nExamples\n--------\n>>> from mxnet import np\n{example}")
    return "\n".join(lines)


def alltrue(a, axis=None, out=None, keepdims=False):
    return onp.all(a, axis, out, keepdims)


def in1d(ar1, ar2, assume_unique=False, invert=False):
    return onp.isin(onp.ravel(ar1), ar2, assume_unique, invert)


def msort(a):
    return onp.sort(a, axis=0)


def trapz(y, x=None, dx=1.0, axis=-1):
    return onp.trapezoid(y, x, dx, axis)


_DROPPED = {each.__name__: each for each in (alltrue, in1d, msort, trapz)}  # by NumPy 2
FUNCTIONS = {name: through_numpy(getattr(onp, name, None) or _DROPPED[name]) for name in _NAMES}


globals().update(FUNCTIONS)
__all__ = list(FUNCTIONS)
