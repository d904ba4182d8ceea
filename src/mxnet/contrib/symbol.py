"""`mx.contrib.symbol`: the operators of `mx.symbol.contrib` under their older address."""

from ..symbol import contrib as _contrib


def __getattr__(name):
    return getattr(_contrib, name)


def __dir__():
    return dir(_contrib)
