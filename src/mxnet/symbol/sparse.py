"""Operators on symbols of sparse arrays: the general ones under their sparse names."""

from . import op as _op
from ._space import lookup as _lookup

_own, __dir__ = _lookup(globals(), "sparse")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return _own(name)
    except AttributeError:
        return getattr(_op, name)
