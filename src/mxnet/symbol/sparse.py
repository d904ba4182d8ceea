"""Operators on symbols of sparse arrays: the general ones under their sparse names."""

from . import op
from ._space import lookup

_own, __dir__ = lookup(globals(), "sparse")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return _own(name)
    except AttributeError:
        return getattr(op, name)
