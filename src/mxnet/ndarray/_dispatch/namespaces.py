"""Modules whose contents are operators: `__getattr__` and `__dir__` for one of the registry's namespaces."""

import sys

from ..._core.modules import complete
from ..._ops.registry import registry
from ..._ops.registry.signature import names_in_namespace
from .generated import face, operator_of


def show(module, space):
    """The two functions that let `module` offer every operator of `space`."""
    made = vars(sys.modules[module])  # taken before it is complete: later, a look into it makes all of them

    def lookup(name):
        full = operator_of(space, name)
        if full is None and space == "_internal":
            full = name if registry.lookup(name) is not None else None  # it answers for all of them
        if full is None:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        function = made[name] = face(full)
        return function

    def listing():
        return sorted({*made, *names_in_namespace(space)})

    complete(module, lambda: names_in_namespace(space))
    return lookup, listing
