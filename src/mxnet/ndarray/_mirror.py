"""Modules that MXNet shows twice: the names of one, looked up in the other when they are asked for."""

from importlib import import_module


def mirror(name, source, modules=()):
    """`__getattr__` and `__dir__` for the module `name`, which shows what the module `source` has."""

    def __getattr__(key):  # noqa: N807 - the module hook
        if key in modules:
            return import_module(f".{key}", name)
        return getattr(import_module(source), key)

    def __dir__():  # noqa: N807 - the module hook
        return dir(import_module(source))

    return __getattr__, __dir__
