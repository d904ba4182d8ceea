"""`mx.sym.np.linalg`: the functions of `mx.np.linalg` on symbols."""

from .._numpy_space import lookup as _lookup

__getattr__, __dir__ = _lookup(globals(), "numpy.linalg")
