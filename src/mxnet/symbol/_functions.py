"""Functions of `mx.sym` beside the operators: constants, powers and maxima with numbers, histograms, splitting."""

import numbers

import numpy as np

from . import _internal
from ._base import SymbolBase


def _mixed(both, left_scalar, right_scalar, plain):
    """A function of two arguments, each a symbol or a number."""

    def function(left, right):
        kinds = isinstance(left, SymbolBase), isinstance(right, SymbolBase)
        if all(kinds):
            return getattr(_internal, both)(left, right)
        if kinds[0] and isinstance(right, numbers.Number):
            return getattr(_internal, right_scalar)(left, scalar=right)
        if kinds[1] and isinstance(left, numbers.Number):
            return getattr(_internal, left_scalar)(right, scalar=left)
        if isinstance(left, numbers.Number) and isinstance(right, numbers.Number):
            return plain(left, right)
        raise TypeError(f"types ({type(left)}, {type(right)}) not supported")

    return function


_power = _mixed("_Power", "_RPowerScalar", "_PowerScalar", lambda a, b: a**b)


_maximum = _mixed("_Maximum", "_MaximumScalar", "_MaximumScalar", lambda a, b: a if a > b else b)


_minimum = _mixed("_Minimum", "_MinimumScalar", "_MinimumScalar", lambda a, b: a if a < b else b)


_hypot = _mixed("_Hypot", "_HypotScalar", "_HypotScalar", np.hypot)


def pow(base, exp):
    """`base` to the power of `exp`; either may be a number.

    Parameters
    ----------
    base : Symbol or number
        The base.
    exp : Symbol or number
        The exponent.

    Returns
    -------
    Symbol or number

    Examples
    --------
    >>> mx.sym.power(mx.sym.var("x"), 2).eval(x=mx.nd.array([2, 3]))[0].asnumpy()
    array([4., 9.], dtype=float32)
    """
    return _power(base, exp)


def power(base, exp):
    """`base` to the power of `exp`; either may be a number.

    Parameters
    ----------
    base : Symbol or number
        The base.
    exp : Symbol or number
        The exponent.

    Returns
    -------
    Symbol or number

    Examples
    --------
    >>> mx.sym.power(mx.sym.var("x"), 2).eval(x=mx.nd.array([2, 3]))[0].asnumpy()
    array([4., 9.], dtype=float32)
    """
    return _power(base, exp)


def maximum(left, right):
    """The larger of two, element by element; either may be a number.

    Parameters
    ----------
    left : Symbol or number
        The first operand.
    right : Symbol or number
        The second operand.

    Returns
    -------
    Symbol or number

    Examples
    --------
    >>> mx.sym.maximum(mx.sym.var("x"), 2).eval(x=mx.nd.array([1, 3]))[0].asnumpy()
    array([2., 3.], dtype=float32)
    """
    return _maximum(left, right)


def minimum(left, right):
    """The smaller of two, element by element; either may be a number.

    Parameters
    ----------
    left : Symbol or number
        The first operand.
    right : Symbol or number
        The second operand.

    Returns
    -------
    Symbol or number

    Examples
    --------
    >>> mx.sym.minimum(mx.sym.var("x"), 2).eval(x=mx.nd.array([1, 3]))[0].asnumpy()
    array([1., 2.], dtype=float32)
    """
    return _minimum(left, right)


def hypot(left, right):
    """The length of the hypotenuse over two sides; either may be a number.

    Parameters
    ----------
    left : Symbol or number
        The first operand.
    right : Symbol or number
        The second operand.

    Returns
    -------
    Symbol or number

    Examples
    --------
    >>> mx.sym.hypot(mx.sym.var("x"), 4).eval(x=mx.nd.array([3]))[0].asnumpy()
    array([5.], dtype=float32)
    """
    return _hypot(left, right)


def eye(N, M=0, k=0, dtype=None, **kwargs):
    """A matrix with ones on its `k`-th diagonal.

    Parameters
    ----------
    N : int
        The number of rows.
    M : int, default 0
        The number of columns; 0 means as many as rows.
    k : int, default 0
        The diagonal: 0 is the main one, positive ones lie above it, negative ones below.
    dtype : str or type, optional
        The data type of the array; float32 without it.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.sym.eye(2).eval()[0].asnumpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return _internal._eye(N, M, k, dtype=np.float32 if dtype is None else dtype, **kwargs)


def zeros(shape, dtype=None, **kwargs):
    """An array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the array.
    dtype : str or type, optional
        The data type of the array; float32 without it.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.sym.zeros((2, 2)).eval()[0].asnumpy()
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    return _internal._zeros(shape=shape, dtype=np.float32 if dtype is None else dtype, **kwargs)


def ones(shape, dtype=None, **kwargs):
    """An array of ones.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the array.
    dtype : str or type, optional
        The data type of the array; float32 without it.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.sym.ones((2, 2)).eval()[0].asnumpy()
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _internal._ones(shape=shape, dtype=np.float32 if dtype is None else dtype, **kwargs)


def full(shape, val, dtype=None, **kwargs):
    """An array of one value.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the array.
    val : number
        The value of every element.
    dtype : str or type, optional
        The data type of the array; float32 without it.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.sym.full((2, 2), 7).eval()[0].asnumpy()
    array([[7., 7.],
           [7., 7.]], dtype=float32)
    """
    return _internal._full(shape=shape, dtype=np.float32 if dtype is None else dtype, value=float(val), **kwargs)


def arange(start, stop=None, step=1.0, repeat=1, infer_range=False, name=None, dtype=None):
    """Evenly spaced values; each `repeat` times.

    Parameters
    ----------
    start : number
        The first value, or the end of the range if `stop` is not given.
    stop : number, optional
        The end of the range, which is not part of it.
    step : number, default 1.0
        The distance between two values.
    repeat : int, default 1
        How many times each value is repeated.
    infer_range : bool, default False
        Whether `stop` is chosen so that the size fits where the result is used.
    name : str, optional
        The name of the new node.
    dtype : str or type, optional
        The data type of the array; float32 without it.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.sym.arange(2, 8, 2).eval()[0].asnumpy()
    array([2., 4., 6.], dtype=float32)
    """
    dtype = np.float32 if dtype is None else dtype
    return _internal._arange(
        start=start, stop=stop, step=step, repeat=repeat, infer_range=infer_range, name=name, dtype=dtype
    )


def linspace(start, stop, num, endpoint=True, name=None, dtype=None):
    """`num` evenly spaced values from `start` to `stop`.

    Parameters
    ----------
    start : number
        The first value.
    stop : number
        The end of the range.
    num : int
        The number of values.
    endpoint : bool, default True
        Whether `stop` is the last value.
    name : str, optional
        The name of the new node.
    dtype : str or type, optional
        The data type of the array; float32 without it.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.sym.linspace(0, 1, 5).eval()[0].asnumpy()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    dtype = np.float32 if dtype is None else dtype
    return _internal._linspace(start=start, stop=stop, num=num, endpoint=endpoint, name=name, dtype=dtype)


def histogram(a, bins=10, range=None, **kwargs):
    """How many values fall in each bin, and the bins' edges.

    Parameters
    ----------
    a : Symbol
        The values.
    bins : int or Symbol, default 10
        The number of intervals of equal width, or their edges.
    range : tuple of two numbers, optional
        The lower and upper end of the intervals, with a number of bins.
    **kwargs
        `name` and `attr` of the new node.

    Returns
    -------
    Symbol
        The counts and the edges.

    Examples
    --------
    >>> counts = mx.sym.histogram(mx.sym.var("x"), bins=2, range=(0, 6))
    >>> counts.eval(x=mx.nd.array([1, 2, 2, 5]))[0].asnumpy()
    array([3, 1])
    """
    if isinstance(bins, SymbolBase):
        return _internal._histogram(data=a, bins=bins, **kwargs)
    if isinstance(bins, numbers.Integral):
        if range is None:
            raise ValueError("null range is not supported in symbol mode: give range=(low, high)")
        return _internal._histogram(data=a, bin_cnt=bins, range=range, **kwargs)
    raise ValueError(f"bins argument should be either an integer or a Symbol, got {type(bins)}")


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Split an array along `axis`, into equal parts or at given indices.

    Parameters
    ----------
    ary : Symbol
        The array to split.
    indices_or_sections : int or tuple of int
        The number of equal parts, or the places where new parts begin.
    axis : int, default 0
        The axis; negative ones count from the end.
    squeeze_axis : bool, default False
        Whether the split axis is removed from parts of length 1.

    Returns
    -------
    Symbol
        The parts, as its outputs.

    Examples
    --------
    >>> parts = mx.sym.split_v2(mx.sym.var("x"), (1, 3))
    >>> parts.infer_shape(x=(5, 2))[1]
    [(1, 2), (2, 2), (2, 2)]
    """
    if isinstance(indices_or_sections, int):
        indices, sections = [], indices_or_sections
    elif isinstance(indices_or_sections, tuple):
        indices, sections = [0, *indices_or_sections], 0
    else:
        raise ValueError(f"indices_or_sections must either int or tuple of ints, got {indices_or_sections!r}")
    return _internal._split_v2(ary, indices, axis, squeeze_axis, sections)
