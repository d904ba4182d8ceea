"""`mx.sym.npx`: neural network operators on symbols with NumPy semantics."""

from importlib import import_module as _import_module

from .._later import later as _later


def _table():
    own = {name: f"_npx_{name}" for name in ("constraint_check", "nonzero", "reshape")}
    return {**_later("numpy_extension")._OPERATORS, **own}


def __getattr__(name):
    if name in ("image", "random"):
        return _import_module(f".{name}", __name__)
    if name not in _table():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = _later("numpy._symbolic").network_function(name, _table()[name])
    return made


def __dir__():
    return sorted({*globals(), *_table()})
