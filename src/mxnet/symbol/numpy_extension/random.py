"""`mx.sym.npx.random`: batches of samples and coin throws as nodes of a graph."""

from .._numpy_space import lookup as _lookup

__getattr__, __dir__ = _lookup(globals(), "numpy_extension.random")
