"""Image operators on symbols."""

from ._space import lookup

__getattr__, __dir__ = lookup(globals(), "image")
