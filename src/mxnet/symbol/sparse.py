"""Operators on symbols of sparse arrays."""

from ._space import lookup

__getattr__, __dir__ = lookup(globals(), "sparse")
