"""Symbols: graphs of operators composed by name. `mx.sym.X` exists for every operator X."""

from importlib import import_module as _import_module

from .._core.errors import no_attribute as _no_attribute
from . import _internal, op
from .symbol import *
from .symbol import __all__ as _named

_MODULES = ("contrib", "image", "linalg", "random", "register", "sparse", "symbol")
_SHOWN = ("contrib", "image", "linalg", "numpy", "numpy_extension", "random", "sparse")
_NUMPY = {"np": "numpy", "npx": "numpy_extension", "numpy": "numpy", "numpy_extension": "numpy_extension"}


def _advice(name):
    if name not in ("array", "from_numpy", "empty"):
        return ""
    return f": mx.nd.{name} makes values at once, a graph has none. Make the array an input, mx.sym.Variable"


def __getattr__(name):
    if name == "__all__":  # for `import *`, which makes all functions
        return [*_named, *_SHOWN, *op.__all__]
    if name in _MODULES or name in _NUMPY:
        found = _import_module(f".{_NUMPY.get(name, name)}", __name__)
    else:
        try:
            found = getattr(op, name)
        except AttributeError:
            raise _no_attribute(__name__, name, _advice(name)) from None
    globals()[name] = found
    return found


def __dir__():
    return sorted({*globals(), *_MODULES, *_NUMPY, *dir(op)})
