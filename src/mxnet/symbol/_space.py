"""Namespaces of symbol functions, filled from the registry as names are asked for."""

from .._core.errors import no_attribute
from .._core.shims.modules import complete
from .._ops.registry import registry
from .._ops.registry.signature import names_in_namespace, namespace
from .register import make


def home(name: str) -> tuple[str, str]:
    """Where `mx.sym` shows an operator: (sub-namespace, name in it). Random generators have functions of their own."""
    space, short = namespace(name)
    if space == "random" and not name.endswith("_like"):
        return "_internal", name
    return space, short


def names(space: str) -> dict[str, str]:
    """Names in a namespace, with the operators behind them."""
    return names_in_namespace(space, home)


def lookup(module: dict, space: str):
    """`__getattr__` and `__dir__` for the module of a namespace."""
    prefix = "" if space in ("op", "_internal") else f"_{space}_"

    def __getattr__(name):  # noqa: N807 - the module hook
        operator = registry.lookup(prefix + name)
        if operator is None or home(prefix + name) != (space, name):
            raise no_attribute(module["__name__"], name)
        function = module[name] = make(operator, name, module["__name__"])
        return function

    def __dir__():  # noqa: N807 - the module hook
        return sorted({*module, *names(space)})

    complete(module["__name__"], lambda: names(space))
    return __getattr__, __dir__
