"""`mx.sym.np.random`: the functions of `mx.np.random` as nodes of a graph."""

from .._numpy_space import lookup as _lookup

__getattr__, __dir__ = _lookup(globals(), "numpy.random")
