"""`mx.np._internal`: the operators that functions of `mx.np` are made of, by names without `_npi_`."""

from .._ops.registry import registry
from ._call import face

# Classic operators that MXNet shows here, too.
_CLASSIC = {
    "Custom": "Custom", "boolean_mask": "_contrib_boolean_mask", "copyto": "_copyto", "gather_nd": "gather_nd",
    "histogram": "_histogram", "linspace": "_linspace", "random_randint": "_random_randint",
    "rnn_param_concat": "_rnn_param_concat", "scatter_set_nd": "_scatter_set_nd", "shuffle": "_shuffle",
    "slice": "slice", "slice_assign": "_slice_assign", "slice_assign_scalar": "_slice_assign_scalar",
}  # fmt: skip


def names():
    """Every operator that can be asked for."""
    return sorted({*_CLASSIC, *(n.removeprefix("_npi_") for n in registry.names() if n.startswith("_npi_"))})


def operator(name, module):
    """The full name of the operator that `module` shows as `name`."""
    full = _CLASSIC.get(name, f"_npi_{name}")
    if registry.lookup(full) is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    return full


def __getattr__(name):
    globals()[name] = function = face(operator(name, __name__))
    return function


def __dir__():
    return sorted({*globals(), *names()})
