"""`Symbol`: a graph of operators that is composed first and computed later; variables, groups, creation functions."""

import numbers
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.attrs import text
from .._core.dtypes import FLAGS, dtype_name
from .._core.errors import MXNetError, NotImplementedForSymbol
from .._core.hints import not_opened
from .._graph.ir import json as graph_json
from .._graph.ir.attributes import check_strings, set_attributes
from .._graph.ir.node import Entry, variable
from .._ops.registry.methods import FLUENT
from ..attribute import AttrScope, scope  # noqa: F401 - a public name of this module
from . import _internal, op
from ._base import SymbolBase, set_symbol_class
from ._bind import Binding
from ._infer import Inference
from ._later import later

__all__ = [
    "Group",
    "Symbol",
    "Variable",
    "arange",
    "eye",
    "full",
    "histogram",
    "hypot",
    "linspace",
    "load",
    "load_json",
    "maximum",
    "minimum",
    "ones",
    "pow",
    "power",
    "split_v2",
    "var",
    "zeros",
]
_STORAGE = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}


def _arithmetic(both, scalar, kind=numbers.Number):
    """A binary operator: one function for two symbols, another for a symbol and a number."""

    def operator(self, other):
        if isinstance(other, Symbol):
            return getattr(_internal, both)(self, other)
        if isinstance(other, kind):
            return getattr(_internal, scalar)(self, scalar=other)
        raise TypeError(f"type {type(other)} not supported")

    return operator


def _reflected(forward, scalar):
    """The same with the number on the left."""

    def operator(self, other):
        if isinstance(other, Symbol):
            return getattr(other, forward)(self)
        if isinstance(other, numbers.Number):
            return getattr(_internal, scalar)(self, scalar=other)
        raise TypeError(f"type {type(other)} not supported")

    return operator


def _absent(name, instead):
    """An attribute that needs values; asking for it fails as for any unknown one, and tells what there is instead."""

    def attribute(self):
        raise AttributeError(f"'Symbol' object has no attribute '{name}': sizes are known only with data; {instead}")

    return property(attribute, doc=f"Refused: sizes are known only with data; {instead}.")


def _refused(name, alias):
    """A method that needs values, which a symbol does not have."""

    def method(self, *args):
        raise NotImplementedForSymbol(getattr(self, name), alias, *args)

    method.__name__ = name
    method.__doc__ = f"Raises NotImplementedForSymbol: `{name}` needs values, and a symbol has none yet."
    return method


def _compared(name):
    return _arithmetic(f"_{name}", f"_{name}_scalar", (numbers.Real, np.generic))


class Symbol(Inference, Binding, SymbolBase):
    """A node of a graph, or several: what is to be computed, with no values yet.

    Variables are made by `mx.sym.var`; operators of `mx.sym` make new symbols of symbols. `bind` and `simple_bind`
    allocate arrays and return an executor; `eval` computes once; `infer_shape` and `tojson` look at the graph.

    Parameters
    ----------
    entries : list of Entry
        The outputs. Users make symbols with `mx.sym.var` and operators.

    Examples
    --------
    >>> x = mx.sym.var("x")
    >>> y = mx.sym.FullyConnected(x, num_hidden=3, name="fc") * 2
    >>> y.list_arguments()
    ['x', 'fc_weight', 'fc_bias']
    >>> y.infer_shape(x=(2, 4))[1]
    [(2, 3)]
    """

    __slots__ = ()
    __array_priority__ = 1000.0
    shape = _absent("shape", "0 in F.reshape keeps a size, F.shape_array gives the shape as an array")
    __module__ = "mxnet.symbol.symbol"
    if TYPE_CHECKING:  # methods come from the registry of operators

        def __getattr__(self, name: str) -> Any: ...

    __add__ = __radd__ = _arithmetic("_Plus", "_PlusScalar")
    __sub__ = _arithmetic("_Minus", "_MinusScalar")
    __rsub__ = _reflected("__sub__", "_RMinusScalar")
    __mul__ = __rmul__ = _arithmetic("_Mul", "_MulScalar")
    __truediv__ = __div__ = _arithmetic("_Div", "_DivScalar")
    __rtruediv__ = __rdiv__ = _reflected("__truediv__", "_RDivScalar")
    __mod__ = _arithmetic("_Mod", "_ModScalar")
    __rmod__ = _reflected("__mod__", "_RModScalar")
    __pow__ = _arithmetic("_Power", "_PowerScalar")
    __rpow__ = _reflected("__pow__", "_rpower_scalar")

    __eq__ = _compared("equal")
    __ne__ = _compared("not_equal")
    __gt__ = _compared("greater")
    __ge__ = _compared("greater_equal")
    __lt__ = _compared("lesser")
    __le__ = _compared("lesser_equal")
    __hash__ = SymbolBase.__hash__

    __bool__ = _refused("__bool__", "bool")
    __iadd__ = _refused("__iadd__", "+=")
    __isub__ = _refused("__isub__", "-=")
    __imul__ = _refused("__imul__", "*=")
    __itruediv__ = _refused("__itruediv__", "/=")
    __idiv__ = _refused("__idiv__", "/=")
    wait_to_read = _refused("wait_to_read", None)
    asnumpy = _refused("asnumpy", None)
    asscalar = _refused("asscalar", None)
    copy = _refused("copy", None)
    as_in_context = _refused("as_in_context", None)
    detach = _refused("detach", None)
    backward = _refused("backward", None)

    def __neg__(self):
        return self.__mul__(-1.0)

    def __abs__(self):
        return self.abs()

    def astype(self, *args, **kwargs):
        """The array with another data type: `Cast`.

        Parameters
        ----------
        *args
            The data type.
        **kwargs
            `dtype`, `name` and `attr`.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.sym.var("x").astype("int32").eval(x=mx.nd.array([1.7]))[0].asnumpy()
        array([1], dtype=int32)
        """
        return op.cast(self, *args, **kwargs)

    def flatten(self, inplace=False, **kwargs):
        """The array with all axes but the first made one.

        Parameters
        ----------
        inplace : bool, default False
            Ignored: a symbol has no memory.
        **kwargs
            `name` and `attr` of the new node.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.sym.var("x").flatten().infer_shape(x=(2, 3, 4))[1]
        [(2, 12)]
        """
        return op.flatten(self, **kwargs)

    def expand_dims(self, axis, inplace=False, **kwargs):
        """The array with a new axis of length 1.

        Parameters
        ----------
        axis : int
            The place of the new axis.
        inplace : bool, default False
            Ignored: a symbol has no memory.
        **kwargs
            `name` and `attr` of the new node.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.sym.var("x").expand_dims(1).infer_shape(x=(2, 3))[1]
        [(2, 1, 3)]
        """
        return op.expand_dims(self, axis=axis, **kwargs)

    def squeeze(self, axis=None, inplace=False, **kwargs):
        """The array without axes of length 1.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to remove; None: all of length 1.
        inplace : bool, default False
            Ignored: a symbol has no memory.
        **kwargs
            `name` and `attr` of the new node.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.sym.var("x").squeeze().infer_shape(x=(1, 3))[1]
        [(3,)]
        """
        return op.squeeze(self, axis=axis, **kwargs)

    def diag(self, k=0, **kwargs):
        """The diagonal of a matrix, or a matrix with this vector as its diagonal.

        Parameters
        ----------
        k : int, default 0
            The diagonal: 0 is the main one, positive ones lie above it, negative ones below.
        **kwargs
            `axis1`, `axis2`, `name` and `attr`.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.sym.var("x").diag().infer_shape(x=(3, 3))[1]
        [(3,)]
        """
        return op.diag(self, k, **kwargs)

    def split_v2(self, *args, **kwargs):
        """The array in several parts along an axis.

        Parameters
        ----------
        *args
            The number of equal parts or the places where new parts begin, then the axis.
        **kwargs
            `indices_or_sections`, `axis` and `squeeze_axis` by name.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.sym.var("x").split_v2((1, 3)).infer_shape(x=(5, 2))[1]
        [(1, 2), (2, 2), (2, 2)]
        """
        return split_v2(self, *args, **kwargs)

    def as_nd_ndarray(self):
        """The symbol for operators of `mx.sym`, which it already is.

        Examples
        --------
        >>> x = mx.sym.var("x")
        >>> x.as_nd_ndarray() is x
        True
        """
        return self

    def as_np_ndarray(self):
        """The same graph for operators with NumPy's semantics.

        Examples
        --------
        >>> type(mx.sym.var("x").as_np_ndarray()).__name__
        '_Symbol'
        """
        return later("numpy._symbolic")._Symbol(self._entries)


class _Fluent:
    """An operator as a method. Its docstring is the operator's, written when somebody looks at the class."""

    def __init__(self, name):
        def method(self, *args, **kwargs):
            return getattr(op, name)(self, *args, **kwargs)

        method.__name__, method.__qualname__ = name, f"Symbol.{name}"
        self.method = method

    def __get__(self, instance, owner):
        if instance is not None:
            return self.method.__get__(instance, owner)
        self.method.__doc__ = getattr(op, self.method.__name__).__doc__
        return self.method


for _name in FLUENT:
    if _name not in Symbol.__dict__:
        setattr(Symbol, _name, _Fluent(_name))
set_symbol_class(Symbol)


def var(name, attr=None, shape=None, lr_mult=None, wd_mult=None, dtype=None, init=None, stype=None, **kwargs):
    """A variable: an input of the graph. What is known about it travels with it as attributes.

    Parameters
    ----------
    name : str
        The name of the variable.
    attr : dict of str to str, optional
        Further attributes.
    shape : tuple of int, optional
        The shape, if it is known; 0 is an unknown size.
    lr_mult : float, optional
        A factor of the learning rate of this parameter.
    wd_mult : float, optional
        A factor of the weight decay of this parameter.
    dtype : str or type, optional
        The data type, if it is known.
    init : Initializer or str, optional
        How the parameter is initialized.
    stype : str, optional
        The storage type: default, row_sparse or csr.
    **kwargs : str
        Further attributes, whose names begin and end with two underscores.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> x = mx.sym.var("x", shape=(2, 3), lr_mult=0.5)
    >>> x.name, x.attr("__lr_mult__")
    ('x', '0.5')
    """
    if not isinstance(name, str):
        raise TypeError(f"Expect a string for variable `name`, got {type(name)}")
    known = {"shape": shape, "lr_mult": lr_mult, "wd_mult": wd_mult}
    attrs = dict(scope().get(attr))
    attrs.update({f"__{key}__": text(value) for key, value in known.items() if value is not None})
    if dtype is not None:
        attrs["__dtype__"] = str(FLAGS[dtype_name(dtype)])
    if init is not None:
        attrs["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        attrs["__storage_type__"] = str(_STORAGE[stype])
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ValueError(
                f"Attribute name={key} is not supported. Additional attributes must start and end with double "
                "underscores, e.g, __yourattr__"
            )
        attrs[key] = text(value)
    node = variable(name)
    check_strings(attrs)
    set_attributes(node.attrs, attrs.items())
    return Symbol([Entry(node)])


Variable = var


def Group(symbols, create_fn=Symbol):
    """Several symbols as one with all their outputs.

    Parameters
    ----------
    symbols : list of Symbols
        The symbols.
    create_fn : callable, default Symbol
        The class of the result.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> x = mx.sym.var("x")
    >>> mx.sym.Group([x + 1, x * 2]).infer_shape(x=(3,))[1]
    [(3,), (3,)]
    """
    if not symbols or any(not isinstance(symbol, Symbol) for symbol in symbols):
        raise TypeError(f"Expected a list of symbols as input, got {symbols!r}")
    return create_fn([entry for symbol in symbols for entry in symbol._entries])


def load(fname):
    """The symbol in a JSON file, of any MXNet version.

    Parameters
    ----------
    fname : str
        The name of the file.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> (mx.sym.var("x") + 1).save("net-symbol.json")
    >>> mx.sym.load("net-symbol.json").list_arguments()
    ['x']
    """
    if not isinstance(fname, str):
        raise TypeError(f"fname need to be string, got {type(fname)}")
    try:
        with open(fname, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise not_opened(fname, error) from None
    except UnicodeDecodeError:
        raise MXNetError(f"{fname} is not a symbol file: it is not text") from None
    return load_json(text)


def load_json(json_str):
    """The symbol that a JSON text describes.

    Parameters
    ----------
    json_str : str
        The text.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> mx.sym.load_json((mx.sym.var("x") + 1).tojson()).list_arguments()
    ['x']
    """
    if not isinstance(json_str, str):
        raise TypeError(f"json_str required to be string, got {type(json_str)}")
    return Symbol(graph_json.loads(json_str))


fromjson = load_json


def _mixed(both, left_scalar, right_scalar, plain):
    """A function of two arguments, each a symbol or a number."""

    def function(left, right):
        kinds = isinstance(left, Symbol), isinstance(right, Symbol)
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
    if isinstance(bins, Symbol):
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


# Names that MXNet's module shows and that belong to others; loading this one must not load arrays.
_ELSEWHERE = {
    "Context": "context", "current_context": "context", "Executor": "executor", "NDArray": "ndarray",
    "is_np_shape": "util",
    **dict.fromkeys(
        ("c_array", "c_array_buf", "c_handle_array", "c_str", "c_str_array", "check_call", "py_str"), "base"
    ),
}  # fmt: skip


def __getattr__(name):
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"mxnet.{_ELSEWHERE[name]}"), name)
