"""Modules that MXNet shows twice: the names of one, looked up in the other when they are asked for."""

import sys
from importlib import import_module


def mirror(name, source, modules=(), raw=()):
    """`__getattr__` and `__dir__` for the module `name`, which shows what the module `source` has.

    Of the names in `raw` it shows the operators, with their own signatures; what was found once is kept.
    """
    kept = vars(sys.modules[name])

    def __getattr__(key):  # noqa: N807 - the module hook
        if key in modules:
            return import_module(f".{key}", name)
        value = getattr(import_module(source), key)
        if key in raw:
            value = import_module("mxnet.numpy._builtin").plain(raw[key], name)
        if callable(value):
            kept[key] = value
        return value

    def __dir__():  # noqa: N807 - the module hook
        return dir(import_module(source))

    return __getattr__, __dir__
