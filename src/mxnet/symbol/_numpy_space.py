"""Namespaces of `mx.sym.np`: the functions of a module of `mx.np`, made to build nodes when they are asked for."""

from importlib import import_module

from ._later import later


def lookup(module, source, modules=()):
    """`__getattr__` and `__dir__` for the namespace that stands for the module `source`."""

    def functions():
        here = later(source)
        return {
            n: f for n, f in vars(here).items() if callable(f) and not n.startswith("_") and not isinstance(f, type)
        }

    def __getattr__(name):  # noqa: N807 - the module hook
        if name in modules:
            return import_module(f".{name}", module["__name__"])
        function = functions().get(name)
        if function is None:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        makers = later("numpy._symbolic")
        alone = source == "numpy" and name in later("numpy._builtin").NAMES  # one operator, called by its own arguments
        module[name] = made = makers.network_function(name, f"_np_{name}") if alone else makers.symbolic(function)
        return made

    def __dir__():  # noqa: N807 - the module hook
        shown = getattr(later(source), "__all__", None)
        return sorted({*module, *(shown or functions()), *modules})

    return __getattr__, __dir__
