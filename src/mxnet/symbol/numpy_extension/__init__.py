"""`mx.sym.npx`: network operators on symbols with NumPy's manners."""

from importlib import import_module

from .._later import later


def _table():
    return later("numpy_extension")._OPERATORS


def reshape(a, newshape, reverse=False, order="C"):
    """The elements in a shape in which negative numbers are codes; see `mx.npx.reshape`."""
    codes = (newshape,) if isinstance(newshape, int) else tuple(newshape)
    given = {"newshape": codes, "reverse": reverse or None, "order": None if order == "C" else order}
    return later("numpy._symbolic").compose("_npx_reshape", [a], given)


def nonzero(a):
    """The positions of what is not zero, one row each."""
    return later("numpy._symbolic").compose("_npi_nonzero", [a], {})


def constraint_check(x, msg):
    """True if every element is; else an error with the message when the graph runs."""
    return later("numpy._symbolic").compose("_npx_constraint_check", [x], {"msg": msg})


def __getattr__(name):
    if name in ("image", "random"):
        return import_module(f".{name}", __name__)
    if name not in _table():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = later("numpy._symbolic").network_function(name, _table()[name])
    return made


def __dir__():
    return sorted({*globals(), *_table()})
