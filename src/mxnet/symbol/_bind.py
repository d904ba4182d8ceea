"""Binding a symbol to arrays: `bind`, `simple_bind`, `eval`, and the hooks for other backends."""


class Binding:
    """Methods of a symbol that make executors."""

    __slots__ = ()
