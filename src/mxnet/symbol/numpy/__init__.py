"""`mx.sym.np`: the functions of `mx.np` on symbols. Each makes nodes of the operators that it runs on arrays."""

from .._later import later as _later
from .._numpy_space import lookup as _lookup

_function, __dir__ = _lookup(globals(), "numpy", ("_internal", "_symbol", "linalg", "random"))


def __getattr__(name):
    return _later("numpy._symbolic")._Symbol if name == "_Symbol" else _function(name)
