"""Image operators on symbols."""

from ._space import lookup as _lookup

__getattr__, __dir__ = _lookup(globals(), "image")
