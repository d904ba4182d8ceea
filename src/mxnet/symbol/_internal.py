"""Operators on symbols that MXNet keeps to itself: scalar arithmetic, creation, samplers."""

from ._base import SymbolBase  # noqa: F401 - MXNet's module shows it
from ._space import lookup

__getattr__, __dir__ = lookup(globals(), "_internal")
