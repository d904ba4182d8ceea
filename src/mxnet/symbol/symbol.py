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
from ._functions import (
    arange,
    eye,
    full,
    histogram,
    hypot,
    linspace,
    maximum,
    minimum,
    ones,
    pow,
    power,
    split_v2,
    zeros,
)
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


def _no_operand(other):
    """What a symbol cannot be added to, multiplied by, and so on."""
    hint = (
        ""
        if not hasattr(other, "shape")
        else (
            ". A graph has no values: make the array an input of it with mx.sym.Variable, or a constant parameter of a "
            "block with self.params.get_constant(name, array)"
        )
    )
    return TypeError(f"type {type(other)} not supported{hint}")


def _arithmetic(both, scalar, kind=numbers.Number):
    """A binary operator: one function for two symbols, another for a symbol and a number."""

    def operator(self, other):
        if isinstance(other, Symbol):
            return getattr(_internal, both)(self, other)
        if isinstance(other, kind):
            return getattr(_internal, scalar)(self, scalar=other)
        raise _no_operand(other)

    return operator


def _reflected(forward, scalar):
    """The same with the number on the left."""

    def operator(self, other):
        if isinstance(other, Symbol):
            return getattr(other, forward)(self)
        if isinstance(other, numbers.Number):
            return getattr(_internal, scalar)(self, scalar=other)
        raise _no_operand(other)

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
