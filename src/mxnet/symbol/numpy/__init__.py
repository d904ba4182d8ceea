"""`mx.sym.np`: the functions of `mx.np` on symbols. Each makes nodes of the operators that it runs on arrays."""

from .._numpy_space import lookup as _lookup

__getattr__, __dir__ = _lookup(globals(), "numpy", ("_symbol", "linalg", "random"))
