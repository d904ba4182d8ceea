"""MXNet's module of the symbol with NumPy semantics, and of the functions that return such symbols."""

from .._later import later
from .._numpy_space import lookup as _lookup

_Symbol = later("numpy._symbolic")._Symbol
__getattr__, __dir__ = _lookup(globals(), "numpy")
