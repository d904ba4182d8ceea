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
    method.__doc__ = "Refused: arrays have it, a symbol has no values yet."
    return method


def _compared(name):
    return _arithmetic(f"_{name}", f"_{name}_scalar", (numbers.Real, np.generic))


class Symbol(Inference, Binding, SymbolBase):
    """Outputs of a graph of operators on named variables: composed now, bound to arrays and computed later."""

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
        """The array in another dtype: `Cast`."""
        return op.cast(self, *args, **kwargs)

    def flatten(self, inplace=False, **kwargs):
        """All axes but the first made one."""
        return op.flatten(self, **kwargs)

    def expand_dims(self, axis, inplace=False, **kwargs):
        """A new axis of size 1 at `axis`."""
        return op.expand_dims(self, axis=axis, **kwargs)

    def squeeze(self, axis=None, inplace=False, **kwargs):
        """The array without axes of size 1."""
        return op.squeeze(self, axis=axis, **kwargs)

    def diag(self, k=0, **kwargs):
        """A diagonal of a matrix, or a matrix with that diagonal."""
        return op.diag(self, k, **kwargs)

    def split_v2(self, *args, **kwargs):
        """Parts of the array along an axis."""
        return split_v2(self, *args, **kwargs)

    def as_nd_ndarray(self):
        """Itself: the symbol already is of this class."""
        return self

    def as_np_ndarray(self):
        """The same graph for operators with NumPy's manners."""
        return later("numpy._symbolic")._Symbol(self._entries)


def _fluent(name):
    def method(self, *args, **kwargs):
        return getattr(op, name)(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Symbol.{name}"
    method.__doc__ = f"The operator `{name}` on this symbol, as `mx.sym.{name}`."
    return method


for _name in FLUENT:
    if _name not in Symbol.__dict__:
        setattr(Symbol, _name, _fluent(_name))
set_symbol_class(Symbol)


def var(name, attr=None, shape=None, lr_mult=None, wd_mult=None, dtype=None, init=None, stype=None, **kwargs):
    """A variable: an input of the graph. What is known about it travels with it as attributes."""
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
    """Several symbols as one with all their outputs."""
    if not symbols or any(not isinstance(symbol, Symbol) for symbol in symbols):
        raise TypeError(f"Expected a list of symbols as input, got {symbols!r}")
    return create_fn([entry for symbol in symbols for entry in symbol._entries])


def load(fname):
    """The symbol in a JSON file, of any MXNet version."""
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
    """The symbol that a JSON text describes."""
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
    """`base` to the power of `exp`; either may be a number."""
    return _power(base, exp)


def power(base, exp):
    """`base` to the power of `exp`; either may be a number."""
    return _power(base, exp)


def maximum(left, right):
    """The larger of two, element by element; either may be a number."""
    return _maximum(left, right)


def minimum(left, right):
    """The smaller of two, element by element; either may be a number."""
    return _minimum(left, right)


def hypot(left, right):
    """The length of the hypotenuse over two sides; either may be a number."""
    return _hypot(left, right)


def eye(N, M=0, k=0, dtype=None, **kwargs):
    """A matrix with ones on its `k`-th diagonal."""
    return _internal._eye(N, M, k, dtype=np.float32 if dtype is None else dtype, **kwargs)


def zeros(shape, dtype=None, **kwargs):
    """An array of zeros."""
    return _internal._zeros(shape=shape, dtype=np.float32 if dtype is None else dtype, **kwargs)


def ones(shape, dtype=None, **kwargs):
    """An array of ones."""
    return _internal._ones(shape=shape, dtype=np.float32 if dtype is None else dtype, **kwargs)


def full(shape, val, dtype=None, **kwargs):
    """An array of one value."""
    return _internal._full(shape=shape, dtype=np.float32 if dtype is None else dtype, value=float(val), **kwargs)


def arange(start, stop=None, step=1.0, repeat=1, infer_range=False, name=None, dtype=None):
    """Evenly spaced values; each `repeat` times."""
    dtype = np.float32 if dtype is None else dtype
    return _internal._arange(
        start=start, stop=stop, step=step, repeat=repeat, infer_range=infer_range, name=name, dtype=dtype
    )


def linspace(start, stop, num, endpoint=True, name=None, dtype=None):
    """`num` evenly spaced values from `start` to `stop`."""
    dtype = np.float32 if dtype is None else dtype
    return _internal._linspace(start=start, stop=stop, num=num, endpoint=endpoint, name=name, dtype=dtype)


def histogram(a, bins=10, range=None, **kwargs):
    """How many values fall in each bin, and the bins' edges."""
    if isinstance(bins, Symbol):
        return _internal._histogram(data=a, bins=bins, **kwargs)
    if isinstance(bins, numbers.Integral):
        if range is None:
            raise ValueError("null range is not supported in symbol mode: give range=(low, high)")
        return _internal._histogram(data=a, bin_cnt=bins, range=range, **kwargs)
    raise ValueError(f"bins argument should be either an integer or a Symbol, got {type(bins)}")


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Parts of an array: equally many along `axis`, or cut at the given places."""
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
