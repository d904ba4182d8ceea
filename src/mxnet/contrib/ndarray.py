"""`mx.contrib.ndarray`: the operators of `mx.ndarray.contrib` under their older address."""

from ..ndarray import contrib as _contrib


def __getattr__(name):
    return getattr(_contrib, name)


def __dir__():
    return dir(_contrib)
