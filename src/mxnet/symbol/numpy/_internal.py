"""`mx.sym.np._internal`: the operators that functions of `mx.np` are made of, as nodes of a graph."""

from .._later import later


def __getattr__(name):
    operator = later("numpy._internal").operator(name, __name__)
    globals()[name] = made = later("numpy._symbolic").network_function(name, operator)
    return made


def __dir__():
    return sorted({*globals(), *later("numpy._internal").names()})
