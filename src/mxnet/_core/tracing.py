"""What stands for an array while a graph is made."""


class Traced:
    """The base of symbols, known to layers that must not load them."""

    __slots__ = ()
