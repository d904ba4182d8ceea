"""MXNet's place for the symbol with NumPy's manners, and for the functions that make such."""

from .._later import later
from .._numpy_space import lookup as _lookup

_Symbol = later("numpy._symbolic")._Symbol
__getattr__, __dir__ = _lookup(globals(), "numpy")
