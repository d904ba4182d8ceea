"""Graphs of `mx.np` operators: `_Symbol` with NumPy's manners, and what `mx.sym.np` and `mx.sym.npx` are made of."""

import functools

from .. import _numpy_op_doc
from .._core.errors import NotImplementedForSymbol
from .._ops.registry import registry
from .._ops.registry.methods import FLUENT
from ..ndarray.ndarray import NDArrayBase
from ..symbol.register import make
from ..symbol.symbol import Symbol
from ._call import MODE, place
from ._methods import install as install_methods
from .multiarray import install_operators, ndarray

__all__ = ["_Symbol", "compose", "network_function", "symbolic"]
_PREFIXES = ("_npi_", "_npx_", "_np_", "_random_")
_WRITTEN = {"_npi_concatenate": {"dim": "axis"}}  # MXNet declares the one and writes the other
_BORROWED = "T broadcast_to reshape squeeze transpose".split()


@functools.cache
def _face(operator, hint):
    return make(registry.find(operator), hint, "mxnet.symbol.numpy")


def _hint(name):
    """What nodes of an operator are called: its name without the mark of NumPy's operators."""
    return next((name.removeprefix(p) for p in _PREFIXES if name.startswith(p)), name)


def compose(name, inputs, attrs, ctx=None):
    """The symbol of a new node that calls a registered operator; a list if it has several outputs."""
    operator = registry.find(name)
    given = {k: v for k, v in attrs.items() if v is not None}
    if "ctx" in operator.attrs:
        given["ctx"] = str(place(ctx))
    for key, written in _WRITTEN.get(name, {}).items():
        if key in given:
            given[written] = given.pop(key)
    return _outputs(_face(name, _hint(name))(*inputs, **given))


def _outputs(symbol):
    made = [_Symbol([entry]) for entry in symbol._entries]
    return made[0] if len(made) == 1 else made


def symbolic(function):
    """A function of `mx.np` that makes nodes, also where no input tells so."""

    @functools.wraps(function)
    def traced(*args, **kwargs):
        before, MODE.symbolic = MODE.symbolic, True
        try:
            result = function(*args, **kwargs)
        finally:
            MODE.symbolic = before
        if isinstance(result[0] if isinstance(result, (list, tuple)) and result else result, NDArrayBase):
            raise NotImplementedForSymbol(function, function.__name__, *args)
        return result

    return traced


def network_function(name, operator):
    """A function that is one operator, on symbols; its first input may have the name that NumPy gives it."""
    face, words = _face(operator, name), getattr(_numpy_op_doc, operator, None)
    shown, known = words and words.__code__.co_varnames[0], registry.find(operator).inputs

    @functools.wraps(face)
    def traced(*args, **kwargs):
        if shown in kwargs and known and shown not in known:
            kwargs[known[0]] = kwargs.pop(shown)
        return _outputs(face(*args, **kwargs))

    return traced


class _Symbol(Symbol):
    """Outputs of a graph with NumPy's rules for shapes, types and indices."""

    __slots__ = ()
    __module__ = "mxnet.symbol.numpy._symbol"

    def as_np_ndarray(self):
        """Itself: the symbol already is of this class."""
        return self

    def as_nd_ndarray(self):
        """The same graph with classic operators."""
        return Symbol(self._entries)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """In another type."""
        return compose("Cast", [self], {"dtype": dtype})

    def flatten(self, order="C"):
        """All elements along one axis."""
        return self.reshape(-1)

    def copy(self, *args, **kwargs):
        """Symbols are not copied: they have no values."""
        raise NotImplementedForSymbol(self.copy, "copy", *args)

    def __getitem__(self, key):
        if len(self) > 1 or isinstance(key, str):
            return super().__getitem__(key)
        keys = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(k, (int, slice)) for k in keys):
            raise IndexError(f"Only integer, slice, or tuple of these types are supported! Received key={key}")
        return _part(self, keys)

    def __iter__(self):
        if len(self) == 1:
            raise TypeError("a symbol has no sizes: it cannot be iterated over")
        return super().__iter__()


def _part(symbol, keys):
    """Slices by one operator, then the axes of numbers taken away."""
    begin, end, step, codes = [], [], [], []
    for key in keys:
        number = isinstance(key, int)
        forward = not number or key >= 0
        begin.append(key if number else key.start)
        end.append((key + 1 if forward else key - 1) if number else key.stop)
        step.append((1 if forward else -1) if number else key.step)
        codes.append(-3 if number else -2)
    part = compose("slice", [symbol], {"begin": tuple(begin), "end": tuple(end), "step": tuple(step)})
    return compose("_npx_reshape", [part], {"newshape": (*codes, -4)}) if -3 in codes else part


def _without(name):
    """A method of classic symbols, which says, like MXNet's, only when it is called that there is none."""

    def method(self, *args, **kwargs):
        raise AttributeError(f"_Symbol object has no attribute {name}")

    return method


def _install():
    install_operators(_Symbol)
    _Symbol.__neg__ = lambda self: self * -1.0  # also of integers, in MXNet a product with a fraction
    install_methods(_Symbol)
    for name in _BORROWED:
        setattr(_Symbol, name, vars(ndarray)[name])
    for name in FLUENT:
        if name not in vars(_Symbol):
            setattr(_Symbol, name, _without(name))
    _Symbol.__hash__ = Symbol.__hash__


_install()
