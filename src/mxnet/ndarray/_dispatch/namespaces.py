"""Modules whose contents are operators: `__getattr__` and `__dir__` for one of the registry's namespaces."""

import sys

from ..._core.errors import no_attribute
from ..._core.shims.modules import complete
from ..._ops.registry import registry
from ..._ops.registry.signature import names_in_namespace
from .generated import generated_function, operator_of


def module_attributes(module, space):
    """`__getattr__` and `__dir__` of a module that offers every operator of the namespace `space`."""
    # Fetched before `complete`: after it, reading the module's dict would generate all functions.
    attributes = vars(sys.modules[module])

    def lookup(name):
        full = operator_of(space, name)
        if full is None and space == "_internal":
            full = name if registry.lookup(name) is not None else None  # `_internal` has all operators
        if full is None:
            raise no_attribute(module, name)
        function = attributes[name] = generated_function(full)
        return function

    def listing():
        return sorted({*attributes, *names_in_namespace(space)})

    complete(module, lambda: names_in_namespace(space))
    return lookup, listing
